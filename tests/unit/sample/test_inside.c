/* Launches of many blocks on a machine with places for some of them: what is skipped, and whether
 * the launch's time lies in the interval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/inside.h"
#include "util/rng.h"

#define BLOCKS_MOST 20000
#define PLACES 16
#define LAUNCHES 100

static struct inside_block blocks[BLOCKS_MOST];
static double cycles_of[BLOCKS_MOST];
static struct rng rng;

struct outcome {
    double cycles, half;
    uint64_t skipped;
};

/* Each place takes the next block when it is free; `inside` NULL: none is skipped. */
static double machine(struct inside *inside, uint64_t count, uint64_t refused)
{
    double free_at[PLACES] = {0}, end = 0;
    uint64_t in_place[PLACES], skips = 0;
    bool used[PLACES] = {false};
    for (uint64_t next = 0; next < count; next++) {
        size_t first = 0;
        for (size_t i = 1; i < PLACES; i++) {
            first = free_at[i] < free_at[first] ? i : first;
        }
        if (inside && used[first]) {
            inside_ended(inside, in_place[first]);
        }
        uint64_t skipped = inside ? inside_next(inside, next, (uint64_t)free_at[first]) : 0;
        assert_true(next + skipped < count);
        if (skipped > 0 && ++skips == refused) {
            inside_refuse(inside);
            skipped = 0;
        }
        next += skipped;
        in_place[first] = next;
        used[first] = true;
        free_at[first] += cycles_of[next];
        end = fmax(end, free_at[first]);
    }
    return end;
}

/* Blocks of the same work, and cycles that spread around it; `mix`: those from the half on are of
 * other work, for which they take three times as long. */
static void draw(uint64_t count, double spread, bool mix)
{
    for (uint64_t i = 0; i < count; i++) {
        bool other = mix && i >= count / 2;
        blocks[i] = (struct inside_block){
            .term = {[TERM_INSNS] = other ? 100 : 1000, [TERM_MISSING] = other ? 900 : 0}};
        cycles_of[i] = (other ? 3000 : 1000) * (1 + spread * (rng_double(&rng) - 0.5));
    }
}

static double sample(struct outcome *outcome, uint64_t count, uint64_t refused)
{
    struct inside *inside;
    double full = machine(NULL, count, 0);
    assert_int_equal(inside_create(&inside, blocks, count, PLACES, 0.06), 0);
    assert_non_null(inside);
    double simulated = machine(inside, count, refused);
    inside_result(inside, &outcome->cycles, &outcome->half, &outcome->skipped);
    outcome->cycles += simulated;
    inside_destroy(inside);
    return full;
}

static void a_long_launch_of_equal_blocks_is_mostly_skipped(void **state)
{
    struct outcome outcome;
    (void)state;
    rng_seed(&rng, 1);
    draw(BLOCKS_MOST, 0.1, false);
    double full = sample(&outcome, BLOCKS_MOST, 0);
    assert_true(outcome.skipped > BLOCKS_MOST * 8 / 10);
    assert_true(fabs(outcome.cycles - full) <= outcome.half);
    assert_true(outcome.half < 0.06 * full);
}

static void launches_that_are_short_or_to_be_certain_are_simulated(void **state)
{
    struct inside *inside = (void *)blocks;
    (void)state;
    draw(4000, 0.1, false);
    assert_int_equal(inside_create(&inside, blocks, 100, PLACES, 0.06), 0);
    assert_null(inside);
    assert_int_equal(inside_create(&inside, blocks, 4000, PLACES, 0.03), 0);
    assert_null(inside);
}

static void intervals_hold_of_blocks_that_spread(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        int found = 0;
        for (uint64_t seed = 1; seed <= LAUNCHES; seed++) {
            struct outcome outcome;
            rng_seed(&rng, seed);
            draw(4000, 0.5 * k, false);
            double full = sample(&outcome, 4000, 0);
            assert_true(outcome.skipped > 0);
            found += fabs(outcome.cycles - full) <= outcome.half;
        }
        assert_true(found >= 0.95 * LAUNCHES);
    }
}

static void a_skip_ends_where_blocks_do_other_work(void **state)
{
    struct outcome outcome;
    (void)state;
    rng_seed(&rng, 5);
    draw(8000, 0.1, true);
    double full = sample(&outcome, 8000, 0);
    assert_true(outcome.skipped > 2000);
    assert_true(fabs(outcome.cycles - full) <= outcome.half);
}

static void after_a_skip_that_was_not_possible_all_are_simulated(void **state)
{
    struct outcome outcome;
    (void)state;
    rng_seed(&rng, 6);
    draw(4000, 0.1, false);
    double full = sample(&outcome, 4000, 1);
    assert_int_equal(outcome.skipped, 0);
    assert_true(outcome.cycles == full && outcome.half == 0);
    full = sample(&outcome, 4000, 3);
    assert_in_range(outcome.skipped, 1, 2000);
    assert_true(fabs(outcome.cycles - full) <= 0.06 * full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_launch_of_equal_blocks_is_mostly_skipped),
        cmocka_unit_test(launches_that_are_short_or_to_be_certain_are_simulated),
        cmocka_unit_test(intervals_hold_of_blocks_that_spread),
        cmocka_unit_test(a_skip_ends_where_blocks_do_other_work),
        cmocka_unit_test(after_a_skip_that_was_not_possible_all_are_simulated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
