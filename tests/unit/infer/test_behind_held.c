/*
 * Size and sets of a cache behind another, of known ways and line, from lines read to and fro: a
 * toy of two caches, of which the second numbers its sets by a table drawn at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/behind/behind.h"
#include "infer/experiments.h"
#include "infer/level.h"
#include "support/toy_lab.h"
#include "util/error.h"
#include "util/rng.h"

enum {
    NEAR = 40,
    HIT = 100,
    MISS = 300,
    THRESHOLD = 200,
    CEILING = 400,
    WAYS = 4,
    LINE = 128,
    REACH = 65536,
    LINES = REACH / LINE,
    FRONT_LINES = 8,
    MOST_SETS = 256
};

/* One set: the line used last comes first. */
struct set {
    uint32_t line[FRONT_LINES];
    uint32_t ways;
};

struct toy {
    uint32_t sets;
    bool draws; /* victims */
    uint32_t set_of[LINES];
    size_t lines; /* that a walk is to read; 0: all */
    struct set front, behind[MOST_SETS];
    struct rng rng;
};

static bool read_line(struct set *set, uint32_t line, struct rng *victims)
{
    uint32_t at = 0;
    while (at < set->ways && set->line[at] != line + 1) {
        at++;
    }
    bool hit = at < set->ways, full = set->line[set->ways - 1] != 0;
    if (!hit) {
        at = victims && full ? (uint32_t)rng_below(victims, set->ways) : set->ways - 1;
    }
    memmove(set->line + 1, set->line, at * sizeof *set->line);
    set->line[0] = line + 1;
    return hit;
}

static uint32_t load(void *ctx, uint32_t offset)
{
    struct toy *toy = ctx;
    uint32_t line = offset / LINE;
    if (read_line(&toy->front, line, NULL)) {
        return NEAR;
    }
    return read_line(&toy->behind[toy->set_of[line]], line, toy->draws ? &toy->rng : NULL) ? HIT
                                                                                           : MISS;
}

static int answer(void *toy, struct trace *trace)
{
    uint64_t warm = 0;
    trace_request_u64(&trace->request, "warm", &warm);
    size_t lines = ((struct toy *)toy)->lines ? ((struct toy *)toy)->lines : LINES;
    assert_int_equal(trace->request.ring_count, 2 * lines);
    assert_int_equal(warm % (2 * lines), 0);
    return toy_walk_ring(trace, load, toy);
}

static void toy_create(struct toy *toy, uint32_t sets, bool draws)
{
    *toy = (struct toy){.sets = sets, .draws = draws, .front.ways = FRONT_LINES};
    rng_seed(&toy->rng, 11);
    for (uint32_t i = 0; i < LINES; i++) {
        toy->set_of[i] = (uint32_t)rng_below(&toy->rng, sets);
    }
    for (uint32_t i = 0; i < sets; i++) {
        toy->behind[i].ways = WAYS;
    }
}

/* What its lines say with so many ways told before; or of a set whose policy is known. */
static int ask(struct toy *toy, struct cache_result *result, double ways, bool by_policy)
{
    static const struct level_info info = {"constant_l15", "sm", "const", "constant_l1",
                                           "cg",           0,    6144,    ""};
    struct toy_lab bench;
    toy_lab_open(&bench, answer, toy, REACH);
    struct level_summary front = {.timing.threshold = 0.5 * (NEAR + HIT)};
    struct level level = {.lab = &bench.lab,
                          .info = &info,
                          .result = &bench.out->caches[0],
                          .front = &front,
                          .max_window = toy->lines ? 2 * (uint32_t)toy->lines : 6144};
    level.timing.threshold = THRESHOLD;
    level.timing.ceiling = CEILING;
    level.line.bytes = LINE;
    attribute_set(&level.result->ways, ways, "1", 0.8, "");
    struct policy_result *policy = &level.result->policy;
    if (by_policy) {
        level.conflict.count = (size_t)ways + 1;
        snprintf(policy->name, sizeof policy->name, toy->draws ? "random" : "lru");
        policy->confidence = 0.9;
        policy->probability_count = toy->draws ? WAYS : 0;
        for (size_t i = 0; i < policy->probability_count; i++) {
            policy->probability[i] = 1.0 / WAYS;
        }
        assert_true(forecast_applies(&level));
    }
    int rc = by_policy ? level_forecast(&level) : behind_held(&level);
    *result = *level.result;
    toy_lab_close(&bench);
    return rc;
}

static int examine(struct toy *toy, struct cache_result *result, double ways)
{
    return ask(toy, result, ways, false);
}

static void sets_that_a_hash_numbers_are_counted(void **state)
{
    (void)state;
    for (uint32_t sets = 4; sets <= 20; sets += 4) {
        struct toy toy;
        struct cache_result result;
        toy_create(&toy, sets, false);
        assert_int_equal(examine(&toy, &result, WAYS), 0);
        assert_true(result.sets.value == sets);
        assert_true(result.size.value == sets * WAYS * LINE);
        assert_true(result.ways.value == WAYS);
    }
}

static void ways_that_do_not_divide_what_is_held_are_taken_back(void **state)
{
    (void)state;
    struct toy toy;
    struct cache_result result;
    toy_create(&toy, 8, false);
    assert_int_equal(examine(&toy, &result, WAYS + 1), 0);
    assert_true(result.size.value == 8 * WAYS * LINE);
    assert_int_not_equal(result.ways.status, ATTRIBUTE_MEASURED);
    assert_int_not_equal(result.sets.status, ATTRIBUTE_MEASURED);
}

/* Of sets that draw their victims other lines are gone each time. */
static void nothing_is_told_of_sets_that_draw_their_victims(void **state)
{
    (void)state;
    struct toy toy;
    struct cache_result result;
    toy_create(&toy, 16, true);
    assert_int_equal(examine(&toy, &result, WAYS), INFER_UNDECIDED);
    assert_int_not_equal(result.sets.status, ATTRIBUTE_MEASURED);
}

/* All lines of the path are eight a set: chance leaves some with less than four. */
static void nothing_is_told_of_sets_that_are_not_full(void **state)
{
    (void)state;
    struct toy toy;
    struct cache_result result;
    toy_create(&toy, 64, false);
    assert_int_equal(examine(&toy, &result, WAYS), INFER_UNDECIDED);
    assert_int_not_equal(result.sets.status, ATTRIBUTE_MEASURED);
}

/* What a modelled cache of as many sets makes of the same loads says so all the same: of victims
 * that are drawn, and of sets that are not all full. */
static void sets_are_counted_by_what_their_policy_makes_of_the_loads(void **state)
{
    (void)state;
    for (unsigned draws = 0; draws < 2; draws++) {
        for (uint32_t sets = 3; sets <= (draws ? 12 : 48); sets *= 4) {
            struct toy toy;
            struct cache_result result;
            toy_create(&toy, sets, draws);
            assert_int_equal(ask(&toy, &result, WAYS, true), 0);
            assert_true(result.sets.value == sets);
            assert_true(result.size.value == sets * WAYS * LINE);
            assert_true(result.sets.confidence < 0.9);
        }
    }
}

/* A window that holds no more says the same of fewer lines. */
static void sets_are_counted_by_as_many_lines_as_a_window_holds(void **state)
{
    (void)state;
    struct toy toy;
    struct cache_result result;
    toy_create(&toy, 12, false);
    toy.lines = LINES / 4;
    assert_int_equal(ask(&toy, &result, WAYS, true), 0);
    assert_true(result.sets.value == 12);
}

/* Three lines a set: one set more or less makes hardly a difference. */
static void of_so_many_sets_none_is_likelier_than_others(void **state)
{
    (void)state;
    struct toy toy;
    struct cache_result result;
    toy_create(&toy, 170, true);
    assert_int_equal(ask(&toy, &result, WAYS, true), INFER_UNDECIDED);
    assert_int_not_equal(result.sets.status, ATTRIBUTE_MEASURED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_that_a_hash_numbers_are_counted),
        cmocka_unit_test(ways_that_do_not_divide_what_is_held_are_taken_back),
        cmocka_unit_test(nothing_is_told_of_sets_that_draw_their_victims),
        cmocka_unit_test(nothing_is_told_of_sets_that_are_not_full),
        cmocka_unit_test(sets_are_counted_by_what_their_policy_makes_of_the_loads),
        cmocka_unit_test(sets_are_counted_by_as_many_lines_as_a_window_holds),
        cmocka_unit_test(of_so_many_sets_none_is_likelier_than_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
