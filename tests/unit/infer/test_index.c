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
    uint32_t entries; /* pages that are translated at once; 0: any number */
    uint32_t page[ENTRIES];
};

static uint32_t load(void *ctx, uint32_t offset)
{
    struct toy *toy = ctx;
    uint32_t line = offset / LINE;
    bool translated = !toy->entries || toy_set_read(toy->page, toy->entries, offset / PAGE);
    return toy_set_read(toy->held[line % toy->sets], WAYS, line) && translated ? HIT : MISS;
}

static int answer(void *toy, struct trace *trace)
{
    return toy_walk_ring(trace, load, toy);
}

/* Asks so many times, and finds the last answer. */
static void ask_index(struct index_result *found, struct toy *toy, unsigned times)
{
    static const struct level_info info = {"l2", "gpu", "cg", "", "cg", 0, 0, ""};
    uint32_t offsets[WAYS + 1] = {0, toy->sets * LINE, 2 * toy->sets * LINE};
    struct toy_lab bench;
    toy_lab_open(&bench, answer, toy, FOOTPRINT);
    struct level level = {.lab = &bench.lab,
                          .info = &info,
                          .result = &bench.out->caches[0],
                          .max_window = 1024,
                          .outermost = true};
    level.timing.threshold = THRESHOLD;
    level.timing.ceiling = 2.0 * MISS;
    level.timing.hit_records = 100000;
    level.habits.beginning_known = true;
    level.line.bytes = level.fit.stride = LINE;
    level.fit.count = (size_t)toy->sets * WAYS;
    level.conflict.offsets = offsets;
    level.conflict.count = WAYS + 1;
    for (unsigned i = 0; i < times; i++) {
        assert_int_equal(level_index_of_sets(&level, toy->sets), 0);
        *found = level.result->index;
        assert_int_equal(found->mask_count, toy->sets == SETS ? BITS : 0);
    }
    toy_lab_close(&bench);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_that_is_asked_again_has_each_bit_once),
        cmocka_unit_test(an_index_is_told_where_few_pages_are_translated_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
