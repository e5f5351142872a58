/*
 * What copies and memsets do. An end is linear memory, of the host or of the device, or a part of
 * an image, whose layout only image.c knows; between two images bytes go through a buffer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/queue/state.h"
#include "util/error.h"

static uint64_t row_bytes(const struct rt_end *end, const struct rt_copy *copy)
{
    return end->row_bytes ? end->row_bytes : copy->width_bytes;
}

static uint64_t slice_bytes(const struct rt_end *end, const struct rt_copy *copy)
{
    return row_bytes(end, copy) * (end->slice_rows ? end->slice_rows : copy->height);
}

static bool is_empty(const struct rt_copy *copy)
{
    return copy->width_bytes == 0 || copy->height == 0 || copy->depth == 0;
}

static uint8_t *linear_at(const struct rt_end *end, const struct rt_copy *copy)
{
    uint64_t start = end->kind == RT_END_HOST ? (uint64_t)(uintptr_t)end->host : end->device;
    return (uint8_t *)(uintptr_t)(start + end->z * slice_bytes(end, copy) +
                                  end->y * row_bytes(end, copy) + end->x_bytes);
}

static int region_of(struct rt_image_region *out, const struct rt_end *end,
                     const struct rt_end *other, const struct rt_copy *copy)
{
    uint32_t texel = end->image->image.texel_bytes;
    if (end->x_bytes % texel != 0 || copy->width_bytes % texel != 0) {
        return error_set(SONDE_EINPUT, "%llu bytes from byte %llu on are no whole texels of %u",
                         (unsigned long long)copy->width_bytes, (unsigned long long)end->x_bytes,
                         texel);
    }
    *out = (struct rt_image_region){.level = end->level,
                                    .x = (uint32_t)(end->x_bytes / texel),
                                    .y = (uint32_t)end->y,
                                    .z = (uint32_t)end->z,
                                    .width = (uint32_t)(copy->width_bytes / texel),
                                    .height = (uint32_t)copy->height,
                                    .depth = (uint32_t)copy->depth};
    if (other && other->kind != RT_END_IMAGE) {
        out->row_bytes = row_bytes(other, copy);
        out->slice_bytes = slice_bytes(other, copy);
    }
    return 0;
}

/* a + b * c; false: beyond 64 bits. */
static bool add_product(uint64_t *out, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product;
    return !__builtin_mul_overflow(b, c, &product) && !__builtin_add_overflow(a, product, out);
}

/* The bytes from the first that a linear end touches to its last, and whether all of it has
 * addresses: pitches and places are the program's, and may be anything. */
static bool extent(uint64_t *first, uint64_t *bytes, const struct rt_end *end,
                   const struct rt_copy *copy)
{
    uint64_t start = end->kind == RT_END_HOST ? (uint64_t)(uintptr_t)end->host : end->device;
    uint64_t row = row_bytes(end, copy), slice, last;
    uint64_t rows = end->slice_rows ? end->slice_rows : copy->height;
    bool flat = copy->depth == 1 && end->z == 0; /* slices matter to none */
    return !__builtin_mul_overflow(flat ? 0 : row, rows, &slice) &&
           add_product(first, start, end->z, slice) && add_product(first, *first, end->y, row) &&
           !__builtin_add_overflow(*first, end->x_bytes, first) &&
           add_product(bytes, copy->width_bytes, copy->depth - 1, slice) &&
           add_product(bytes, *bytes, copy->height - 1, row) &&
           !__builtin_add_overflow(*first, *bytes - 1, &last);
}

/* Of an image's end: what region_of() makes narrower. */
static bool fits_region(const struct rt_end *end, const struct rt_copy *copy)
{
    return end->x_bytes <= UINT32_MAX && end->y <= UINT32_MAX && end->z <= UINT32_MAX &&
           copy->width_bytes <= UINT32_MAX && copy->height <= UINT32_MAX &&
           copy->depth <= UINT32_MAX;
}

/* An image's texels that are not there are told by their place. */
static int image_check(struct rt *rt, const struct rt_end *end,
                       const struct rt_image_region *region)
{
    char what[160];
    int rc = rt_image_check(end->image, region);
    if (rc < 0 && !end->image->image.gone) {
        snprintf(what, sizeof what, "a copy of %u x %u x %u texels from (%u, %u, %u) on",
                 region->width, region->height, region->depth, region->x, region->y, region->z);
        checking_refused(rt, what, end->image->image.level[0].address, 0);
    }
    return rc;
}

static int end_check(struct rt *rt, const struct rt_end *end, const struct rt_copy *copy)
{
    if (end->kind == RT_END_IMAGE) {
        struct rt_image_region region = {0};
        if (!fits_region(end, copy)) {
            return error_set(SONDE_EINPUT, "a copy of an image beyond 32 bits");
        }
        if (!end->image) {
            return error_set(SONDE_EINPUT, "a copy without its image");
        }
        int rc = region_of(&region, end, NULL, copy);
        return rc == 0 ? image_check(rt, end, &region) : rc;
    }
    uint64_t row = row_bytes(end, copy);
    if (row < copy->width_bytes || (end->slice_rows && end->slice_rows < copy->height)) {
        return error_set(SONDE_EINPUT,
                         "a copy of %llu x %llu bytes, but rows are %llu bytes apart "
                         "and slices %llu rows",
                         (unsigned long long)copy->width_bytes, (unsigned long long)copy->height,
                         (unsigned long long)row, (unsigned long long)end->slice_rows);
    }
    if (end->kind == RT_END_HOST && !end->host) {
        return error_set(SONDE_EINPUT, "a copy without its host memory");
    }
    uint64_t first, bytes;
    if (!extent(&first, &bytes, end, copy)) {
        return error_set(SONDE_EINPUT,
                         "a copy of %llu x %llu x %llu bytes, rows %llu bytes apart, is larger "
                         "than all addresses",
                         (unsigned long long)copy->width_bytes, (unsigned long long)copy->height,
                         (unsigned long long)copy->depth, (unsigned long long)row);
    }
    if (end->kind == RT_END_HOST) {
        return 0;
    }
    return exec_memory_valid(rt->memory, first, bytes) ? 0
                                                       : range_refuse(rt, "a copy", first, bytes);
}

int copy_check(struct rt *rt, const struct rt_copy *copy)
{
    if (is_empty(copy)) {
        return 0;
    }
    int rc = end_check(rt, &copy->dst, copy);
    return rc == 0 ? end_check(rt, &copy->src, copy) : rc;
}

/* Rows from one place to another, whole slices and more at a time where they lie together. */
static void copy_rows(uint8_t *to, uint64_t to_row, uint64_t to_slice, const uint8_t *from,
                      uint64_t from_row, uint64_t from_slice, const struct rt_copy *copy)
{
    uint64_t width = copy->width_bytes;
    bool tight = to_row == width && from_row == width;
    bool whole = tight && to_slice == from_slice && to_slice == width * copy->height;
    if (whole) {
        memmove(to, from, width * copy->height * copy->depth);
        return;
    }
    for (uint64_t z = 0; z < copy->depth; z++) {
        if (tight) {
            memmove(to + z * to_slice, from + z * from_slice, width * copy->height);
            continue;
        }
        for (uint64_t y = 0; y < copy->height; y++) {
            memmove(to + z * to_slice + y * to_row, from + z * from_slice + y * from_row, width);
        }
    }
}

int copy_stage(struct op_copy *op)
{
    struct rt_copy *copy = &op->copy;
    if (is_empty(copy)) {
        return 0;
    }
    struct rt_end *src = &copy->src;
    uint64_t bytes = copy->width_bytes * copy->height * copy->depth;
    op->staged = malloc(bytes);
    if (!op->staged) {
        return error_memory();
    }
    copy_rows(op->staged, copy->width_bytes, copy->width_bytes * copy->height, linear_at(src, copy),
              row_bytes(src, copy), slice_bytes(src, copy), copy);
    *src = (struct rt_end){.kind = RT_END_HOST, .host = op->staged};
    return 0;
}

/* Device memory that a copy has read or written goes through L2. */
static void touch(struct rt *rt, const struct rt_end *end, const struct rt_copy *copy, bool written)
{
    if (end->kind != RT_END_DEVICE) {
        return;
    }
    uint64_t row = row_bytes(end, copy), slice = slice_bytes(end, copy);
    uint64_t first = (uint64_t)(uintptr_t)linear_at(end, copy);
    bool tight = row == copy->width_bytes;
    for (uint64_t z = 0; z < copy->depth; z++) {
        for (uint64_t y = 0; y < (tight ? 1 : copy->height); y++) {
            gpu_host_copy(rt->gpu, first + z * slice + y * row,
                          tight ? row * copy->height : copy->width_bytes, written);
            if (written) {
                checking_written(rt, first + z * slice + y * row,
                                 tight ? row * copy->height : copy->width_bytes);
            }
        }
    }
}

static int copy_images(struct rt *rt, const struct rt_copy *copy)
{
    struct rt_image_region from, to;
    int rc = region_of(&from, &copy->src, NULL, copy);
    rc = rc == 0 ? region_of(&to, &copy->dst, NULL, copy) : rc;
    if (rc < 0) {
        return rc;
    }
    void *buffer = malloc(copy->width_bytes * copy->height * copy->depth);
    if (!buffer) {
        return error_memory();
    }
    rc = rt_image_read(rt, buffer, copy->src.image, &from);
    if (rc == 0) {
        rc = rt_image_write(rt, copy->dst.image, &to, buffer);
    }
    free(buffer);
    return rc;
}

int copy_perform(struct rt *rt, const struct rt_copy *copy)
{
    const struct rt_end *dst = &copy->dst, *src = &copy->src;
    int rc = copy_check(rt, copy);
    if (rc < 0 || is_empty(copy)) {
        return rc;
    }
    struct rt_image_region region;
    if (dst->kind == RT_END_IMAGE && src->kind == RT_END_IMAGE) {
        return copy_images(rt, copy);
    }
    if (dst->kind == RT_END_IMAGE) {
        rc = region_of(&region, dst, src, copy);
        rc = rc == 0 ? rt_image_write(rt, dst->image, &region, linear_at(src, copy)) : rc;
    } else if (src->kind == RT_END_IMAGE) {
        rc = region_of(&region, src, dst, copy);
        rc = rc == 0 ? rt_image_read(rt, linear_at(dst, copy), src->image, &region) : rc;
    } else {
        copy_rows(linear_at(dst, copy), row_bytes(dst, copy), slice_bytes(dst, copy),
                  linear_at(src, copy), row_bytes(src, copy), slice_bytes(src, copy), copy);
    }
    if (rc == 0) {
        touch(rt, src, copy, false);
        touch(rt, dst, copy, true);
    }
    return rc;
}

int memset_check(struct rt *rt, const struct rt_memset *set)
{
    uint32_t element = set->element_bytes;
    if (element != 1 && element != 2 && element != 4) {
        return error_set(SONDE_EINPUT, "a memset with elements of %u bytes", element);
    }
    uint64_t width, bytes;
    if (set->width == 0 || set->height == 0) {
        return 0;
    }
    bool fits = !__builtin_mul_overflow(set->width, element, &width);
    uint64_t row = set->row_bytes ? set->row_bytes : width;
    if (!fits || !add_product(&bytes, width, set->height - 1, row)) {
        return error_set(SONDE_EINPUT,
                         "a memset of %llu x %llu elements is larger than all addresses",
                         (unsigned long long)set->width, (unsigned long long)set->height);
    }
    if (set->address % element != 0 || (set->height > 1 && row % element != 0)) {
        return error_set(SONDE_EINPUT, "a memset at 0x%llx with elements of %u bytes",
                         (unsigned long long)set->address, element);
    }
    if (set->height > 1 && row < width) {
        return error_set(SONDE_EINPUT, "a memset of rows of %llu bytes that are %llu apart",
                         (unsigned long long)width, (unsigned long long)row);
    }
    return exec_memory_valid(rt->memory, set->address, bytes)
               ? 0
               : range_refuse(rt, "a memset", set->address, bytes);
}

int memset_perform(struct rt *rt, const struct rt_memset *set)
{
    int rc = memset_check(rt, set);
    uint64_t width = set->width * set->element_bytes;
    uint64_t row = set->row_bytes ? set->row_bytes : width;
    for (uint64_t y = 0; rc == 0 && width > 0 && y < set->height; y++) {
        uint8_t *at = (uint8_t *)(uintptr_t)(set->address + y * row);
        uint16_t half = (uint16_t)set->value;
        for (uint64_t i = 0; set->element_bytes > 1 && i < width; i += set->element_bytes) {
            if (set->element_bytes == 2) {
                memcpy(at + i, &half, sizeof half);
            } else {
                memcpy(at + i, &set->value, sizeof set->value);
            }
        }
        if (set->element_bytes == 1) {
            memset(at, (int)(set->value & 0xff), width);
        }
        gpu_host_copy(rt->gpu, set->address + y * row, width, true);
        checking_written(rt, set->address + y * row, width);
    }
    return rc;
}
