/* Loops of products for x86-64 processors with AVX2. */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define LOOP_TARGET __attribute__((target("avx2")))
#define LOOP_TABLE product_loops_avx2
#define LOOP_LINKAGE
#define LOOP_MAX(a, b) ((ints)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#define LOOP_SHIFT(value, far) ((ints)_mm256_srlv_epi32((__m256i)(value), (__m256i)(far)))
#define LOOP_SIZE(value) ((ints)_mm256_abs_epi32((__m256i)(value)))
#define LOOP_SIGNED(size, like) ((ints)_mm256_sign_epi32((__m256i)(size), (__m256i)(like)))
#define LOOP_ANY(value) (!_mm256_testz_si256((__m256i)(value), (__m256i)(value)))
#define LOOP_PAIRS(sums, a, b)                                                                     \
    ((sums) += (ints)_mm256_madd_epi16(_mm256_loadu_si256((const __m256i *)(a)),                   \
                                       _mm256_loadu_si256((const __m256i *)(b))))
#include "exec/ops/matrix/product_loops.inc"
#else
#include "exec/ops/matrix/product_loops.h"
const struct product_loops product_loops_avx2 = {0};
#endif
