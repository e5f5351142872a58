/*
 * What an untimed chain says of the hits that were timed one by one: from a toy that tells how long
 * a chain took.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "infer/experiments.h"
#include "infer/level.h"
#include "support/toy_lab.h"

enum { CHAIN = 338, LOADS = 1024, REPEATS = 5 };

static int answer(void *toy, struct trace *trace)
{
    (void)toy;
    double cycles[REPEATS], loads[REPEATS];
    for (unsigned i = 0; i < REPEATS; i++) {
        cycles[i] = (double)CHAIN * LOADS;
        loads[i] = LOADS;
    }
    int rc = trace_add_column(trace, "cycles", TRACE_F64, cycles, REPEATS);
    return rc ? rc : trace_add_column(trace, "loads", TRACE_F64, loads, REPEATS);
}

/* Of hits that were found to take so many cycles, with 0.98, and of those that circled. */
static double confidence_of(double hit, double circled)
{
    static const struct level_info info = {"l2", "gpu", "cg", "", "", 0, 0, ""};
    struct toy_lab bench;
    toy_lab_open(&bench, answer, NULL, 1 << 20);
    struct level level = {.lab = &bench.lab,
                          .info = &info,
                          .result = &bench.out->caches[0],
                          .max_window = 256,
                          .outermost = true};
    level.timing.threshold = 2.0 * CHAIN;
    level.circled_cycles = circled;
    level.fit.stride = 128;
    level.fit.count = 512;
    attribute_set(&level.result->hit_latency, hit, "cycles", 0.98, "");
    assert_int_equal(level_load_to_use(&level), 0);
    assert_true(level.result->load_to_use_latency.value == CHAIN);
    double confidence = level.result->hit_latency.confidence;
    level_free(&level);
    toy_lab_close(&bench);
    return confidence;
}

static void hits_that_a_chain_contradicts_are_not_sure(void **state)
{
    (void)state;
    assert_true(confidence_of(CHAIN + 2, CHAIN) > 0.9);
    assert_true(confidence_of(CHAIN + 8, CHAIN) < 0.9);      /* other work beside these alone */
    assert_true(confidence_of(CHAIN + 8, CHAIN + 8) > 0.9);  /* timing takes as long */
    assert_true(confidence_of(CHAIN + 8, CHAIN - 20) > 0.9); /* near words circled */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_that_a_chain_contradicts_are_not_sure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
