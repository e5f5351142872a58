/* Directions of copies, and copies in space. */
#include "shim/runtime/copy.h"

#include "rt/state.h"
#include "shim/core/image.h"

/* An address that is to be the device's: a checker is told of one that is not. */
static bool is_device(const void *address, uint64_t bytes)
{
    struct shim_range range;
    struct rt *rt;
    if (shim_memory_find(&range, (uintptr_t)address)) {
        return true;
    }
    if (shim_device(&rt) == SHIM_OK && bytes > 0) {
        shim_check_copy_refused(rt, (uintptr_t)address, bytes);
    }
    return false;
}

int copy_check(const void *dst, const void *src, uint64_t bytes, int kind)
{
    if (kind < ABI_HOST_TO_HOST || kind > ABI_DEFAULT) {
        return SHIM_BAD_DIRECTION;
    }
    bool to_device = kind == ABI_HOST_TO_DEVICE || kind == ABI_DEVICE_TO_DEVICE;
    bool from_device = kind == ABI_DEVICE_TO_HOST || kind == ABI_DEVICE_TO_DEVICE;
    if (!dst || !src || (to_device && !is_device(dst, bytes)) ||
        (from_device && !is_device(src, bytes))) {
        return SHIM_INVALID;
    }
    return SHIM_OK;
}

static int end_fill(struct rt *rt, struct rt_end *end, void *array, const struct abi_pos *pos,
                    const struct abi_pitched *linear, uint64_t texel_bytes)
{
    if (array) {
        struct rt_image *image;
        uint32_t level;
        int code = image_of(&image, &level, array);
        *end = (struct rt_end){.kind = RT_END_IMAGE,
                               .image = image,
                               .level = level,
                               .x_bytes = pos->x * texel_bytes,
                               .y = pos->y,
                               .z = pos->z};
        return code;
    }
    if (!linear->ptr) {
        return SHIM_INVALID;
    }
    const uint8_t *at = (const uint8_t *)linear->ptr + pos->x * texel_bytes +
                        pos->y * linear->pitch + pos->z * linear->pitch * linear->ysize;
    shim_end(rt, end, at);
    end->row_bytes = linear->pitch;
    end->slice_rows = linear->ysize;
    return SHIM_OK;
}

/* An array's elements are what extent and positions count, those of linear memory as well: so a
 * card, where the manual has bytes. */
static int copy_texel(uint64_t *bytes, const void *array)
{
    struct rt_image *image;
    uint32_t level;
    int code = array ? image_of(&image, &level, array) : SHIM_OK;
    if (array && code == SHIM_OK) {
        *bytes = image->image.texel_bytes;
    }
    return code;
}

int copy3d_fill(struct rt *rt, struct rt_copy *out, const struct abi_copy3d *params)
{
    *out = (struct rt_copy){0};
    if (!params || (!params->src_array && !params->src.ptr) ||
        (!params->dst_array && !params->dst.ptr)) {
        return SHIM_INVALID;
    }
    if (params->kind < ABI_HOST_TO_HOST || params->kind > ABI_DEFAULT) {
        return SHIM_BAD_DIRECTION;
    }
    uint64_t texel = 1;
    int code = copy_texel(&texel, params->dst_array);
    code = code == SHIM_OK ? copy_texel(&texel, params->src_array) : code;
    if (code != SHIM_OK) {
        return code;
    }
    out->width_bytes = params->extent.width * texel;
    out->height = params->extent.height;
    out->depth = params->extent.depth;
    code = end_fill(rt, &out->src, params->src_array, &params->src_pos, &params->src, texel);
    return code == SHIM_OK
               ? end_fill(rt, &out->dst, params->dst_array, &params->dst_pos, &params->dst, texel)
               : code;
}

int array_row_bytes(uint64_t *bytes, const void *array)
{
    struct rt_image *image;
    uint32_t level;
    int code = image_of(&image, &level, array);
    if (code == SHIM_OK) {
        *bytes = (uint64_t)image->image.level[level].width * image->image.texel_bytes;
    }
    return code;
}

int array_bytes(struct abi_copy3d *params)
{
    struct rt_image *image;
    uint32_t level;
    const void *array = params->src_array ? params->src_array : params->dst_array;
    int code = image_of(&image, &level, array);
    if (code != SHIM_OK) {
        return code;
    }
    uint64_t texel = image->image.texel_bytes;
    if (params->extent.width % texel || (params->src_array && params->src_pos.x % texel) ||
        (params->dst_array && params->dst_pos.x % texel)) {
        return SHIM_INVALID;
    }
    params->extent.width /= texel;
    params->src_pos.x /= params->src_array ? texel : 1;
    params->dst_pos.x /= params->dst_array ? texel : 1;
    return SHIM_OK;
}
