/*
 * How many lines a cache holds, from lines read there, back and there again in one launch: a toy
 * whose sets draw which lines they get, and whose lines may come later than when they are read
 * again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "infer/large/large.h"
#include "infer/level.h"
#include "support/toy_lab.h"
#include "support/toy_set.h"
#include "util/rng.h"

enum { HIT = 200, MISS = 500, WAYS = 4, SETS = 24, LINE = 128, MOST_LINES = 4096, BITS = 32 };

/* Of so many lines that are held one comes later than when it is read again; 0: none. */
struct toy {
    uint32_t late_one_of, set[SETS][WAYS], set_of[MOST_LINES];
};

static bool read_line(struct toy *toy, uint32_t line)
{
    return toy_set_read(toy->set[toy->set_of[line]], WAYS, line);
}

static void walk_back(struct toy *toy, uint32_t *bits, uint32_t *later, uint32_t count,
                      bool with_later, bool ascends)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t behind = count - 1 - i;
        bool hit = read_line(toy, ascends ? i : behind);
        bool late = hit && toy->late_one_of > 0 && behind % toy->late_one_of == 0;
        *later += late && !with_later;
        bits[behind / BITS] |= (uint32_t)(hit && (!late || with_later)) << behind % BITS;
    }
}

static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    uint64_t count = 0, slack = 0;
    trace_request_u64(&trace->request, "count", &count);
    trace_request_u64(&trace->request, "slack", &slack);
    assert_in_range(count, 1, MOST_LINES);
    size_t words = (count + BITS - 1) / BITS;
    uint32_t *bits = calloc(2 * words, sizeof *bits), later[2] = {0};
    assert_non_null(bits);
    for (uint32_t i = 0; i < count; i++) {
        read_line(toy, i);
    }
    walk_back(toy, bits, &later[0], (uint32_t)count, slack == 0, false);
    walk_back(toy, bits + words, &later[1], (uint32_t)count, slack == 0, true);
    int rc = trace_add_column(trace, "held", TRACE_U32, bits, 2 * words);
    rc = rc ? rc : trace_add_column(trace, "later", TRACE_U32, later, 2);
    free(bits);
    return rc;
}

/* Returns what the experiment does; *held: the lines that it tells. */
static int examine(uint32_t late_one_of, size_t *held)
{
    static const struct level_info info = {"l2", "gpu", "global", "l1_data", "cg", 0, 6144, ""};
    struct toy toy = {.late_one_of = late_one_of};
    struct rng rng;
    rng_seed(&rng, 5);
    for (uint32_t i = 0; i < MOST_LINES; i++) {
        toy.set_of[i] = (uint32_t)rng_below(&rng, SETS);
    }
    struct toy_lab bench;
    toy_lab_open(&bench, answer, &toy, (uint64_t)MOST_LINES * LINE);
    bench.options.max_window = 6144;
    struct level level = {.lab = &bench.lab,
                          .info = &info,
                          .result = &bench.out->caches[0],
                          .conflict.count = WAYS + 1,
                          .fit.count = (size_t)SETS * WAYS};
    level.timing.threshold = 0.5 * (HIT + MISS);
    level.timing.hit_cycles = HIT;
    level.line.bytes = LINE;
    bool answered = false;
    int rc = to_and_fro(&level, held, &answered);
    assert_true(answered);
    toy_lab_close(&bench);
    return rc;
}

static void lines_that_sets_hold_are_counted(void **state)
{
    (void)state;
    size_t held = 0;
    assert_int_equal(examine(0, &held), 0);
    assert_int_equal(held, (size_t)SETS * WAYS);
}

static void few_that_come_later_are_held_too(void **state)
{
    (void)state;
    size_t held = 0;
    assert_int_equal(examine(40, &held), 0);
    assert_int_equal(held, (size_t)SETS * WAYS);
}

/* Nothing that is held comes as soon as when it is read again: that tells no cache of nothing. */
static void all_that_come_later_tell_nothing(void **state)
{
    (void)state;
    size_t held = 0;
    assert_int_equal(examine(1, &held), INFER_UNDECIDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_sets_hold_are_counted),
        cmocka_unit_test(few_that_come_later_are_held_too),
        cmocka_unit_test(all_that_come_later_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
