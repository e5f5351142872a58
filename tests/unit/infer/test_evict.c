/*
 * The ways and the line of a large cache, from a toy that answers the probe `evict` with a cache of
 * hashed sets, under LRU or with victims drawn at random.
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
#include "support/toy_lab.h"
#include "support/unchecked.h"
#include "trace/pool.h"
#include "util/error.h"
#include "util/rng.h"

enum { HIT = 280, MISS = 560, THRESHOLD = 400, MOST = 32 };

struct toy {
    uint32_t sets, ways, line;
    bool random;  /* victims, else the one used longest ago */
    double noise; /* share of hits that take as long as misses */
    uint32_t *held, *used;
    uint32_t clock;
    struct rng rng;
};

UNCHECKED static bool read_line(struct toy *toy, uint32_t offset)
{
    uint32_t line = offset / toy->line, oldest = 0;
    uint64_t hash = (line + 1) * UINT64_C(0xd1342543de82ef95);
    size_t first = (size_t)((hash >> 33) % toy->sets) * toy->ways;
    toy->clock++;
    for (uint32_t i = 0; i < toy->ways; i++) {
        if (toy->held[first + i] == line + 1) {
            toy->used[first + i] = toy->clock;
            return true;
        }
        oldest = toy->used[first + i] < toy->used[first + oldest] ? i : oldest;
    }
    uint32_t way = toy->random ? (uint32_t)rng_below(&toy->rng, toy->ways) : oldest;
    toy->held[first + way] = line + 1;
    toy->used[first + way] = toy->clock;
    return false;
}

static uint32_t number(const struct trace_request *request, const char *name)
{
    uint64_t value = 0;
    assert_true(trace_request_u64(request, name, &value));
    return (uint32_t)value;
}

static void answer(struct toy *toy, struct trace *trace)
{
    const struct trace_request *r = &trace->request;
    uint32_t target = number(r, "target"), pool = number(r, "pool"), unit = number(r, "unit");
    uint32_t units = number(r, "span") / unit, repeats = number(r, "repeats"), latency[64];
    uint32_t passes = number(r, "passes"), seed = number(r, "seed");
    read_line(toy, target);
    for (uint32_t turn = 0; turn < repeats; turn++) {
        for (uint32_t pass = 0; pass < passes; pass++) {
            for (size_t i = 0; i < r->ring_count; i++) {
                read_line(toy, r->ring[i]);
            }
            for (uint32_t i = 0; i < pool; i++) {
                read_line(toy, pool_unit(seed, i, units) * unit);
            }
        }
        bool slow = (double)rng_below(&toy->rng, 10000) < 10000 * toy->noise;
        latency[turn] = read_line(toy, target) && !slow ? HIT : MISS;
    }
    assert_int_equal(trace_add_column(trace, "latency", TRACE_U32, latency, repeats), 0);
}

/* Ordered walks over a ring. */
static void answer_chase(struct toy *toy, struct trace *trace)
{
    const struct trace_request *r = &trace->request;
    uint64_t window = toy_number(r, "window", 1), windows = toy_number(r, "windows", 1);
    uint64_t warm = toy_number(r, "warm", 0), count = r->ring_count ? r->ring_count : 1;
    struct toy_walk walk = toy_walk_begin(window, windows);
    assert_true(r->ring_count > 0);
    for (uint64_t w = 0; w < windows; w++) {
        uint64_t first = w * window % count;
        walk.start[w] = r->ring[first];
        for (uint64_t i = 0; i < warm + window; i++) {
            uint64_t at = (first + count - warm % count + i) % count;
            uint32_t cycles = read_line(toy, r->ring[at]) ? HIT : MISS;
            if (i >= warm) {
                walk.latency[w * window + i - warm] = cycles;
                walk.next[w * window + i - warm] = r->ring[(at + 1) % count];
            }
        }
    }
    assert_int_equal(toy_walk_end(&walk, trace), 0);
}

static int answer_either(void *toy, struct trace *trace)
{
    if (strcmp(trace->request.probe, "evict") == 0) {
        answer(toy, trace);
    } else { /* the walks of policy.c */
        assert_string_equal(trace->request.probe, "chase");
        answer_chase(toy, trace);
    }
    return 0;
}

/* The lines that a set holds and their length, or 0 and 0. */
static void examine(struct toy toy, uint64_t bytes, double *ways, double *line, char why[160])
{
    static const struct level_info info = {"l2", "gpu", "cg", "", "", 0, 6144, ""};
    toy.held = calloc((size_t)toy.sets * toy.ways, sizeof *toy.held);
    toy.used = calloc((size_t)toy.sets * toy.ways, sizeof *toy.used);
    assert_true(toy.held && toy.used);
    rng_seed(&toy.rng, 3);
    struct toy_lab bench;
    toy_lab_open(&bench, answer_either, &toy, bytes);
    struct level level = {.lab = &bench.lab,
                          .info = &info,
                          .result = &bench.out->caches[0],
                          .outermost = true,
                          .large = true,
                          .max_window = 1024,
                          .timing.fetch_bytes = 32,
                          .timing.ceiling = 10 * MISS,
                          .timing.threshold = THRESHOLD};
    int rc = level_evict(&level);
    assert_true(rc == 0 || rc == INFER_UNDECIDED);
    *ways = rc ? 0 : bench.out->caches[0].ways.value;
    *line = rc ? 0 : bench.out->caches[0].line.value;
    memcpy(why, bench.lab.why.reason, sizeof bench.lab.why.reason);
    if (rc == 0) {
        const struct policy_result *policy = &bench.out->caches[0].policy;
        assert_string_equal(policy->name, toy.ways == 1 ? "none" : "lru");
        assert_int_equal(policy->equivalent_count, 0);
    }
    free(toy.held);
    free(toy.used);
    toy_lab_close(&bench);
}

#define MEMORY (UINT64_C(256) << 20)

static void ways_and_line_of_hashed_sets_are_found(void **state)
{
    (void)state;
    static const struct toy toys[] = {{.sets = 700, .ways = 16, .line = 128},
                                      {.sets = 1024, .ways = 1, .line = 32},
                                      {.sets = 96, .ways = 24, .line = 64},
                                      {.sets = 300, .ways = 10, .line = 256}};
    for (size_t i = 0; i < sizeof toys / sizeof *toys; i++) {
        double ways, line;
        char why[160];
        examine(toys[i], MEMORY, &ways, &line, why);
        assert_int_equal((int)ways, toys[i].ways);
        assert_int_equal((int)line, toys[i].line);
    }
}

static void a_few_stray_latencies_do_no_harm(void **state)
{
    (void)state;
    struct toy toy = {.sets = 500, .ways = 16, .line = 128, .noise = 0.01};
    double ways, line;
    char why[160];
    examine(toy, MEMORY, &ways, &line, why);
    assert_int_equal((int)ways, 16);
    assert_int_equal((int)line, 128);
}

static void victims_drawn_at_random_are_no_set(void **state)
{
    (void)state;
    struct toy toy = {.sets = 200, .ways = 8, .line = 128, .random = true};
    double ways, line;
    char why[160];
    examine(toy, MEMORY, &ways, &line, why);
    assert_true(ways == 0);
    assert_true(why[0]);
}

static void what_is_too_large_or_too_small_is_said(void **state)
{
    (void)state;
    struct toy toy = {.sets = 1 << 17, .ways = 32, .line = 128}; /* 512 MiB */
    double ways, line;
    char why[160];
    examine(toy, MEMORY, &ways, &line, why);
    assert_true(ways == 0);
    assert_non_null(strstr(why, "do not drive one out"));
    toy.sets = 100;
    examine(toy, 1 << 20, &ways, &line, why);
    assert_string_equal(why, "too little memory to draw lines from");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_and_line_of_hashed_sets_are_found),
        cmocka_unit_test(a_few_stray_latencies_do_no_harm),
        cmocka_unit_test(victims_drawn_at_random_are_no_set),
        cmocka_unit_test(what_is_too_large_or_too_small_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
