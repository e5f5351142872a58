/* The special functions of special.inc with AVX2: 32 lanes are 4 vectors. */
#include "exec/lane/lanes.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(SONDE_PORTABLE_LANES)
#include <immintrin.h>
#include <string.h>

#include "isa/lane_math.h"

#define TARGET __attribute__((target("avx2,fma,bmi,bmi2,popcnt")))
#define PART TARGET __attribute__((always_inline)) static inline
#define SPECIAL_TABLE lanes_special_avx2
#define VECTOR_LANES 8
#define WARP_VECTORS (32 / VECTOR_LANES)
#define V(name) _mm256_##name
#define V_BITS(name) _mm256_##name##_si256
#define V_CAST_FLOATS _mm256_castsi256_ps
#define V_CAST_WORDS _mm256_castps_si256

typedef __m256i words;
typedef __m256 vfloat;
typedef __m256d doubles;
typedef __m128i half;  /* of a vector's words: as many as doubles are in one */
typedef __m256i flags; /* a condition's lanes: all ones where it holds */

PART words all(uint32_t value)
{
    return _mm256_set1_epi32((int32_t)value);
}
PART flags equal(words a, uint32_t b)
{
    return _mm256_cmpeq_epi32(a, all(b));
}
PART flags greater(words a, words b)
{
    return _mm256_cmpgt_epi32(a, b);
}
PART flags negative(words bits)
{
    return _mm256_srai_epi32(bits, 31);
}
PART flags below(vfloat a, vfloat b)
{
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
PART flags unordered(vfloat a)
{
    return _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}
PART flags either(flags a, flags b)
{
    return _mm256_or_si256(a, b);
}
PART flags both(flags a, flags b)
{
    return _mm256_and_si256(a, b);
}
PART bool any(flags a)
{
    return !_mm256_testz_si256(a, a);
}
PART flags but_not(flags a, flags b)
{
    return _mm256_andnot_si256(b, a);
}
/* `b` where the condition holds. */
PART words choose(words a, words b, flags condition)
{
    return _mm256_blendv_epi8(a, b, condition);
}
PART vfloat choose_floats(vfloat a, vfloat b, flags condition)
{
    return _mm256_blendv_ps(a, b, _mm256_castsi256_ps(condition));
}
/* 0 where it does not. */
PART words keep(words a, flags condition)
{
    return _mm256_and_si256(a, condition);
}
#define UNIT_TABLE(name) mufu_##name##_rows
typedef struct mufu_row unit_table;

/* The coefficients of each lane's segment. */
PART void look_up(words c[3], const unit_table *table, words segment)
{
    words first = _mm256_add_epi32(segment, _mm256_add_epi32(segment, segment));
    for (int i = 0; i < 3; i++)
        c[i] = _mm256_i32gather_epi32(&table->c0 + i, first, 4);
}
PART half low_half(words a)
{
    return _mm256_castsi256_si128(a);
}
PART half high_half(words a)
{
    return _mm256_extracti128_si256(a, 1);
}
PART words join(half high, half low)
{
    return _mm256_set_m128i(high, low);
}
/* The floats of a half as doubles, and back. */
PART doubles widen(half bits)
{
    return _mm256_cvtps_pd(_mm_castsi128_ps(bits));
}
PART half round_to_floats(doubles a)
{
    return _mm_castps_si128(_mm256_cvtpd_ps(a));
}
PART words bits_of(doubles a)
{
    return _mm256_castpd_si256(a);
}
PART doubles doubles_of(words bits)
{
    return _mm256_castsi256_pd(bits);
}
PART words all_64(uint64_t value)
{
    return _mm256_set1_epi64x((int64_t)value);
}
PART words read_words(const uint32_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}
/* A whole vector is written as one: what is read next from there need not wait. */
PART void write_words(uint32_t *to, words r, uint32_t mask)
{
    const words bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    words kept = _mm256_cmpeq_epi32(_mm256_and_si256(all(mask), bits), bits);
    if ((mask & 0xff) != 0xff)
        r = choose(read_words(to), r, kept);
    _mm256_storeu_si256((__m256i *)(void *)to, r);
}

#include "exec/lane/special.inc"
#else
const struct lane_entry lanes_special_avx2[] = {{OP_COUNT, TYPE_NONE, TYPE_NONE, NULL}};
#endif
