/*
 * The arithmetic that insn.def's expressions lean on: each helper is one lane's result, defined for
 * every operand. C leaves overflow, wide shifts and INT_MIN / -1 undefined; PTX does not, so signed
 * arithmetic goes through WRAP() and counts are clamped here. Source: PTX ISA 9.0, 9.7.1 to 9.7.9.
 */
#ifndef SONDE_ISA_LANE_MATH_H
#define SONDE_ISA_LANE_MATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "isa/mufu.h"

__extension__ typedef __int128 lane_s128;
__extension__ typedef unsigned __int128 lane_u128;

#define BITS(x) ((uint32_t)(sizeof(x) * 8))

/* The operand's bits as an unsigned value of 32 or 64 bits, whose overflow wraps. */
#define WRAP(x)                                                                                    \
    _Generic((x), int64_t : (uint64_t)(x), uint64_t : (uint64_t)(x), default : (uint32_t)(x))

/* The comparisons of class CMP. lo, ls, hi, hs are lt, le, gt, ge on unsigned operands. */
#define COMPARE_eq(a, b) ((a) == (b))
#define COMPARE_ne(a, b) (!((a) == (b)) && !LANE_NAN(a, b))
#define COMPARE_lt(a, b) ((a) < (b))
#define COMPARE_le(a, b) ((a) <= (b))
#define COMPARE_gt(a, b) ((a) > (b))
#define COMPARE_ge(a, b) ((a) >= (b))
#define COMPARE_lo(a, b) ((a) < (b))
#define COMPARE_ls(a, b) ((a) <= (b))
#define COMPARE_hi(a, b) ((a) > (b))
#define COMPARE_hs(a, b) ((a) >= (b))
#define COMPARE_equ(a, b) ((a) == (b) || LANE_NAN(a, b))
#define COMPARE_neu(a, b) (!((a) == (b)))
#define COMPARE_ltu(a, b) (!((a) >= (b)))
#define COMPARE_leu(a, b) (!((a) > (b)))
#define COMPARE_gtu(a, b) (!((a) <= (b)))
#define COMPARE_geu(a, b) (!((a) < (b)))
#define COMPARE_num(a, b) (!LANE_NAN(a, b))
#define COMPARE_nan(a, b) LANE_NAN(a, b)
/* True if either is a NaN; constant false for integers. */
#define LANE_NAN(a, b)                                                                             \
    _Generic((a), float                                                                            \
             : isnan((double)(a)) || isnan((double)(b)), double                                    \
             : isnan((double)(a)) || isnan((double)(b)), default : 0)

static inline int32_t lane_clamp_s32(int64_t v)
{
    return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : (int32_t)v;
}

static inline int32_t lane_mul_hi_s16(int16_t a, int16_t b)
{
    return (int16_t)((a * b) >> 16);
}
static inline uint32_t lane_mul_hi_u16(uint16_t a, uint16_t b)
{
    return (uint32_t)a * b >> 16;
}
static inline int32_t lane_mul_hi_s32(int32_t a, int32_t b)
{
    return (int32_t)((int64_t)a * b >> 32);
}
static inline uint32_t lane_mul_hi_u32(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}
static inline int64_t lane_mul_hi_s64(int64_t a, int64_t b)
{
    return (int64_t)((lane_s128)a * b >> 64);
}
static inline uint64_t lane_mul_hi_u64(uint64_t a, uint64_t b)
{
    return (uint64_t)((lane_u128)a * b >> 64);
}
#define MUL_HI(a, b)                                                                               \
    _Generic((a), int16_t                                                                          \
             : lane_mul_hi_s16, uint16_t                                                           \
             : lane_mul_hi_u16, int32_t                                                            \
             : lane_mul_hi_s32, uint32_t                                                           \
             : lane_mul_hi_u32, int64_t                                                            \
             : lane_mul_hi_s64, uint64_t                                                           \
             : lane_mul_hi_u64)(a, b)

/* The 48-bit product of the low 24 bits; mul24.hi takes its upper 32. */
static inline int64_t lane_mul24_s32(int32_t a, int32_t b)
{
    return (int64_t)((int32_t)((uint32_t)a << 8) >> 8) * ((int32_t)((uint32_t)b << 8) >> 8);
}
static inline uint64_t lane_mul24_u32(uint32_t a, uint32_t b)
{
    return (uint64_t)(a & 0xffffff) * (b & 0xffffff);
}
#define MUL24(a, b) _Generic((a), int32_t : lane_mul24_s32, uint32_t : lane_mul24_u32)(a, b)

/*
 * Division by zero is unspecified in the manual. Hardware gives all ones, also for the remainder;
 * the most negative number by -1 wraps. The divisor is made harmless first: inactive lanes divide
 * too.
 */
#define LANE_DIV_SIGNED(a, b)                                                                      \
    ((b) == 0 ? -1 : (b) == -1 ? (ST)(0 - WRAP(a)) : (a) / ((b) == 0 || (b) == -1 ? 1 : (b)))
#define LANE_REM_SIGNED(a, b)                                                                      \
    ((b) == 0 ? -1 : (b) == -1 ? 0 : (a) % ((b) == 0 || (b) == -1 ? 1 : (b)))

static inline uint32_t lane_popc(uint64_t a)
{
    return (uint32_t)__builtin_popcountll(a);
}
#define LANE_CLZ(a)                                                                                \
    ((a) == 0 ? BITS(a) : (uint32_t)__builtin_clzll((uint64_t)(a) | 1) - (64 - BITS(a)))

/* Position of the highest one, all ones if there is none. */
static inline uint32_t lane_bfind(uint64_t a)
{
    return a == 0 ? UINT32_MAX : 63 - (uint32_t)__builtin_clzll(a | 1);
}
static inline uint32_t lane_shift_amount(uint32_t position, uint32_t bits)
{
    return position == UINT32_MAX ? position : bits - 1 - position;
}

static inline uint64_t lane_brev64(uint64_t a)
{
    a = (a >> 1 & 0x5555555555555555u) | (a & 0x5555555555555555u) << 1;
    a = (a >> 2 & 0x3333333333333333u) | (a & 0x3333333333333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0f0f0f0f0fu) | (a & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(a);
}
#define LANE_BREV(a) (lane_brev64(a) >> (64 - BITS(a)))

/*
 * Bit fields: positions and lengths of 32-bit values are taken modulo 256; those of 64-bit values,
 * which the manual leaves undefined from 256 on, are taken as they are, as hardware does. Bits past
 * the value's top are copies of its sign (signed) or zero.
 */
static inline uint32_t lane_field(uint32_t number, uint32_t bits)
{
    return bits == 32 ? number & 0xff : number;
}
static inline uint64_t lane_bfe_unsigned(uint64_t a, uint32_t pos, uint32_t len, uint32_t bits)
{
    pos = lane_field(pos, bits);
    len = lane_field(len, bits);
    uint64_t field = pos < 64 ? a >> pos : 0;
    return len < 64 ? field & ((UINT64_C(1) << len) - 1) : field;
}
static inline int64_t lane_bfe_signed(int64_t a, uint32_t pos, uint32_t len, uint32_t bits)
{
    pos = lane_field(pos, bits);
    len = lane_field(len, bits);
    if (len == 0)
        return 0;
    if (pos >= bits)
        return a < 0 ? -1 : 0;
    int64_t field = a >> pos;
    uint32_t spare = len < 64 ? 64 - len : 0;
    return (int64_t)((uint64_t)field << spare) >> spare;
}
/* The low `len` bits of a, put into b at `pos`; what falls off the top is lost. */
static inline uint64_t lane_bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, uint32_t bits)
{
    pos = lane_field(pos, bits);
    len = lane_field(len, bits);
    if (pos >= bits)
        return b;
    uint64_t mask = len < 64 ? (UINT64_C(1) << len) - 1 : UINT64_MAX;
    return (b & ~(mask << pos)) | (a & mask) << pos;
}

static inline uint32_t lane_bmsk_clamp(uint32_t pos, uint32_t len)
{
    uint64_t ones = len < 32 ? (UINT64_C(1) << len) - 1 : UINT32_MAX;
    return pos < 32 ? (uint32_t)(ones << pos) : 0;
}

static inline uint32_t lane_shf_left(uint32_t lo, uint32_t hi, uint32_t count)
{
    return (uint32_t)((((uint64_t)hi << 32 | lo) << count) >> 32);
}
static inline uint32_t lane_shf_right(uint32_t lo, uint32_t hi, uint32_t count)
{
    return (uint32_t)(((uint64_t)hi << 32 | lo) >> count);
}

/* One selector nibble: three bits of byte number, one that replicates the byte's sign. */
static inline uint32_t lane_prmt_byte(uint64_t bytes, uint32_t selector)
{
    uint32_t byte = (uint32_t)(bytes >> 8 * (selector & 7)) & 0xff;
    return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}
static inline uint32_t lane_prmt(uint32_t a, uint32_t b, uint32_t selectors)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    return lane_prmt_byte(bytes, selectors) | lane_prmt_byte(bytes, selectors >> 4) << 8 |
           lane_prmt_byte(bytes, selectors >> 8) << 16 |
           lane_prmt_byte(bytes, selectors >> 12) << 24;
}

/* Any function of three bits; the table's index is a:b:c. */
static inline uint32_t lane_lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t r = 0;
    for (uint32_t i = 0; i < 8; i++)
        r |= (0 - (table >> i & 1)) & (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return r;
}

/* 16 bits of a by 8 bits of b, of which .lo and .hi choose a pair; signed each or not. */
static inline uint32_t lane_dp2a(uint32_t a, uint32_t b, uint32_t high, uint32_t a_signed,
                                 uint32_t b_signed)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t x = a >> 16 * i & 0xffff, y = b >> (8 * i + 16 * high) & 0xff;
        x = a_signed ? (uint32_t)(int32_t)(int16_t)x : x;
        y = b_signed ? (uint32_t)(int32_t)(int8_t)y : y;
        sum += x * y;
    }
    return sum;
}

/* The position of the n-th set bit from `base`, upward for n > 0, downward for n < 0. */
static inline uint32_t lane_fns(uint32_t mask, uint32_t base, int32_t n)
{
    int32_t step = n < 0 ? -1 : 1, at = (int32_t)(base & 31);
    uint32_t left = n < 0 ? 0 - (uint32_t)n : (uint32_t)n;
    if (n == 0)
        return mask >> at & 1 ? (uint32_t)at : UINT32_MAX;
    for (; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0)
            return (uint32_t)at;
    return UINT32_MAX;
}

/* The low `bits` bits, extended with their sign or with zeros. */
static inline uint32_t lane_szext(uint32_t a, uint32_t bits, uint32_t is_signed)
{
    if (bits >= 32)
        return a;
    if (bits == 0)
        return 0;
    uint32_t spare = 32 - bits;
    return is_signed ? (uint32_t)((int32_t)(a << spare) >> spare) : a << spare >> spare;
}

/* Differences of unsigned bytes, of unsigned halves; the sum of four bytes. */
static inline uint32_t lane_absdiff(uint32_t a, uint32_t b, uint32_t bits)
{
    uint32_t r = 0, mask = (1u << bits) - 1;
    for (uint32_t i = 0; i < 32; i += bits) {
        uint32_t x = a >> i & mask, y = b >> i & mask;
        r |= (x > y ? x - y : y - x) << i;
    }
    return r;
}
static inline uint32_t lane_absdiff4(uint32_t a, uint32_t b)
{
    return lane_absdiff(a, b, 8);
}
static inline uint32_t lane_absdiff2(uint32_t a, uint32_t b)
{
    return lane_absdiff(a, b, 16);
}
static inline uint32_t lane_sum_bytes(uint32_t a)
{
    return (a & 0xff) + (a >> 8 & 0xff) + (a >> 16 & 0xff) + (a >> 24);
}

static inline uint32_t lane_dp4a_uu(uint32_t a, uint32_t b)
{
    return (a & 0xff) * (b & 0xff) + (a >> 8 & 0xff) * (b >> 8 & 0xff) +
           (a >> 16 & 0xff) * (b >> 16 & 0xff) + (a >> 24) * (b >> 24);
}
static inline int32_t lane_dp4a_ss(int32_t a, int32_t b)
{
    int32_t sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum += (int8_t)((uint32_t)a >> i) * (int8_t)((uint32_t)b >> i);
    return sum;
}

/* Signed bytes of a by unsigned bytes of b. */
static inline int32_t lane_dp4a_su(int32_t a, int32_t b)
{
    int32_t sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum += (int8_t)((uint32_t)a >> i) * (uint8_t)((uint32_t)b >> i);
    return sum;
}

/* The value clamped to what type T holds. */
#define LANE_IS_SIGNED(T) ((T)-1 < (T)1)
#define LANE_MAX_OF(T) ((lane_s128)(UINT64_MAX >> (64 - sizeof(T) * 8 + LANE_IS_SIGNED(T))))
#define LANE_MIN_OF(T) (LANE_IS_SIGNED(T) ? -LANE_MAX_OF(T) - 1 : (lane_s128)0)
static inline lane_s128 lane_clamp(lane_s128 v, lane_s128 lo, lane_s128 hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}
#define LANE_SATURATE(T, v) ((T)lane_clamp((v), LANE_MIN_OF(T), LANE_MAX_OF(T)))

/*
 * An already rounded float as an integer: out of range clamps. A NaN is 0; where source or result
 * has 64 bits, it is the integer whose top bit alone is set.
 */
#define LANE_TO_INT(T, S, v)                                                                       \
    ((S)(v) != (S)(v) && (sizeof(T) == 8 || sizeof(S) == 8)                                        \
         ? (T)(UINT64_C(1) << (sizeof(T) * 8 - 1))                                                 \
         : (T)lane_float_to_int((v), LANE_MIN_OF(T), LANE_MAX_OF(T)))
static inline lane_s128 lane_float_to_int(double v, lane_s128 lo, lane_s128 hi)
{
    if (v != v)
        return 0;
    if (v <= (double)lo)
        return lo;
    return v >= (double)hi ? hi : (lane_s128)v;
}

/* Bits as numbers and back. */
static inline uint32_t lane_bits_f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
static inline float lane_float(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
static inline uint64_t lane_bits_f64(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
static inline double lane_double(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Arithmetic in single precision has one NaN for a result, whatever the operands' were. */
static inline float lane_nan_f32(float v)
{
    return v == v ? v : lane_float(0x7fffffff);
}

/* Conversions: single precision's NaN, any other value as it is. */
static inline double lane_same_f64(double v)
{
    return v;
}
#define LANE_NAN_RESULT(v) _Generic((v), float : lane_nan_f32, double : lane_same_f64)(v)

/* Double precision keeps a NaN operand, made quiet: b before a; in a sum of three b, c, a. */
static inline double lane_quiet_f64(double v)
{
    return lane_double(lane_bits_f64(v) | 0x0008000000000000);
}
static inline double lane_nan_f64(double v, double a, double b)
{
    double nan = b != b ? b : a;
    return v == v ? v : a != a || b != b ? lane_quiet_f64(nan) : lane_double(0xfff8000000000000);
}
static inline double lane_nan3_f64(double v, double a, double b, double c)
{
    return v == v || b != b || c == c ? lane_nan_f64(v, a, b) : lane_quiet_f64(c);
}

/*
 * Approximate functions. The manual bounds their errors and hardware's tables are not published:
 * exponential, logarithm and trigonometric functions are computed in double precision by
 * polynomials without branches, which the compiler vectorises, and rounded once, which is within
 * every bound.
 */

/* 2^n for n in -1022 .. 1023. */
static inline double lane_power_of_two(int32_t n)
{
    return lane_double((uint64_t)(uint32_t)(n + 1023) << 52);
}

/* 2^f - 1 for |f| <= 1/2: the exponential's series, error below 2^-40. */
static inline double lane_exp2_fraction(double f)
{
    double x = f * 0.69314718055994530942;
    double sum = 1.0 / 39916800;
    sum = sum * x + 1.0 / 3628800;
    sum = sum * x + 1.0 / 362880;
    sum = sum * x + 1.0 / 40320;
    sum = sum * x + 1.0 / 5040;
    sum = sum * x + 1.0 / 720;
    sum = sum * x + 1.0 / 120;
    sum = sum * x + 1.0 / 24;
    sum = sum * x + 1.0 / 6;
    sum = sum * x + 0.5;
    sum = sum * x + 1;
    return sum * x;
}

static inline double lane_exp2(double a)
{
    double low = a < -300 ? -300 : a, limited = low > 300 ? 300 : low;
    double shifted = limited + 0x1.8p52, whole = shifted - 0x1.8p52;
    int32_t n = (int32_t)(uint32_t)lane_bits_f64(shifted);
    double r = 1 + lane_exp2_fraction(limited - whole);
    return a != a ? a : r * lane_power_of_two(n < -1000 ? -1000 : n > 1000 ? 1000 : n);
}

/* log2 of a positive normal double: mantissa in [sqrt(1/2), sqrt(2)), series of atanh. */
static inline double lane_log2(double a)
{
    uint64_t bits = lane_bits_f64(a);
    uint64_t high = (bits & 0x000fffffffffffff) >= 0x0006a09e667f3bcd ? 1 : 0;
    double exponent = (double)(int32_t)((uint32_t)(bits >> 52 & 0x7ff) + (uint32_t)high - 1023u);
    double m = lane_double((bits & 0x000fffffffffffff) | (0x3ff - high) << 52);
    double t = (m - 1) / (m + 1), square = t * t;
    double sum = 1.0 / 17;
    sum = sum * square + 1.0 / 15;
    sum = sum * square + 1.0 / 13;
    sum = sum * square + 1.0 / 11;
    sum = sum * square + 1.0 / 9;
    sum = sum * square + 1.0 / 7;
    sum = sum * square + 1.0 / 5;
    sum = sum * square + 1.0 / 3;
    sum = sum * square + 1;
    return exponent + 2 * 1.4426950408889634074 * t * sum;
}
static inline float lane_lg2_f32(float a)
{
    float r = (float)lane_log2((double)a);
    r = a == 0 ? -(float)INFINITY : r;
    r = a == (float)INFINITY ? a : r;
    return a < 0 || a != a ? lane_float(0x7fffffff) : r;
}

/* sin (quarter 0) and cos (quarter 1) by Cody and Waite's reduction to [-pi/4, pi/4]. */
static inline float lane_sine(float angle, uint32_t quarter)
{
    double a = fabs((double)angle) < 0x1p40 ? (double)angle : 0;
    double shifted = a * 0.63661977236758134308 + 0x1.8p52, turns = shifted - 0x1.8p52;
    double x = a - turns * 0x1.921fb54400000p+0, square;
    x -= turns * 0x1.0b4611a626331p-34;
    square = x * x;
    uint32_t n = (uint32_t)lane_bits_f64(shifted) + quarter;
    double s = -1.0 / 39916800;
    s = s * square + 1.0 / 362880;
    s = s * square - 1.0 / 5040;
    s = s * square + 1.0 / 120;
    s = s * square - 1.0 / 6;
    s = x + x * square * s;
    double c = 1.0 / 479001600;
    c = c * square - 1.0 / 3628800;
    c = c * square + 1.0 / 40320;
    c = c * square - 1.0 / 720;
    c = c * square + 1.0 / 24;
    c = c * square - 0.5;
    c = 1 + c * square;
    double r = n & 1 ? c : s;
    r = n & 2 ? -r : r;
    bool bad = !(fabsf(angle) < (float)INFINITY);
    r = angle == 0 && quarter == 0 ? (double)angle : r;
    return bad ? lane_float(0x7fffffff) : (float)r;
}

static inline float lane_tanh_f32(float a)
{
    double x = fabs((double)a), e = lane_exp2(-2.8853900817779268147 * (x < 32 ? x : 32));
    double small = x * (1 - x * x / 3), r = x < 0x1p-8 ? small : (1 - e) / (1 + e);
    return a != a ? lane_float(0x7fffffff) : copysignf((float)r, a);
}

/*
 * Reciprocals, roots and quotients are the unit's for special functions (mufu.h), which knows no
 * subnormal numbers: operands out of its range are scaled, and the result scaled back, as the
 * vendor's assembler does it. These hold to the bit.
 */
static inline float lane_mufu(uint32_t function(uint32_t bits), float a)
{
    return lane_float(function(lane_bits_f32(a)));
}
static inline float lane_small_scale(float a)
{
    return fabsf(a) < 0x1p-126f ? 0x1p24f : 1;
}
static inline float lane_scale(float a)
{
    return fabsf(a) > 0x1p126f ? 0.25f : lane_small_scale(a);
}
static inline float lane_rcp_approx(float a)
{
    float scale = lane_scale(a);
    return lane_nan_f32(lane_mufu(mufu_rcp, a * scale) * scale);
}
static inline float lane_rsqrt_f32(float a)
{
    float scale = lane_small_scale(a);
    return lane_nan_f32(lane_mufu(mufu_rsqrt, a * scale) * (scale > 1 ? 0x1p12f : 1));
}
static inline float lane_sqrt_approx(float a)
{
    float scale = lane_small_scale(a);
    return lane_nan_f32(lane_mufu(mufu_sqrt, a * scale) * (scale > 1 ? 0x1p-12f : 1));
}
static inline float lane_ex2_f32(float a)
{
    float scale = a < -126 ? 0.5f : 1, r = lane_mufu(mufu_ex2, a * scale);
    return lane_nan_f32(scale < 1 ? r * r : r);
}
/* Not scaled down: the reciprocal is 0 for divisors beyond 2^126. */
static inline float lane_div_approx(float a, float b)
{
    float scale = lane_small_scale(b);
    return lane_nan_f32(a * scale * lane_mufu(mufu_rcp, b * scale));
}
static inline float lane_div_full(float a, float b)
{
    float scale = lane_scale(b);
    return lane_nan_f32(a * scale * lane_mufu(mufu_rcp, b * scale));
}

/* The f64 approximations with .ftz work on the upper words of operand and result. */
static inline double lane_rcp_upper(double a)
{
    uint32_t word = (uint32_t)(lane_bits_f64(a) >> 32), sign = word & 0x80000000;
    int32_t exponent = (int32_t)(word >> 20 & 0x7ff);
    int32_t code =
        (2045 - exponent) * (1 << 20) + (int32_t)(mufu_rcp_part((word & 0xfffff) << 3) >> 3);
    uint32_t r = sign | (code < 1 << 20 ? 0 : (uint32_t)code);
    r = exponent == 0 ? sign | 0x7ff00000 : r;
    r = exponent == 0x7ff ? word & 0xfffff ? 0x7fffffff : sign : r;
    return lane_double((uint64_t)r << 32);
}
static inline double lane_rsqrt_upper(double a)
{
    uint32_t word = (uint32_t)(lane_bits_f64(a) >> 32), exponent = word >> 20 & 0x7ff;
    uint32_t odd = ~exponent & 1, half = (exponent + 1 + !odd) / 2;
    uint32_t r = ((1534 - half) << 20) + (mufu_rsqrt_part((word & 0xfffff) << 3, odd) >> 3);
    bool is_nan = (exponent == 0x7ff && word & 0xfffff) || (word >> 31 && exponent);
    r = exponent == 0x7ff ? 0 : r;
    r = exponent == 0 ? (word & 0x80000000) | 0x7ff00000 : r;
    return lane_double((uint64_t)(is_nan ? 0x7fffffff : r) << 32);
}
/* Without .ftz one step of Halley's method refines it. */
static inline double lane_rsqrt_f64(double a)
{
    bool small = fabs(a) < 0x1p-1022;
    double x = small ? a * 0x1p54 : a, y = lane_rsqrt_upper(x);
    double e = fma(x, -(y * y), 1), r = fma(fma(e, 0.375, 0.5), y * e, y);
    bool usual = a > 0 && a < (double)INFINITY;
    return usual ? (small ? r * 0x1p27 : r) : lane_nan_f64(1 / sqrt(a), a, a);
}

/* What testp asks, in the order of class TESTP; `exponent` and `mantissa` are masks. */
static inline uint32_t lane_testp(uint64_t bits, uint64_t exponent, uint64_t mantissa,
                                  uint32_t test)
{
    bool top = (bits & exponent) == exponent, zero = (bits & exponent) == 0;
    bool fraction = (bits & mantissa) != 0;
    switch (test) {
    case 0:
        return !top;
    case 1:
        return top && !fraction;
    case 2:
        return !(top && fraction);
    case 3:
        return top && fraction;
    case 4:
        return !top && (!zero || !fraction); /* zero counts as normal */
    default:
        return zero && fraction;
    }
}

/* min and max: a NaN loses against a number, -0 is below +0. .NaN is exec's to add. */
static inline float lane_fmin_f32(float a, float b)
{
    if (a != a || b != b)
        return lane_nan_f32(a != a ? b : a);
    return a < b || (a == b && signbit(a)) ? a : b;
}
static inline float lane_fmax_f32(float a, float b)
{
    if (a != a || b != b)
        return lane_nan_f32(a != a ? b : a);
    return a > b || (a == b && !signbit(a)) ? a : b;
}
static inline double lane_fmin_f64(double a, double b)
{
    if (a != a || b != b)
        return a != a && b != b ? lane_quiet_f64(b) : a != a ? b : a;
    return a < b || (a == b && signbit(a)) ? a : b;
}
static inline double lane_fmax_f64(double a, double b)
{
    if (a != a || b != b)
        return a != a && b != b ? lane_quiet_f64(b) : a != a ? b : a;
    return a > b || (a == b && !signbit(a)) ? a : b;
}
#define LANE_FMIN(a, b) _Generic((a), float : lane_fmin_f32, double : lane_fmin_f64)(a, b)
#define LANE_FMAX(a, b) _Generic((a), float : lane_fmax_f32, double : lane_fmax_f64)(a, b)

#endif
