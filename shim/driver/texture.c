/* Arrays, texture and surface objects. */
#include <string.h>

#include "rt/rt.h"
#include "shim/driver/texture.h"

static int array_create(void **out, const struct abi_array3d_desc *desc)
{
    struct rt *rt;
    struct texel_format format;
    int code = out && desc ? driver_enter(&rt) : SHIM_INVALID;
    code = code == SHIM_OK ? shim_format(&format, desc->format, desc->channels) : code;
    return code == SHIM_OK
               ? shim_array_create(out, format, desc->width, desc->height, desc->depth, desc->flags)
               : code;
}

EXPORT int cuArrayCreate_v2(void **out, const struct abi_array_desc *desc)
{
    struct abi_array3d_desc full = {0};
    if (!desc) {
        return driver_result(SHIM_INVALID);
    }
    full.width = desc->width;
    full.height = desc->height;
    full.format = desc->format;
    full.channels = desc->channels;
    return driver_result(array_create(out, &full));
}

EXPORT int cuArray3DCreate_v2(void **out, const struct abi_array3d_desc *desc)
{
    return driver_result(array_create(out, desc));
}

EXPORT int cuArrayDestroy(void *array)
{
    return driver_result(shim_array_destroy(array));
}

EXPORT int cuArray3DGetDescriptor_v2(struct abi_array3d_desc *desc, void *array)
{
    struct rt_image *image;
    uint32_t level;
    int code = desc ? image_of(&image, &level, array) : SHIM_INVALID;
    if (code != SHIM_OK) {
        return driver_result(code);
    }
    const struct image_spec *spec = rt_image_spec(image);
    bool faces = spec->shape == IMAGE_CUBE || spec->shape == IMAGE_CUBE_LAYERED;
    bool flat = spec->shape == IMAGE_1D || spec->shape == IMAGE_1D_LAYERED;
    bool deep = spec->shape != IMAGE_1D && spec->shape != IMAGE_2D;
    *desc = (struct abi_array3d_desc){.width = spec->width,
                                      .height = flat ? 0 : spec->height,
                                      .depth = deep ? spec->depth * (faces ? 6 : 1) : 0,
                                      .format = shim_format_number(&spec->format),
                                      .channels = spec->format.channels,
                                      .flags = ((const struct shim_array *)array)->flags};
    return driver_result(SHIM_OK);
}

EXPORT int cuArrayGetDescriptor_v2(struct abi_array_desc *desc, void *array)
{
    struct abi_array3d_desc full;
    int code = desc ? cuArray3DGetDescriptor_v2(&full, array) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *desc = (struct abi_array_desc){full.width, full.height, full.format, full.channels};
    }
    return code;
}

EXPORT int cuMipmappedArrayCreate(void **out, const struct abi_array3d_desc *desc, unsigned levels)
{
    struct rt *rt;
    struct texel_format format;
    int code = out && desc ? driver_enter(&rt) : SHIM_INVALID;
    code = code == SHIM_OK ? shim_format(&format, desc->format, desc->channels) : code;
    return driver_result(code == SHIM_OK
                             ? shim_mipmap_create(out, format, desc->width, desc->height,
                                                  desc->depth, levels, desc->flags)
                             : code);
}

EXPORT int cuMipmappedArrayDestroy(void *mipmap)
{
    return driver_result(shim_mipmap_destroy(mipmap));
}

EXPORT int cuMipmappedArrayGetLevel(void **array, void *mipmap, unsigned level)
{
    return driver_result(array ? shim_mipmap_level(array, mipmap, level) : SHIM_INVALID);
}

static int resource_of(struct shim_resource *out, const struct abi_resource_desc_driver *desc)
{
    *out = (struct shim_resource){.type = desc->type, .handle = desc->handle};
    if (desc->type == 2) {
        out->address = desc->linear.ptr;
        out->bytes = desc->linear.bytes;
        return shim_format(&out->format, desc->linear.format, desc->linear.channels);
    }
    if (desc->type == 3) {
        out->address = desc->pitched.ptr;
        out->width = desc->pitched.width;
        out->height = desc->pitched.height;
        out->pitch = desc->pitched.pitch;
        return shim_format(&out->format, desc->pitched.format, desc->pitched.channels);
    }
    return desc->type == 0 || desc->type == 1 ? SHIM_OK : SHIM_INVALID;
}

void view_of(struct texture_view *out, const struct abi_texture_desc_driver *desc)
{
    static const enum texture_address modes[] = {TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR,
                                                 TEXTURE_BORDER};
    *out = (struct texture_view){.linear = desc->filter == 1,
                                 .normalized = (desc->flags & ABI_TEXTURE_NORMALIZED) != 0,
                                 .as_integer = (desc->flags & ABI_TEXTURE_INTEGERS) != 0,
                                 .srgb = (desc->flags & ABI_TEXTURE_SRGB) != 0,
                                 .level_linear = desc->mipmap_filter == 1,
                                 .level_bias = desc->bias,
                                 .level_min = desc->least,
                                 .level_max = desc->most};
    for (int i = 0; i < 3; i++) {
        out->address[i] = modes[desc->address[i] & 3];
    }
    memcpy(out->border, desc->border, sizeof out->border);
}

EXPORT int cuTexObjectCreate(uint64_t *out, const struct abi_resource_desc_driver *resource,
                             const struct abi_texture_desc_driver *texture,
                             const struct abi_view_desc *as)
{
    struct shim_resource from;
    struct texture_view view;
    struct rt *rt;
    int code = out && resource && texture ? driver_enter(&rt) : SHIM_INVALID;
    code = code == SHIM_OK ? resource_of(&from, resource) : code;
    if (code != SHIM_OK || !shim_texture_aligned(&from)) {
        return driver_result(code == SHIM_OK ? SHIM_INVALID : code);
    }
    from.as = as;
    view_of(&view, texture);
    shim_texture_leave_out((texture->flags & ABI_TEXTURE_SEAMLESS) != 0, texture->anisotropy);
    return driver_result(shim_texture_create(out, &from, &view));
}

EXPORT int cuTexObjectDestroy(uint64_t handle)
{
    return driver_result(shim_texture_destroy(handle));
}

EXPORT int cuSurfObjectCreate(uint64_t *out, const struct abi_resource_desc_driver *resource)
{
    struct shim_resource from;
    struct rt *rt;
    int code = out && resource ? driver_enter(&rt) : SHIM_INVALID;
    code = code == SHIM_OK ? resource_of(&from, resource) : code;
    return driver_result(code == SHIM_OK ? shim_surface_create(out, &from) : code);
}

EXPORT int cuSurfObjectDestroy(uint64_t handle)
{
    return driver_result(shim_surface_destroy(handle));
}
