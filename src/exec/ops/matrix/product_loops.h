/*
 * The loops of a product of narrow numbers (product.c), each over many elements at once: operands'
 * codes as mantissas and exponents, sums of a row eight columns at a time, sums as codes. The rule
 * is that of tensor_sum.h with the number of bits kept as a parameter; what is special or subnormal
 * is left to it.
 */
#ifndef SONDE_EXEC_PRODUCT_LOOPS_H
#define SONDE_EXEC_PRODUCT_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/lane/float_format.h"

#define PRODUCT_ROWS 32
#define PRODUCT_COLUMNS 256
#define PRODUCT_DEPTH 64 /* of b, in elements wider than a bit; a row of a has half at most */
#define PRODUCT_PARTS (PRODUCT_DEPTH * PRODUCT_COLUMNS)
#define PRODUCT_TERMS 32  /* of a sum of floats */
#define PRODUCT_LANES 8   /* columns come in such numbers */
#define PRODUCT_PLACES 64 /* elements of a's row, where it is sparse */
#define HALF_NAN 0x7fff
#define PRODUCT_BITS 20  /* behind the point of a product */
#define PRODUCT_LONG 25  /* kept below the largest exponent .. */
#define PRODUCT_SHORT 13 /* .. and of wgmma's 8-bit floats */

/* Some products of all rows. */
struct product_rows {
    uint32_t rows, columns, count;                 /* count: products of each sum */
    int32_t bits;                                  /* kept below the largest exponent */
    uint32_t apart;                                /* of a's from row to row */
    bool same;                                     /* all rows have b[0] */
    const int32_t *mantissa, *exponent;            /* a's; mantissas times product_scale() */
    const int32_t *b[PRODUCT_ROWS][PRODUCT_TERMS]; /* the row of b for each: mantissas, and
                                                      PRODUCT_PARTS behind them exponents */
    const uint8_t *place; /* of eight columns, not NULL: b's row of each in `whole` instead,
                             PRODUCT_PLACES apart from row to row */
    const int32_t *whole;
    _Alignas(32) int32_t top[PRODUCT_COLUMNS]; /* of sums(): the largest exponent .. */
    _Alignas(64) double sum[PRODUCT_COLUMNS];  /* .. and the sum, unless it is a special one's */
};

/* By what products are multiplied, so that what is kept of them is whole. */
static inline int32_t product_scale(int32_t bits)
{
    return bits > PRODUCT_BITS ? 1 << (bits - PRODUCT_BITS) : 1;
}

struct product_loops {
    /* Codes of 8-bit floats as those of f16. */
    void (*halves)(uint32_t *codes, bool e4m3, uint32_t count);
    /* What codes stand for, mantissas times `scale`; see tensor_part() for special ones. */
    void (*parts)(int32_t *mantissa, int32_t *exponent, const struct float_format *format,
                  const uint32_t *codes, uint32_t count, int32_t scale);
    /* `codes` are the row's addends, of f32 or f16 (half). */
    void (*sums)(struct product_rows *r, uint32_t row, const uint32_t *codes, bool half);
    /* All rows' sums in the place of their addends, of f32 or f16 (to_half). Bits are set for rows
     * of which some are special or subnormal; with these it has done nothing. */
    uint32_t (*whole_rows)(uint32_t *codes, const struct product_rows *r, bool half, bool to_half);
    /* Sums of `terms` (a multiple of 16) products of small integers. */
    int32_t (*dot)(const int16_t *a, const int16_t *b, uint32_t terms);
};

extern const struct product_loops product_loops_portable;
extern const struct product_loops product_loops_avx2; /* parts NULL: not for this processor */
const struct product_loops *product_loops_choose(void);

#endif
