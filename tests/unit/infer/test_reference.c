/*
 * What tells hits from misses: from a toy behind whose first level some slices are nearer than its
 * own hits, and from one where none is; and from a path of its own whose cache answers later than
 * what lies behind it, or is not there.
 */
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
#include "infer/presence/presence.h"
#include "support/toy_lab.h"
#include "util/rng.h"

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
    uint64_t bytes = 0, stride = 0;
    const char *op = trace_request_text(r, "op");
    assert_true(trace_request_u64(r, "bytes", &bytes));
    assert_true(trace_request_u64(r, "stride", &stride));
    toy->longest = bytes > toy->longest ? bytes : toy->longest;
    struct toy_walk walk = toy_walk_of(r);
    uint64_t window = walk.window, windows = walk.windows;
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

/* ---- a path of its own ---- */

enum { TEX_HIT = 190, TEX_BEHIND = 150, PLAIN = 90, LINES = 64 };

/* A cache of textures; each launch finds it empty. */
struct tex {
    bool there, plain;
    uint32_t hit;         /* cycles */
    uint64_t line[LINES]; /* by sets of one way: the line, and one */
};

static uint32_t load_texture(void *ctx, uint32_t offset)
{
    struct tex *tex = ctx;
    uint64_t line = offset / LINE, *at = &tex->line[line % LINES];
    bool hits = tex->there && *at == line + 1;
    *at = line + 1;
    return tex->plain ? PLAIN : hits ? tex->hit : TEX_BEHIND;
}

/* A window, behind so many loads of the same ring. */
static void walk_window(struct tex *tex, struct toy_walk *walk, size_t w,
                        const struct trace_request *r)
{
    uint64_t stride = toy_number(r, "stride", 1), warm = toy_number(r, "warm", 0);
    uint64_t count = r->ring_count ? r->ring_count : toy_number(r, "bytes", stride) / stride;
    memset(tex->line, 0, sizeof tex->line);
    for (uint64_t i = 0, at = (count - warm % count) % count; i < warm + walk->window; i++) {
        uint64_t next = (at + 1) % count, record = w * walk->window + i - warm;
        uint32_t offset = r->ring_count ? r->ring[at] : (uint32_t)(at * stride);
        uint32_t cycles = load_texture(tex, offset);
        if (i >= warm) {
            walk->start[w] = i == warm ? offset : walk->start[w];
            walk->latency[record] = cycles;
            walk->next[record] = r->ring_count ? r->ring[next] : (uint32_t)(next * stride);
        }
        at = next;
    }
}

static int answer_texture(void *ctx, struct trace *trace)
{
    struct tex *tex = ctx;
    tex->plain = strcmp(trace_request_text(&trace->request, "op"), "tex") != 0;
    struct toy_walk walk = toy_walk_of(&trace->request);
    for (size_t w = 0; w < walk.windows; w++) {
        walk_window(tex, &walk, w, &trace->request);
    }
    return toy_walk_end(&walk, trace);
}

static int refer_texture(struct tex *tex, struct level_timing *timing, bool *present)
{
    static const struct level_info info = {"texture_l1", "sm", "tex", "", "cg", 0, 0, ""};
    struct toy_lab bench;
    toy_lab_open(&bench, answer_texture, tex, FOOTPRINT);
    struct level level = {
        .lab = &bench.lab, .info = &info, .result = &bench.out->caches[0], .max_window = 512};
    int rc = reference_by_words(&level);
    *timing = level.timing;
    *present = level.result->present;
    level_free(&level);
    toy_lab_close(&bench);
    return rc;
}

/* Also where that is hardly sooner, and all hits take the same. */
static void a_cache_that_answers_later_than_what_lies_behind_it_is_seen_in_the_mirror(void **state)
{
    (void)state;
    for (unsigned more = 3; more <= TEX_HIT - TEX_BEHIND; more += 37) {
        struct tex tex = {.there = true, .hit = TEX_BEHIND + more};
        struct level_timing timing;
        bool present;
        assert_int_equal(refer_texture(&tex, &timing, &present), 0);
        assert_true(present);
        assert_int_equal(timing.mirror.sum, 2 * TEX_BEHIND + more);
        assert_true(timing.threshold > TEX_BEHIND && timing.threshold < TEX_BEHIND + more);
        assert_true(timing.fetch_bytes == LINE);
    }
}

static void a_path_without_a_cache_has_no_mirror(void **state)
{
    (void)state;
    struct tex tex = {.there = false};
    struct level_timing timing;
    bool present = true;
    assert_int_equal(refer_texture(&tex, &timing, &present), INFER_UNDECIDED);
    assert_false(present);
    assert_int_equal(timing.mirror.sum, 0);
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

/* ---- noise ---- */

enum { HUMP = 40 };

/* One load in eight takes as much longer as a miss does, at other places each time; others some
 * cycles more, two in three. */
struct noisy {
    struct toy toy;
    uint32_t mostly;
    struct rng rng;
};

static int answer_noisily(void *ctx, struct trace *trace)
{
    struct noisy *noisy = ctx;
    size_t count = 0;
    int rc = answer(&noisy->toy, trace);
    uint32_t *latency = (uint32_t *)(uintptr_t)trace_u32(trace, "latency", &count);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        latency[i] += rng_below(&noisy->rng, 3) ? noisy->mostly : 0;
        latency[i] += rng_below(&noisy->rng, 8) == 0 ? HUMP : 0;
    }
    return rc;
}

static int begin_noisily(struct noisy *noisy, const struct level_info *info, bool outermost,
                         struct level *level)
{
    struct toy_lab bench;
    toy_lab_open(&bench, answer_noisily, noisy, FOOTPRINT);
    *level = (struct level){.lab = &bench.lab,
                            .info = info,
                            .result = &bench.out->caches[0],
                            .outermost = outermost,
                            .max_window = 512};
    int rc = level_begin(level);
    level->lab = NULL;
    level->result = NULL;
    level_free(level);
    toy_lab_close(&bench);
    return rc;
}

/* Of a few walks alike the least has little noise: of a first level, whose walks are short. */
static void noise_as_large_as_a_miss_is_repeated_away_in_first_levels(void **state)
{
    (void)state;
    static const struct level_info first = {"l1_data", "sm", "ca", "", "cg", 0, 0, ""};
    struct noisy noisy = {.toy = {.nearest = 110}};
    struct level level;
    rng_seed(&noisy.rng, 3);
    assert_int_equal(begin_noisily(&noisy, &first, false, &level), 0);
    assert_true(level.repeats > 1);
    assert_true(level.timing.threshold > HIT && level.timing.threshold < 110);
    assert_true(level.timing.fetch_bytes == LINE);
    assert_int_equal(begin_noisily(&noisy, &first, true, &level), INFER_UNDECIDED);
    assert_int_equal(level.repeats, 0);
}

/* The least of a few is no load's latency; what one takes is told. */
static void hits_are_told_of_single_walks(void **state)
{
    (void)state;
    static const struct level_info first = {"l1_data", "sm", "ca", "", "cg", 0, 0, ""};
    struct noisy noisy = {.toy = {.nearest = 110}, .mostly = 3};
    struct toy_lab bench;
    toy_lab_open(&bench, answer_noisily, &noisy, FOOTPRINT);
    rng_seed(&noisy.rng, 3);
    struct level level = {.lab = &bench.lab,
                          .info = &first,
                          .result = &bench.out->caches[0],
                          .max_window = 512,
                          .repeats = 5,
                          .fit = {.stride = LINE, .count = HELD / LINE}};
    level.timing.threshold = HIT + 10;
    level.timing.ceiling = 3 * FAR;
    assert_int_equal(level_latency(&level), 0);
    assert_true(level.result->hit_latency.value == HIT + 3);
    assert_true(level.timing.hit_cycles == HIT); /* beside misses of walks that are repeated */
    level_free(&level);
    toy_lab_close(&bench);
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
        cmocka_unit_test(noise_as_large_as_a_miss_is_repeated_away_in_first_levels),
        cmocka_unit_test(hits_are_told_of_single_walks),
        cmocka_unit_test(slices_nearer_than_hits_leave_no_threshold_to_be_sought),
        cmocka_unit_test(a_cache_that_answers_later_than_what_lies_behind_it_is_seen_in_the_mirror),
        cmocka_unit_test(a_path_without_a_cache_has_no_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
