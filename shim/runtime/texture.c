/* Arrays, texture and surface objects. */
#include <string.h>

#include "shim/core/image.h"
#include "shim/runtime/register.h"
#include "shim/runtime/texture.h"

EXPORT struct abi_channel_desc cudaCreateChannelDesc(int x, int y, int z, int w, int f)
{
    return (struct abi_channel_desc){x, y, z, w, f};
}

int format_of(struct texel_format *out, const struct abi_channel_desc *desc)
{
    static const enum texel_kind kinds[] = {TEXEL_SIGNED, TEXEL_UNSIGNED, TEXEL_FLOAT};
    if (desc->f < ABI_SIGNED || desc->f > ABI_FLOAT ||
        (desc->x != 8 && desc->x != 16 && desc->x != 32) || (desc->y && desc->y != desc->x) ||
        (desc->z && (desc->z != desc->x || !desc->y)) ||
        (desc->w && (desc->w != desc->x || !desc->z))) {
        return 20; /* a channel descriptor that is none */
    }
    *out = (struct texel_format){.kind = kinds[desc->f],
                                 .bits = (uint8_t)desc->x,
                                 .channels = (uint8_t)(1 + !!desc->y + !!desc->z + !!desc->w)};
    return SHIM_OK;
}

static void desc_of(struct abi_channel_desc *out, const struct texel_format *format)
{
    static const int kinds[] = {
        [TEXEL_SIGNED] = ABI_SIGNED, [TEXEL_UNSIGNED] = ABI_UNSIGNED, [TEXEL_FLOAT] = ABI_FLOAT};
    int bits = format->bits;
    *out = (struct abi_channel_desc){bits, format->channels > 1 ? bits : 0,
                                     format->channels > 2 ? bits : 0,
                                     format->channels > 3 ? bits : 0, kinds[format->kind]};
}

static int array_create(void **out, const struct abi_channel_desc *desc, size_t width,
                        size_t height, size_t depth, unsigned flags)
{
    struct texel_format format;
    if (!out || !desc || width == 0) {
        return SHIM_INVALID;
    }
    int code = format_of(&format, desc);
    return code == SHIM_OK ? shim_array_create(out, format, width, height, depth, flags) : code;
}

EXPORT int cudaMallocArray(void **out, const struct abi_channel_desc *desc, size_t width,
                           size_t height, unsigned flags)
{
    return last(array_create(out, desc, width, height, 0, flags));
}

EXPORT int cudaMalloc3DArray(void **out, const struct abi_channel_desc *desc,
                             struct abi_extent extent, unsigned flags)
{
    return last(array_create(out, desc, extent.width, extent.height, extent.depth, flags));
}

EXPORT int cudaFreeArray(void *array)
{
    return last(array ? shim_array_destroy(array) : SHIM_OK);
}

EXPORT int cudaMallocMipmappedArray(void **out, const struct abi_channel_desc *desc,
                                    struct abi_extent extent, unsigned levels, unsigned flags)
{
    struct texel_format format;
    int code = out && desc && extent.width ? format_of(&format, desc) : SHIM_INVALID;
    return last(code == SHIM_OK ? shim_mipmap_create(out, format, extent.width, extent.height,
                                                     extent.depth, levels, flags)
                                : code);
}

EXPORT int cudaFreeMipmappedArray(void *mipmap)
{
    return last(mipmap ? shim_mipmap_destroy(mipmap) : SHIM_OK);
}

EXPORT int cudaGetMipmappedArrayLevel(void **array, void *mipmap, unsigned level)
{
    return last(array ? shim_mipmap_level(array, mipmap, level) : SHIM_INVALID);
}

EXPORT int cudaArrayGetInfo(struct abi_channel_desc *desc, struct abi_extent *extent,
                            unsigned *flags, void *array)
{
    struct rt_image *image;
    uint32_t level;
    int code = image_of(&image, &level, array);
    if (code != SHIM_OK) {
        return last(code);
    }
    const struct image_spec *spec = rt_image_spec(image);
    if (desc) {
        desc_of(desc, &spec->format);
    }
    if (extent) {
        bool faces = spec->shape == IMAGE_CUBE || spec->shape == IMAGE_CUBE_LAYERED;
        bool flat = spec->shape == IMAGE_1D || spec->shape == IMAGE_1D_LAYERED;
        bool deep = faces || spec->shape == IMAGE_3D || spec->shape == IMAGE_1D_LAYERED ||
                    spec->shape == IMAGE_2D_LAYERED;
        uint32_t width = spec->width >> level, height = spec->height >> level;
        *extent = (struct abi_extent){width ? width : 1,
                                      flat     ? 0
                                      : height ? height
                                               : 1,
                                      deep ? spec->depth * (faces ? 6 : 1) : 0};
    }
    if (flags) {
        *flags = ((const struct shim_array *)array)->flags;
    }
    return last(SHIM_OK);
}

EXPORT int cudaGetChannelDesc(struct abi_channel_desc *desc, const void *array)
{
    return desc ? cudaArrayGetInfo(desc, NULL, NULL, (void *)array) : last(SHIM_INVALID);
}

int resource_of(struct shim_resource *out, const struct abi_resource_desc *desc)
{
    const struct abi_channel_desc *channels = NULL;
    *out = (struct shim_resource){.type = desc->type};
    if (desc->type == 0 || desc->type == 1) {
        out->handle = desc->handle;
    } else if (desc->type == 2) {
        out->address = (uintptr_t)desc->linear.ptr;
        out->bytes = desc->linear.bytes;
        channels = &desc->linear.desc;
    } else if (desc->type == 3) {
        out->address = (uintptr_t)desc->pitched.ptr;
        out->width = desc->pitched.width;
        out->height = desc->pitched.height;
        out->pitch = desc->pitched.pitch;
        channels = &desc->pitched.desc;
    } else {
        return SHIM_INVALID;
    }
    return channels ? format_of(&out->format, channels) : SHIM_OK;
}

static enum texture_address address_of(int mode)
{
    static const enum texture_address modes[] = {TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR,
                                                 TEXTURE_BORDER};
    return modes[mode & 3];
}

void view_of(struct texture_view *out, const struct abi_texture_desc *desc)
{
    *out = (struct texture_view){.linear = desc->filter == 1,
                                 .normalized = desc->normalized != 0,
                                 .as_integer = desc->read == 0,
                                 .srgb = desc->srgb != 0,
                                 .level_linear = desc->mipmap_filter == 1,
                                 .level_bias = desc->bias,
                                 .level_min = desc->least,
                                 .level_max = desc->most};
    for (int i = 0; i < 3; i++) {
        out->address[i] = address_of(desc->address[i]);
    }
    memcpy(out->border, desc->border, sizeof out->border);
}

EXPORT int cudaCreateTextureObject(uint64_t *out, const struct abi_resource_desc *resource,
                                   const struct abi_texture_desc *texture,
                                   const struct abi_view_desc *as)
{
    struct shim_resource from;
    struct texture_view view;
    if (!out || !resource || !texture) {
        return last(SHIM_INVALID);
    }
    int code = resource_of(&from, resource);
    from.as = as;
    code = code == SHIM_OK && !shim_texture_aligned(&from) ? SHIM_INVALID : code;
    view_of(&view, texture);
    shim_texture_leave_out(texture->seamless != 0, texture->anisotropy);
    code = code == SHIM_OK ? shim_texture_create(out, &from, &view) : code;
    if (code == SHIM_OK) {
        texture_remember(*out, resource, texture);
    }
    return last(code);
}

EXPORT int cudaDestroyTextureObject(uint64_t handle)
{
    texture_forget(handle);
    return last(handle ? shim_texture_destroy(handle) : SHIM_OK);
}

EXPORT int cudaCreateSurfaceObject(uint64_t *out, const struct abi_resource_desc *resource)
{
    struct shim_resource from;
    int code = out && resource ? resource_of(&from, resource) : SHIM_INVALID;
    code = code == SHIM_OK ? shim_surface_create(out, &from) : code;
    if (code == SHIM_OK) {
        texture_remember(*out, resource, NULL);
    }
    return last(code);
}

EXPORT int cudaDestroySurfaceObject(uint64_t handle)
{
    texture_forget(handle);
    return last(handle ? shim_surface_destroy(handle) : SHIM_OK);
}
