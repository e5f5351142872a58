/*
 * How many sets a cache has whose index is not known: arrays that begin elsewhere must have the
 * same edge. From a toy with a hash that spreads each whole group of lines evenly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/geometry/geometry.h"
#include "infer/level.h"
#include "support/toy_lab.h"
#include "util/error.h"

enum {
    HIT = 100,
    MISS = 300,
    THRESHOLD = 200,
    CEILING = 400,
    SETS = 32,
    WAYS = 4,
    LINE = 128,
    LINES = SETS * WAYS
};

struct toy {
    uint32_t held[SETS][WAYS], used[SETS][WAYS], clock;
    uint32_t farthest; /* element of a ring that was asked for */
    uint32_t beside;   /* lines beside each other that share a set; 0: none do */
    bool scattered;    /* lines lie in sets anyhow */
};

/* LRU; each 32 lines in a row, from a multiple of 32 on, lie in 32 sets. */
static bool read_line(struct toy *toy, uint32_t line)
{
    uint32_t group = toy->beside ? line / toy->beside : line, oldest = 0;
    uint32_t set = (group ^ group / SETS ^ group / SETS / 8) % SETS;
    set = toy->scattered ? (line * UINT32_C(2654435761) ^ line / 3 * 40503) >> 9 & (SETS - 1) : set;
    toy->clock++;
    for (uint32_t i = 0; i < WAYS; i++) {
        if (toy->held[set][i] == line + 1) {
            toy->used[set][i] = toy->clock;
            return true;
        }
        oldest = toy->used[set][i] < toy->used[set][oldest] ? i : oldest;
    }
    toy->held[set][oldest] = line + 1;
    toy->used[set][oldest] = toy->clock;
    return false;
}

static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    const struct trace_request *r = &trace->request;
    uint64_t window = 0, windows = 1, warm = 0, count = r->ring_count, bytes = 0, stride = 0;
    assert_true(trace_request_u64(r, "window", &window));
    trace_request_u64(r, "windows", &windows);
    trace_request_u64(r, "warm", &warm);
    trace_request_u64(r, "bytes", &bytes);
    trace_request_u64(r, "stride", &stride);
    count = count ? count : bytes / stride;
    uint32_t *ring = calloc(count, sizeof *ring);
    assert_non_null(ring);
    assert_true(toy->beside || count == LINES || count == LINES + 1);
    for (uint64_t i = 0; i < count; i++) {
        ring[i] = r->ring_count ? r->ring[i] : (uint32_t)(i * stride);
        assert_true(toy->beside || ring[i] % LINE == 0);
        toy->farthest = ring[i] > toy->farthest ? ring[i] : toy->farthest;
    }
    struct toy_walk walk = toy_walk_begin(window, windows);
    for (uint64_t w = 0; w < windows; w++) {
        uint64_t first = w * window % count;
        memset(toy->held, 0, sizeof toy->held);
        walk.start[w] = ring[first];
        for (uint64_t i = 0; i < warm + window; i++) {
            uint64_t at = (first + count - warm % count + i) % count;
            uint32_t cycles = read_line(toy, ring[at] / LINE) ? HIT : MISS;
            if (i >= warm) {
                walk.latency[w * window + i - warm] = cycles;
                walk.next[w * window + i - warm] = ring[(at + 1) % count];
            }
        }
    }
    free(ring);
    return toy_walk_end(&walk, trace);
}

/* A level whose lines, ways and edge are known: `lines` fit, one more does not. */
static int examine(struct toy *toy, struct cache_result *result, size_t lines)
{
    static const struct level_info info = {"l2", "gpu", "cg", "", "cg", 0, 0, ""};
    struct toy_lab bench;
    toy_lab_open(&bench, answer, toy, 1 << 20);
    struct level level = {
        .lab = &bench.lab, .info = &info, .result = &bench.out->caches[0], .max_window = 1024};
    level.timing.threshold = THRESHOLD;
    level.timing.ceiling = CEILING;
    level.timing.hit_records = 100000;
    level.line.bytes = LINE;
    level.fit.stride = toy->beside ? toy->beside * LINE : LINE;
    level.fit.count = lines;
    level.fit.certain = true;
    level.conflict.count = WAYS + 1;
    attribute_set(&level.result->ways, WAYS, "1", 0.95, "");
    int rc = level_sets_hashed(&level);
    *result = *level.result;
    level.conflict.count = 0; /* no group was found: nothing is to be freed */
    level_free(&level);
    toy_lab_close(&bench);
    return rc;
}

static void sets_that_are_filled_evenly_are_counted(void **state)
{
    (void)state;
    struct toy toy = {0};
    struct cache_result result;
    assert_int_equal(examine(&toy, &result, LINES), 0);
    assert_true(result.size.value == LINES * LINE);
    assert_true(result.sets.value == SETS);
    assert_true(result.sets.confidence > 0.8);
    /* Arrays begin at whole groups, the last of them 105 groups on. */
    assert_true(toy.farthest >= 105 * SETS * LINE);
    assert_true(toy.farthest < (120 * SETS + LINES + SETS) * LINE);
}

/* Four of eight lines in a row fill a set: that is not all that the cache holds. */
static void lines_that_fit_farther_apart_are_no_fewer_in_all(void **state)
{
    (void)state;
    struct toy toy = {.beside = 8};
    struct cache_result result;
    assert_int_equal(examine(&toy, &result, LINES), 0);
    assert_true(result.sets.value == SETS);
    assert_true(result.size.value == LINES * LINE);
}

/* Sets that differ may hold as many together, a multiple of the ways of those that overflow. */
static void sets_that_nothing_shows_are_not_certain_to_be_alike(void **state)
{
    (void)state;
    struct toy toy = {.beside = 2, .scattered = true};
    struct cache_result result;
    assert_int_equal(examine(&toy, &result, LINES), 0);
    assert_true(result.sets.value == SETS);
    assert_true(result.size.value == LINES * LINE);
    assert_true(result.size.confidence > 0.9);
    assert_true(result.sets.confidence < 0.9 && result.ways.confidence < 0.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_that_are_filled_evenly_are_counted),
        cmocka_unit_test(lines_that_fit_farther_apart_are_no_fewer_in_all),
        cmocka_unit_test(sets_that_nothing_shows_are_not_certain_to_be_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
