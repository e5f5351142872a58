/*
 * The question "do these addresses fit?" on a device whose noise spoils every pass: from a toy that
 * says which elements miss in each pass, and makes others slow at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "infer/fit/fit.h"
#include "infer/level.h"
#include "support/toy_lab.h"
#include "util/rng.h"

enum {
    HIT = 100,
    MISS = 300,
    THRESHOLD = 200,
    CEILING = 400,
    COUNT = 1000,
    STRIDE = 128,
    WINDOW = 512
};

struct toy {
    uint32_t first, stuck; /* elements from `first` on that miss in each pass */
    double noise;          /* share of loads that look like misses anywhere */
    struct rng rng;
};

static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    struct toy_walk walk = toy_walk_of(&trace->request);
    for (uint64_t i = 0; i < walk.window * walk.windows; i++) {
        uint64_t element = i % COUNT;
        bool slow = (double)rng_below(&toy->rng, 100000) < 100000 * toy->noise;
        bool stuck = element >= toy->first && element < toy->first + toy->stuck;
        walk.latency[i] = slow || stuck ? MISS : HIT;
        walk.next[i] = (uint32_t)((element + 1) % COUNT * STRIDE);
        if (i % walk.window == 0) {
            walk.start[i / walk.window] = (uint32_t)(element * STRIDE);
        }
    }
    return toy_walk_end(&walk, trace);
}

/* On a device of which one load in a hundred is known to look like a miss. */
static enum fit_verdict ask(uint32_t first, uint32_t stuck, double noise, uint64_t seed)
{
    static const struct level_info info = {"l2", "gpu", "cg", "", "cg", 0, 0, ""};
    struct toy toy = {.first = first, .stuck = stuck, .noise = noise};
    struct toy_lab bench;
    toy_lab_open(&bench, answer, &toy, COUNT * STRIDE);
    rng_seed(&toy.rng, seed);
    struct level level = {
        .lab = &bench.lab, .info = &info, .result = &bench.out->caches[0], .max_window = WINDOW};
    level.timing.threshold = THRESHOLD;
    level.timing.ceiling = CEILING;
    level.timing.hit_records = 100000;
    level.timing.false_misses = level.timing.false_slow = 1000;
    struct fit fit;
    assert_int_equal(fit_test(&level, &fit, &(struct walk_shape){.stride = STRIDE, .count = COUNT}),
                     0);
    enum fit_verdict verdict = fit.verdict;
    assert_true(fit.noisy);
    fit_free(&fit);
    level_free(&level);
    toy_lab_close(&bench);
    return verdict;
}

static void what_noise_alone_makes_slow_fits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        assert_int_equal(ask(0, 0, 0.01, seed), FIT_YES);
    }
}

/* No more misses than noise makes in all, but some of them on the same element in each pass. */
static void one_element_that_misses_in_each_pass_does_not_fit(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        assert_int_equal(ask((uint32_t)seed * 47, 1, 0.009, seed), FIT_NO);
    }
}

static void more_misses_than_noise_makes_do_not_fit(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        assert_int_equal(ask(0, 0, 0.03, seed), FIT_NO);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_noise_alone_makes_slow_fits),
        cmocka_unit_test(one_element_that_misses_in_each_pass_does_not_fit),
        cmocka_unit_test(more_misses_than_noise_makes_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
