/*
 * The expressions of insn.def: each row expands to a function of one lane here; corner cases
 * against values worked out from the manual's definitions, and every row against operands that make
 * C's own operators undefined (run under -fsanitize=undefined, this shows that the expressions are
 * total).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/isa.h"
#include "isa/lane_math.h"
#include "isa/type_lists.def"

typedef uint8_t c_u8, c_b8, c_bool;
typedef int8_t c_s8;
typedef uint16_t c_u16, c_b16;
typedef int16_t c_s16;
typedef uint32_t c_u32, c_b32, c_pred;
typedef int32_t c_s32;
typedef uint64_t c_u64, c_b64;
typedef int64_t c_s64;
typedef float c_f32;
typedef double c_f64;

static const double extremes[] = {0,
                                  1,
                                  -1,
                                  2,
                                  3,
                                  31,
                                  32,
                                  33,
                                  63,
                                  64,
                                  255,
                                  256,
                                  32767,
                                  -32768,
                                  65535,
                                  2147483647.0,
                                  -2147483648.0,
                                  4294967295.0,
                                  9223372036854775807.0,
                                  -9223372036854775808.0,
                                  1e300,
                                  -1e300,
                                  0.5};
#define EXTREMES (sizeof extremes / sizeof extremes[0])

/* A conversion of the pool's values that is itself defined for every type. */
#define POOL(T, i)                                                                                 \
    _Generic((T)0, float                                                                           \
             : (float)extremes[i], double                                                          \
             : extremes[i], default                                                                \
             : (T)pool_bits(extremes[i]))
static uint64_t pool_bits(double v)
{
    return v >= 9.2e18 ? INT64_MAX : v <= -9.2e18 ? (uint64_t)INT64_MIN : (uint64_t)(int64_t)v;
}

static volatile uint64_t sink;

/* One lane's result, and a sweep of it over the extremes. Not inlined: 600 forms in one function
 * would compile for minutes. */
#define LANE(id, d, s, ta, tb, tc, te, expr)                                                       \
    __attribute__((noinline)) static c_##d lane_##id##_##d##_##s(ta A, tb B, tc C, te E)           \
    {                                                                                              \
        typedef c_##d DT;                                                                          \
        typedef c_##s ST;                                                                          \
        (void)A, (void)B, (void)C, (void)E, (void)sizeof(ST);                                      \
        return (DT)(expr);                                                                         \
    }                                                                                              \
    __attribute__((noinline)) static void sweep_##id##_##d##_##s(void)                             \
    {                                                                                              \
        for (size_t i = 0; i < EXTREMES; i++)                                                      \
            for (size_t j = 0; j < EXTREMES; j++)                                                  \
                for (size_t k = 0; k < EXTREMES; k += 3) {                                         \
                    c_##d r = lane_##id##_##d##_##s(POOL(ta, i), POOL(tb, j), POOL(tc, k),         \
                                                    POOL(te, (j + k) % EXTREMES));                 \
                    unsigned char first;                                                           \
                    memcpy(&first, &r, 1);                                                         \
                    sink += first;                                                                 \
                }                                                                                  \
    }
#define LOOP_D_A(id, sh, d, s, e) LANE(id, d, s, c_##s, c_u8, c_u8, c_u8, e)
#define LOOP_CVT LOOP_D_A
#define LOOP_MOV LOOP_D_A
#define LOOP_PRED_A LOOP_D_A
#define LOOP_D_AB(id, sh, d, s, e) LANE(id, d, s, c_##s, c_##s, c_u8, c_u8, e)
#define LOOP_PRED_AB LOOP_D_AB
#define LOOP_D_ABC(id, sh, d, s, e) LANE(id, d, s, c_##s, c_##s, c_##d, c_u8, e)
#define LOOP_SHIFT(id, sh, d, s, e) LANE(id, d, s, c_##s, c_u32, c_u8, c_u8, e)
#define LOOP_FIELD(id, sh, d, s, e) LANE(id, d, s, c_##s, c_u32, c_u32, c_u8, e)
#define LOOP_INSERT(id, sh, d, s, e) LANE(id, d, s, c_##s, c_##s, c_u32, c_u32, e)
#define LOOP_FUNNEL(id, sh, d, s, e) LANE(id, d, s, c_##s, c_##s, c_u32, c_u8, e)
#define LOOP_LOP3(id, sh, d, s, e) LANE(id, d, s, c_##s, c_##s, c_##s, c_u32, e)
#define LOOP_MASK(id, sh, d, s, e) LANE(id, d, s, c_u32, c_u32, c_u8, c_u8, e)
#define LOOP_SELP(id, sh, d, s, e) LANE(id, d, s, c_##s, c_##s, c_bool, c_u8, e)
#define LOOP_SLCT(id, sh, d, s, e) LANE(id, d, s, c_##d, c_##d, c_##s, c_u8, e)
#define INSN(id, name, pattern, shape, types, unit, expr)                                          \
    TYPES_##types(LOOP_##shape, id, shape, expr)
#define IRREG(id, name, pattern, shape, types, unit)
#include "isa/insn.def"
#undef INSN

static void every_expression_takes_every_extreme(void **state)
{
    (void)state;
#define SWEEP(id, sh, d, s, e) sweep_##id##_##d##_##s();
#define INSN(id, name, pattern, shape, types, unit, expr) TYPES_##types(SWEEP, id, shape, expr)
#define IRREG(id, name, pattern, shape, types, unit)
#include "isa/insn.def"
#undef INSN
}

static void integer_arithmetic_wraps(void **state)
{
    (void)state;
    assert_int_equal(lane_ADD_s32_s32(INT32_MAX, 1, 0, 0), INT32_MIN);
    assert_int_equal(lane_ADD_SAT_s32_s32(INT32_MAX, 1, 0, 0), INT32_MAX);
    assert_int_equal(lane_SUB_SAT_s32_s32(INT32_MIN, 1, 0, 0), INT32_MIN);
    assert_int_equal(lane_SUB_u16_u16(0, 1, 0, 0), 0xffff);
    assert_int_equal(lane_MUL_LO_u16_u16(0xffff, 0xffff, 0, 0), 1);
    assert_int_equal(lane_MUL_HI_u16_u16(0xffff, 0xffff, 0, 0), 0xfffe);
    assert_int_equal(lane_MUL_HI_s32_s32(INT32_MIN, INT32_MIN, 0, 0), 0x40000000);
    assert_true(lane_MUL_HI_u64_u64(UINT64_MAX, UINT64_MAX, 0, 0) == UINT64_MAX - 1);
    assert_true(lane_MUL_HI_s64_s64(-1, 1, 0, 0) == -1);
    assert_true(lane_MUL_WIDE_s64_s32(INT32_MIN, INT32_MIN, 0, 0) == INT64_C(1) << 62);
    assert_true(lane_MUL_WIDE_u32_u16(0xffff, 0xffff, 0, 0) == 0xfffe0001u);
    assert_int_equal(lane_MAD_HI_s32_s32(INT32_MIN, 2, 5, 0), 4);
    assert_int_equal(lane_MUL24_LO_s32_s32(0x00800000, 2, 0, 0), -0x01000000);
    assert_int_equal(lane_MUL24_HI_u32_u32(0xffffff, 0xffffff, 0, 0), 0xfffffe00);
    assert_int_equal(lane_NEG_s32_s32(INT32_MIN, 0, 0, 0), INT32_MIN);
    assert_int_equal(lane_ABS_s16_s16(INT16_MIN, 0, 0, 0), INT16_MIN);
    assert_int_equal(lane_SAD_u32_u32(3, 10, 100, 0), 107);
    assert_int_equal(lane_SAD_s32_s32(-3, 10, 100, 0), 113);
}

static void division_is_total(void **state)
{
    (void)state;
    assert_true(lane_DIV_u32_u32(7, 0, 0, 0) == UINT32_MAX);
    assert_true(lane_DIV_u64_u64(7, 0, 0, 0) == UINT64_MAX);
    assert_int_equal(lane_DIV_SIGNED_s32_s32(7, 0, 0, 0), -1);
    assert_int_equal(lane_DIV_SIGNED_s32_s32(INT32_MIN, -1, 0, 0), INT32_MIN);
    assert_true(lane_DIV_SIGNED_s64_s64(INT64_MIN, -1, 0, 0) == INT64_MIN);
    assert_int_equal(lane_DIV_SIGNED_s32_s32(-7, 2, 0, 0), -3);
    assert_int_equal(lane_REM_SIGNED_s32_s32(-7, 2, 0, 0), -1);
    assert_int_equal(lane_REM_SIGNED_s32_s32(INT32_MIN, -1, 0, 0), 0);
    assert_int_equal(lane_REM_u32_u32(7, 0, 0, 0), UINT32_MAX);
}

static void shifts_clamp_at_the_width(void **state)
{
    (void)state;
    assert_int_equal(lane_SHL_b32_b32(1, 31, 0, 0), 0x80000000);
    assert_int_equal(lane_SHL_b32_b32(1, 32, 0, 0), 0);
    assert_int_equal(lane_SHL_b16_b16(1, 16, 0, 0), 0);
    assert_true(lane_SHL_b64_b64(1, 63, 0, 0) == UINT64_C(1) << 63);
    assert_true(lane_SHL_b64_b64(1, UINT32_MAX, 0, 0) == 0);
    assert_int_equal(lane_SHR_u32_u32(0x80000000, 32, 0, 0), 0);
    assert_int_equal(lane_SHR_SIGNED_s32_s32(-8, 1, 0, 0), -4);
    assert_int_equal(lane_SHR_SIGNED_s32_s32(-8, 99, 0, 0), -1);
    assert_int_equal(lane_SHF_L_WRAP_b32_b32(0x89abcdef, 0x01234567, 40, 0), 0x23456789);
    assert_int_equal(lane_SHF_L_CLAMP_b32_b32(0x89abcdef, 0x01234567, 40, 0), 0x89abcdef);
    assert_int_equal(lane_SHF_R_CLAMP_b32_b32(0x89abcdef, 0x01234567, 32, 0), 0x01234567);
    assert_int_equal(lane_SHF_R_WRAP_b32_b32(0x89abcdef, 0x01234567, 4, 0), 0x789abcde);
}

static void bit_fields_follow_the_manual(void **state)
{
    (void)state;
    assert_int_equal(lane_BFE_u32_u32(0xabcd1234, 8, 8, 0), 0x12);
    assert_int_equal(lane_BFE_u32_u32(0xabcd1234, 28, 8, 0), 0xa);
    assert_int_equal(lane_BFE_u32_u32(0xabcd1234, 40, 8, 0), 0);
    assert_int_equal(lane_BFE_SIGNED_s32_s32(0x0000f000, 12, 4, 0), -1);
    assert_int_equal(lane_BFE_SIGNED_s32_s32(INT32_MIN, 28, 8, 0), -8);
    assert_int_equal(lane_BFE_SIGNED_s32_s32(INT32_MIN, 50, 8, 0), -1);
    assert_int_equal(lane_BFE_SIGNED_s32_s32(-1, 3, 0, 0), 0);
    assert_int_equal(lane_BFI_b32_b32(0xff, 0, 4, 4), 0xf0);
    assert_int_equal(lane_BFI_b32_b32(0xff, 0x12345678, 8, 4), 0x12345f78);
    assert_int_equal(lane_POPC_u32_b64(UINT64_MAX, 0, 0, 0), 64);
    assert_int_equal(lane_CLZ_u32_b32(0, 0, 0, 0), 32);
    assert_int_equal(lane_CLZ_u32_b64(1, 0, 0, 0), 63);
    assert_int_equal(lane_BFIND_u32_u32(0, 0, 0, 0), UINT32_MAX);
    assert_int_equal(lane_BFIND_SIGNED_u32_s32(-1, 0, 0, 0), UINT32_MAX);
    assert_int_equal(lane_BFIND_SIGNED_u32_s32(-256, 0, 0, 0), 7);
    assert_int_equal(lane_BFIND_SHIFT_u32_u32(1, 0, 0, 0), 31);
    assert_int_equal(lane_BREV_b32_b32(0x00000013, 0, 0, 0), 0xc8000000);
    assert_true(lane_BREV_b64_b64(1, 0, 0, 0) == UINT64_C(1) << 63);
    assert_int_equal(lane_PRMT_b32_b32(0x33221100, 0x77665544, 0x7531, 0), 0x77553311);
    assert_int_equal(lane_PRMT_b32_b32(0x80, 0, 0x0088, 0), 0x8080ffff);
    assert_int_equal(lane_LOP3_b32_b32(0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x96), 0x96969696);
    assert_int_equal(lane_BMSK_CLAMP_b32_b32(28, 8, 0, 0), 0xf0000000);
    assert_int_equal(lane_BMSK_CLAMP_b32_b32(32, 8, 0, 0), 0);
    assert_int_equal(lane_DP4A_SS_s32_s32(0x01ff0302, 0x01020304, 1, 0), 1 + 1 - 2 + 9 + 8);
}

static void conversions_truncate_extend_and_saturate(void **state)
{
    (void)state;
    assert_int_equal(lane_CVT_u8_u32(0x1ff, 0, 0, 0), 0xff);
    assert_true(lane_CVT_s64_s8(-5, 0, 0, 0) == -5);
    assert_true(lane_CVT_u64_s32(-1, 0, 0, 0) == UINT64_MAX);
    assert_int_equal(lane_CVT_SAT_u8_s32(-5, 0, 0, 0), 0);
    assert_int_equal(lane_CVT_SAT_s8_u64(UINT64_MAX, 0, 0, 0), 127);
    assert_int_equal(lane_CVT_SAT_s16_s32(-100000, 0, 0, 0), INT16_MIN);
    assert_true(lane_CVT_SAT_s64_u64(UINT64_MAX, 0, 0, 0) == INT64_MAX);
    assert_int_equal(lane_CVT_RZI_s32_f32(-2.9f, 0, 0, 0), -2);
    assert_int_equal(lane_CVT_RNI_s32_f32(2.5f, 0, 0, 0), 2);
    assert_int_equal(lane_CVT_RMI_s32_f32(-2.1f, 0, 0, 0), -3);
    assert_int_equal(lane_CVT_RPI_u32_f64(2.1, 0, 0, 0), 3);
    assert_int_equal(lane_CVT_RZI_s32_f32(1e20f, 0, 0, 0), INT32_MAX);
    assert_int_equal(lane_CVT_RZI_u32_f32(-1.0f, 0, 0, 0), 0);
    assert_int_equal(lane_CVT_RZI_s32_f32(NAN, 0, 0, 0), 0);
    assert_true(lane_CVT_RZI_u64_f64(1e30, 0, 0, 0) == UINT64_MAX);
}

static void the_sine_of_a_zero_is_that_zero(void **state)
{
    (void)state;
    float negative = lane_SIN_APPROX_f32_f32(-0.0f, 0, 0, 0),
          positive = lane_SIN_APPROX_f32_f32(0, 0, 0, 0);
    assert_true(negative == 0 && signbit(negative));
    assert_true(positive == 0 && !signbit(positive));
}

static void minimum_and_maximum_prefer_numbers_and_order_zeros(void **state)
{
    (void)state;
    assert_true(lane_MIN_F32_f32_f32(NAN, 3.0f, 0, 0) == 3.0f);
    assert_true(lane_MAX_F64_f64_f64(3.0, NAN, 0, 0) == 3.0);
    assert_true(isnan(lane_MAX_F32_f32_f32(NAN, NAN, 0, 0)));
    assert_true(signbit(lane_MIN_F32_f32_f32(0.0f, -0.0f, 0, 0)));
    assert_false(signbit(lane_MAX_F32_f32_f32(-0.0f, 0.0f, 0, 0)));
    assert_true(COMPARE_ne(1.0f, 2.0f) && !COMPARE_ne(1.0f, (float)NAN) &&
                COMPARE_neu(1.0f, (float)NAN));
    assert_true(COMPARE_ltu(1.0f, (float)NAN) && !COMPARE_lt(1.0f, (float)NAN) &&
                COMPARE_nan(1.0, (double)NAN));
    assert_true(COMPARE_ne(1, 2) && COMPARE_num(1, 2));
}

static void selection_takes_the_third_operand(void **state)
{
    (void)state;
    assert_int_equal(lane_SELP_s32_s32(1, 2, 1, 0), 1);
    assert_int_equal(lane_SELP_s32_s32(1, 2, 0, 0), 2);
    assert_int_equal(lane_SLCT_u32_s32(1, 2, -1, 0), 2);
    assert_int_equal(lane_SLCT_u32_f32(1, 2, NAN, 0), 2);
    assert_int_equal(lane_SLCT_u32_f32(1, 2, -0.0f, 0), 1);
}

/* On an H200 only what is cut of a negative operand makes its power smaller. */
static void powers_of_negative_whole_numbers_are_exact(void **state)
{
    (void)state;
    assert_int_equal(mufu_ex2(lane_bits_f32(-1)), lane_bits_f32(0.5f));
    assert_int_equal(mufu_ex2(lane_bits_f32(-100)), lane_bits_f32(0x1p-100f));
    assert_int_equal(mufu_ex2(0xa4800015), lane_bits_f32(1)); /* -2^-54 */
    assert_int_equal(mufu_ex2(lane_bits_f32(-0x1p-23f)), 0x3f7ffffe);
}

static void differences_of_bytes_and_halves_do_not_borrow(void **state)
{
    (void)state;
    assert_int_equal(lane_absdiff4(0x00ff8001, 0xff000180), 0xffff7f7f);
    assert_int_equal(lane_absdiff2(0x0001ffff, 0xffff0000), 0xfffeffff);
    assert_int_equal(lane_sum_bytes(0xffffffff), 4 * 255);
}

/* As an H200 has it: found by kernels drawn from seeds (tests/drawn). */
static void ex2_of_whole_numbers_and_next_to_nothing_is_a_power(void **state)
{
    (void)state;
    assert_true(lane_ex2_f32(-0x1.2p-24f) == 1);
    assert_true(lane_ex2_f32(-0x1p-100f) == 1);
    assert_true(lane_ex2_f32(0x1p-100f) == 1);
    assert_true(lane_ex2_f32(-0x1p-20f) < 1);
    assert_true(lane_ex2_f32(-6) == 0x1p-6f);
    assert_true(lane_ex2_f32(-1) == 0.5f && lane_ex2_f32(7) == 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_negative_whole_numbers_are_exact),
        cmocka_unit_test(differences_of_bytes_and_halves_do_not_borrow),
        cmocka_unit_test(every_expression_takes_every_extreme),
        cmocka_unit_test(integer_arithmetic_wraps),
        cmocka_unit_test(division_is_total),
        cmocka_unit_test(shifts_clamp_at_the_width),
        cmocka_unit_test(bit_fields_follow_the_manual),
        cmocka_unit_test(conversions_truncate_extend_and_saturate),
        cmocka_unit_test(the_sine_of_a_zero_is_that_zero),
        cmocka_unit_test(minimum_and_maximum_prefer_numbers_and_order_zeros),
        cmocka_unit_test(ex2_of_whole_numbers_and_next_to_nothing_is_a_power),
        cmocka_unit_test(selection_takes_the_third_operand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
