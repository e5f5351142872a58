/*
 * What a miss takes: from a toy whose outermost cache has two parts, of which the other one answers
 * some of what the own one misses.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "infer/experiments.h"
#include "infer/level.h"
#include "support/toy_lab.h"

enum {
    HIT = 300,
    FAR = 360,
    MEMORY = 710,
    THRESHOLD = 330,
    CEILING = 540,
    HOME = 500, /* memory of the own part, where that of the other one takes MEMORY */
    NEARER = 660,
    HIGH = 1200,
    LINE = 128
};

struct toy {
    unsigned far;    /* of ten loads that miss, so many are answered by the other part */
    unsigned home;   /* and so many by the memory of the own part */
    uint32_t beside; /* what loads of lines side by side take, where it is something else */
};

static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    const struct trace_request *r = &trace->request;
    uint64_t stride = 0, bytes = 0;
    assert_true(trace_request_u64(r, "stride", &stride));
    assert_true(trace_request_u64(r, "bytes", &bytes));
    uint64_t count = bytes / stride;
    struct toy_walk walk = toy_walk_of(r);
    uint64_t window = walk.window, windows = walk.windows;
    for (uint64_t w = 0; w < windows; w++) {
        uint64_t first = w * count / windows;
        walk.start[w] = (uint32_t)(first * stride);
        for (uint64_t i = 0; i < window; i++) {
            walk.latency[w * window + i] = toy->beside && stride == LINE   ? toy->beside
                                           : i % 10 < toy->far             ? FAR
                                           : i % 10 < toy->far + toy->home ? HOME
                                                                           : MEMORY;
            walk.next[w * window + i] = (uint32_t)((first + i + 1) % count * stride);
        }
    }
    return toy_walk_end(&walk, trace);
}

static struct attribute memory_of(struct toy *toy)
{
    static const struct level_info info = {"l2", "gpu", "cg", "", "", 0, 0, ""};
    struct toy_lab bench;
    toy_lab_open(&bench, answer, toy, 1 << 20);
    struct level level = {.lab = &bench.lab,
                          .info = &info,
                          .result = &bench.out->caches[0],
                          .max_window = 256,
                          .outermost = true};
    level.timing.threshold = THRESHOLD;
    level.timing.ceiling = toy->home ? HIGH : CEILING;
    level.timing.hit_cycles = HIT;
    level.timing.miss_cycles = toy->home ? MEMORY : FAR;
    level.timing.miss_between = toy->home ? (HOME + MEMORY) / 2.0 : FAR;
    level.fit.stride = 128;
    level.fit.count = 512;
    assert_int_equal(level_penalty(&level), 0);
    struct attribute miss = bench.out->memory_latency;
    level_free(&level);
    toy_lab_close(&bench);
    return miss;
}

static void most_loads_beyond_the_ceiling_are_those_of_memory(void **state)
{
    (void)state;
    struct toy toy = {.far = 3};
    struct attribute memory = memory_of(&toy);
    assert_true(memory.value == MEMORY);
    assert_true(memory.confidence < 0.9); /* the reference walk has seen others */
}

static void few_loads_beyond_the_ceiling_are_no_class(void **state)
{
    (void)state;
    struct toy toy = {.far = 9};
    struct attribute memory = memory_of(&toy);
    assert_true(memory.value == FAR);
    assert_true(memory.confidence > 0.9);
}

/* Of the few lines that miss most may be of one part: memory is as far as both are in the middle.
 */
static void memory_of_two_parts_is_between_them(void **state)
{
    (void)state;
    struct toy toy = {.home = 3};
    struct attribute memory = memory_of(&toy);
    assert_true(memory.value == (HOME + MEMORY) / 2.0);
    assert_true(memory.low == HOME && memory.high == MEMORY);
    assert_true(memory.confidence < 0.9);
}

/* What misses of a first level take whose reference walk missed in `reference` cycles, and past
 * which loads take as long as a hit of L2. All others take MEMORY. */
static struct attribute penalty_of(const struct level_info *info, double reference, bool noise)
{
    struct toy toy = {.far = 0};
    struct toy_lab bench;
    toy_lab_open(&bench, answer, &toy, 1 << 20);
    struct level level = {
        .lab = &bench.lab, .info = info, .result = &bench.out->caches[0], .max_window = 256};
    level.timing.threshold = THRESHOLD;
    level.timing.ceiling = HIGH;
    level.timing.beneath_cycles = HIT;
    level.timing.false_slow = noise;
    level.timing.miss_cycles = level.timing.miss_between = reference;
    level.fit.stride = 128;
    level.fit.count = 64;
    assert_int_equal(level_penalty(&level), 0);
    struct attribute penalty = level.result->miss_penalty;
    level_free(&level);
    toy_lab_close(&bench);
    return penalty;
}

static void misses_are_as_near_as_those_of_the_reference(void **state)
{
    (void)state;
    static const struct level_info info = {"texture_l1", "sm", "tex", "", "cg", 0, 0, ""};
    struct attribute penalty = penalty_of(&info, NEARER, true);
    assert_true(penalty.value == NEARER);
    assert_true(penalty.confidence < 0.9);
    assert_true(penalty_of(&info, NEARER, false).value == MEMORY);
}

static void a_longer_path_is_not_held_against_plain_loads(void **state)
{
    (void)state;
    static const struct level_info info = {"texture_l1", "sm", "tex", "", "cg", 0, 0, ""},
                                   plain = {"l1_data", "sm", "ca", "", "cg", 0, 0, ""};
    assert_true(penalty_of(&info, MEMORY, false).value == MEMORY);
    assert_true(penalty_of(&plain, MEMORY, false).value == HIT);
}

/* ---- a cache that answers later than what lies behind it ---- */

enum { LATER = 158, SOONER = 152, FRONT = 50, BUSY = 6, MEMBERS = 8 };

/* A second cache of constants is LATER, and what few lines of one set miss there SOONER. */
static int answer_constants(void *ctx, struct trace *trace)
{
    const struct trace_request *r = &trace->request;
    bool *busy = ctx;
    bool other_work = *busy && !toy_number(r, "run", 0); /* the first walk alone */
    uint64_t stride = toy_number(r, "stride", 1);
    uint64_t count = r->ring_count ? r->ring_count : toy_number(r, "bytes", stride) / stride;
    struct toy_walk walk = toy_walk_of(r);
    uint64_t window = walk.window;
    for (uint64_t w = 0; w < walk.windows; w++) {
        for (uint64_t i = 0; i < window; i++) {
            uint64_t next = (i + 1) % count;
            walk.latency[w * window + i] = (r->ring_count ? SOONER : LATER) +
                                           (other_work && i % 2 ? 2 * BUSY : 0) +
                                           (other_work ? BUSY : 0);
            walk.next[w * window + i] = r->ring_count ? r->ring[next] : (uint32_t)(next * stride);
        }
        walk.start[w] = r->ring_count ? r->ring[0] : 0;
    }
    return toy_walk_end(&walk, trace);
}

/* Lines beside each other are in the second cache; those of a conflicting set may not be. */
static void a_miss_of_constants_is_that_of_lines_beside_each_other(void **state)
{
    (void)state;
    static const struct level_info info = {"constant_l1", "sm", "const", "", "cg", 0, 0, ""};
    bool busy = false;
    struct toy_lab bench;
    toy_lab_open(&bench, answer_constants, &busy, 65536);
    struct level level = {
        .lab = &bench.lab, .info = &info, .result = &bench.out->caches[0], .max_window = 256};
    level.conflict.offsets = calloc(MEMBERS, sizeof *level.conflict.offsets);
    assert_non_null(level.conflict.offsets);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        level.conflict.offsets[i] = 4096 * i;
    }
    level.conflict.count = MEMBERS;
    level.timing.threshold = 0.5 * (FRONT + SOONER);
    level.timing.ceiling = HIGH;
    level.timing.hit_cycles = FRONT;
    level.timing.miss_cycles = level.timing.miss_between = LATER;
    level.timing.beneath_cycles = INFINITY;
    level.fit.stride = level.line.bytes = 32;
    level.fit.count = 64;
    assert_int_equal(level_penalty(&level), 0);
    assert_true(level.result->miss_penalty.value == LATER - FRONT);
    assert_true(level.result->miss_penalty.confidence < 0.9);
    level_free(&level);
    toy_lab_close(&bench);
}

/* Other work makes hits later, which in the mirror are the sooner ones. */
static void hits_in_the_mirror_are_those_that_no_other_work_slowed(void **state)
{
    (void)state;
    static const struct level_info info = {"texture_l1", "sm", "tex", "", "cg", 0, 0, ""};
    bool busy = true;
    struct toy_lab bench;
    toy_lab_open(&bench, answer_constants, &busy, 65536);
    struct level level = {
        .lab = &bench.lab, .info = &info, .result = &bench.out->caches[0], .max_window = 256};
    level.timing.mirror = (struct walk_mirror){.upto = LATER + 40, .sum = LATER + SOONER};
    level.timing.threshold = 0.5 * (LATER + SOONER);
    level.fit.stride = 32;
    level.fit.count = 64;
    assert_int_equal(level_latency(&level), 0);
    assert_true(level.result->hit_latency.value == LATER);
    level_free(&level);
    toy_lab_close(&bench);
}

/* What a miss of a first level takes that lines far apart tell as MEMORY, and many side by side as
 * `beside`; past: of loads past it. */
static double penalty_beside(uint32_t beside, bool uneven, double past)
{
    static const struct level_info info = {"l1_data", "sm", "ca", "", "cg", 0, 0, ""};
    struct toy toy = {.beside = beside};
    struct toy_lab bench;
    toy_lab_open(&bench, answer, &toy, 1 << 20);
    struct level level = {
        .lab = &bench.lab, .info = &info, .result = &bench.out->caches[0], .max_window = 256};
    level.timing.threshold = THRESHOLD;
    level.timing.ceiling = 2 * HIGH;
    level.timing.miss_cycles = level.timing.miss_between = MEMORY;
    level.uneven = uneven;
    level.timing.beneath_cycles = past;
    level.line.bytes = LINE;
    level.fit.stride = 8ULL * LINE;
    level.fit.count = 16;
    assert_int_equal(level_penalty(&level), 0);
    double penalty = level.result->miss_penalty.value;
    level_free(&level);
    toy_lab_close(&bench);
    return penalty;
}

/* The few lines of a set may all be in one slice of L2, near or far. */
static void many_lines_say_how_far_l2_is(void **state)
{
    (void)state;
    assert_true(penalty_beside(MEMORY + 40, false, MEMORY) == MEMORY + 40);
    assert_true(penalty_beside(MEMORY - 40, false, MEMORY) == MEMORY - 40);
    assert_true(penalty_beside(MEMORY + 40, true, MEMORY) == MEMORY); /* noise slows some */
    assert_true(penalty_beside(2 * MEMORY, false, MEMORY) ==
                MEMORY); /* those have missed L2, too */
    assert_true(penalty_beside(2 * MEMORY, false, 1.9 * MEMORY) ==
                2 * MEMORY); /* the few are near */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_loads_beyond_the_ceiling_are_those_of_memory),
        cmocka_unit_test(few_loads_beyond_the_ceiling_are_no_class),
        cmocka_unit_test(memory_of_two_parts_is_between_them),
        cmocka_unit_test(misses_are_as_near_as_those_of_the_reference),
        cmocka_unit_test(a_longer_path_is_not_held_against_plain_loads),
        cmocka_unit_test(a_miss_of_constants_is_that_of_lines_beside_each_other),
        cmocka_unit_test(hits_in_the_mirror_are_those_that_no_other_work_slowed),
        cmocka_unit_test(many_lines_say_how_far_l2_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
