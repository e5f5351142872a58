/*
 * Arrays, mipmaps, and objects on them. A level of a mipmap is an array of its own right; its
 * handle lives as long as the mipmap.
 */
#include "shim/core/image.h"

#include <stdlib.h>
#include <string.h>

#include "rt/state.h"
#include "util/error.h"

int image_of(struct rt_image **image, uint32_t *level, const void *array)
{
    *image = NULL;
    *level = 0;
    if (!shim_handle_is(array, SHIM_ARRAY)) {
        return SHIM_BAD_HANDLE;
    }
    const struct shim_array *shim = array;
    *image = shim->image;
    *level = shim->level;
    return SHIM_OK;
}

static int shape_of(struct image_spec *spec, size_t width, size_t height, size_t depth,
                    unsigned flags)
{
    bool layered = flags & ABI_ARRAY_LAYERED, cube = flags & ABI_ARRAY_CUBE;
    if (cube && (depth % 6 != 0 || depth == 0)) {
        return SHIM_INVALID;
    }
    if (cube) {
        spec->shape = layered ? IMAGE_CUBE_LAYERED : IMAGE_CUBE;
        depth /= 6;
    } else if (layered) {
        spec->shape = height ? IMAGE_2D_LAYERED : IMAGE_1D_LAYERED;
    } else {
        spec->shape = depth ? IMAGE_3D : height ? IMAGE_2D : IMAGE_1D;
    }
    if (width > UINT32_MAX || height > UINT32_MAX || depth > UINT32_MAX) {
        return SHIM_INVALID;
    }
    spec->width = (uint32_t)width;
    spec->height = (uint32_t)(height ? height : 1);
    spec->depth = (uint32_t)(depth ? depth : 1);
    return SHIM_OK;
}

int image_create(struct rt_image **out, struct texel_format format, size_t width, size_t height,
                 size_t depth, unsigned levels, unsigned flags)
{
    struct rt *rt;
    struct image_spec spec = {.format = format, .levels = levels ? levels : 1};
    spec.surface = (flags & ABI_ARRAY_SURFACE) != 0;
    int code = shape_of(&spec, width, height, depth, flags);
    code = code == SHIM_OK ? shim_enter(&rt) : code;
    if (code == SHIM_OK) {
        shim_check_site(rt);
        code = shim_code(rt_image_create(rt, out, &spec));
        shim_check_site_ends(rt);
        shim_leave(rt);
    }
    return code;
}

int shim_array_create(void **out, struct texel_format format, size_t width, size_t height,
                      size_t depth, unsigned flags)
{
    struct shim_array *array = calloc(1, sizeof *array);
    *out = NULL;
    if (!array) {
        return SHIM_NO_MEMORY;
    }
    array->flags = flags;
    int code = image_create(&array->image, format, width, height, depth, 1, flags);
    code = code == SHIM_OK ? shim_handle_add(array, SHIM_ARRAY) : code;
    if (code != SHIM_OK) {
        free(array);
        return code;
    }
    *out = array;
    return SHIM_OK;
}

static int image_destroy(struct rt_image *image)
{
    struct rt *rt;
    int code = shim_device(&rt);
    code = code == SHIM_OK ? shim_code(rt_sync(rt)) : code;
    if (code == SHIM_OK) {
        rt_lock(rt);
        shim_check_site(rt);
        code = shim_code(rt_image_destroy(rt, image));
        shim_check_site_ends(rt);
        rt_unlock(rt);
    }
    return code;
}

int shim_array_destroy(void *handle)
{
    struct shim_array *array = handle;
    if (!shim_handle_is(array, SHIM_ARRAY) || array->of_mipmap) {
        return SHIM_BAD_HANDLE;
    }
    int code = image_destroy(array->image);
    shim_handle_remove(array);
    free(array);
    return code;
}

int shim_mipmap_create(void **out, struct texel_format format, size_t width, size_t height,
                       size_t depth, unsigned levels, unsigned flags)
{
    struct shim_mipmap *mipmap = calloc(1, sizeof *mipmap);
    *out = NULL;
    size_t largest = width > height ? width : height, most = 1;
    largest = depth > largest && !(flags & (ABI_ARRAY_LAYERED | ABI_ARRAY_CUBE)) ? depth : largest;
    while (largest >>= 1) {
        most++;
    }
    levels = levels == 0 ? 1 : levels > most ? (unsigned)most : levels;
    if (!mipmap || !(mipmap->level = calloc(levels, sizeof *mipmap->level))) {
        free(mipmap);
        return SHIM_NO_MEMORY;
    }
    mipmap->levels = levels;
    mipmap->flags = flags;
    int code = image_create(&mipmap->image, format, width, height, depth, levels, flags);
    code = code == SHIM_OK ? shim_handle_add(mipmap, SHIM_MIPMAP) : code;
    for (unsigned i = 0; code == SHIM_OK && i < levels; i++) {
        mipmap->level[i] = (struct shim_array){
            .image = mipmap->image, .level = i, .of_mipmap = true, .flags = flags};
        code = shim_handle_add(&mipmap->level[i], SHIM_ARRAY);
    }
    if (code != SHIM_OK) {
        free(mipmap->level);
        free(mipmap);
        return code;
    }
    *out = mipmap;
    return SHIM_OK;
}

int shim_mipmap_destroy(void *handle)
{
    struct shim_mipmap *mipmap = handle;
    if (!shim_handle_is(mipmap, SHIM_MIPMAP)) {
        return SHIM_BAD_HANDLE;
    }
    for (unsigned i = 0; i < mipmap->levels; i++) {
        shim_handle_remove(&mipmap->level[i]);
    }
    int code = image_destroy(mipmap->image);
    shim_handle_remove(mipmap);
    free(mipmap->level);
    free(mipmap);
    return code;
}

int shim_mipmap_level(void **array, void *handle, unsigned level)
{
    struct shim_mipmap *mipmap = handle;
    if (!shim_handle_is(mipmap, SHIM_MIPMAP)) {
        return SHIM_BAD_HANDLE;
    }
    if (level >= mipmap->levels) {
        return SHIM_INVALID;
    }
    *array = &mipmap->level[level];
    return SHIM_OK;
}

/* What an object on an array reads: of a mipmap's level that level alone. */
static int array_image(struct rt *rt, struct rt_image **image, const void *array)
{
    uint32_t level;
    int code = image_of(image, &level, array);
    return code == SHIM_OK ? shim_code(rt_image_level(rt, image, *image, level)) : code;
}

/* An image of linear memory belongs to the object alone, and goes with it. */
static int resource_image(struct rt *rt, struct rt_image **image,
                          const struct shim_resource *resource)
{
    if (resource->type == 0) {
        return array_image(rt, image, resource->handle);
    }
    if (resource->type == 1) {
        if (!shim_handle_is(resource->handle, SHIM_MIPMAP)) {
            return SHIM_BAD_HANDLE;
        }
        *image = ((const struct shim_mipmap *)resource->handle)->image;
        return SHIM_OK;
    }
    if (resource->type != 2 && resource->type != 3) {
        return SHIM_INVALID;
    }
    struct image_spec spec = {.shape = resource->type == 2 ? IMAGE_BUFFER : IMAGE_PITCH,
                              .format = resource->format,
                              .height = 1,
                              .depth = 1,
                              .levels = 1,
                              .address = resource->address,
                              .pitch_bytes = resource->pitch};
    uint64_t texel = resource->format.bits / 8u * resource->format.channels;
    uint64_t width = resource->type == 2 ? resource->bytes / (texel ? texel : 1) : resource->width;
    spec.width = width > UINT32_MAX ? UINT32_MAX : (uint32_t)width;
    if (resource->type == 3) {
        spec.height = resource->height > UINT32_MAX ? UINT32_MAX : (uint32_t)resource->height;
    }
    int code = shim_code(rt_image_create(rt, image, &spec));
    if (code == SHIM_OK) {
        (*image)->of_texture = true;
    }
    return code;
}

/* The formats of a view, by their numbers: each with 1, 2 and 4 channels. */
static bool view_format(struct texel_format *out, int number)
{
    static const struct {
        enum texel_kind kind;
        uint8_t bits;
    } rows[] = {{TEXEL_UNSIGNED, 8},  {TEXEL_SIGNED, 8},  {TEXEL_UNSIGNED, 16}, {TEXEL_SIGNED, 16},
                {TEXEL_UNSIGNED, 32}, {TEXEL_SIGNED, 32}, {TEXEL_FLOAT, 16},    {TEXEL_FLOAT, 32}};
    unsigned row = (unsigned)(number - 1) / 3;
    if (number < 1 || row >= sizeof rows / sizeof *rows) {
        return false;
    }
    *out = (struct texel_format){.kind = rows[row].kind,
                                 .bits = rows[row].bits,
                                 .channels = (uint8_t)(1u << (number - 1) % 3)};
    return true;
}

/* Views in another format, of all levels and layers. */
static int view_apply(struct rt *rt, struct rt_image **image, const struct abi_view_desc *as)
{
    struct texel_format format = rt_image_spec(*image)->format;
    if (!as) {
        return SHIM_OK;
    }
    bool whole = as->first_level == 0 && as->first_layer == 0 &&
                 (as->last_level == 0 || as->last_level + 1 >= rt_image_spec(*image)->levels);
    if (!whole || (as->format != 0 && !view_format(&format, as->format))) {
        shim_say(
            "textures that see some levels or layers, or compressed texels, are not supported");
        return SHIM_NOT_SUPPORTED;
    }
    return shim_code(rt_image_as(rt, image, *image, format));
}

/* What an H200 refuses, but for memory at half its alignment, where allocations begin here. */
bool shim_texture_aligned(const struct shim_resource *resource)
{
    int pitch = 1;
    shim_attribute(&pitch, 51);
    bool linear = resource->type == 2 || resource->type == 3;
    return !linear || (resource->address % RT_ALIGN_BYTES == 0 &&
                       (resource->type == 2 || resource->pitch % (size_t)pitch == 0));
}

void shim_texture_leave_out(bool seamless, unsigned anisotropy)
{
    if (seamless) {
        shim_leave_out("filtering across the edges of cube maps (seamless)");
    }
    if (anisotropy > 1) {
        shim_leave_out("anisotropic filtering");
    }
}

int shim_texture_create(uint64_t *handle, const struct shim_resource *resource,
                        const struct texture_view *view)
{
    struct rt *rt;
    struct rt_image *image;
    int code = shim_enter(&rt);
    if (code != SHIM_OK) {
        return code;
    }
    code = resource_image(rt, &image, resource);
    code = code == SHIM_OK ? view_apply(rt, &image, resource->as) : code;
    if (code == SHIM_OK) {
        code = shim_code(rt_texture_object(rt, handle, image, view));
    }
    shim_leave(rt);
    return code;
}

int shim_texture_destroy(uint64_t handle)
{
    struct rt *rt;
    int code = shim_device(&rt);
    code = code == SHIM_OK ? shim_code(rt_sync(rt)) : code;
    if (code == SHIM_OK) {
        rt_lock(rt);
        code = shim_code(rt_texture_destroy(rt, handle));
        rt_unlock(rt);
    }
    return code;
}

int shim_surface_create(uint64_t *handle, const struct shim_resource *resource)
{
    struct rt *rt;
    struct rt_image *image;
    int code = shim_enter(&rt);
    if (code != SHIM_OK) {
        return code;
    }
    code = resource->type == 0 ? array_image(rt, &image, resource->handle) : SHIM_INVALID;
    if (code == SHIM_OK) {
        code = shim_code(rt_surface_object(rt, handle, image));
    }
    shim_leave(rt);
    return code;
}

int shim_surface_destroy(uint64_t handle)
{
    struct rt *rt;
    int code = shim_device(&rt);
    code = code == SHIM_OK ? shim_code(rt_sync(rt)) : code;
    if (code == SHIM_OK) {
        rt_lock(rt);
        code = shim_code(rt_surface_destroy(rt, handle));
        rt_unlock(rt);
    }
    return code;
}

static const struct {
    int number;
    enum texel_kind kind;
    uint8_t bits;
} formats[] = {
    {0x01, TEXEL_UNSIGNED, 8}, {0x02, TEXEL_UNSIGNED, 16}, {0x03, TEXEL_UNSIGNED, 32},
    {0x08, TEXEL_SIGNED, 8},   {0x09, TEXEL_SIGNED, 16},   {0x0a, TEXEL_SIGNED, 32},
    {0x10, TEXEL_FLOAT, 16},   {0x20, TEXEL_FLOAT, 32},
};

int shim_format(struct texel_format *out, int format, unsigned channels)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].number == format && channels <= 4) {
            *out = (struct texel_format){
                .kind = formats[i].kind, .bits = formats[i].bits, .channels = (uint8_t)channels};
            return SHIM_OK;
        }
    }
    return SHIM_INVALID;
}

int shim_format_number(const struct texel_format *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].kind == format->kind && formats[i].bits == format->bits) {
            return formats[i].number;
        }
    }
    return 0;
}
