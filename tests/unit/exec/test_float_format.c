/* Numbers of a double become codes of a narrow format: each rounding, on both sides of zero, at
 * ties, at the ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/lane/float_format.h"

enum { NEAREST, ZERO, DOWN, UP, AWAY, ROUNDINGS };

static const enum rounding roundings[ROUNDINGS] = {ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP,
                                                   ROUND_AWAY};

/* Of f16: 1 is 0x3c00 and the next number 1 + 2^-10; the smallest is 2^-24, the largest 65504. */
static const struct {
    double value;
    uint32_t codes[ROUNDINGS];
} halves[] = {
    /* What f16 has stays what it is. */
    {1, {0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00}},
    {-1, {0xbc00, 0xbc00, 0xbc00, 0xbc00, 0xbc00}},
    {-0x1p-24, {0x8001, 0x8001, 0x8001, 0x8001, 0x8001}},
    {-65504, {0xfbff, 0xfbff, 0xfbff, 0xfbff, 0xfbff}},
    {-0.0, {0x8000, 0x8000, 0x8000, 0x8000, 0x8000}},
    /* Less than half of the last place, and more. */
    {1 + 0x1p-12, {0x3c00, 0x3c00, 0x3c00, 0x3c01, 0x3c00}},
    {-1 - 0x1p-12, {0xbc00, 0xbc00, 0xbc01, 0xbc00, 0xbc00}},
    {1 + 0x3p-12, {0x3c01, 0x3c00, 0x3c00, 0x3c01, 0x3c01}},
    {-1 - 0x3p-12, {0xbc01, 0xbc00, 0xbc01, 0xbc00, 0xbc01}},
    /* Ties: to even, or away from zero. */
    {1 + 0x1p-11, {0x3c00, 0x3c00, 0x3c00, 0x3c01, 0x3c01}},
    {1 + 0x3p-11, {0x3c02, 0x3c01, 0x3c01, 0x3c02, 0x3c02}},
    {-1 - 0x1p-11, {0xbc00, 0xbc00, 0xbc01, 0xbc00, 0xbc01}},
    /* Below the smallest number. */
    {0x1p-25, {0x0000, 0x0000, 0x0000, 0x0001, 0x0001}},
    {-0x1p-25, {0x8000, 0x8000, 0x8001, 0x8000, 0x8001}},
    {0x1p-1000, {0x0000, 0x0000, 0x0000, 0x0001, 0x0000}},
    {-0x1p-1000, {0x8000, 0x8000, 0x8001, 0x8000, 0x8000}},
    /* From the largest subnormal number up to the smallest normal one. */
    {0x1p-14 - 0x1p-26, {0x0400, 0x03ff, 0x03ff, 0x0400, 0x0400}},
    /* Beyond the largest. */
    {65519, {0x7bff, 0x7bff, 0x7bff, 0x7c00, 0x7bff}},
    {65520, {0x7c00, 0x7bff, 0x7bff, 0x7c00, 0x7c00}},
    {-1e300, {0xfc00, 0xfbff, 0xfc00, 0xfbff, 0xfc00}},
};

static void each_rounding_goes_to_its_side(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        for (int r = 0; r < ROUNDINGS; r++) {
            uint32_t code = format_narrow(&format_f16, halves[i].value, roundings[r], false);
            if (code != halves[i].codes[r]) {
                fail_msg("%a by rounding %d: 0x%04x, not 0x%04x", halves[i].value, r, code,
                         halves[i].codes[r]);
            }
        }
    }
}

/* The neighbours of every number of f16: a quarter of the way to the next one. */
static void down_and_up_are_the_two_numbers_around(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x7bff; code++) {
        double low = format_widen(&format_f16, code), high = format_widen(&format_f16, code + 1);
        double value = low + (high - low) / 4;
        assert_int_equal(format_narrow(&format_f16, low, ROUND_DOWN, false), code);
        assert_int_equal(format_narrow(&format_f16, low, ROUND_UP, false), code);
        assert_int_equal(format_narrow(&format_f16, value, ROUND_DOWN, false), code);
        assert_int_equal(format_narrow(&format_f16, value, ROUND_UP, false), code + 1);
        assert_int_equal(format_narrow(&format_f16, -value, ROUND_DOWN, false),
                         0x8000 | (code + 1));
        assert_int_equal(format_narrow(&format_f16, -value, ROUND_UP, false), 0x8000 | code);
    }
}

static void a_finite_format_ends_at_its_largest_number(void **state)
{
    (void)state;
    assert_int_equal(format_narrow(&format_e4m3, 1e9, ROUND_NEAREST, true), 0x7e);
    assert_int_equal(format_narrow(&format_e4m3, -1e9, ROUND_NEAREST, true), 0xfe);
    assert_int_equal(format_narrow(&format_f16, 1e9, ROUND_NEAREST, true), 0x7bff);
    assert_int_equal(format_narrow(&format_f16, -1e9, ROUND_UP, true), 0xfbff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rounding_goes_to_its_side),
        cmocka_unit_test(down_and_up_are_the_two_numbers_around),
        cmocka_unit_test(a_finite_format_ends_at_its_largest_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
