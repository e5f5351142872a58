/* The special functions of special.inc with AVX-512: 32 lanes are 2 vectors. */
#include "exec/lane/lanes.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(SONDE_PORTABLE_LANES)
#include <immintrin.h>
#include <string.h>

#include "isa/lane_math.h"

#define TARGET                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi,bmi2,popcnt")))
#define PART TARGET __attribute__((always_inline)) static inline
#define SPECIAL_TABLE lanes_special_avx512
#define VECTOR_LANES 16
#define WARP_VECTORS (32 / VECTOR_LANES)
#define V(name) _mm512_##name
#define V_BITS(name) _mm512_##name##_si512
#define V_CAST_FLOATS _mm512_castsi512_ps
#define V_CAST_WORDS _mm512_castps_si512

typedef __m512i words;
typedef __m512 vfloat;
typedef __m512d doubles;
typedef __m256i half;    /* of a vector's words: as many as doubles are in one */
typedef __mmask16 flags; /* the lanes where a condition holds */

PART words all(uint32_t value)
{
    return _mm512_set1_epi32((int32_t)value);
}
PART flags equal(words a, uint32_t b)
{
    return _mm512_cmpeq_epi32_mask(a, all(b));
}
PART flags greater(words a, words b)
{
    return _mm512_cmpgt_epi32_mask(a, b);
}
PART flags negative(words bits)
{
    return _mm512_movepi32_mask(bits);
}
PART flags below(vfloat a, vfloat b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
PART flags unordered(vfloat a)
{
    return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
}
PART flags either(flags a, flags b)
{
    return (flags)(a | b);
}
PART flags both(flags a, flags b)
{
    return (flags)(a & b);
}
PART bool any(flags a)
{
    return a != 0;
}
PART flags but_not(flags a, flags b)
{
    return (flags)(a & ~b);
}
/* `b` where the condition holds. */
PART words choose(words a, words b, flags condition)
{
    return _mm512_mask_blend_epi32(condition, a, b);
}
PART vfloat choose_floats(vfloat a, vfloat b, flags condition)
{
    return _mm512_mask_blend_ps(condition, a, b);
}
/* 0 where it does not. */
PART words keep(words a, flags condition)
{
    return _mm512_maskz_mov_epi32(condition, a);
}
/* The table of coefficients by columns, which lie in registers: to choose among those is faster
 * than to gather from memory. */
typedef struct {
    _Alignas(64) int32_t column[3][MUFU_SEGMENTS];
} unit_table;
#define UNIT_TABLE(name) &name##_table
#define UNIT_COLUMNS rcp_table
#define UNIT_ROWS "isa/mufu_rcp.def"
#include "exec/lane/columns.inc"
#define UNIT_COLUMNS rsqrt_table
#define UNIT_ROWS "isa/mufu_rsqrt.def"
#include "exec/lane/columns.inc"
#define UNIT_COLUMNS sqrt_table
#define UNIT_ROWS "isa/mufu_sqrt.def"
#include "exec/lane/columns.inc"
#define UNIT_COLUMNS ex2_table
#define UNIT_ROWS "isa/mufu_ex2.def"
#include "exec/lane/columns.inc"

/* The coefficients of each lane's segment. */
PART void look_up(words c[3], const unit_table *table, words segment)
{
    flags odd = _mm512_test_epi32_mask(segment, all(32)),
          upper = _mm512_test_epi32_mask(segment, all(64));
    for (int i = 0; i < 3; i++) {
        words found[4];
        for (int k = 0; k < 4; k++) {
            const int32_t *from = table->column[i] + k * 32;
            found[k] = _mm512_permutex2var_epi32(_mm512_load_si512(from), segment,
                                                 _mm512_load_si512(from + 16));
        }
        c[i] = choose(choose(found[0], found[1], odd), choose(found[2], found[3], odd), upper);
    }
}
PART half low_half(words a)
{
    return _mm512_castsi512_si256(a);
}
PART half high_half(words a)
{
    return _mm512_extracti64x4_epi64(a, 1);
}
PART words join(half high, half low)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
/* The floats of a half as doubles, and back. */
PART doubles widen(half bits)
{
    return _mm512_cvtps_pd(_mm256_castsi256_ps(bits));
}
PART half round_to_floats(doubles a)
{
    return _mm256_castps_si256(_mm512_cvtpd_ps(a));
}
PART words bits_of(doubles a)
{
    return _mm512_castpd_si512(a);
}
PART doubles doubles_of(words bits)
{
    return _mm512_castsi512_pd(bits);
}
PART words all_64(uint64_t value)
{
    return _mm512_set1_epi64((int64_t)value);
}
PART words read_words(const uint32_t *from)
{
    return _mm512_loadu_si512(from);
}
/* A whole vector is written as one: what is read next from there need not wait. */
PART void write_words(uint32_t *to, words r, uint32_t mask)
{
    if ((mask & 0xffff) != 0xffff)
        r = _mm512_mask_mov_epi32(_mm512_loadu_si512(to), (__mmask16)mask, r);
    _mm512_storeu_si512(to, r);
}

#include "exec/lane/special.inc"

/*
 * Comparisons of 32 bits, whose results are masks as they come: the general loops gather bits from
 * vectors of them. COMPARE(operator, type, one) has `one` compare the vectors x and y; those of
 * words name the predicate by number: eq, lt, le, ne, ge, gt are 0, 1, 2, 4, 5, 6.
 */
#define COMPARES                                                                                   \
    COMPARE(eq, u32, _mm512_cmp_epu32_mask(x, y, 0))                                               \
    COMPARE(ne, u32, _mm512_cmp_epu32_mask(x, y, 4))                                               \
    COMPARE(lt, u32, _mm512_cmp_epu32_mask(x, y, 1))                                               \
    COMPARE(le, u32, _mm512_cmp_epu32_mask(x, y, 2))                                               \
    COMPARE(gt, u32, _mm512_cmp_epu32_mask(x, y, 6))                                               \
    COMPARE(ge, u32, _mm512_cmp_epu32_mask(x, y, 5))                                               \
    COMPARE(eq, s32, _mm512_cmp_epi32_mask(x, y, 0))                                               \
    COMPARE(ne, s32, _mm512_cmp_epi32_mask(x, y, 4))                                               \
    COMPARE(lt, s32, _mm512_cmp_epi32_mask(x, y, 1))                                               \
    COMPARE(le, s32, _mm512_cmp_epi32_mask(x, y, 2))                                               \
    COMPARE(gt, s32, _mm512_cmp_epi32_mask(x, y, 6))                                               \
    COMPARE(ge, s32, _mm512_cmp_epi32_mask(x, y, 5))                                               \
    COMPARE(eq, f32, _mm512_cmp_ps_mask(floats(x), floats(y), _CMP_EQ_OQ))                         \
    COMPARE(ne, f32, _mm512_cmp_ps_mask(floats(x), floats(y), _CMP_NEQ_OQ))                        \
    COMPARE(lt, f32, _mm512_cmp_ps_mask(floats(x), floats(y), _CMP_LT_OQ))                         \
    COMPARE(le, f32, _mm512_cmp_ps_mask(floats(x), floats(y), _CMP_LE_OQ))                         \
    COMPARE(gt, f32, _mm512_cmp_ps_mask(floats(x), floats(y), _CMP_GT_OQ))                         \
    COMPARE(ge, f32, _mm512_cmp_ps_mask(floats(x), floats(y), _CMP_GE_OQ))

#define COMPARE(op, type, one)                                                                     \
    TARGET static uint32_t special_##op##_##type(const void *a, const void *b, uint32_t mask)      \
    {                                                                                              \
        uint32_t bits[2];                                                                          \
        (void)mask;                                                                                \
        for (int k = 0; k < 2; k++) {                                                              \
            words x = read_words((const uint32_t *)a + k * 16);                                    \
            words y = read_words((const uint32_t *)b + k * 16);                                    \
            bits[k] = (one);                                                                       \
        }                                                                                          \
        return bits[0] | bits[1] << 16;                                                            \
    }
COMPARES
#undef COMPARE
#define COMPARE(op, type, one) {MOD_CMP_##op, TYPE_##type, special_##op##_##type},
const struct lane_compare_entry lanes_compares_avx512[] = {
    COMPARES{MOD_NONE, TYPE_NONE, NULL},
};
#else
const struct lane_entry lanes_special_avx512[] = {{OP_COUNT, TYPE_NONE, TYPE_NONE, NULL}};
const struct lane_compare_entry lanes_compares_avx512[] = {{MOD_NONE, TYPE_NONE, NULL}};
#endif
