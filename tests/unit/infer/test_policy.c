/*
 * Which line a full set evicts: from a toy of one set, of which another part of the cache holds
 * every other line, and answers sooner than memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/experiments.h"
#include "infer/level.h"
#include "support/toy_source.h"

enum { HIT = 338, FAR = 478, MEMORY = 957, THRESHOLD = 582, WAYS = 4, LINE = 128 };

struct toy {
    uint32_t held[WAYS]; /* the first is the next to leave */
    struct traceset *set;
};

/* LRU. */
static uint32_t read_line(struct toy *toy, uint32_t line)
{
    uint32_t at = 0;
    while (at + 1 < WAYS && toy->held[at] != line + 1) {
        at++;
    }
    bool hit = toy->held[at] == line + 1;
    at = hit ? at : 0;
    memmove(toy->held + at, toy->held + at + 1, (WAYS - 1 - at) * sizeof *toy->held);
    toy->held[WAYS - 1] = line + 1;
    return hit ? HIT : line % 2 ? FAR : MEMORY;
}

static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    const struct trace_request *r = &trace->request;
    uint64_t window = 0, windows = 1, warm = 0, count = r->ring_count;
    assert_true(trace_request_u64(r, "window", &window));
    trace_request_u64(r, "windows", &windows);
    trace_request_u64(r, "warm", &warm);
    struct toy_walk walk = toy_walk_begin(window, windows);
    memset(toy->held, 0, sizeof toy->held);
    uint64_t at = (count - warm % count) % count;
    for (uint64_t i = 0; i < warm + window * windows; i++, at = (at + 1) % count) {
        uint32_t cycles = read_line(toy, r->ring[at] / LINE);
        if (i >= warm) {
            uint64_t record = i - warm;
            if (record % window == 0) {
                walk.start[record / window] = r->ring[at];
            }
            walk.latency[record] = cycles;
            walk.next[record] = r->ring[(at + 1) % count];
        }
    }
    return toy_walk_end(&walk, trace);
}

static int get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct toy *toy = ctx;
    return toy_get(toy->set, answer, toy, out, request);
}

static void what_another_part_answers_is_a_miss_of_the_set(void **state)
{
    (void)state;
    static const struct level_info info = {"l2", "gpu", "cg", "", "", 0, 0, ""};
    uint32_t lines[WAYS + 1];
    struct toy toy = {.set = NULL};
    struct infer_options options = {.max_footprint_bytes = 1 << 20};
    struct dissection *d = calloc(1, sizeof *d);
    struct trace_source source = {.get = get, .ctx = &toy};
    struct lab lab = {.source = &source, .options = &options, .out = d};
    assert_non_null(d);
    assert_int_equal(traceset_create(&toy.set), 0);
    for (uint32_t i = 0; i <= WAYS; i++) {
        lines[i] = i * LINE;
    }
    struct level level = {
        .lab = &lab, .info = &info, .result = &d->caches[0], .max_window = 1024, .outermost = true};
    level.timing.threshold = THRESHOLD;
    level.timing.ceiling = 2.0 * MEMORY;
    level.timing.hit_records = 1000;
    level.timing.fetch_bytes = LINE;
    level.line.bytes = LINE;
    level.conflict.offsets = lines;
    level.conflict.count = WAYS + 1;
    assert_int_equal(level_policy(&level), 0);
    assert_string_equal(d->caches[0].policy.name, "lru");
    assert_true(level.timing.threshold == THRESHOLD);
    traceset_destroy(toy.set);
    free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_another_part_answers_is_a_miss_of_the_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
