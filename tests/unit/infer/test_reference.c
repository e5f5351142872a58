/*
 * What tells hits from misses: from a toy behind whose first level some slices are nearer than its
 * own hits, and from one where none is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/level.h"
#include "infer/presence/presence.h"
#include "support/toy_lab.h"

enum {
    HIT = 94,
    FAR = 130,
    LINE = 128,
    HELD = 8192,
    CIRCLE = 1024,
    FOOTPRINT = 1 << 20,
    WHY = 512
};

struct toy {
    uint32_t nearest; /* cycles, of every fourth line behind the first level */
    uint64_t longest; /* bytes of the longest array that was walked */
};

/* Every word of an array is walked; what is too long for the first level misses it. */
static uint32_t load(const struct toy *toy, bool through, uint64_t bytes, uint64_t offset)
{
    uint32_t behind = offset / LINE % 4 == 0 ? toy->nearest : FAR;
    bool hits = through && (bytes <= HELD || offset % LINE != 0);
    return hits ? HIT : through && behind < HIT ? HIT : behind;
}

static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    const struct trace_request *r = &trace->request;
    uint64_t window = 0, windows = 1, bytes = 0, stride = 0;
    const char *op = trace_request_text(r, "op");
    assert_true(trace_request_u64(r, "window", &window));
    assert_true(trace_request_u64(r, "bytes", &bytes));
    assert_true(trace_request_u64(r, "stride", &stride));
    trace_request_u64(r, "windows", &windows);
    toy->longest = bytes > toy->longest ? bytes : toy->longest;
    struct toy_walk walk = toy_walk_begin(window, windows);
    for (uint64_t w = 0; w < windows; w++) {
        uint64_t first = w * (bytes / windows) / stride * stride;
        walk.start[w] = (uint32_t)first;
        for (uint64_t i = 0; i < window; i++) {
            uint64_t at = (first + i * stride) % bytes;
            walk.latency[w * window + i] = load(toy, strcmp(op, "ca") == 0, bytes, at);
            walk.next[w * window + i] = (uint32_t)((at + stride) % bytes);
        }
    }
    return toy_walk_end(&walk, trace);
}

static int refer(struct toy *toy, struct level_timing *timing, char *why)
{
    static const struct level_info info = {"l1_data", "sm", "ca", "", "cg", 0, 0, ""};
    struct toy_lab bench;
    toy_lab_open(&bench, answer, toy, FOOTPRINT);
    struct level level = {
        .lab = &bench.lab, .info = &info, .result = &bench.out->caches[0], .max_window = 512};
    int rc = reference_by_words(&level);
    *timing = level.timing;
    snprintf(why, WHY, "%s", bench.lab.why.reason);
    level_free(&level);
    toy_lab_close(&bench);
    return rc;
}

static void misses_that_are_slower_than_hits_tell_a_threshold(void **state)
{
    (void)state;
    struct toy toy = {.nearest = 110};
    struct level_timing timing;
    char why[WHY];
    assert_int_equal(refer(&toy, &timing, why), 0);
    assert_true(timing.threshold > HIT && timing.threshold < 110);
    assert_true(timing.fetch_bytes == LINE);
}

static void slices_nearer_than_hits_leave_no_threshold_to_be_sought(void **state)
{
    (void)state;
    struct toy toy = {.nearest = 59};
    struct level_timing timing;
    char why[WHY];
    assert_int_equal(refer(&toy, &timing, why), INFER_UNDECIDED);
    assert_non_null(strstr(why, "nearest pass for hits"));
    assert_true(toy.longest <= CIRCLE); /* no array is walked in vain */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misses_that_are_slower_than_hits_tell_a_threshold),
        cmocka_unit_test(slices_nearer_than_hits_leave_no_threshold_to_be_sought),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
