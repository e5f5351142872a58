/* What a miss of a cache fetches that is never full, from a toy that is cold at every launch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/experiments.h"
#include "infer/level.h"
#include "util/error.h"

enum { HIT = 100, MISS = 300, REACH = 65536, FRONT = 64 };

struct toy {
    uint32_t fetch;   /* bytes */
    uint32_t farther; /* cycles: where every other fetch comes from */
    uint32_t uneven;  /* so many more misses a launch, anywhere */
    bool keeps_lines; /* from launch to launch */
    bool refuses;
    struct traceset *set;
};

static int get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct toy *toy = ctx;
    struct trace trace;
    uint64_t window = 0, warm = 1, stride = 0;
    uint32_t start = 0;
    assert_string_equal(trace_request_text(request, "op"), "const");
    assert_true(trace_request_u64(request, "window", &window));
    assert_true(trace_request_u64(request, "stride", &stride));
    assert_true(trace_request_u64(request, "warm", &warm));
    assert_int_equal(warm, 0);
    assert_true(window * stride <= REACH);
    assert_int_equal(trace_init(&trace, request), 0);
    uint32_t *latency = calloc(window, sizeof *latency), *next = calloc(window, sizeof *next);
    assert_true(latency && next);
    for (uint64_t i = 0; i < window; i++) {
        bool first = i * stride % toy->fetch == 0 && !toy->keeps_lines;
        bool stray = toy->uneven && i * 7 % (window / toy->uneven) == 3;
        uint32_t miss = MISS + (i * stride / toy->fetch % 2 ? toy->farther : 0);
        latency[i] = first || stray ? miss : HIT;
        next[i] = (uint32_t)((i + 1) % (REACH / stride) * stride);
    }
    assert_int_equal(trace_add_column(&trace, "latency", TRACE_U32, latency, window), 0);
    assert_int_equal(trace_add_column(&trace, "next", TRACE_U32, next, window), 0);
    assert_int_equal(trace_add_column(&trace, "start", TRACE_U32, &start, 1), 0);
    if (toy->refuses) {
        trace.status = SONDE_EUNSUPPORTED;
        snprintf(trace.reason, sizeof trace.reason, "no constants");
    }
    free(latency);
    free(next);
    return traceset_add(toy->set, &trace, out);
}

/* Bytes, or 0 and the reason. */
static double examine(struct toy toy, char why[160])
{
    static const struct level_info info = {"constant_l15", "sm", "const", "constant_l1",
                                           "cg",           0,    6144,    ""};
    struct level_summary front = {.timing.fetch_bytes = FRONT};
    struct dissection *d = calloc(1, sizeof *d);
    struct infer_options options = {.max_footprint_bytes = REACH};
    struct trace_source source = {.get = get, .ctx = &toy};
    struct lab lab = {.source = &source, .options = &options, .out = d};
    assert_non_null(d);
    assert_int_equal(traceset_create(&toy.set), 0);
    struct level level = {
        .lab = &lab, .info = &info, .result = &d->caches[0], .front = &front, .max_window = 6144};
    attribute_set(&level.result->hit_latency, HIT, "cycles", 0.9, "");
    int rc = level_cold(&level);
    assert_true(rc == 0 || lab_soft(rc));
    double bytes = rc ? 0 : level.result->fetch_granularity.value;
    if (rc == 0) {
        const struct attribute *penalty = &level.result->miss_penalty;
        int least = MISS - HIT, most = least + (int)toy.farther;
        assert_true(penalty->value >= least && penalty->value <= most);
        assert_int_equal((int)penalty->low, toy.farther ? least : 0);
        assert_int_equal((int)penalty->high, toy.farther ? most : 0);
    }
    memcpy(why, lab.why.reason, sizeof lab.why.reason);
    traceset_destroy(toy.set);
    free(d);
    return bytes;
}

static void a_cold_walk_shows_what_a_miss_fetches(void **state)
{
    (void)state;
    char why[160];
    for (uint32_t fetch = FRONT; fetch <= 2048; fetch *= 2) {
        assert_int_equal((int)examine((struct toy){.fetch = fetch}, why), fetch);
    }
    assert_int_equal((int)examine((struct toy){.fetch = 256, .uneven = 4}, why), 256);
}

static void a_median_of_near_and_far_has_both_as_bounds(void **state)
{
    (void)state;
    char why[160];
    assert_int_equal((int)examine((struct toy){.fetch = 256, .farther = 30}, why), 256);
}

static void what_does_not_repeat_is_not_told(void **state)
{
    (void)state;
    char why[160];
    assert_true(examine((struct toy){.fetch = 256, .keeps_lines = true}, why) == 0);
    assert_string_equal(why, "it keeps its lines from launch to launch");
    assert_true(examine((struct toy){.fetch = 256, .uneven = 100}, why) == 0);
    assert_string_equal(why, "a cold walk misses at uneven distances");
    assert_true(examine((struct toy){.fetch = 192}, why) == 0); /* no power of two */
    assert_true(examine((struct toy){.fetch = 256, .refuses = true}, why) == 0);
    assert_non_null(strstr(why, "no constants"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cold_walk_shows_what_a_miss_fetches),
        cmocka_unit_test(a_median_of_near_and_far_has_both_as_bounds),
        cmocka_unit_test(what_does_not_repeat_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
