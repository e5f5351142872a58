/* See tensor_map.h. */
#include "isa/tensor/tensor_map.h"

#include <string.h>

static const struct {
    uint8_t code, bytes;
    bool tf32;
} types[TENSOR_TYPES] = {
    [TENSOR_U8] = {0, 1, false},      [TENSOR_U16] = {1, 2, false},
    [TENSOR_U32] = {2, 4, false},     [TENSOR_S32] = {3, 4, false},
    [TENSOR_U64] = {4, 8, false},     [TENSOR_S64] = {5, 8, false},
    [TENSOR_F16] = {6, 2, false},     [TENSOR_F32] = {7, 4, false},
    [TENSOR_F32_FTZ] = {8, 4, false}, [TENSOR_F64] = {9, 8, false},
    [TENSOR_BF16] = {10, 2, false},   [TENSOR_TF32] = {7, 4, true},
    [TENSOR_TF32_FTZ] = {8, 4, true},
};

uint32_t tensor_type_bytes(enum tensor_type type)
{
    return types[type].bytes;
}

static uint32_t bits(uint32_t word, uint32_t first, uint32_t count)
{
    return word >> first & ((1u << count) - 1);
}

static void put(uint32_t *word, uint32_t first, uint32_t count, uint64_t value)
{
    uint32_t mask = ((1u << count) - 1) << first;
    *word = (*word & ~mask) | ((uint32_t)value << first & mask);
}

static int32_t signed_bits(uint32_t word, uint32_t first, uint32_t count)
{
    return (int32_t)(word << (32 - first - count)) >> (32 - count);
}

/* How many bits a corner has, of a tensor of so many dimensions. */
static uint32_t corner_bits(uint32_t rank)
{
    return rank <= 3 ? 16 : rank == 4 ? 8 : 5;
}

static void read_box(struct tensor_map *out, const uint32_t words[32])
{
    out->box[0] = bits(words[13], 24, 8) + 1;
    for (uint32_t i = 0; i < TENSOR_RANK_MAX; i++)
        out->step[i] = bits(words[13], 3 * i, 3) + 1;
    for (uint32_t i = 1; i < TENSOR_RANK_MAX && !out->im2col; i++)
        out->box[i] = bits(words[14], 8 * (i - 1), 8) + 1;
    if (!out->im2col)
        return;
    uint32_t width = corner_bits(out->rank);
    out->box[1] = (words[15] & 0xffff) + 1;
    for (uint32_t i = 0; i + 2 < out->rank; i++) {
        out->lower[i] = signed_bits(words[14], i * width, width);
        out->upper[i] = signed_bits(words[14], 16 + i * width, width);
    }
}

bool tensor_map_read(struct tensor_map *out, const uint32_t words[32])
{
    uint32_t type = 0, code = bits(words[2], 7, 4);
    bool tf32 = bits(words[2], 16, 1);
    memset(out, 0, sizeof *out);
    while (type < TENSOR_TYPES && (types[type].code != code || types[type].tf32 != tf32))
        type++;
    out->rank = bits(words[2], 4, 3) + 1;
    if (type == TENSOR_TYPES || out->rank > TENSOR_RANK_MAX)
        return false;
    out->type = (enum tensor_type)type;
    out->address = words[0] | (uint64_t)words[1] << 32;
    out->im2col = words[2] & 1;
    out->interleave = bits(words[2], 11, 2);
    out->swizzle = bits(words[2], 13, 2);
    out->fill_nan = bits(words[2], 15, 1);
    out->promotion = bits(words[2], 17, 2);
    out->stride[0] = types[type].bytes;
    for (uint32_t i = 0; i < TENSOR_RANK_MAX; i++)
        out->size[i] = (uint64_t)words[8 + i] + 1;
    for (uint32_t i = 1; i < TENSOR_RANK_MAX; i++)
        out->stride[i] = (words[2 + i] | (uint64_t)bits(words[7], 4 * (i - 1), 4) << 32) * 16;
    read_box(out, words);
    return true;
}

static void write_box(uint32_t words[32], const struct tensor_map *map)
{
    uint32_t bytes = types[map->type].bytes;
    put(&words[13], 24, 8, map->box[0] - 1);
    for (uint32_t i = 0; i < map->rank; i++)
        put(&words[13], 3 * i, 3, map->step[i] - 1);
    for (uint32_t i = 0; i < (map->im2col ? 2 : map->rank); i++)
        bytes *= map->im2col ? map->box[i] : map->box[i] / map->step[i];
    words[16] = bytes;
    for (uint32_t i = 1; i < map->rank && !map->im2col; i++)
        put(&words[14], 8 * (i - 1), 8, map->box[i] - 1);
    if (!map->im2col)
        return;
    uint32_t width = corner_bits(map->rank);
    words[15] = map->box[1] - 1;
    for (uint32_t i = 0; i + 2 < map->rank; i++) {
        put(&words[14], i * width, width, (uint64_t)(int64_t)map->lower[i]);
        put(&words[14], 16 + i * width, width, (uint64_t)(int64_t)map->upper[i]);
    }
}

void tensor_map_write(uint32_t words[32], const struct tensor_map *map)
{
    static const uint32_t repeats[] = {16, 256, 512, 1024};
    memset(words, 0, TENSOR_MAP_BYTES);
    words[0] = (uint32_t)map->address;
    words[1] = (uint32_t)(map->address >> 32);
    words[2] = map->im2col | (map->rank - 1) << 4 | (uint32_t)types[map->type].code << 7 |
               map->interleave << 11 | map->swizzle << 13 | (uint32_t)map->fill_nan << 15 |
               (uint32_t)types[map->type].tf32 << 16 | map->promotion << 17;
    for (uint32_t i = 0; i < map->rank; i++)
        words[8 + i] = (uint32_t)(map->size[i] - 1);
    for (uint32_t i = 1; i < map->rank; i++) {
        words[2 + i] = (uint32_t)(map->stride[i] / 16);
        put(&words[7], 4 * (i - 1), 4, map->stride[i] / 16 >> 32);
    }
    words[18] = repeats[map->swizzle & 3];
    write_box(words, map);
}

void tensor_map_replace(uint32_t words[32], enum tensor_field field, uint32_t number,
                        uint64_t value)
{
    if (number >= TENSOR_RANK_MAX)
        return;
    switch (field) {
    case TENSOR_ADDRESS:
        words[0] = (uint32_t)value;
        words[1] = (uint32_t)(value >> 32);
        break;
    case TENSOR_RANK:
        put(&words[2], 4, 3, value);
        break;
    case TENSOR_BOX:
        put(number ? &words[14] : &words[13], number ? 8 * (number - 1) : 24, 8, value - 1);
        break;
    case TENSOR_SIZE:
        words[8 + number] = (uint32_t)(value - 1);
        break;
    case TENSOR_STRIDE: /* of dimension number + 1 */
        if (number + 1 < TENSOR_RANK_MAX) {
            words[3 + number] = (uint32_t)(value / 16);
            put(&words[7], 4 * number, 4, value / 16 >> 32);
        }
        break;
    case TENSOR_STEP:
        put(&words[13], 3 * number, 3, value - 1);
        break;
    case TENSOR_TYPE:
        if (value < TENSOR_TYPES) {
            put(&words[2], 7, 4, types[value].code);
            put(&words[2], 16, 1, types[value].tf32);
        }
        break;
    case TENSOR_INTERLEAVE:
        put(&words[2], 11, 2, value);
        break;
    case TENSOR_SWIZZLE:
        put(&words[2], 13, 2, value);
        break;
    case TENSOR_FILL:
        put(&words[2], 15, 1, value);
        break;
    }
}
