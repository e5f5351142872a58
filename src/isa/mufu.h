/*
 * Reciprocal, root, reciprocal root and power of two of the unit for special functions (in the
 * vendor's assembler MUFU.RCP, .SQRT, .RSQ, .EX2), to the bit. The upper bits of the operand's
 * mantissa (for roots, the lowest bit of the exponent in front of them) choose one of 128 segments,
 * the rest, x, goes into
 *
 *     c0 / 4 + c1 x + c2 / 2 square(x)          0 <= x < 1
 *
 * in units of the result's last place, to which a constant is added before it is cut. The square
 * leaves out the products of bits that are below 2^-15. The coefficients were found from the
 * results of an H200 for all 2^23 mantissas (2^24 for roots), all of which they give; S. Oberman
 * and M. Siu, A high-performance area-efficient multifunction interpolator (2005), describe such a
 * unit. Those of the power, of 64 segments, were found from 133765 results of an H200, which leave
 * one choice each; a million others are as they say. Subnormal operands and results are zeros.
 */
#ifndef SONDE_ISA_MUFU_H
#define SONDE_ISA_MUFU_H

#include <stdbool.h>
#include <stdint.h>

#define MUFU_SEGMENTS 128
#define MUFU_EX2_SEGMENTS 64
#define MUFU_X_BITS 17

struct mufu_row {
    int32_t c0, c1, c2;
};
extern const struct mufu_row mufu_rcp_rows[MUFU_SEGMENTS];
extern const struct mufu_row mufu_rsqrt_rows[MUFU_SEGMENTS];
extern const struct mufu_row mufu_sqrt_rows[MUFU_SEGMENTS];
extern const struct mufu_row mufu_ex2_rows[MUFU_EX2_SEGMENTS];

/* x^2 in units of 2^-15, without the products of bits that are below. */
static inline int32_t mufu_square(uint32_t x)
{
    uint32_t sum = 0;
    x >>= MUFU_X_BITS - 16;
    for (uint32_t i = 0; i < 7; i++) { /* the bit of 2^-(i + 1), by itself and by those after it */
        uint32_t after = (1u << (15 - i)) - (2u << i);
        sum += (0 - (x >> (15 - i) & 1)) & (((x & after) >> (i + 1)) + (1u << (13 - 2 * i)));
    }
    return (int32_t)sum;
}

/* In units of 2^-17: c0 / 4 are 2^15 of them. */
static inline uint32_t mufu_value(const struct mufu_row *row, uint32_t x, int32_t rounding)
{
    int64_t sum = ((int64_t)row->c0 << 15) + (int64_t)row->c1 * (int32_t)x;
    sum += (int64_t)row->c2 * 2 * mufu_square(x);
    return (uint32_t)((sum + rounding) >> 17);
}

/* Of 1 + mantissa / 2^23: 2^24 times what the reciprocal is above 1/2. */
static inline uint32_t mufu_rcp_part(uint32_t mantissa)
{
    return mufu_value(&mufu_rcp_rows[mantissa >> 16], (mantissa & 0xffff) << 1, 8092);
}

/* Of 1 + mantissa / 2^23, doubled if `odd`: 2^24 times what the reciprocal root is above 1/2. */
static inline uint32_t mufu_rsqrt_part(uint32_t mantissa, uint32_t odd)
{
    uint32_t part = mufu_value(&mufu_rsqrt_rows[odd << 6 | mantissa >> 17], mantissa & 0x1ffff, -1);
    return mantissa == 0 && !odd ? 1u << 23 : part; /* of 1 it is 1 */
}

/* The same: 2^23 times what the root is above 1. */
static inline uint32_t mufu_sqrt_part(uint32_t mantissa, uint32_t odd)
{
    return mufu_value(&mufu_sqrt_rows[odd << 6 | mantissa >> 17], mantissa & 0x1ffff, -1);
}

/* Of fraction / 2^23: 2^23 times what the power of two is above 1. */
static inline uint32_t mufu_ex2_part(uint32_t fraction)
{
    return mufu_value(&mufu_ex2_rows[fraction >> 17], fraction & 0x1ffff, 24457);
}

#define MUFU_NAN 0x7fffffffu
#define MUFU_INFINITY 0x7f800000u

/* Bits of f32 in and out. */
static inline uint32_t mufu_rcp(uint32_t bits)
{
    int32_t exponent = (int32_t)(bits >> 23 & 0xff);
    uint32_t sign = bits & 0x80000000, mantissa = bits & 0x7fffff;
    int32_t code = (253 - exponent) * (1 << 23) + (int32_t)mufu_rcp_part(mantissa);
    uint32_t r = sign | (code < 1 << 23 ? 0 : (uint32_t)code);
    r = exponent == 0 ? sign | MUFU_INFINITY : r;
    r = exponent == 0xff ? sign : r;
    return exponent == 0xff && mantissa ? MUFU_NAN : r;
}

static inline uint32_t mufu_rsqrt(uint32_t bits)
{
    uint32_t exponent = bits >> 23 & 0xff, mantissa = bits & 0x7fffff, odd = ~exponent & 1;
    uint32_t half = (exponent + 1 + !odd) / 2; /* of the exponent and 128 */
    uint32_t r = ((190 - half) << 23) + mufu_rsqrt_part(mantissa, odd);
    r = exponent == 0xff ? 0 : r;
    bool is_nan = (exponent == 0xff && mantissa) || (bits >> 31 && exponent);
    r = exponent == 0 ? (bits & 0x80000000) | MUFU_INFINITY : r;
    return is_nan ? MUFU_NAN : r;
}

static inline uint32_t mufu_sqrt(uint32_t bits)
{
    uint32_t exponent = bits >> 23 & 0xff, mantissa = bits & 0x7fffff, odd = ~exponent & 1;
    uint32_t half = (exponent + 1 + !odd) / 2;
    uint32_t r = ((63 + half) << 23) + mufu_sqrt_part(mantissa, odd);
    r = exponent == 0xff ? bits : r;
    bool is_nan = (exponent == 0xff && mantissa) || (bits >> 31 && exponent);
    r = exponent == 0 ? bits & 0x80000000 : r;
    return is_nan ? MUFU_NAN : r;
}

/* The operand becomes a whole number of 2^-23, cut; of a negative one that number's complement, or
 * where none of the bits below 1 is set, its negation. */
static inline uint32_t mufu_ex2(uint32_t bits)
{
    uint32_t exponent = bits >> 23 & 0xff, mantissa = (bits & 0x7fffff) | 1u << 23;
    uint32_t left = exponent > 127 ? exponent - 127 : 0,
             right = exponent < 127 ? 127 - exponent : 0;
    uint32_t size = right < 32 ? mantissa << (left & 7) >> right : 0;
    uint32_t negative = size & 0x7fffff ? ~size : 0 - size;
    int32_t number = (int32_t)(bits >> 31 ? negative : size), whole = number >> 23;
    uint32_t r = ((uint32_t)(whole + 127) << 23) + mufu_ex2_part((uint32_t)number & 0x7fffff);
    bool is_far = exponent > 134; /* 256 and above */
    r = whole < -126 || (is_far && bits >> 31) ? 0 : r;
    r = !(bits >> 31) && (whole > 127 || is_far) ? MUFU_INFINITY : r;
    r = exponent == 0 ? 127u << 23 : r;
    return exponent == 0xff && (bits & 0x7fffff) ? MUFU_NAN : r;
}

#endif
