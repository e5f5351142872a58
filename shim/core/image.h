/* Arrays, mipmaps, textures and surfaces of programs, over rt's images. */
#ifndef SONDE_SHIM_CORE_IMAGE_H
#define SONDE_SHIM_CORE_IMAGE_H

#include "shim/abi.h"
#include "shim/core/shim.h"

/* An array: an image, or a level of one that is a mipmap. */
struct shim_array {
    struct rt_image *image;
    uint32_t level;
    bool of_mipmap; /* borrowed from it */
    unsigned flags;
};
struct shim_mipmap {
    struct rt_image *image;
    uint32_t levels;
    unsigned flags;
    struct shim_array *level; /* one each */
};

SHIM_SHARED int image_of(struct rt_image **image, uint32_t *level, const void *array);
SHIM_SHARED int image_create(struct rt_image **out, struct texel_format format, size_t width,
                             size_t height, size_t depth, unsigned levels, unsigned flags);
SHIM_SHARED int shim_array_create(void **out, struct texel_format format, size_t width,
                                  size_t height, size_t depth, unsigned flags);
SHIM_SHARED int shim_array_destroy(void *array);
SHIM_SHARED int shim_mipmap_create(void **out, struct texel_format format, size_t width,
                                   size_t height, size_t depth, unsigned levels, unsigned flags);
SHIM_SHARED int shim_mipmap_destroy(void *mipmap);
SHIM_SHARED int shim_mipmap_level(void **array, void *mipmap, unsigned level);
struct abi_view_desc;
/* What an object is made on, both libraries' descriptions brought into one. */
struct shim_resource {
    int type;     /* 0 array, 1 mipmap, 2 linear, 3 pitched */
    void *handle; /* of an array or mipmap */
    uint64_t address;
    struct texel_format format;
    size_t bytes, width, height, pitch;
    const struct abi_view_desc *as; /* of an array or mipmap: how it is seen; NULL: as it is */
};
SHIM_SHARED int shim_texture_create(uint64_t *handle, const struct shim_resource *resource,
                                    const struct texture_view *view);
/* Whether an object may be made of it. A reference is bound to anything. */
SHIM_SHARED bool shim_texture_aligned(const struct shim_resource *resource);
/* Says what a texture asks for and does not get. */
SHIM_SHARED void shim_texture_leave_out(bool seamless, unsigned anisotropy);
SHIM_SHARED int shim_texture_destroy(uint64_t handle);
SHIM_SHARED int shim_surface_create(uint64_t *handle, const struct shim_resource *resource);
SHIM_SHARED int shim_surface_destroy(uint64_t handle);
/* What a module's reference reads from now on; NULL: nothing. Launches before keep what was. */
SHIM_SHARED int shim_reference_bind(struct rt_module *module, const char *name,
                                    const struct shim_resource *resource,
                                    const struct texture_view *view);
SHIM_SHARED int shim_reference_bind_surface(struct rt_module *module, const char *name,
                                            const struct shim_resource *resource);
/* Numbers of the driver's formats. */
SHIM_SHARED int shim_format(struct texel_format *out, int format, unsigned channels);
SHIM_SHARED int shim_format_number(const struct texel_format *format);

#endif
