/*
 * What tensor cores make of a row and a column of narrow floats, to the bit, as an H200 does it. An
 * operand is a signed mantissa of 11 bits and an exponent, which for a subnormal number (of the
 * addend, too) is that of the smallest normal one. The products and the addend are cut, toward
 * zero, 25 bits below the largest exponent among them (of a product: the sum of its operands'
 * exponents) and added up exactly. From that sum f16 is rounded to nearest; f32 is cut to its 24
 * bits. A sum that ends as zero is +0. Measured (tests/vectors/README.md); M. Fasi et al.,
 * Numerical behavior of NVIDIA tensor cores (2021), found the like on earlier GPUs, which keep
 * fewer bits.
 */
#ifndef SONDE_EXEC_TENSOR_SUM_H
#define SONDE_EXEC_TENSOR_SUM_H

#include <stdint.h>

#include "exec/lane/float_format.h"

#define TENSOR_PART_BITS 10 /* behind the point of an operand's mantissa */
#define TENSOR_LIMIT 2000   /* exponents above: a special one; below its negative: all zeros */
#define TENSOR_ZERO (-4096)
#define TENSOR_SPECIAL 16384 /* mantissa +1, -1: an infinity; 0: a NaN */

/* mantissa x 2^(exponent - 10), or one of those above. */
struct tensor_part {
    int32_t mantissa, exponent;
};

struct tensor_part tensor_part(const struct float_format *format, uint32_t code);

/*
 * c + a[0] b[0] + .. + a[count - 1] b[count - 1], not yet rounded. c is a value of f16 or f32,
 * whose smallest normal number has the exponent `lowest`.
 */
double tensor_sum(double c, int32_t lowest, const struct tensor_part *a,
                  const struct tensor_part *b, uint32_t count);
float tensor_cut_f32(double sum);
uint32_t tensor_round_f16(double sum); /* its code */

#endif
