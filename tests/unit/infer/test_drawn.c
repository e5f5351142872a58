/*
 * Line, ways and sets of a cache that holds more pages than are translated at once, by lines drawn
 * at random and by blocks of lines far apart: from a toy in which a miss of translation takes as
 * long as one of the cache.
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
#include "support/toy_set.h"
#include "util/error.h"

enum { HIT = 280, MISS = 560, WALK = 290, THRESHOLD = 400, PAGE = 4096, SPAN = 256 << 20 };

/* Both under LRU; without pages all are translated. */
struct toy {
    uint32_t sets, ways, line, pages, window;
    uint32_t *held, *translated;
};

static uint32_t load(void *ctx, uint32_t offset)
{
    struct toy *toy = ctx;
    uint32_t line = offset / toy->line;
    uint32_t *set = toy->held + (size_t)(line % toy->sets) * toy->ways;
    bool hit = toy_set_read(set, toy->ways, line);
    bool translated = toy->pages == 0 || toy_set_read(toy->translated, toy->pages, offset / PAGE);
    return (hit ? HIT : MISS) + (translated ? 0 : WALK);
}

static int answer(void *toy, struct trace *trace)
{
    bool is_ring = strcmp(trace->request.probe, "chase") == 0 && trace->request.ring_count;
    return is_ring ? toy_walk_ring(trace, load, toy) : SONDE_ENOTRECORDED;
}

static void examine(struct toy *toy, int (*experiment)(struct level *), uint64_t missed_bytes)
{
    static const struct level_info info = {"l2", "gpu", "cg", "", "", 0, 6144, ""};
    struct toy_lab bench;
    toy->held = calloc((size_t)toy->sets * toy->ways, sizeof *toy->held);
    toy->translated = calloc(toy->pages + 1, sizeof *toy->translated);
    assert_true(toy->held && toy->translated);
    toy_lab_open(&bench, answer, toy, SPAN);
    struct cache_result *result = &bench.out->caches[0];
    struct level level = {.lab = &bench.lab,
                          .info = &info,
                          .result = result,
                          .outermost = true,
                          .max_window = toy->window,
                          .timing = {.fetch_bytes = 32,
                                     .hit_cycles = HIT,
                                     .miss_cycles = MISS,
                                     .threshold = THRESHOLD,
                                     .ceiling = 10 * MISS,
                                     .missed_bytes = missed_bytes}};
    assert_int_equal(experiment(&level), 0);
    assert_int_equal((int)result->line.value, toy->line);
    assert_int_equal((int)result->ways.value, toy->ways);
    assert_int_equal((int)result->sets.value, toy->sets);
    assert_string_equal(result->policy.name, "lru");
    level_free(&level);
    free(toy->held);
    free(toy->translated);
    toy_lab_close(&bench);
}

static void what_hits_is_found_though_its_page_is_not_translated(void **state)
{
    (void)state;
    struct toy toy = {.sets = 768, .ways = 12, .line = 128, .pages = 8, .window = 1024};
    examine(&toy, level_drawn, 4 << 20);
}

/* Of so many sets of so many ways none is crowded by the first lines that are drawn: when some are,
 * few loads are left. */
static void crowded_sets_are_taken_apart_though_finding_them_took_long(void **state)
{
    (void)state;
    struct toy toy = {.sets = 5320, .ways = 64, .line = 128, .window = 256};
    examine(&toy, level_drawn, 64 << 20);
}

/* One load of each block misses translation, and takes longer than a miss of the cache. */
static void lines_far_apart_miss_beside_the_few_that_are_not_translated(void **state)
{
    (void)state;
    struct toy toy = {.sets = 10240, .ways = 12, .line = 128, .pages = 16, .window = 1024};
    examine(&toy, level_spaced, 64 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_hits_is_found_though_its_page_is_not_translated),
        cmocka_unit_test(crowded_sets_are_taken_apart_though_finding_them_took_long),
        cmocka_unit_test(lines_far_apart_miss_beside_the_few_that_are_not_translated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
