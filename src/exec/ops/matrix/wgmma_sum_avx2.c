/* The sums for x86-64 processors with AVX2, which shifts each element by its own count. */
#if defined(__x86_64__) && defined(__GNUC__)
#define SUM_TARGET __attribute__((target("avx2")))
#define SUM_NAME sum_avx2
#include "exec/ops/matrix/wgmma_sum.inc"

wgmma_sum_fn *const wgmma_sum_avx2 = sum_avx2;
#else
#include "exec/ops/matrix/wgmma_sum.h"
#include <stddef.h>

wgmma_sum_fn *const wgmma_sum_avx2 = NULL;
#endif
