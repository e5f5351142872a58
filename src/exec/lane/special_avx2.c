/*
 * Reciprocals, roots, reciprocal roots, powers of two and the quotients made of them, as
 * isa/lane_math.h has them, for all lanes of a warp at a time with AVX2: each function here is the
 * one of its name in isa/mufu.h or isa/lane_math.h. Coefficients are gathered, sums are made in
 * doubles, which hold them exactly, and squares, which fit 16 bits, for 16 lanes at a time. The
 * same bits as one lane at a time.
 */
#include "exec/lane/lanes.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#include <string.h>

#include "isa/lane_math.h"

#define TARGET __attribute__((target("avx2,fma,bmi,bmi2,popcnt")))
#define PART TARGET __attribute__((always_inline)) static inline

/* 8 lanes: of operands, and what mufu_value() takes. */
typedef __m256i words;
struct place {
    words segment, x;
};

/* One function of the unit: where its operand's bits are in the table, and what the value makes of
 * them. */
struct unit {
    const struct mufu_row *rows;
    int32_t rounding;
    struct place (*place)(words bits);
    words (*result)(words bits, words part);
};

PART words all(uint32_t value)
{
    return _mm256_set1_epi32((int32_t)value);
}
PART words mantissa_of(words bits)
{
    return _mm256_and_si256(bits, all(0x7fffff));
}
PART words exponent_of(words bits)
{
    return _mm256_and_si256(_mm256_srli_epi32(bits, 23), all(0xff));
}
PART words sign_of(words bits)
{
    return _mm256_and_si256(bits, all(0x80000000));
}
PART words equal(words a, uint32_t b)
{
    return _mm256_cmpeq_epi32(a, all(b));
}
/* `b` where the condition's lanes are all ones. */
PART words choose(words a, words b, words condition)
{
    return _mm256_blendv_epi8(a, b, condition);
}
PART words nan_of(words bits)
{
    return _mm256_cmpgt_epi32(_mm256_and_si256(bits, all(0x7fffffff)), all(0x7f800000));
}

/* mufu_square() of 16 values of 16 bits (their 17th is not looked at). */
PART __m256i squares(__m256i x)
{
    __m256i sum = _mm256_setzero_si256();
    for (int i = 0; i < 7; i++) {
        uint16_t after = (uint16_t)((1u << (15 - i)) - (2u << i));
        __m256i bit = _mm256_srai_epi16(_mm256_slli_epi16(x, i), 15);
        __m256i rest = _mm256_and_si256(x, _mm256_set1_epi16((int16_t)after));
        rest = _mm256_add_epi16(_mm256_srli_epi16(rest, i + 1),
                                _mm256_set1_epi16((int16_t)(1u << (13 - 2 * i))));
        sum = _mm256_add_epi16(sum, _mm256_and_si256(bit, rest));
    }
    return sum;
}

PART __m128i value_half(__m128i c0, __m128i c1, __m128i c2, __m128i x, __m128i square,
                        int32_t rounding)
{
    __m256d sum = _mm256_fmadd_pd(_mm256_cvtepi32_pd(c0), _mm256_set1_pd(0x1p15),
                                  _mm256_set1_pd((double)rounding));
    sum = _mm256_fmadd_pd(_mm256_cvtepi32_pd(c1), _mm256_cvtepi32_pd(x), sum);
    __m256d twice = _mm256_add_pd(_mm256_cvtepi32_pd(c2), _mm256_cvtepi32_pd(c2));
    sum = _mm256_fmadd_pd(twice, _mm256_cvtepi32_pd(square), sum);
    return _mm256_cvttpd_epi32(_mm256_mul_pd(sum, _mm256_set1_pd(0x1p-17)));
}

/* mufu_value(), whose sums are not negative. */
PART words values(const struct unit *unit, struct place at, words square)
{
    const int32_t *rows = &unit->rows->c0;
    words first = _mm256_add_epi32(at.segment, _mm256_add_epi32(at.segment, at.segment));
    words c0 = _mm256_i32gather_epi32(rows, first, 4);
    words c1 = _mm256_i32gather_epi32(rows + 1, first, 4);
    words c2 = _mm256_i32gather_epi32(rows + 2, first, 4);
    __m128i low = value_half(_mm256_castsi256_si128(c0), _mm256_castsi256_si128(c1),
                             _mm256_castsi256_si128(c2), _mm256_castsi256_si128(at.x),
                             _mm256_castsi256_si128(square), unit->rounding);
    __m128i high = value_half(_mm256_extracti128_si256(c0, 1), _mm256_extracti128_si256(c1, 1),
                              _mm256_extracti128_si256(c2, 1), _mm256_extracti128_si256(at.x, 1),
                              _mm256_extracti128_si256(square, 1), unit->rounding);
    return _mm256_set_m128i(high, low);
}

/* The unit's results for 16 operands. */
PART void apply(words r[2], const struct unit *unit, const words bits[2])
{
    struct place a = unit->place(bits[0]), b = unit->place(bits[1]);
    __m256i zero = _mm256_setzero_si256();
    __m256i square = squares(_mm256_packus_epi32(_mm256_srli_epi32(a.x, MUFU_X_BITS - 16),
                                                 _mm256_srli_epi32(b.x, MUFU_X_BITS - 16)));
    r[0] = unit->result(bits[0], values(unit, a, _mm256_unpacklo_epi16(square, zero)));
    r[1] = unit->result(bits[1], values(unit, b, _mm256_unpackhi_epi16(square, zero)));
}

PART struct place rcp_place(words bits)
{
    words mantissa = mantissa_of(bits);
    return (struct place){_mm256_srli_epi32(mantissa, 16),
                          _mm256_slli_epi32(_mm256_and_si256(mantissa, all(0xffff)), 1)};
}
PART words rcp_result(words bits, words part)
{
    words exponent = exponent_of(bits), sign = sign_of(bits);
    words code = _mm256_slli_epi32(_mm256_sub_epi32(all(253), exponent), 23);
    code = _mm256_add_epi32(code, part);
    words normal = _mm256_cmpgt_epi32(code, all((1u << 23) - 1));
    words r = _mm256_or_si256(sign, _mm256_and_si256(code, normal));
    r = choose(r, _mm256_or_si256(sign, all(MUFU_INFINITY)), equal(exponent, 0));
    r = choose(r, sign, equal(exponent, 0xff));
    return choose(r, all(MUFU_NAN), nan_of(bits));
}

/* All ones where the exponent is even, and the operand is doubled. */
PART words odd_of(words bits)
{
    return equal(_mm256_and_si256(bits, all(1u << 23)), 0);
}
PART struct place root_place(words bits)
{
    words mantissa = mantissa_of(bits);
    words upper = _mm256_and_si256(odd_of(bits), all(1u << 6));
    return (struct place){_mm256_or_si256(upper, _mm256_srli_epi32(mantissa, 17)),
                          _mm256_and_si256(mantissa, all(0x1ffff))};
}
/* (exponent + 1 + !odd) / 2 */
PART words half_of(words bits)
{
    words twice = _mm256_add_epi32(_mm256_add_epi32(exponent_of(bits), all(2)), odd_of(bits));
    return _mm256_srli_epi32(twice, 1);
}
PART words root_nan(words r, words bits)
{
    words negative = _mm256_srai_epi32(bits, 31);
    words nan = _mm256_andnot_si256(equal(exponent_of(bits), 0), negative);
    return choose(r, all(MUFU_NAN), _mm256_or_si256(nan, nan_of(bits)));
}
PART words rsqrt_result(words bits, words part)
{
    words is_one = _mm256_andnot_si256(odd_of(bits), equal(mantissa_of(bits), 0));
    words r = _mm256_slli_epi32(_mm256_sub_epi32(all(190), half_of(bits)), 23);
    r = _mm256_add_epi32(r, choose(part, all(1u << 23), is_one));
    r = _mm256_andnot_si256(equal(exponent_of(bits), 0xff), r);
    words infinity = _mm256_or_si256(sign_of(bits), all(MUFU_INFINITY));
    return root_nan(choose(r, infinity, equal(exponent_of(bits), 0)), bits);
}
PART words sqrt_result(words bits, words part)
{
    words r = _mm256_slli_epi32(_mm256_add_epi32(all(63), half_of(bits)), 23);
    r = choose(_mm256_add_epi32(r, part), bits, equal(exponent_of(bits), 0xff));
    return root_nan(choose(r, sign_of(bits), equal(exponent_of(bits), 0)), bits);
}

/* The operand as a whole number of 2^-23. A shift of 32 and more leaves nothing. */
PART words ex2_number(words bits)
{
    words exponent = exponent_of(bits),
          mantissa = _mm256_or_si256(mantissa_of(bits), all(1u << 23));
    words above = _mm256_sub_epi32(exponent, all(127)), none = _mm256_setzero_si256();
    words left = _mm256_and_si256(_mm256_max_epi32(above, none), all(7));
    words right = _mm256_max_epi32(_mm256_sub_epi32(none, above), none);
    words size = _mm256_srlv_epi32(_mm256_sllv_epi32(mantissa, left), right);
    words whole = equal(mantissa_of(size), 0), complement = _mm256_andnot_si256(size, all(~0u));
    words negative = _mm256_sub_epi32(complement, whole); /* of a whole number one more */
    return choose(size, negative, _mm256_srai_epi32(bits, 31));
}
PART struct place ex2_place(words bits)
{
    words fraction = mantissa_of(ex2_number(bits));
    return (struct place){_mm256_srli_epi32(fraction, 17),
                          _mm256_and_si256(fraction, all(0x1ffff))};
}
PART words ex2_result(words bits, words part)
{
    words exponent = exponent_of(bits), negative = _mm256_srai_epi32(bits, 31);
    words whole = _mm256_srai_epi32(ex2_number(bits), 23),
          far = _mm256_cmpgt_epi32(exponent, all(134));
    words r = _mm256_add_epi32(_mm256_slli_epi32(_mm256_add_epi32(whole, all(127)), 23), part);
    words low = _mm256_cmpgt_epi32(all((uint32_t)-126), whole);
    r = _mm256_andnot_si256(_mm256_or_si256(low, _mm256_and_si256(far, negative)), r);
    words high = _mm256_or_si256(_mm256_cmpgt_epi32(whole, all(127)), far);
    r = choose(r, all(MUFU_INFINITY), _mm256_andnot_si256(negative, high));
    r = choose(r, all(127u << 23), equal(exponent, 0));
    return choose(r, all(MUFU_NAN), nan_of(bits));
}

static const struct unit rcp = {mufu_rcp_rows, 8092, rcp_place, rcp_result};
static const struct unit rsqrt = {mufu_rsqrt_rows, -1, root_place, rsqrt_result};
static const struct unit root = {mufu_sqrt_rows, -1, root_place, sqrt_result};
static const struct unit ex2 = {mufu_ex2_rows, 24457, ex2_place, ex2_result};

PART __m256 floats(words bits)
{
    return _mm256_castsi256_ps(bits);
}
PART __m256 select_scale(__m256 condition, float yes, __m256 otherwise)
{
    return _mm256_blendv_ps(otherwise, _mm256_set1_ps(yes), condition);
}
PART __m256 magnitude(__m256 a)
{
    return _mm256_and_ps(a, floats(all(0x7fffffff)));
}
PART __m256 small_scale(__m256 a, float yes)
{
    __m256 small = _mm256_cmp_ps(magnitude(a), _mm256_set1_ps(0x1p-126f), _CMP_LT_OQ);
    return select_scale(small, yes, _mm256_set1_ps(1));
}
PART __m256 scale_of(__m256 a)
{
    __m256 large = _mm256_cmp_ps(magnitude(a), _mm256_set1_ps(0x1p126f), _CMP_GT_OQ);
    return select_scale(large, 0.25f, small_scale(a, 0x1p24f));
}
PART __m256 ex2_scale(__m256 a, float yes)
{
    __m256 low = _mm256_cmp_ps(a, _mm256_set1_ps(-126), _CMP_LT_OQ);
    return select_scale(low, yes, _mm256_set1_ps(1));
}
/* lane_nan_f32() */
PART words one_nan(__m256 r)
{
    return choose(_mm256_castps_si256(r), all(MUFU_NAN),
                  _mm256_castps_si256(_mm256_cmp_ps(r, r, _CMP_UNORD_Q)));
}
#define SCALED(a, scale) _mm256_castps_si256(_mm256_mul_ps(floats(a), scale))
#define TIMES(r, scale) one_nan(_mm256_mul_ps(floats(r), scale))

/* 16 lanes of operands a and b (of which most functions know only a). */
typedef void sixteen(words r[2], const words a[2], const words b[2]);

PART void rcp_approx(words r[2], const words a[2], const words b[2])
{
    (void)b;
    __m256 s[2] = {scale_of(floats(a[0])), scale_of(floats(a[1]))};
    apply(r, &rcp, (words[2]){SCALED(a[0], s[0]), SCALED(a[1], s[1])});
    for (int i = 0; i < 2; i++)
        r[i] = TIMES(r[i], s[i]);
}
PART void scaled_root(words r[2], const words a[2], const struct unit *unit, float back)
{
    words in[2];
    for (int i = 0; i < 2; i++)
        in[i] = SCALED(a[i], small_scale(floats(a[i]), 0x1p24f));
    apply(r, unit, in);
    for (int i = 0; i < 2; i++)
        r[i] = TIMES(r[i], small_scale(floats(a[i]), back));
}
PART void rsqrt_approx(words r[2], const words a[2], const words b[2])
{
    (void)b;
    scaled_root(r, a, &rsqrt, 0x1p12f);
}
PART void sqrt_approx(words r[2], const words a[2], const words b[2])
{
    (void)b;
    scaled_root(r, a, &root, 0x1p-12f);
}
PART void ex2_approx(words r[2], const words a[2], const words b[2])
{
    (void)b;
    words in[2];
    for (int i = 0; i < 2; i++)
        in[i] = SCALED(a[i], ex2_scale(floats(a[i]), 0.5f));
    apply(r, &ex2, in);
    for (int i = 0; i < 2; i++) {
        __m256 low = _mm256_cmp_ps(floats(a[i]), _mm256_set1_ps(-126), _CMP_LT_OQ);
        r[i] = TIMES(r[i], _mm256_blendv_ps(_mm256_set1_ps(1), floats(r[i]), low));
    }
}
PART void quotients(words r[2], const words a[2], const words b[2], bool full)
{
    words in[2];
    __m256 scale[2];
    for (int i = 0; i < 2; i++) {
        scale[i] = full ? scale_of(floats(b[i])) : small_scale(floats(b[i]), 0x1p24f);
        in[i] = SCALED(b[i], scale[i]);
    }
    apply(r, &rcp, in);
    for (int i = 0; i < 2; i++)
        r[i] = TIMES(r[i], _mm256_mul_ps(floats(a[i]), scale[i]));
}
PART void div_approx(words r[2], const words a[2], const words b[2])
{
    quotients(r, a, b, false);
}
PART void div_full(words r[2], const words a[2], const words b[2])
{
    quotients(r, a, b, true);
}

/* All 32 lanes, of which those of the mask are kept; a result may lie where a source does. */
PART void warp(uint32_t *d, const uint32_t *a, const uint32_t *b, uint32_t mask, sixteen *function)
{
    words r[4];
    for (int k = 0; k < 4; k += 2) {
        words in[2], second[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        for (int i = 0; i < 2; i++) {
            in[i] = _mm256_loadu_si256((const __m256i *)(const void *)(a + (k + i) * 8));
            if (b)
                second[i] = _mm256_loadu_si256((const __m256i *)(const void *)(b + (k + i) * 8));
        }
        function(r + k, in, second);
    }
    const words bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (int k = 0; k < 4; k++) {
        words kept = _mm256_and_si256(all(mask >> (k * 8)), bits);
        _mm256_maskstore_epi32((int *)(void *)(d + k * 8), _mm256_cmpeq_epi32(kept, bits), r[k]);
    }
}

#define SPECIAL(name, operand, scalar)                                                             \
    TARGET static void special_##name(void *d, const void *a, const void *b, const void *c,        \
                                      const void *e, uint32_t mask)                                \
    {                                                                                              \
        (void)b, (void)c, (void)e;                                                                 \
        if ((mask & (mask - 1)) != 0) {                                                            \
            warp(d, a, operand, mask, name);                                                       \
            return;                                                                                \
        }                                                                                          \
        int i = __builtin_ctz(mask);                                                               \
        float A, B = 0, r;                                                                         \
        memcpy(&A, (const uint32_t *)a + i, 4);                                                    \
        if (operand)                                                                               \
            memcpy(&B, (const uint32_t *)b + i, 4);                                                \
        (void)B;                                                                                   \
        r = scalar;                                                                                \
        memcpy((uint32_t *)d + i, &r, 4);                                                          \
    }

SPECIAL(rcp_approx, NULL, lane_rcp_approx(A))
SPECIAL(rsqrt_approx, NULL, lane_rsqrt_f32(A))
SPECIAL(sqrt_approx, NULL, lane_sqrt_approx(A))
SPECIAL(ex2_approx, NULL, lane_ex2_f32(A))
SPECIAL(div_approx, b, lane_div_approx(A, B))
SPECIAL(div_full, b, lane_div_full(A, B))

const struct lane_entry lanes_special_avx2[] = {
    {OP_RCP_APPROX, TYPE_f32, TYPE_f32, special_rcp_approx},
    {OP_RSQRT_APPROX, TYPE_f32, TYPE_f32, special_rsqrt_approx},
    {OP_SQRT_APPROX, TYPE_f32, TYPE_f32, special_sqrt_approx},
    {OP_EX2_APPROX, TYPE_f32, TYPE_f32, special_ex2_approx},
    {OP_DIV_APPROX, TYPE_f32, TYPE_f32, special_div_approx},
    {OP_DIV_FULL, TYPE_f32, TYPE_f32, special_div_full},
    {OP_COUNT, TYPE_NONE, TYPE_NONE, NULL},
};
#else
const struct lane_entry lanes_special_avx2[] = {{OP_COUNT, TYPE_NONE, TYPE_NONE, NULL}};
#endif
