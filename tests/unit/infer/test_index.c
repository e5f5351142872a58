/*
 * The index of a cache whose number of sets is known, from a toy with LRU sets by address bits or
 * a modulus: it is asked again where another conflicting set was found, or where few pages are
 * translated at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "infer/experiments.h"
#include "infer/geometry/geometry.h"
#include "infer/level.h"
#include "support/toy_lab.h"
#include "support/toy_set.h"

enum {
    HIT = 100,
    MISS = 300,
    THRESHOLD = 200,
    LINE = 128,
    WAYS = 2,
    SETS = 64,
    BITS = 6,
    OTHER_SETS = 48,
    FOOTPRINT = 1 << 22,
    PAGE = 8192,
    ENTRIES = 24
};

struct toy {
    uint32_t held[SETS][WAYS];
    uint32_t sets;
    bool skips;       /* address bits 9 and 10, between those of the set */
    uint32_t entries; /* pages that are translated at once; 0: any number */
    uint32_t page[ENTRIES];
};

static uint32_t set_of(const struct toy *toy, uint32_t line)
{
    return toy->skips ? (line & 3) | (line >> 4 & 15) << 2 : line % toy->sets;
}

static uint32_t load(void *ctx, uint32_t offset)
{
    struct toy *toy = ctx;
    uint32_t line = offset / LINE;
    bool translated = !toy->entries || toy_set_read(toy->page, toy->entries, offset / PAGE);
    return toy_set_read(toy->held[set_of(toy, line)], WAYS, line) && translated ? HIT : MISS;
}

static int answer(void *toy, struct trace *trace)
{
    return toy_walk_ring(trace, load, toy);
}

struct bench {
    struct toy_lab lab;
    struct level level;
};

/* A level of which so many lines beside each other fit, and these do not. */
static void open_bench(struct bench *b, struct toy *toy, size_t fits, uint32_t offsets[WAYS + 1])
{
    static const struct level_info info = {"l2", "gpu", "cg", "", "cg", 0, 0, ""};
    toy_lab_open(&b->lab, answer, toy, FOOTPRINT);
    struct level *level = &b->level;
    *level = (struct level){.lab = &b->lab.lab,
                            .info = &info,
                            .result = &b->lab.out->caches[0],
                            .max_window = 1024,
                            .outermost = true};
    level->timing.threshold = THRESHOLD;
    level->timing.ceiling = 2.0 * MISS;
    level->timing.hit_records = 100000;
    level->habits.beginning_known = true;
    level->line.bytes = level->fit.stride = LINE;
    level->fit.count = fits;
    level->conflict.offsets = offsets;
    level->conflict.count = WAYS + 1;
}

/* Asks so many times, and finds the last answer. */
static void ask_index(struct index_result *found, struct toy *toy, unsigned times)
{
    uint32_t offsets[WAYS + 1] = {0, toy->sets * LINE, 2 * toy->sets * LINE};
    struct bench b;
    open_bench(&b, toy, (size_t)toy->sets * WAYS, offsets);
    for (unsigned i = 0; i < times; i++) {
        assert_int_equal(level_index_of_sets(&b.level, toy->sets), 0);
        *found = b.level.result->index;
        assert_int_equal(found->mask_count, toy->sets == SETS ? BITS : 0);
    }
    toy_lab_close(&b.lab);
}

static void an_index_that_is_asked_again_has_each_bit_once(void **state)
{
    (void)state;
    struct toy toy = {.sets = SETS};
    struct index_result found;
    ask_index(&found, &toy, 2);
    assert_string_equal(found.kind, "bits");
    assert_int_equal(found.masks[BITS - 1], LINE << (BITS - 1));
}

/* Lines that are drawn from all over lie in more pages than these. */
static void an_index_is_told_where_few_pages_are_translated_at_once(void **state)
{
    (void)state;
    struct toy toy = {.sets = OTHER_SETS, .entries = ENTRIES};
    struct index_result found;
    ask_index(&found, &toy, 1);
    assert_string_equal(found.kind, "modulo");
    assert_int_equal(found.modulus, OTHER_SETS);
}

/* Lines at the distance of two bits that the set leaves out do not fit soon: what fits says little
 * of how many bits there are. */
static void bits_of_the_set_beyond_what_fits_are_found(void **state)
{
    (void)state;
    struct toy toy = {.sets = SETS, .skips = true};
    uint32_t offsets[WAYS + 1] = {0, 4 * LINE, 8 * LINE};
    struct bench b;
    open_bench(&b, &toy, 4, offsets);
    assert_int_equal(level_index(&b.level), 0);
    const struct index_result *found = &b.level.result->index;
    assert_string_equal(found->kind, "bits");
    assert_int_equal(found->mask_count, BITS);
    assert_int_equal(found->masks[2], 16 * LINE);
    assert_int_equal(found->masks[BITS - 1], 128 * LINE);
    assert_int_equal(b.level.map.sets, SETS);
    toy_lab_close(&b.lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_that_is_asked_again_has_each_bit_once),
        cmocka_unit_test(an_index_is_told_where_few_pages_are_translated_at_once),
        cmocka_unit_test(bits_of_the_set_beyond_what_fits_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
