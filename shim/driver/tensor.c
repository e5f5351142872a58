/*
 * Tensor maps: checked as the driver of an H200 checks them, and encoded as it does
 * (isa/tensor/tensor_map.h). Its numbers of types, swizzles and the like are those of the published
 * header.
 */
#include <stdbool.h>

#include "isa/tensor/tensor_map.h"
#include "shim/driver/driver.h"

#define STRIDE_LIMIT (UINT64_C(1) << 40)
#define SIZE_LIMIT (UINT64_C(1) << 32)
#define BOX_LIMIT 256
#define PIXEL_LIMIT 1024
#define STEP_LIMIT 8
#define BYTES_LIMIT (UINT64_C(1) << 18) /* of a box; one of 256 KiB is refused */

struct request {
    struct tensor_map map;
    int type, interleave, swizzle, promotion, fill;
};

/* The driver's types, from CU_TENSOR_MAP_DATA_TYPE_UINT8 on. */
static bool find_type(enum tensor_type *out, int type)
{
    static const enum tensor_type types[] = {
        TENSOR_U8,      TENSOR_U16,  TENSOR_U32,     TENSOR_S32, TENSOR_U64,
        TENSOR_S64,     TENSOR_F16,  TENSOR_F32,     TENSOR_F64, TENSOR_BF16,
        TENSOR_F32_FTZ, TENSOR_TF32, TENSOR_TF32_FTZ};
    if (type < 0 || (size_t)type >= sizeof types / sizeof *types) {
        return false;
    }
    *out = types[type];
    return true;
}

static bool modes_fit(const struct request *r)
{
    const struct tensor_map *map = &r->map;
    uint64_t inner = (uint64_t)map->box[0] * tensor_type_bytes(map->type);
    uint64_t span = UINT64_C(16) << r->swizzle;
    bool known = r->interleave >= 0 && r->interleave <= 2 && r->swizzle >= 0 && r->swizzle <= 3 &&
                 r->promotion >= 0 && r->promotion <= 3 && r->fill >= 0 && r->fill <= 1;
    if (!known || (r->fill && map->type < TENSOR_F16)) {
        return false;
    }
    if (r->interleave == 2 && (r->swizzle > 1 || map->address % 32)) {
        return false;
    }
    if (r->interleave) {
        return map->rank >= 3 && inner % 16 == 0;
    }
    return inner % 16 == 0 && (r->swizzle == 0 || inner <= span);
}

static bool sizes_fit(const struct request *r)
{
    const struct tensor_map *map = &r->map;
    uint64_t unit = r->interleave == 2 ? 32 : 16;
    for (uint32_t i = 0; i < map->rank; i++) {
        bool stride = i == 0 || (map->stride[i] % unit == 0 && map->stride[i] < STRIDE_LIMIT);
        if (!stride || map->size[i] == 0 || map->size[i] > SIZE_LIMIT || map->step[i] == 0 ||
            map->step[i] > STEP_LIMIT) {
            return false;
        }
    }
    return map->address % 16 == 0;
}

static bool box_fits(const struct tensor_map *map)
{
    uint64_t bytes = tensor_type_bytes(map->type);
    for (uint32_t i = 0; i < (map->im2col ? 2 : map->rank); i++) {
        uint32_t limit = map->im2col && i == 1 ? PIXEL_LIMIT : BOX_LIMIT;
        if (map->box[i] == 0 || map->box[i] > limit) {
            return false;
        }
        bytes *= map->box[i];
    }
    return bytes < BYTES_LIMIT;
}

static int encode(uint32_t *words, struct request *r)
{
    if (!modes_fit(r) || !sizes_fit(r) || !box_fits(&r->map)) {
        return SHIM_INVALID;
    }
    r->map.interleave = (uint32_t)r->interleave;
    r->map.swizzle = (uint32_t)r->swizzle;
    r->map.promotion = (uint32_t)r->promotion;
    r->map.fill_nan = r->fill;
    tensor_map_write(words, &r->map);
    return SHIM_OK;
}

/* What both kinds have. */
static bool begin(struct request *r, const void *words, int type, unsigned rank, uint64_t address,
                  const uint64_t *sizes, const uint64_t *strides, const uint32_t *steps)
{
    if (!words || (uintptr_t)words % 64 || !find_type(&r->map.type, type) || rank == 0 ||
        rank > TENSOR_RANK_MAX || !sizes || !steps || (!strides && rank > 1)) {
        return false;
    }
    r->map.rank = rank;
    r->map.address = address;
    r->map.stride[0] = tensor_type_bytes(r->map.type);
    for (unsigned i = 0; i < rank; i++) {
        r->map.size[i] = sizes[i];
        r->map.step[i] = steps[i];
        r->map.stride[i] = i ? strides[i - 1] : r->map.stride[0];
    }
    return true;
}

EXPORT int cuTensorMapEncodeTiled(uint32_t *words, int type, unsigned rank, uint64_t address,
                                  const uint64_t *sizes, const uint64_t *strides,
                                  const uint32_t *box, const uint32_t *steps, int interleave,
                                  int swizzle, int promotion, int fill)
{
    struct request r = {
        .interleave = interleave, .swizzle = swizzle, .promotion = promotion, .fill = fill};
    if (!box || !begin(&r, words, type, rank, address, sizes, strides, steps)) {
        return driver_result(SHIM_INVALID);
    }
    for (unsigned i = 0; i < rank; i++) {
        r.map.box[i] = box[i];
    }
    return driver_result(encode(words, &r));
}

/* The corners leave pixels between them, and fit the map's fields. */
static bool set_corners(struct tensor_map *map, const int *lower, const int *upper)
{
    int limit = map->rank == 3 ? 1 << 15 : map->rank == 4 ? 1 << 7 : 1 << 4;
    for (uint32_t i = 0; i + 2 < map->rank; i++) {
        if (lower[i] < -limit || lower[i] >= limit || upper[i] < -limit || upper[i] >= limit ||
            (int64_t)map->size[i + 1] + upper[i] <= lower[i]) {
            return false;
        }
        map->lower[i] = lower[i];
        map->upper[i] = upper[i];
    }
    return true;
}

EXPORT int cuTensorMapEncodeIm2col(uint32_t *words, int type, unsigned rank, uint64_t address,
                                   const uint64_t *sizes, const uint64_t *strides, const int *lower,
                                   const int *upper, unsigned channels, unsigned pixels,
                                   const uint32_t *steps, int interleave, int swizzle,
                                   int promotion, int fill)
{
    struct request r = {
        .interleave = interleave, .swizzle = swizzle, .promotion = promotion, .fill = fill};
    if (!lower || !upper || rank < 3 ||
        !begin(&r, words, type, rank, address, sizes, strides, steps) ||
        !set_corners(&r.map, lower, upper)) {
        return driver_result(SHIM_INVALID);
    }
    r.map.im2col = true;
    r.map.box[0] = channels;
    r.map.box[1] = pixels;
    return driver_result(encode(words, &r));
}

EXPORT int cuTensorMapReplaceAddress(uint32_t *words, uint64_t address)
{
    if (!words || (uintptr_t)words % 64 || address % 16) {
        return driver_result(SHIM_INVALID);
    }
    tensor_map_replace(words, TENSOR_ADDRESS, 0, address);
    return driver_result(SHIM_OK);
}
