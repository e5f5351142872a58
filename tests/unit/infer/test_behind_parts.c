/*
 * The lines of a set of a cache behind another, from what makes room for one element more: a toy of
 * two caches. The one in front keeps what was read last, and one pair of elements for good.
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
#include "infer/fit/groups.h"
#include "infer/level.h"
#include "support/toy_lab.h"
#include "util/error.h"

enum {
    NEAR = 40,
    HIT = 100,
    MISS = 300,
    ELEMENT = 32, /* bytes */
    LINE = 128,
    FRONT_LINE = 64,
    REACH = 65536,
    WINDOW = 6144,
    MOST_WAYS = 64,
    MOST_SETS = 16
};

/* The line used last comes first. */
struct set {
    uint32_t line[MOST_WAYS];
    uint32_t ways;
};

struct toy {
    uint32_t sets, kept; /* bytes from which on the cache in front keeps two elements; 0: none */
    struct set front, behind[MOST_SETS];
    bool resists;    /* a line that comes in goes first */
    uint32_t narrow; /* all sets but this one have a way more; 0: none */
    uint32_t front_ways;
    bool front_is_told; /* then a set is walked by itself */
    uint64_t loads;
    enum fit_verdict full; /* of the set that is asked at last, with as many lines as it holds */
};

static bool read_line(struct set *set, uint32_t line, bool resists)
{
    uint32_t at = 0;
    while (at < set->ways && set->line[at] != line + 1) {
        at++;
    }
    bool hit = at < set->ways;
    at = hit ? at : set->ways - 1;
    if (!hit && resists && set->line[at]) {
        set->line[at] = line + 1;
        return false;
    }
    memmove(set->line + 1, set->line, at * sizeof *set->line);
    set->line[0] = line + 1;
    return hit;
}

/* Of a line that is new to the cache in front each element is asked for behind. */
static uint32_t load(struct toy *toy, uint32_t offset)
{
    bool kept = toy->kept && offset >= toy->kept && offset < toy->kept + FRONT_LINE;
    if (kept || read_line(&toy->front, offset / ELEMENT, false)) {
        return NEAR;
    }
    uint32_t line = offset / LINE;
    return read_line(&toy->behind[line % toy->sets], line, toy->resists) ? HIT : MISS;
}

static uint32_t offset_of(const struct trace_request *r, uint64_t stride, uint64_t at)
{
    return r->ring ? r->ring[at] : (uint32_t)(at * stride);
}

static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    const struct trace_request *r = &trace->request;
    uint64_t window = 0, windows = 0, warm = 0, bytes = 0, stride = 1, persist = 0;
    trace_request_u64(r, "window", &window);
    trace_request_u64(r, "windows", &windows);
    trace_request_u64(r, "warm", &warm);
    trace_request_u64(r, "bytes", &bytes);
    trace_request_u64(r, "stride", &stride);
    trace_request_u64(r, "persist", &persist);
    uint64_t count = r->ring ? r->ring_count : bytes / stride;
    struct toy_walk walk = toy_walk_begin(window, windows);
    for (uint64_t w = 0; w < windows; w++) {
        uint64_t from = w * window % count, before = w && persist ? 0 : warm;
        for (uint64_t i = 0; i < before; i++) {
            load(toy, offset_of(r, stride, (from + count - before % count + i) % count));
        }
        toy->loads += before + window;
        walk.start[w] = offset_of(r, stride, from);
        for (uint64_t i = 0; i < window; i++) {
            walk.latency[w * window + i] = load(toy, offset_of(r, stride, (from + i) % count));
            walk.next[w * window + i] = offset_of(r, stride, (from + i + 1) % count);
        }
    }
    return toy_walk_end(&walk, trace);
}

/* Where `fits` elements fit, one after the other. */
static int examine(struct toy *toy, struct cache_result *result, uint32_t ways, size_t fits)
{
    static const struct level_info info = {"constant_l15", "sm", "const", "constant_l1",
                                           "cg",           0,    WINDOW,  ""};
    struct toy_lab bench;
    toy_lab_open(&bench, answer, toy, REACH);
    struct level_summary front = {.timing.threshold = 0.5 * (NEAR + HIT)};
    toy->front.ways = toy->front_ways ? toy->front_ways : 8;
    if (toy->front_is_told) {
        front.line.bytes = front.fit.stride = front.timing.fetch_bytes = ELEMENT;
        front.fit.count = front.ways = toy->front.ways;
        front.map = (struct set_map){.sets = 1, .period = 1, .ways = {(uint16_t)front.ways}};
        snprintf(front.policy, sizeof front.policy, "lru");
    }
    struct level level = {.lab = &bench.lab,
                          .info = &info,
                          .result = &bench.out->caches[0],
                          .front = &front,
                          .max_window = WINDOW,
                          .fit = {.stride = ELEMENT, .count = fits, .certain = true}};
    level.timing.threshold = 0.5 * (HIT + MISS);
    level.timing.ceiling = 2 * MISS;
    level.timing.fetch_bytes = ELEMENT;
    level.timing.hit_records = 1000;
    toy->loads = 0;
    for (uint32_t i = 0; i < toy->sets; i++) {
        toy->behind[i].ways = ways + (toy->narrow && i != toy->narrow);
    }
    int rc = behind_ways(&level);
    rc = rc || !toy->front_is_told ? rc : level_index(&level);
    rc = rc || !toy->front_is_told ? rc : level_sets(&level);
    rc = rc || !toy->front_is_told ? rc : level_latency(&level);
    if (rc == 0 && toy->front_is_told) {
        rc = groups_verdict(&level, &toy->full, level.conflict.offsets + 1,
                            level.conflict.count - 1);
    }
    *result = *level.result;
    level_free(&level);
    toy_lab_close(&bench);
    return rc;
}

static void assert_told(const struct cache_result *result, uint32_t sets, uint32_t ways)
{
    assert_true(result->ways.value == ways);
    assert_true(result->line.value == LINE);
    assert_true(result->sets.value == sets);
    assert_true(result->size.value == sets * ways * LINE);
}

static void lines_of_a_set_are_told(void **state)
{
    (void)state;
    struct toy toy = {.sets = 16};
    struct cache_result result;
    assert_int_equal(examine(&toy, &result, 4, 256), 0);
    assert_told(&result, 16, 4);
}

/* Two elements more than fit seem to, since the cache in front has them. */
static void a_last_line_may_begin_with_what_the_cache_in_front_keeps(void **state)
{
    (void)state;
    struct toy toy = {.sets = 16, .kept = 16 * 4 * LINE};
    struct cache_result result;
    assert_int_equal(examine(&toy, &result, 4, 258), 0);
    assert_told(&result, 16, 4);
}

/* Of so many lines most are told by the distance of the first two. */
static void lines_at_equal_distances_take_few_loads(void **state)
{
    (void)state;
    struct toy toy = {.sets = 4, .resists = true};
    struct cache_result result;
    assert_int_equal(examine(&toy, &result, 40, 640), 0);
    assert_told(&result, 4, 40);
    assert_in_range(toy.loads, 1, 2000000);
}

/* The fifth line of set 5 is one too many. Before it 69 lines fit, no multiple of its four ways. */
static void a_set_that_fills_before_others_is_one_all_the_same(void **state)
{
    (void)state;
    struct toy toy = {.sets = 16, .narrow = 5, .front_is_told = true};
    struct cache_result result;
    assert_int_equal(examine(&toy, &result, 4, 69 * (LINE / ELEMENT)), 0);
    assert_true(result.line.value == LINE);
    assert_true(result.sets.value == 16);
    assert_true(result.size.value == (16 * 5 - 1) * LINE);
    assert_int_not_equal(result.ways.status, ATTRIBUTE_MEASURED);
    /* From here on a set of five is asked, which no filler accesses disturb. */
    assert_int_equal(toy.full, FIT_YES);
}

/* The two sets together leave no line for filler accesses, and the cache in front keeps most of
 * their lines: each is asked alone, and hits show where all units of fetching are read. */
static void of_two_sets_that_the_one_in_front_keeps_each_is_filled_alone(void **state)
{
    (void)state;
    struct toy toy = {.sets = 2, .narrow = 1, .front_is_told = true, .front_ways = 24};
    struct cache_result result;
    assert_int_equal(examine(&toy, &result, 9, 19 * (LINE / ELEMENT)), 0);
    assert_true(result.sets.value == 2);
    assert_true(result.size.value == 19 * LINE);
    assert_int_equal(result.ways_per_set_count, 2);
    assert_true(result.hit_latency.value == HIT);
}

/* It is not told where it could not be walked by itself: then it may be anything. */
static void what_was_not_walked_by_itself_must_divide_what_fits(void **state)
{
    (void)state;
    struct toy toy = {.sets = 16, .narrow = 5};
    struct cache_result result;
    assert_int_equal(examine(&toy, &result, 4, 69 * (LINE / ELEMENT)), INFER_UNDECIDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_a_set_are_told),
        cmocka_unit_test(a_last_line_may_begin_with_what_the_cache_in_front_keeps),
        cmocka_unit_test(lines_at_equal_distances_take_few_loads),
        cmocka_unit_test(a_set_that_fills_before_others_is_one_all_the_same),
        cmocka_unit_test(of_two_sets_that_the_one_in_front_keeps_each_is_filled_alone),
        cmocka_unit_test(what_was_not_walked_by_itself_must_divide_what_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
