/* See tensor_sum.h. All in integers: the sum has 32 bits and a sign at most. */
#include "exec/ops/matrix/tensor_sum.h"

#include <math.h>
#include <stdbool.h>

#include "isa/lane_math.h"

#define ADDEND_BITS 23
#define SUM_BITS 25 /* behind the point of the largest exponent */

struct tensor_part tensor_part(const struct float_format *format, uint32_t code)
{
    uint32_t magnitude = code & (format->sign - 1), field = magnitude >> format->mantissa_bits;
    int32_t sign = code & format->sign ? -1 : 1;
    bool finite = format == &format_e4m3;
    if (finite ? magnitude == format->nan : magnitude >= format->infinity)
        return (struct tensor_part){!finite && magnitude == format->infinity ? sign : 0,
                                    TENSOR_SPECIAL};
    if (magnitude == 0)
        return (struct tensor_part){0, TENSOR_ZERO};
    uint32_t one = 1u << format->mantissa_bits, fraction = magnitude & (one - 1);
    int32_t mantissa = (int32_t)((field ? fraction | one : fraction)
                                 << (TENSOR_PART_BITS - format->mantissa_bits));
    return (struct tensor_part){sign * mantissa,
                                format->min_exponent + (int)(field ? field - 1 : 0)};
}

static double part_value(const struct tensor_part *part)
{
    if (part->exponent == TENSOR_SPECIAL)
        return part->mantissa ? part->mantissa * (double)INFINITY : (double)NAN;
    return ldexp(part->mantissa, part->exponent - TENSOR_PART_BITS);
}

/* With an infinity or a NaN among them only which of these comes out counts. */
static double special_sum(double c, const struct tensor_part *a, const struct tensor_part *b,
                          uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        c += part_value(&a[k]) * part_value(&b[k]);
    return c;
}

/* The exponent of an addend, and its mantissa with ADDEND_BITS behind the point. */
static int32_t tensor_split(int32_t *mantissa, double c, int32_t lowest)
{
    uint32_t bits = lane_bits_f32((float)c), field = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    int32_t magnitude = (int32_t)(field ? fraction | 0x800000 : fraction);
    int32_t exponent = field ? (int32_t)field - 127 : -126;
    if (exponent < lowest) {
        magnitude >>= magnitude ? lowest - exponent : 0;
        exponent = lowest;
    }
    *mantissa = bits >> 31 ? -magnitude : magnitude;
    if (field == 0xff)
        return TENSOR_SPECIAL;
    return magnitude == 0 ? TENSOR_ZERO : exponent;
}

/* mantissa x 2^up / 2^down, cut toward zero. */
static int64_t aligned(int32_t mantissa, int up, int32_t down)
{
    int64_t magnitude =
        (int64_t)(mantissa < 0 ? -mantissa : mantissa) << up >> (down < 63 ? down : 63);
    return mantissa < 0 ? -magnitude : magnitude;
}

double tensor_sum(double c, int32_t lowest, const struct tensor_part *a,
                  const struct tensor_part *b, uint32_t count)
{
    int32_t addend, top = tensor_split(&addend, c, lowest), addend_exponent = top;
    for (uint32_t k = 0; k < count; k++) {
        int32_t exponent = a[k].exponent + b[k].exponent;
        top = exponent > top ? exponent : top;
    }
    if (top > TENSOR_LIMIT)
        return special_sum(c, a, b, count);
    if (top < -TENSOR_LIMIT)
        return 0;
    int64_t sum = aligned(addend, SUM_BITS - ADDEND_BITS, top - addend_exponent);
    for (uint32_t k = 0; k < count; k++)
        sum += aligned(a[k].mantissa * b[k].mantissa, SUM_BITS - 2 * TENSOR_PART_BITS,
                       top - a[k].exponent - b[k].exponent);
    return (double)sum * lane_power_of_two(top - SUM_BITS);
}

float tensor_cut_f32(double sum)
{
    if (sum != sum)
        return lane_float(0x7fffffff);
    if (fabs(sum) < 0x1p-126)
        return (float)(trunc(sum * 0x1p149) * 0x1p-149 + 0.0);
    return (float)lane_double(lane_bits_f64(sum) & 0xffffffffe0000000);
}

uint32_t tensor_round_f16(double sum)
{
    uint32_t code = format_narrow(&format_f16, sum, ROUND_NEAREST, false);
    return code == format_f16.sign ? 0 : code;
}
