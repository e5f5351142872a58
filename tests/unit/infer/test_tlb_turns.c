/*
 * Sets of a level of translation that pages are dealt to in turn (infer/tlb/turns.c), and parts of
 * pages where the level in front holds shorter ones (tlb_parts).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/toy_tlb.h"

static void assert_sets(const struct tlb_result *tlb, uint32_t sets, uint32_t ways, uint32_t less,
                        const char *policy)
{
    uint32_t first = 0;
    assert_value(&tlb->sets, sets);
    assert_value(&tlb->entries, sets * ways - (sets - 1) * less);
    while (first < sets && tlb->entries_per_set[first] != ways) {
        first++;
    }
    for (uint32_t i = 0; i < sets; i++) {
        uint32_t set = (first + i) % sets;
        assert_int_equal(tlb->entries_per_set[set], i == 0 ? ways : ways - less);
    }
    assert_string_equal(tlb->policy.name, policy);
    assert_true(tlb->sets.confidence > 0.9);
}

/* The first set is full long after the others: 96 pages more than fit. */
static void a_set_far_larger_than_the_others_shows(void **state)
{
    (void)state;
    static const struct {
        enum rule rule;
        const char *name;
    } rules[] = {{LRU, "lru"}, {FIFO, "fifo"}, {SRRIP, "srrip"}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct gpu gpu = {.level = {{.sets = 1, .ways = 10, .rule = LRU},
                                    {.sets = 12, .ways = 16, .less = 8, .rule = rules[i].rule}}};
        assert_sets(dissect(&gpu, 1), 12, 16, 8, rules[i].name);
    }
}

/* Nearly every page of a large set hits in each round, so that no two of them miss often. */
static void a_single_set_behind_one_that_draws_shows(void **state)
{
    (void)state;
    struct gpu gpu = {
        .level = {{.sets = 6, .ways = 10, .rule = RANDOM}, {.sets = 1, .ways = 230, .rule = FIFO}}};
    assert_sets(dissect(&gpu, 1), 1, 230, 0, "fifo");
}

/* The level in front has as many entries, so that a line of each page never leaves it. */
static void longer_pages_show_though_the_level_in_front_holds_as_many(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 32, .rule = LRU},
                                {.sets = 5, .ways = 7, .rule = SRRIP, .page_bytes = 4 * PAGE}}};
    const struct tlb_result *tlb = dissect(&gpu, 1);
    assert_value(&tlb->page, 4 * (double)PAGE);
    assert_sets(tlb, 5, 7, 0, "srrip");
}

/* What pages of no set are in turn with is no set of any number. */
static void pages_that_are_not_dealt_in_turn_are_no_sets_in_turn(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5);
    for (unsigned i = 0; i < 6; i++) {
        uint32_t map[96], sets = 8;
        for (uint32_t k = 0; k < 96; k++) {
            map[k] = (uint32_t)rng_below(&rng, sets);
        }
        struct gpu gpu = {.level = {{.sets = sets, .ways = 12, .map = map, .residues = 96}}};
        const struct tlb_result *tlb = dissect(&gpu, 0);
        assert_true(tlb->sets.status != ATTRIBUTE_MEASURED || tlb->sets.value == sets);
    }
}

/* A window of so few records takes the sets in several batches, of which one holds known ones
 * alone. */
static void sets_of_several_batches_are_no_fault(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 16, .ways = 30, .less = 10, .rule = LRU}}, .window = 220};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_true(tlb->sets.status != ATTRIBUTE_MEASURED || tlb->sets.value == 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_far_larger_than_the_others_shows),
        cmocka_unit_test(a_single_set_behind_one_that_draws_shows),
        cmocka_unit_test(longer_pages_show_though_the_level_in_front_holds_as_many),
        cmocka_unit_test(pages_that_are_not_dealt_in_turn_are_no_sets_in_turn),
        cmocka_unit_test(sets_of_several_batches_are_no_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
