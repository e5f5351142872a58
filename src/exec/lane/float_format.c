/* Narrow floats: bits to double precision and back. */
#include "exec/lane/float_format.h"

#include <math.h>

#include "isa/lane_math.h"

/* clang-format off */
const struct float_format format_f16 = {10, -14, 0x7c00, 0x7bff, 0x7fff, 0x8000};
const struct float_format format_bf16 = {7, -126, 0x7f80, 0x7f7f, 0x7fff, 0x8000};
const struct float_format format_tf32 = {10, -126, 0x3fc00, 0x3fbff, 0x3ffff, 0x40000};
const struct float_format format_e4m3 = {3, -6, 0x7f, 0x7e, 0x7f, 0x80};
const struct float_format format_e5m2 = {2, -14, 0x7c, 0x7b, 0x7f, 0x80};
/* clang-format on */

const struct float_format *format_of_type(enum isa_type type)
{
    switch (type) {
    case TYPE_f16:
    case TYPE_f16x2:
        return &format_f16;
    case TYPE_bf16:
    case TYPE_bf16x2:
        return &format_bf16;
    case TYPE_tf32:
        return &format_tf32;
    case TYPE_e4m3:
        return &format_e4m3;
    case TYPE_e5m2:
        return &format_e5m2;
    default:
        return NULL;
    }
}

enum rounding rounding_of(enum isa_mod rnd)
{
    switch (rnd) {
    case MOD_RND_rz:
        return ROUND_ZERO;
    case MOD_RND_rm:
        return ROUND_DOWN;
    case MOD_RND_rp:
        return ROUND_UP;
    default:
        return ROUND_NEAREST;
    }
}

double format_widen(const struct float_format *format, uint32_t code)
{
    uint32_t magnitude = code & (format->sign - 1), top = magnitude >> format->mantissa_bits;
    uint32_t fraction = magnitude & ((1u << format->mantissa_bits) - 1);
    double value;
    if (format == &format_e4m3 ? magnitude == format->nan : magnitude > format->infinity)
        value = (double)NAN;
    else if (format != &format_e4m3 && magnitude == format->infinity)
        value = (double)INFINITY;
    else if (top == 0)
        value = fraction * lane_power_of_two(format->min_exponent - format->mantissa_bits);
    else
        value = (fraction + (1u << format->mantissa_bits)) *
                lane_power_of_two(format->min_exponent + (int)top - 1 - format->mantissa_bits);
    return code & format->sign ? -value : value;
}

static bool rounds_up(uint64_t kept, uint64_t rest, uint64_t half, bool negative,
                      enum rounding rounding)
{
    switch (rounding) {
    case ROUND_NEAREST:
        return rest > half || (rest == half && (kept & 1));
    case ROUND_AWAY:
        return rest >= half;
    case ROUND_DOWN:
        return negative && rest > 0;
    case ROUND_UP:
        return !negative && rest > 0;
    default:
        return false;
    }
}

uint32_t format_narrow(const struct float_format *format, double value, enum rounding rounding,
                       bool finite)
{
    uint64_t bits = lane_bits_f64(value), m = bits & 0x000fffffffffffff;
    bool negative = bits >> 63;
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint32_t sign = negative ? format->sign : 0;
    if (value != value)
        return format->nan;
    if (exponent == 0x7ff)
        return sign | (finite ? format->largest : format->infinity);
    m |= exponent ? UINT64_C(1) << 52 : 0;
    exponent = exponent ? exponent - 1023 : -1022;
    int base = exponent > format->min_exponent ? exponent : format->min_exponent;
    int shift = base - format->mantissa_bits - (exponent - 52);
    uint64_t kept = shift < 64 ? m >> shift : 0;
    uint64_t rest = shift < 64 ? m & ((UINT64_C(1) << shift) - 1) : m != 0;
    uint64_t half = shift <= 64 ? UINT64_C(1) << (shift - 1) : UINT64_MAX;
    kept += rounds_up(kept, rest, half, negative, rounding);
    uint64_t code = kept + ((uint64_t)(base - format->min_exponent) << format->mantissa_bits);
    if (code <= format->largest)
        return sign | (uint32_t)code;
    bool inward = rounding == ROUND_ZERO || (rounding == ROUND_DOWN && !negative) ||
                  (rounding == ROUND_UP && negative);
    return sign | (finite || inward ? format->largest : format->infinity);
}

double odd_add(double a, double b)
{
    double sum = a + b;
    if (!(fabs(sum) < (double)INFINITY) || sum == 0)
        return sum;
    double part = sum - a, error = (a - (sum - part)) + (b - part);
    uint64_t bits = lane_bits_f64(sum);
    if (error == 0 || bits & 1)
        return sum;
    return lane_double((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

double odd_from_integer(uint64_t magnitude, bool negative)
{
    double value = (double)magnitude;
    if (magnitude >> 53)
        value = (double)(magnitude >> 11 | ((magnitude & 0x7ff) != 0)) * 2048;
    return negative ? -value : value;
}
