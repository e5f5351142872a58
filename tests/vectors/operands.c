/*
 * Operands: corner values of each type, all pairs of them, then random ones. Floats are drawn so
 * that sums cancel, products reach denormals and overflow, and conversions meet the ends of integer
 * types.
 */
#include "vectors/forms.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/rng.h"
#include "vectors/hard.h"

/* clang-format off */
static const uint64_t int_corners[] = {
    0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
    0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
    0xfffffffffffffffe, 0x8000800080008000 };
static const uint32_t f32_corners[] = {
    0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
    0x7f812345, 1, 0x80400000, 0x007fffff, 0x00800000, 0x7f7fffff, 0x3f000000, 0x3fc00000,
    0x4b000001, 0x4f000000, 0xcf000000, 0x3f7fffff };
static const uint64_t f64_corners[] = {
    0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0xfff8123456789abc, 0x7ff0123456789abc, 1,
    0x8008000000000000, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
    0x3fe0000000000000, 0x3ff8000000000000, 0x4330000000000001, 0x43e0000000000000,
    0xc3e0000000000000, 0x3810000010000000 };
static const uint16_t f16_corners[] = {
    0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe12, 0x7d01, 1, 0x8200, 0x03ff, 0x0400,
    0x7bff, 0x3800, 0x3e00, 0x6401, 0x5800, 0xd800, 0x3bff };
static const uint16_t bf16_corners[] = {
    0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 1, 0x8040, 0x007f, 0x0080,
    0x7f7f, 0x3f00, 0x3fc0, 0x4301, 0x4f00, 0xcf00, 0x3f7f };
/* clang-format on */
#define CORNERS 20

/* A random float of the given fields: mostly of common size, sometimes of any. */
static uint64_t random_float(struct rng *rng, uint32_t exponent_bits, uint32_t mantissa_bits)
{
    uint64_t top = (UINT64_C(1) << exponent_bits) - 1, bias = top >> 1, exponent;
    switch (rng_below(rng, 4)) {
    case 0:
        exponent = rng_below(rng, top + 1);
        break;
    case 1:
        exponent = rng_below(rng, 2) ? rng_below(rng, 4) : top - rng_below(rng, 4);
        break;
    default:
        exponent = bias - 8 + rng_below(rng, 24);
        break;
    }
    uint64_t mantissa = rng_u64(rng) & ((UINT64_C(1) << mantissa_bits) - 1);
    if (rng_below(rng, 4) == 0)
        mantissa &= rng_u64(rng) & rng_u64(rng);
    return (rng_below(rng, 2) << exponent_bits | (exponent & top)) << mantissa_bits | mantissa;
}

static uint64_t f32_bits(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, 4);
    return bits;
}

static uint64_t f64_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

static double between(struct rng *rng, double low, double high)
{
    return low + rng_double(rng) * (high - low);
}

/* Two small halves that f16 (10 bits of mantissa) or bf16 (7) hold exactly. */
static uint64_t two_halves(struct rng *rng, uint32_t exponent_bits, uint32_t mantissa_bits)
{
    uint64_t pair = 0, bias = (UINT64_C(1) << (exponent_bits - 1)) - 1;
    for (int i = 0; i < 2; i++)
        pair = pair << 16 | rng_below(rng, 2) << 15 |
               (bias - 3 + rng_below(rng, 6)) << mantissa_bits |
               (rng_u64(rng) & ((1u << mantissa_bits) - 1));
    return pair;
}

static uint64_t random_clamp(struct rng *rng)
{
    static const uint32_t usual[] = {0x1f, 0, 0x101f, 0x1800, 0x1c1f, 0x1e00, 0x1000, 0x181f};
    return rng_below(rng, 4) ? usual[rng_below(rng, 8)] : rng_u64(rng) & 0x1f1f;
}

/* Four codes of 8 bits: of any exponent or of common size, now and then what is special. */
static uint64_t four_codes(struct rng *rng, uint32_t exponent_bits, uint32_t mantissa_bits)
{
    uint64_t codes = 0, bias = (UINT64_C(1) << (exponent_bits - 1)) - 1;
    bool near = rng_below(rng, 2);
    for (int i = 0; i < 4; i++) {
        uint64_t exponent = near ? bias - 2 + rng_below(rng, 5) : rng_below(rng, 2 * bias + 1);
        if (rng_below(rng, 1000) == 0)
            exponent = 2 * bias + 1;
        codes = codes << 8 | rng_below(rng, 2) << 7 | exponent << mantissa_bits |
                (rng_u64(rng) & ((1u << mantissa_bits) - 1));
    }
    return codes;
}

/* Which elements of a sparse matrix are there: two of each four in ascending order, one of two. */
static uint64_t random_metadata(struct rng *rng, bool one_of_two)
{
    static const uint8_t pairs[] = {4, 8, 9, 12, 13, 14};
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word = word << 4 | (one_of_two ? 4 + 10 * rng_below(rng, 2) : pairs[rng_below(rng, 6)]);
    return word;
}

static uint64_t random_value(struct rng *rng, enum fill fill)
{
    switch (fill) {
    case FILL_INT:
        return rng_below(rng, 2) ? rng_u64(rng) : 0 - (rng_u64(rng) >> rng_below(rng, 64));
    case FILL_F16:
        return random_float(rng, 5, 10);
    case FILL_F16X2:
        return random_float(rng, 5, 10) << 16 | random_float(rng, 5, 10);
    case FILL_BF16:
        return random_float(rng, 8, 7);
    case FILL_BF16X2:
        return random_float(rng, 8, 7) << 16 | random_float(rng, 8, 7);
    case FILL_F32:
        return random_float(rng, 8, 23);
    case FILL_F64:
        return random_float(rng, 11, 52);
    case FILL_PRED:
        return rng_below(rng, 2);
    case FILL_SHIFT:
        return rng_below(rng, 8) ? rng_below(rng, 72) : rng_u64(rng);
    case FILL_POS:
        return rng_below(rng, 8) ? rng_below(rng, 40) : rng_below(rng, 300);
    case FILL_BASE:
        return rng_below(rng, 32);
    case FILL_NTH:
        return rng_below(rng, 67) - 33;
    case FILL_LANE:
        return rng_below(rng, 40);
    case FILL_CLAMP:
        return random_clamp(rng);
    case FILL_FEW:
        return rng_below(rng, 3) * UINT64_C(0x100000001);
    case FILL_LOWF:
        return f32_bits(between(rng, -8, 8));
    case FILL_LOWD:
        return f64_bits(between(rng, -8, 8));
    case FILL_EXPONENT:
        return f32_bits(between(rng, -160, 140));
    case FILL_ANGLE:
        return f32_bits(between(rng, -3.14159, 3.14159));
    case FILL_HALVES:
        return two_halves(rng, 5, 10);
    case FILL_BHALVES:
        return two_halves(rng, 8, 7);
    case FILL_E4M3:
        return four_codes(rng, 4, 3);
    case FILL_E5M2:
        return four_codes(rng, 5, 2);
    case FILL_CHOSEN:
    case FILL_ONE_OF_TWO:
        return random_metadata(rng, fill == FILL_ONE_OF_TWO);
    default:
        return f32_bits(between(rng, -8, 8)) & ~UINT64_C(0x1fff);
    }
}

static bool corner(uint64_t *value, enum fill fill, uint32_t n)
{
    uint32_t other = (n * 7 + 3) % CORNERS;
    switch (fill) {
    case FILL_INT:
        *value = int_corners[n];
        return true;
    case FILL_F16:
        *value = f16_corners[n];
        return true;
    case FILL_F16X2:
        *value = (uint32_t)f16_corners[other] << 16 | f16_corners[n];
        return true;
    case FILL_BF16:
        *value = bf16_corners[n];
        return true;
    case FILL_BF16X2:
        *value = (uint32_t)bf16_corners[other] << 16 | bf16_corners[n];
        return true;
    case FILL_F32:
    case FILL_EXPONENT:
        *value = f32_corners[n];
        return true;
    case FILL_F64:
        *value = f64_corners[n];
        return true;
    default:
        return false;
    }
}

/* Which corner element i of slice s has: slices 0 and 1 go through all pairs. */
static uint32_t corner_number(uint32_t slice, uint32_t i)
{
    switch (slice) {
    case 0:
        return i % CORNERS;
    case 1:
        return i / CORNERS % CORNERS;
    default:
        return (i * (2 * slice + 3) + i / CORNERS) % CORNERS;
    }
}

size_t form_kinds_bytes(size_t kinds, uint32_t lanes)
{
    return kinds * FORM_SLICES * lanes * sizeof(uint64_t);
}

size_t form_operand_bytes(uint32_t lanes)
{
    return form_kinds_bytes(form_kind_count, lanes);
}

/* One operand of a kind in all lanes; `near` are the operand's before, NULL for the first. */
static void uniform_slice(uint64_t *to, const uint64_t *near, size_t k, uint32_t s, uint64_t seed,
                          uint32_t lanes)
{
    struct rng rng;
    rng_seed(&rng, seed * 1000003 + k * FORM_SLICES + s);
    for (uint32_t i = 0; i < lanes; i++) {
        to[i] = random_value(&rng, form_kinds[k].fill);
        bool close = rng_below(&rng, 5) == 0;
        if (i < CORNERS * CORNERS && corner(&to[i], form_kinds[k].fill, corner_number(s, i)))
            continue;
        if (near && close && form_kinds[k].fill <= FILL_F64)
            to[i] =
                near[i] ^ (rng_u64(&rng) & 7) ^ rng_below(&rng, 2) << (form_kinds[k].bytes * 8 - 1);
    }
}

static void hard_slice(uint64_t *to, const uint64_t *first, size_t k, uint32_t s, uint64_t seed,
                       uint32_t lanes)
{
    struct rng rng;
    rng_seed(&rng, (seed * 1000003 + k * FORM_SLICES + s) ^ UINT64_C(0x6861726400000000));
    for (uint32_t i = 0; i < lanes; i++) {
        struct hard_place at = {
            .fill = form_kinds[k].fill,
            .bits = form_kinds[k].bytes * 8u,
            .slice = s,
            .lane = i,
            .seed = seed,
            .first = s > 0 ? first[i] : 0,
            .second = s > 1 ? first[lanes + i] : 0,
        };
        if (!hard_operand(&to[i], &at, &rng))
            to[i] = random_value(&rng, form_kinds[k].fill);
    }
}

int form_operands(uint64_t **out, enum form_draw draw, uint64_t seed, uint32_t lanes)
{
    uint64_t *values = malloc(form_operand_bytes(lanes)), *to = values;
    if (!values)
        return error_memory();
    for (size_t k = 0; k < form_kind_count; k++) {
        uint64_t *first = to;
        for (uint32_t s = 0; s < FORM_SLICES; s++, to += lanes) {
            if (draw == DRAW_HARD)
                hard_slice(to, first, k, s, seed, lanes);
            else
                uniform_slice(to, s > 0 ? to - lanes : NULL, k, s, seed, lanes);
        }
    }
    *out = values;
    return SONDE_OK;
}
