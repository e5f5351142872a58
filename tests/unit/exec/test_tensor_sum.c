/* Sums of a tensor core: every addend counts with its sign, down to 25 bits below the largest. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/ops/matrix/tensor_sum.h"

#define LOWEST_F32 (-126)

/* c + a b, of halves a and b. */
static double sum_of(double c, uint32_t a, uint32_t b)
{
    struct tensor_part x = tensor_part(&format_f16, a), y = tensor_part(&format_f16, b);
    return tensor_sum(c, LOWEST_F32, &x, &y, 1);
}

static void the_addend_counts_with_its_sign(void **state)
{
    (void)state;
    assert_true(sum_of(-3.5, 0x3e00, 0x4000) == -0.5); /* 1.5 x 2 */
    assert_true(sum_of(3.5, 0x3e00, 0x4000) == 6.5);
    assert_true(sum_of(-3.0, 0x3e00, 0x4000) == 0);
    assert_false(signbit(sum_of(-3.0, 0x3e00, 0x4000)));
    assert_true(sum_of(7.25, 0, 0x4000) == 7.25);
}

static void what_lies_25_bits_below_the_largest_counts_and_below_that_nothing(void **state)
{
    (void)state;
    assert_true(sum_of(0x1p-25, 0x3c00, 0x3c00) == 1 + 0x1p-25);
    assert_true(sum_of(0x1p-26, 0x3c00, 0x3c00) == 1);
    assert_true(sum_of(-0x1p-25, 0x3c00, 0x3c00) == 1 - 0x1p-25);
    assert_true(sum_of(-0x1p-26, 0x3c00, 0x3c00) == 1); /* cut toward zero by itself */
    assert_true(sum_of(-0x1.8p-25, 0x3c00, 0x3c00) == 1 - 0x1p-25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_addend_counts_with_its_sign),
        cmocka_unit_test(what_lies_25_bits_below_the_largest_counts_and_below_that_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
