/* Quantiles, class splits and tails, each against a value worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "infer/ask/stats.h"

static void a_quantile_interpolates_between_sorted_values(void **state)
{
    (void)state;
    struct sample s;
    assert_int_equal(sample_create(&s, (const uint32_t[]){40, 10, 30, 20, 50}, 5), 0);
    assert_float_equal(sample_quantile(&s, 0), 10, 1e-12);
    assert_float_equal(sample_quantile(&s, 0.5), 30, 1e-12);
    assert_float_equal(sample_quantile(&s, 0.125), 15, 1e-12);
    assert_float_equal(sample_quantile(&s, 1), 50, 1e-12);
    assert_float_equal(sample_share(&s, 10, 40), 0.6, 1e-12);
    sample_free(&s);
    assert_float_equal(sample_quantile(&s, 0.5), 0, 0);
}

static void two_classes_split_between_them(void **state)
{
    (void)state;
    uint32_t values[200];
    for (uint32_t i = 0; i < 200; i++) {
        values[i] = i < 150 ? 30 + i % 7 : 200 + i % 11;
    }
    struct sample s;
    double threshold;
    assert_int_equal(sample_create(&s, values, 200), 0);
    assert_true(sample_split(&threshold, &s, 1e9, 0.01));
    assert_true(threshold > 36 && threshold < 200);
    struct latency_class classes[4];
    assert_int_equal(sample_classes(classes, 4, &s), 2);
    assert_float_equal(classes[0].share, 0.75, 1e-12);
    sample_free(&s);
}

static void one_wide_class_is_not_split(void **state)
{
    (void)state;
    uint32_t values[400];
    for (uint32_t i = 0; i < 400; i++) {
        values[i] = 200 + (i * 37) % 100;
    }
    struct sample s;
    struct latency_class classes[4];
    assert_int_equal(sample_create(&s, values, 400), 0);
    assert_int_equal(sample_classes(classes, 4, &s), 1);
    sample_free(&s);
}

static void a_few_outliers_are_no_class(void **state)
{
    (void)state;
    uint32_t values[2000];
    for (uint32_t i = 0; i < 2000; i++) {
        values[i] = i < 3 ? 5000 + i : 33;
    }
    struct sample s;
    double threshold;
    assert_int_equal(sample_create(&s, values, 2000), 0);
    assert_false(sample_split(&threshold, &s, 1e9, 0.005));
    sample_free(&s);
}

/* The two slower ones are unlike in number, and far apart. */
static void the_faster_two_of_four_classes_are_told_apart(void **state)
{
    (void)state;
    uint32_t *values = malloc(10240 * sizeof *values);
    for (uint32_t i = 0; i < 10240; i++) {
        values[i] = i < 9216 ? 31 : i < 9732 ? 128 : i < 10069 ? 238 : 556;
    }
    struct sample s;
    double thresholds[8];
    assert_int_equal(sample_create(&s, values, 10240), 0);
    assert_int_equal(sample_thresholds(thresholds, 8, &s), 3);
    assert_float_equal(thresholds[0], 79.5, 1e-9);
    assert_float_equal(thresholds[1], 183, 1e-9);
    assert_float_equal(thresholds[2], 397, 1e-9);
    sample_free(&s);
    free(values);
}

/* P(X <= k) of n tosses is at most 0.025 for k = 5 of 20 (0.0207), 0 of 6 (0.0156), none of 5. */
static void a_median_has_bounds_by_tosses_of_a_coin(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        double low, high;
    } cases[] = {{20, 106, 115}, {6, 101, 106}, {5, 101, 105}, {2, 101, 102}, {1, 0, 0}, {0, 0, 0}};
    uint32_t values[20];
    for (uint32_t i = 0; i < 20; i++) {
        values[i] = 101 + i;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample s = {.values = values, .count = cases[i].count};
        struct attribute median = {.low = 1, .high = 2};
        sample_bound_median(&median, &s);
        assert_float_equal(median.low, cases[i].low, 0);
        assert_float_equal(median.high, cases[i].high, 0);
    }
    for (size_t i = 0; i < 20; i++) {
        values[i] = i < 5 ? 1 : i < 15 ? 7 : 9; /* the bounds' own values are one */
    }
    struct sample even = {.values = values, .count = 20};
    struct attribute median = {0};
    sample_bound_median(&median, &even);
    assert_float_equal(median.high, 0, 0);
}

static void tails_match_sums_done_by_hand(void **state)
{
    (void)state;
    assert_float_equal(poisson_tail(1, 1), 0.632120558828558, 1e-9);
    assert_float_equal(poisson_tail(2, 5), 0.052653017343711, 1e-9);
    assert_float_equal(poisson_tail(100, 50), 1, 1e-6);
    assert_float_equal(poisson_tail(0, 1), 0, 0);
    assert_float_equal(binomial_tail(4, 0.5, 2), 11.0 / 16, 1e-9);
    assert_float_equal(binomial_tail(3, 0.1, 3), 0.001, 1e-9);
    assert_float_equal(binomial_tail(3, 0.1, 4), 0, 0);
    assert_float_equal(binomial_tail(3, 0.1, 0), 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quantile_interpolates_between_sorted_values),
        cmocka_unit_test(two_classes_split_between_them),
        cmocka_unit_test(one_wide_class_is_not_split),
        cmocka_unit_test(a_few_outliers_are_no_class),
        cmocka_unit_test(the_faster_two_of_four_classes_are_told_apart),
        cmocka_unit_test(a_median_has_bounds_by_tosses_of_a_coin),
        cmocka_unit_test(tails_match_sums_done_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
