/* Programs of launches whose cycles are drawn: what is timed of them, and whether the total lies in
 * the interval that is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "sample/sampler.h"
#include "util/rng.h"

#define PROGRAMS 400

struct outcome {
    double all; /* cycles of all launches */
    struct sampler_total told;
};

static struct rng rng;

/* Of mean 0 and variance 1, by the sum of twelve numbers. */
static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += rng_double(&rng);
    }
    return sum;
}

static struct sampler *sampler_of(uint64_t seed)
{
    struct sampler *sampler;
    const struct sampler_spec spec = {.error = 0.03, .seed = seed};
    assert_int_equal(sampler_create(&sampler, &spec), 0);
    return sampler;
}

static void launch(struct sampler *sampler, struct outcome *outcome, const char *kernel,
                   uint64_t insns, double cycles)
{
    const uint64_t blocks[2] = {insns / 10, insns / 10};
    const struct sampler_launch one = {.kernel = kernel,
                                       .ctas = 10,
                                       .warp_insns = insns,
                                       .thread_insns = insns * 32,
                                       .blocks = blocks,
                                       .length = 2};
    uint64_t ticket, estimate, simulated = (uint64_t)cycles;
    bool timed;
    assert_int_equal(sampler_see(sampler, &one, &ticket, &timed, &estimate), 0);
    if (timed) {
        const struct sampler_measure measure = {.cycles = (double)simulated};
        sampler_measured(sampler, ticket, &measure);
    }
    outcome->all += (double)simulated;
}

static void end(struct sampler *sampler, struct outcome *outcome)
{
    sampler_all(sampler, &outcome->told);
    sampler_destroy(sampler);
}

static bool inside(const struct outcome *outcome)
{
    return outcome->told.low <= outcome->all && outcome->all <= outcome->told.high;
}

static void launches_that_are_all_alike_are_hardly_timed(void **state)
{
    (void)state;
    struct outcome outcome = {0};
    struct sampler *sampler = sampler_of(1);
    for (int i = 0; i < 1000; i++) {
        launch(sampler, &outcome, "same", 10000, 5000);
    }
    end(sampler, &outcome);
    assert_int_equal(outcome.told.launches, 1000);
    assert_in_range(outcome.told.timed, 3, 30);
    assert_true(fabs(outcome.told.cycles - outcome.all) <= 1);
    assert_true(inside(&outcome));
}

static void launches_of_other_counts_are_another_stratum(void **state)
{
    (void)state;
    struct outcome outcome = {0};
    struct sampler *sampler = sampler_of(1);
    for (int i = 0; i < 100; i++) {
        launch(sampler, &outcome, "two", i % 2 ? 10000 : 20000, i % 2 ? 5000 : 20000);
        launch(sampler, &outcome, "one", 10000, 1000);
    }
    end(sampler, &outcome);
    assert_int_equal(outcome.told.strata, 3);
    assert_true(fabs(outcome.told.cycles - outcome.all) <= 1);
}

static void few_launches_are_all_timed(void **state)
{
    (void)state;
    struct outcome outcome = {0};
    struct sampler *sampler = sampler_of(1);
    for (uint64_t i = 1; i <= 12; i++) {
        launch(sampler, &outcome, "grows", 1000 << i, 500 << i);
    }
    end(sampler, &outcome);
    assert_int_equal(outcome.told.timed, 12);
    assert_true(outcome.told.low == outcome.all && outcome.told.high == outcome.all);
}

/* Programs of which the total is inside; `spread`: of a launch's cycles; `drift`: from the first to
 * the last. */
static int count_inside(double spread, double drift, double *timed)
{
    int found = 0;
    *timed = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct outcome outcome = {0};
        struct sampler *sampler = sampler_of(seed);
        rng_seed(&rng, 1000 + seed);
        for (int i = 0; i < 400; i++) {
            double size = 10000 * (1 + 0.02 * rng_double(&rng));
            double factor = (1 + spread * normal()) * (1 + drift * i / 400);
            launch(sampler, &outcome, "drawn", (uint64_t)size, 10 * size * fmax(factor, 0.1));
        }
        end(sampler, &outcome);
        found += inside(&outcome);
        *timed += (double)outcome.told.timed / (400.0 * PROGRAMS);
    }
    return found;
}

static void intervals_hold_of_times_that_spread(void **state)
{
    (void)state;
    double few, some, many;
    assert_true(count_inside(0.01, 0, &few) >= 0.95 * PROGRAMS);
    assert_true(count_inside(0.05, 0, &some) >= 0.94 * PROGRAMS);
    assert_true(count_inside(0.20, 0, &many) >= 0.93 * PROGRAMS);
    assert_true(few < some && some < many && many < 0.7);
}

static void intervals_hold_of_times_that_drift(void **state)
{
    (void)state;
    double timed;
    assert_true(count_inside(0.01, 0.3, &timed) >= 0.95 * PROGRAMS);
    assert_true(timed < 0.2);
    assert_true(count_inside(0.02, -0.5, &timed) >= 0.95 * PROGRAMS);
}

static void the_same_seed_draws_the_same(void **state)
{
    (void)state;
    struct sampler_total totals[2];
    for (int k = 0; k < 2; k++) {
        struct outcome outcome = {0};
        struct sampler *sampler = sampler_of(7);
        rng_seed(&rng, 3);
        for (int i = 0; i < 300; i++) {
            launch(sampler, &outcome, "drawn", 10000, 5000 * (1 + 0.05 * normal()));
        }
        end(sampler, &outcome);
        totals[k] = outcome.told;
    }
    assert_true(totals[0].cycles == totals[1].cycles && totals[0].low == totals[1].low);
    assert_int_equal(totals[0].timed, totals[1].timed);
}

static void launches_that_are_whole_are_counted_as_they_are(void **state)
{
    (void)state;
    struct sampler *sampler = sampler_of(1);
    struct sampler_total total;
    assert_int_equal(sampler_whole(sampler, "spins", 0, 1234), 0);
    assert_string_equal(sampler_kernel(sampler, 0, &total), "spins");
    assert_int_equal(total.whole, 1);
    assert_int_equal(total.timed, 1);
    assert_true(total.low == 1234 && total.high == 1234);
    sampler_destroy(sampler);
}

/* One launch of 10000 instructions that is stopped after so many cycles. */
static void stop_one(struct sampler *sampler, double cycles)
{
    const uint64_t blocks[2] = {1000, 1000};
    const struct sampler_launch one = {.kernel = "same",
                                       .ctas = 10,
                                       .warp_insns = 10000,
                                       .thread_insns = 320000,
                                       .blocks = blocks,
                                       .length = 2};
    uint64_t ticket, estimate;
    bool timed = false;
    for (int i = 0; i < 100 && !timed; i++) {
        assert_int_equal(sampler_see(sampler, &one, &ticket, &timed, &estimate), 0);
    }
    assert_true(timed);
    sampler_stopped(sampler, ticket, cycles);
}

static void a_launch_that_was_stopped_says_nothing_of_others(void **state)
{
    (void)state;
    struct outcome outcome = {0};
    struct sampler *sampler = sampler_of(1);
    struct sampler_total before, after;
    for (int i = 0; i < 100; i++) {
        launch(sampler, &outcome, "same", 10000, 5000);
    }
    sampler_all(sampler, &before);
    stop_one(sampler, 7);
    sampler_all(sampler, &after);
    double seen = (double)(after.launches - before.launches - 1) * 5000 + 7;
    assert_true(fabs(after.cycles - before.cycles - seen) < 1);
    assert_int_equal(after.timed, before.timed + 1);
    sampler_destroy(sampler);
}

static void a_program_whose_first_launch_was_stopped_has_its_cycles(void **state)
{
    (void)state;
    struct sampler_total total;
    struct sampler *sampler = sampler_of(1);
    stop_one(sampler, 7);
    sampler_all(sampler, &total);
    assert_int_equal(total.launches, 1);
    assert_int_equal(total.timed, 1);
    assert_true(total.cycles == 7 && total.low == 7 && total.high == 7);
    sampler_destroy(sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_that_are_all_alike_are_hardly_timed),
        cmocka_unit_test(launches_of_other_counts_are_another_stratum),
        cmocka_unit_test(few_launches_are_all_timed),
        cmocka_unit_test(intervals_hold_of_times_that_spread),
        cmocka_unit_test(intervals_hold_of_times_that_drift),
        cmocka_unit_test(the_same_seed_draws_the_same),
        cmocka_unit_test(a_launch_that_was_stopped_says_nothing_of_others),
        cmocka_unit_test(a_program_whose_first_launch_was_stopped_has_its_cycles),
        cmocka_unit_test(launches_that_are_whole_are_counted_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
