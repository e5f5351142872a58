/*
 * One warp's product of narrow numbers: what mma, wmma and wgmma have in common once their operands
 * lie side by side as bytes. Rows of a and columns of b run along k, in the bytes that registers
 * and shared memory have; d is by rows, a word an element.
 */
#ifndef SONDE_EXEC_PRODUCT_H
#define SONDE_EXEC_PRODUCT_H

#include "exec/ops/matrix/product_loops.h"
#include "isa/fragment.h"

#define PRODUCT_A_BYTES 32 /* of a row in one instruction; of a column of b where a is dense */

struct product {
    struct isa_mnk mnk;                             /* of one warp; k counts b's elements */
    const struct float_format *a_format, *b_format; /* NULL: integers */
    uint32_t element_bits;                          /* of a and b: 1, 4, 8, 16, 32 */
    bool a_signed, b_signed, exclusive;             /* integers; exclusive: of bits, xor for and */
    bool sparse, negative, saturate;
    bool half, c_half; /* d and c are f16 */
    uint32_t terms;    /* products of a sum: k, or half of it where a is sparse */
    uint32_t block;    /* of floats: so many are added up at once */
    bool short_sum;    /* of floats: fewer bits are kept, as of wgmma's 8-bit floats */
    bool pairwise;     /* of mma's 8-bit floats: see product.c */
    const struct product_loops *loops;
};

struct product_operands {
    _Alignas(32) uint8_t a[PRODUCT_ROWS][PRODUCT_A_BYTES];
    _Alignas(32) uint8_t b[PRODUCT_COLUMNS][2 * PRODUCT_A_BYTES];
    uint8_t place[PRODUCT_ROWS][PRODUCT_PLACES];   /* sparse: which of b's column an a belongs to */
    _Alignas(32) uint32_t d[16 * PRODUCT_COLUMNS]; /* in: c; element (i, j) at i * n + j */
};

/* d = a b + d. */
void product_run(const struct product *p, struct product_operands *o);

#endif
