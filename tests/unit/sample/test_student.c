/* Quantiles of Student's t, as tables have them (Abramowitz and Stegun, table 26.10). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "sample/student.h"

static void quantiles_are_those_of_tables(void **state)
{
    (void)state;
    static const double table[][2] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},
                                      {5, 2.571},  {10, 2.228}, {30, 2.042}, {1e9, 1.960}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_true(fabs(student_95(table[i][0]) - table[i][1]) <= 0.002 * table[i][1]);
    }
}

static void more_degrees_never_mean_a_wider_interval(void **state)
{
    (void)state;
    for (double n = 1; n < 40; n += 0.25) {
        assert_true(student_95(n + 0.25) <= student_95(n));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_tables),
        cmocka_unit_test(more_degrees_never_mean_a_wider_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
