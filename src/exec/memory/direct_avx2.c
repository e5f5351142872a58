/* Direct loads and stores for x86-64 processors with AVX2, where comparing 64-bit lanes is cheap.
 */
#if defined(__x86_64__) && defined(__GNUC__)
#define DIRECT_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define DIRECT_NAME access_avx2
#define DIRECT_SHARED_NAME shared_avx2
#define DIRECT_REACH_NAME reach_avx2
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "exec/memory/region.h"

/* 8 words at these addresses, which are allowed. */
DIRECT_TARGET static inline __m256i eight_words(const uint8_t *memory, __m256i address)
{
    const __m256i steps = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    uint32_t first = (uint32_t)_mm256_cvtsi256_si32(address);
    __m256i behind = _mm256_sub_epi32(address, _mm256_set1_epi32((int32_t)first));
    __m256i gaps = _mm256_xor_si256(behind, steps);
    if (_mm256_testz_si256(gaps, gaps))
        return _mm256_loadu_si256((const __m256i *)(const void *)(memory + first));
    if (_mm256_testz_si256(behind, behind)) {
        int32_t word;
        memcpy(&word, memory + first, sizeof word);
        return _mm256_set1_epi32(word);
    }
    return _mm256_i32gather_epi32((const int *)(const void *)memory, address, 1);
}

/* Words of `memory` at 32 addresses, each base + offset. False: one is beyond `last`, which is
 * below 2^31, or no multiple of 4. */
DIRECT_TARGET static inline bool direct_words(lane_word *lanes, const uint8_t *memory,
                                              const lane_word *base, uint32_t offset, uint32_t last)
{
    const __m256i *from = (const __m256i *)(const void *)base;
    __m256i *to = (__m256i *)(void *)lanes;
    __m256i address[4], bits = _mm256_setzero_si256(), most = _mm256_setzero_si256();
    for (int k = 0; k < 4; k++) {
        address[k] =
            _mm256_add_epi32(_mm256_loadu_si256(from + k), _mm256_set1_epi32((int32_t)offset));
        bits = _mm256_or_si256(bits, address[k]);
        most = _mm256_max_epu32(most, address[k]);
    }
    __m256i limit = _mm256_set1_epi32((int32_t)last);
    __m256i inside = _mm256_cmpeq_epi32(_mm256_max_epu32(most, limit), limit);
    if (_mm256_movemask_epi8(inside) != -1 || !_mm256_testz_si256(bits, _mm256_set1_epi32(3)))
        return false;
    for (int k = 0; k < 4; k++)
        _mm256_storeu_si256(to + k, eight_words(memory, address[k]));
    return true;
}

#define DIRECT_HAS_VECTORS false
#include "exec/memory/direct.inc"

direct_fn *const direct_avx2 = access_avx2;
direct_shared_fn *const direct_shared_avx2 = shared_avx2;
direct_reach_fn *const direct_reach_avx2 = reach_avx2;
#else
#include "exec/memory/direct.h"
#include <stddef.h>

direct_fn *const direct_avx2 = NULL;
direct_shared_fn *const direct_shared_avx2 = NULL;
direct_reach_fn *const direct_reach_avx2 = NULL;
#endif
