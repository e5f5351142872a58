/*
 * Sums of products for a row of wgmma's result, eight columns at a time. The rule is that of
 * tensor_sum.h with the number of bits kept as a parameter; special operands are left to it.
 */
#ifndef SONDE_EXEC_WGMMA_SUM_H
#define SONDE_EXEC_WGMMA_SUM_H

#include <stdint.h>

#define WGMMA_COLUMNS 256
#define WGMMA_DEPTH 64 /* of b, in elements; a row of a has half of it at most, where sparse */
#define WGMMA_PRODUCTS 32

/* Mantissas and exponents by columns; what a special operand is in tensor_sum.c. */
struct wgmma_parts {
    _Alignas(32) int32_t mantissa[WGMMA_COLUMNS];
    _Alignas(32) int32_t exponent[WGMMA_COLUMNS];
};

struct wgmma_row {
    uint32_t columns, count; /* products of each sum */
    int32_t bits;            /* kept below the largest exponent */
    int32_t mantissa[WGMMA_PRODUCTS], exponent[WGMMA_PRODUCTS]; /* a's */
    const struct wgmma_parts *b[WGMMA_PRODUCTS];                /* the row of b for each */
    struct wgmma_parts c;
    _Alignas(32) int32_t top[WGMMA_COLUMNS]; /* out: the largest exponent .. */
    _Alignas(32) double sum[WGMMA_COLUMNS];  /* .. and the sum, unless it is a special one's */
};

typedef void wgmma_sum_fn(struct wgmma_row *row);
extern wgmma_sum_fn *const wgmma_sum_avx2; /* NULL: not for this processor */
wgmma_sum_fn *wgmma_sum_choose(void);

#endif
