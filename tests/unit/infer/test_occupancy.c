/*
 * Sets of a cache too large to fill, from a toy that answers the probe `residents`: hashed sets
 * under several policies, parts that keep copies of each other's lines, sets that are not equally
 * likely.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/fit/fit.h"
#include "infer/experiments.h"
#include "infer/level.h"
#include "infer/large/occupancy.h"
#include "support/toy_source.h"
#include "support/unchecked.h"
#include "trace/pool.h"
#include "util/error.h"
#include "util/rng.h"

enum { HIT = 280, FAR = 420, MISS = 560, THRESHOLD = 430, SMS = 4 };

enum policy { LRU, FIFO, DRAWN };

struct toy {
    uint32_t sets, ways, parts;
    enum policy policy;
    double noise; /* share of loads that take as long as misses */
    bool uneven;  /* a quarter of the sets take half of the lines */
    bool deaf;    /* all loads take the same */
    uint32_t *held, *used;
    uint32_t clock;
    struct rng rng;
    struct traceset *set;
};

UNCHECKED static uint64_t hash_of(uint32_t line, uint64_t salt)
{
    uint64_t z = (line + salt) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) >> 16;
}

UNCHECKED static bool read_set(struct toy *toy, uint32_t part, uint32_t line)
{
    uint64_t set = hash_of(line, 77) % toy->sets;
    if (toy->uneven && hash_of(line, 5) % 2) {
        set /= 4;
    }
    uint32_t *held = &toy->held[(part * toy->sets + set) * toy->ways];
    uint32_t *used = &toy->used[(part * toy->sets + set) * toy->ways], oldest = 0;
    toy->clock++;
    for (uint32_t i = 0; i < toy->ways; i++) {
        if (held[i] == line + 1) {
            used[i] = toy->policy == LRU ? toy->clock : used[i];
            return true;
        }
        oldest = held[i] == 0 && held[oldest] != 0                                 ? i
                 : (held[i] == 0) == (held[oldest] == 0) && used[i] < used[oldest] ? i
                                                                                   : oldest;
    }
    uint32_t way =
        toy->policy == DRAWN && held[oldest] ? (uint32_t)rng_below(&toy->rng, toy->ways) : oldest;
    held[way] = line + 1;
    used[way] = toy->clock;
    return false;
}

/* What a load of an SM takes: SMs by turns belong to the parts, lines by their hash. */
static uint32_t load(struct toy *toy, uint32_t sm, uint32_t line)
{
    uint32_t part = sm % toy->parts, home = (uint32_t)(hash_of(line, 9) % toy->parts);
    bool slow = (double)rng_below(&toy->rng, 10000) < 10000 * toy->noise;
    bool near = read_set(toy, part, line);
    bool far = !near && home != part && read_set(toy, home, line);
    return toy->deaf       ? HIT
           : near && !slow ? HIT + (uint32_t)(hash_of(line, 3) % 32)
           : far           ? FAR
                           : MISS;
}

static int answer(struct toy *toy, struct trace *trace)
{
    const struct trace_request *r = &trace->request;
    uint32_t pool = (uint32_t)toy_number(r, "pool", 0),
             before = (uint32_t)toy_number(r, "before", 0);
    uint32_t unit = (uint32_t)toy_number(r, "unit", 128),
             samples = (uint32_t)toy_number(r, "samples", 1);
    uint32_t units = (uint32_t)(toy_number(r, "span", 0) / unit) | 1,
             near = (uint32_t)toy_number(r, "near", 0);
    uint32_t helper = (uint32_t)toy_number(r, "helper", 0), sm = (uint32_t)toy_number(r, "sm", 0);
    uint32_t *lines = calloc(pool + before + 1, sizeof *lines), count = 0, latency[8192];
    assert_true(lines && samples <= 8192);
    for (uint32_t i = 0; i < pool + before; i++) { /* odd steps: none twice */
        lines[i] = (uint32_t)((toy_number(r, "seed", 0) * 7919 + i) * UINT64_C(2654435761) % units);
    }
    for (uint32_t i = pool; i < pool + before; i++) {
        load(toy, sm, lines[i]);
    }
    for (uint32_t i = 0; i < pool; i++) {
        if (helper) {
            load(toy, helper, lines[i]);
        }
        if (!helper || load(toy, sm, lines[i]) <= near) {
            lines[count++] = lines[i];
        }
    }
    for (uint64_t pass = 0; pass < toy_number(r, "passes", 1); pass++) {
        for (uint32_t i = 0; i < count; i++) {
            load(toy, sm, lines[i]);
        }
    }
    samples = samples < count ? samples : count;
    for (uint32_t k = 0; k < samples; k++) {
        latency[k] = load(toy, sm, lines[(uint64_t)(samples - 1 - k) * count / samples]);
    }
    free(lines);
    int rc = trace_add_column(trace, "latency", TRACE_U32, latency, samples);
    return rc ? rc : trace_add_column(trace, "lines", TRACE_U32, &count, 1);
}

static int get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct toy *toy = ctx;
    struct trace trace;
    assert_string_equal(request->probe, "residents");
    assert_int_equal(trace_init(&trace, request), 0);
    int rc = answer(toy, &trace);
    return rc ? rc : traceset_add(toy->set, &trace, out);
}

static int examine(struct attribute *sets, struct attribute *size, char why[160], struct toy toy)
{
    static const struct level_info info = {"l2", "gpu", "cg", "", "", 0, 6144, ""};
    struct dissection *d = calloc(1, sizeof *d);
    toy.held = calloc((size_t)toy.parts * toy.sets * toy.ways, sizeof *toy.held);
    toy.used = calloc((size_t)toy.parts * toy.sets * toy.ways, sizeof *toy.used);
    assert_true(d && toy.held && toy.used);
    assert_int_equal(traceset_create(&toy.set), 0);
    rng_seed(&toy.rng, 3);
    struct infer_options options = {.max_footprint_bytes = UINT64_C(1) << 30};
    struct trace_source source = {.get = get, .ctx = &toy};
    struct level_summary summary = {.info = &info, .known = true, .timing.threshold = THRESHOLD};
    struct lab lab = {
        .source = &source, .options = &options, .out = d, .levels = &summary, .level_count = 1};
    d->cache_count = 1;
    d->caches[0].present = true;
    attribute_set(&d->caches[0].ways, toy.ways, "1", 0.9, "x");
    attribute_set(&d->caches[0].line, 128, "B", 0.9, "x");
    attribute_set(&d->caches[0].count, toy.parts, "1", 0.9, "x");
    int rc = occupancy_dissect(&lab);
    *sets = d->caches[0].sets;
    *size = d->caches[0].size;
    memcpy(why, lab.why.reason, sizeof lab.why.reason);
    traceset_destroy(toy.set);
    free(toy.held);
    free(toy.used);
    free(d);
    return rc;
}

static void check(const struct toy *toy)
{
    struct attribute sets, size;
    char why[160];
    assert_int_equal(examine(&sets, &size, why, *toy), 0);
    assert_true(sets.status == ATTRIBUTE_MEASURED && sets.confidence >= 0.9);
    assert_true(sets.low <= toy->sets && toy->sets <= sets.high);
    assert_true(sets.high - sets.low < 0.06 * toy->sets);
    double bytes = 128.0 * toy->sets * toy->ways;
    assert_true(size.low <= bytes && bytes <= size.high);
}

static void sets_of_any_number_and_policy_lie_within_the_bounds(void **state)
{
    (void)state;
    static const struct toy toys[] = {
        {.sets = 2500, .ways = 16, .parts = 1},
        {.sets = 2048, .ways = 16, .parts = 1, .policy = FIFO},
        {.sets = 6145, .ways = 8, .parts = 1, .noise = 0.002},
        {.sets = 1536, .ways = 32, .parts = 1},
        {.sets = 20000, .ways = 2, .parts = 1},
    };
    for (size_t i = 0; i < sizeof toys / sizeof *toys; i++) {
        check(&toys[i]);
    }
}

/* Of a part's own lines alone: its copies of others would take places too. */
static void of_a_cache_of_two_parts_the_sets_of_one_are_told(void **state)
{
    (void)state;
    check(&(struct toy){.sets = 2500, .ways = 16, .parts = 2});
}

static void sets_that_are_not_equally_likely_are_not_told(void **state)
{
    (void)state;
    struct attribute sets, size;
    char why[160];
    struct toy toy = {.sets = 2500, .ways = 16, .parts = 1, .uneven = true};
    assert_int_equal(examine(&sets, &size, why, toy), INFER_UNDECIDED);
    assert_non_null(strstr(why, "equally likely"));
    assert_true(sets.status == ATTRIBUTE_NOT_MEASURED);
}

static void where_all_loads_take_the_same_nothing_is_told(void **state)
{
    (void)state;
    struct attribute sets, size;
    char why[160];
    struct toy toy = {.sets = 2500, .ways = 16, .parts = 1, .deaf = true};
    assert_int_equal(examine(&sets, &size, why, toy), INFER_UNDECIDED);
    assert_true(sets.status == ATTRIBUTE_NOT_MEASURED);
    toy = (struct toy){.sets = 2500, .ways = 16, .parts = 2, .deaf = true};
    assert_int_equal(examine(&sets, &size, why, toy), INFER_UNDECIDED);
    assert_non_null(strstr(why, "parts"));
}

/* Of one set with as many lines as ways all are held; of so many as twice that, half. */
static void the_expected_share_has_the_ends_that_it_must_have(void **state)
{
    (void)state;
    assert_true(fabs(occupancy_share(1, 1000, 4) - 1) < 1e-9);
    assert_true(fabs(occupancy_share(1e5, 100, 4) - 4e-3) < 1e-9);
    /* One way: 1 - exp(-m) of m lines. */
    assert_true(fabs(occupancy_share(500, 1000, 1) - (1 - exp(-0.5)) / 0.5) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_of_any_number_and_policy_lie_within_the_bounds),
        cmocka_unit_test(of_a_cache_of_two_parts_the_sets_of_one_are_told),
        cmocka_unit_test(sets_that_are_not_equally_likely_are_not_told),
        cmocka_unit_test(where_all_loads_take_the_same_nothing_is_told),
        cmocka_unit_test(the_expected_share_has_the_ends_that_it_must_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
