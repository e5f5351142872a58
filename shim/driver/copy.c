/* Copies of two and three dimensions: both have ends of four kinds. */
#include "shim/driver/copy.h"

#include "shim/core/image.h"

enum { TYPE_HOST = 1, TYPE_DEVICE, TYPE_ARRAY, TYPE_UNIFIED };

static int end_fill(struct rt *rt, struct rt_end *end, const struct abi_copy3d_end *from)
{
    struct shim_range range;
    if (from->type == TYPE_ARRAY) {
        struct rt_image *image;
        uint32_t level;
        int code = image_of(&image, &level, from->array);
        *end = (struct rt_end){.kind = RT_END_IMAGE,
                               .image = image,
                               .level = level,
                               .x_bytes = from->x,
                               .y = from->y,
                               .z = from->z};
        return code;
    }
    if (from->type < TYPE_HOST || from->type > TYPE_UNIFIED) {
        return SHIM_INVALID;
    }
    uint64_t base = from->type == TYPE_HOST ? (uintptr_t)from->host : from->device;
    if (base == 0 || (from->type == TYPE_DEVICE && !shim_memory_find(&range, base))) {
        return SHIM_INVALID;
    }
    base += from->x + from->y * from->pitch + from->z * from->pitch * from->height;
    shim_end(rt, end, (const void *)(uintptr_t)base);
    end->row_bytes = from->pitch;
    end->slice_rows = from->height;
    return SHIM_OK;
}

int driver_copy3d(struct rt *rt, struct rt_copy *out, const struct abi_copy3d_driver *params)
{
    *out = (struct rt_copy){
        .width_bytes = params->width, .height = params->height, .depth = params->depth};
    int code = end_fill(rt, &out->src, &params->src);
    return code == SHIM_OK ? end_fill(rt, &out->dst, &params->dst) : code;
}

int driver_copy2d(struct rt *rt, struct rt_copy *out, const struct abi_copy2d_driver *params)
{
    struct abi_copy3d_driver space = {.src = {.x = params->src_x,
                                              .y = params->src_y,
                                              .type = params->src_type,
                                              .host = (void *)params->src_host,
                                              .device = params->src_device,
                                              .array = params->src_array,
                                              .pitch = params->src_pitch},
                                      .dst = {.x = params->dst_x,
                                              .y = params->dst_y,
                                              .type = params->dst_type,
                                              .host = params->dst_host,
                                              .device = params->dst_device,
                                              .array = params->dst_array,
                                              .pitch = params->dst_pitch},
                                      .width = params->width,
                                      .height = params->height,
                                      .depth = 1};
    return driver_copy3d(rt, out, &space);
}
