/*
 * How many lines a cache holds when every set is full: from a toy whose slices take lines in turn
 * and hash them, with LRU, and with LRU that puts a new line where it leaves first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/geometry/geometry.h"
#include "infer/level.h"
#include "support/toy_source.h"

enum {
    HIT = 100,
    MISS = 300,
    THRESHOLD = 200,
    SLICES = 8,
    SETS = 4, /* of a slice */
    WAYS = 4,
    LINE = 128,
    LINES = SLICES * SETS * WAYS
};

struct toy {
    uint32_t held[SLICES][SETS][WAYS]; /* the first is the next to leave */
    bool late;                         /* a new line is the next to leave */
    bool seen[SLICES];
    struct traceset *set;
};

static void put(uint32_t *set, uint32_t at, uint32_t line)
{
    memmove(set + at, set + at + 1, (WAYS - 1 - at) * sizeof *set);
    set[WAYS - 1] = line;
}

static bool read_line(struct toy *toy, uint32_t line)
{
    uint32_t row = line / SLICES;
    uint32_t *set = toy->held[line % SLICES][(row ^ row >> 2 ^ row >> 3 ^ row >> 5) % SETS];
    toy->seen[line % SLICES] = true;
    for (uint32_t i = 0; i < WAYS; i++) {
        if (set[i] == line + 1) {
            put(set, i, line + 1);
            return true;
        }
    }
    if (toy->late) {
        set[0] = line + 1;
    } else {
        put(set, 0, line + 1);
    }
    return false;
}

static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    const struct trace_request *r = &trace->request;
    uint64_t window = 0, warm = 0, count = r->ring_count;
    assert_true(trace_request_u64(r, "window", &window));
    trace_request_u64(r, "warm", &warm);
    struct toy_walk walk = toy_walk_begin(window, 1);
    walk.start[0] = r->ring[0];
    for (uint64_t i = 0; i < warm + window; i++) {
        uint64_t at = (count - warm % count + i) % count;
        uint32_t cycles = read_line(toy, r->ring[at] / LINE) ? HIT : MISS;
        if (i >= warm) {
            walk.latency[i - warm] = cycles;
            walk.next[i - warm] = r->ring[(at + 1) % count];
        }
    }
    return toy_walk_end(&walk, trace);
}

static int get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct toy *toy = ctx;
    return toy_get(toy->set, answer, toy, out, request);
}

/* Lines that the toy is found to hold; `period`: of the slices that are known to take turns. */
static size_t count_held(struct toy *toy, const char *policy, uint32_t period)
{
    static const struct level_info info = {"l2", "gpu", "cg", "", "cg", 0, 0, ""};
    struct infer_options options = {.max_footprint_bytes = 1 << 20};
    struct dissection *d = calloc(1, sizeof *d);
    struct trace_source source = {.get = get, .ctx = toy};
    struct lab lab = {.source = &source, .options = &options, .out = d};
    assert_non_null(d);
    assert_int_equal(traceset_create(&toy->set), 0);
    struct level level = {.lab = &lab, .info = &info, .result = &d->caches[0], .max_window = 64};
    level.timing.threshold = THRESHOLD;
    level.timing.ceiling = 2.0 * MISS;
    level.timing.fetch_bytes = LINE;
    level.line.bytes = level.fit.stride = LINE;
    level.fit.count = LINES / 2;
    level.conflict.count = WAYS + 1;
    level.slice_lines = period > 0;
    level.slice_period = period;
    snprintf(level.result->policy.name, sizeof level.result->policy.name, "%s", policy);
    size_t held = 0;
    int rc = level_held(&level, &held);
    traceset_destroy(toy->set);
    free(d);
    return rc == 0 ? held : 0;
}

static size_t slices_seen(const struct toy *toy)
{
    size_t seen = 0;
    for (size_t i = 0; i < SLICES; i++) {
        seen += toy->seen[i];
    }
    return seen;
}

static void what_all_sets_hold_is_counted(void **state)
{
    (void)state;
    struct toy toy = {0};
    assert_int_equal(count_held(&toy, "lru", 0), LINES);
    assert_int_equal(slices_seen(&toy), SLICES);
}

static void of_slices_that_take_turns_two_are_read(void **state)
{
    (void)state;
    struct toy toy = {0};
    assert_int_equal(count_held(&toy, "lru", SLICES), LINES);
    assert_int_equal(slices_seen(&toy), 2);
}

static void lines_that_leave_first_when_read_once_are_read_twice(void **state)
{
    (void)state;
    struct toy toy = {.late = true};
    assert_int_equal(count_held(&toy, "lru_late", 0), LINES);
    struct toy once = {.late = true};
    assert_int_not_equal(count_held(&once, "lru", 0), LINES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_all_sets_hold_is_counted),
        cmocka_unit_test(of_slices_that_take_turns_two_are_read),
        cmocka_unit_test(lines_that_leave_first_when_read_once_are_read_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
