/*
 * A cache behind another whose hits take about what misses take: a toy that adds more noise to
 * each load than lies between them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/behind/behind.h"
#include "infer/level.h"
#include "support/toy_lab.h"
#include "util/error.h"
#include "util/rng.h"

enum { NEAR = 40, HIT = 220, PLAIN = 200, NOISE = 6, STRIDE = 32, FEW = 64, HOLDS = 8192 };

/* Cycles that a load takes longer in a circle of more bytes than the cache holds. */
struct toy {
    int more, plain_more;
    struct rng rng;
};

static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    const struct trace_request *r = &trace->request;
    uint64_t window = 0, bytes = 0;
    assert_true(trace_request_u64(r, "window", &window));
    assert_true(trace_request_u64(r, "bytes", &bytes));
    bool plain = strcmp(trace_request_text(r, "op"), "cg") == 0;
    int more = bytes <= HOLDS ? 0 : plain ? toy->plain_more : toy->more;
    struct toy_walk walk = toy_walk_begin(window, 1);
    for (uint64_t i = 0; i < window; i++) {
        double u = rng_double(&toy->rng);
        double noise = u * u * u * NOISE + (rng_below(&toy->rng, 8) == 0) * NOISE;
        walk.latency[i] = (uint32_t)((plain ? PLAIN : HIT) + more + (int)(noise + 0.5));
        walk.next[i] = (uint32_t)((i + 1) * STRIDE % bytes);
    }
    return toy_walk_end(&walk, trace);
}

static struct cache_result examine(int more, int plain_more)
{
    static const struct level_info info = {"constant_l15", "sm", "const", "constant_l1",
                                           "cg",           0,    6144,    ""};
    struct toy toy = {.more = more, .plain_more = plain_more};
    struct toy_lab bench;
    toy_lab_open(&bench, answer, &toy, 65536);
    struct level_summary front = {.timing.threshold = 0.5 * (NEAR + HIT)};
    rng_seed(&toy.rng, 3);
    struct level level = {.lab = &bench.lab,
                          .info = &info,
                          .result = &bench.out->caches[0],
                          .front = &front,
                          .max_window = 6144};
    lab_absent(&bench.lab, "no such cache shows");
    assert_int_equal(behind_in_turn(&level, (struct walk_shape){.stride = STRIDE, .count = FEW}),
                     INFER_UNDECIDED);
    /* What was said before stands where nothing is told. */
    assert_int_equal(bench.lab.why.status == ATTRIBUTE_ABSENT, !level.result->present);
    struct cache_result result = *level.result;
    toy_lab_close(&bench);
    return result;
}

static void a_cache_that_is_hardly_nearer_or_farther_shows_in_many_loads(void **state)
{
    (void)state;
    for (int more = -3; more <= 3; more++) {
        struct cache_result result = examine(more, 0);
        assert_int_equal(result.present, more != 0);
        assert_int_equal(result.hit_latency.status == ATTRIBUTE_MEASURED, more != 0);
        if (more) {
            assert_true(fabs(result.hit_latency.value - HIT) <= 1);
            assert_true(fabs(result.miss_penalty.value - more) < 0.5);
        }
    }
}

static void what_delays_plain_loads_alike_is_no_cache(void **state)
{
    (void)state;
    for (int more = -3; more <= 3; more++) {
        assert_false(examine(more, more).present);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cache_that_is_hardly_nearer_or_farther_shows_in_many_loads),
        cmocka_unit_test(what_delays_plain_loads_alike_is_no_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
