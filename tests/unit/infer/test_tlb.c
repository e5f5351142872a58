/*
 * Levels of address translation, from a GPU of which only the TLBs take time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/tlb/tlb.h"
#include "support/toy_tlb.h"

static void assert_whole(const struct tlb_result *tlb, uint32_t sets, uint32_t ways,
                         const char *policy)
{
    if (!tlb->present) {
        print_error("absent: %s\n", tlb->page.reason);
    }
    assert_true(tlb->present);
    assert_value(&tlb->page, (double)PAGE);
    assert_value(&tlb->entries, sets * ways);
    assert_value(&tlb->sets, sets);
    for (uint32_t i = 0; i < sets; i++) {
        assert_int_equal(tlb->entries_per_set[i], ways);
    }
    if (strcmp(tlb->policy.name, policy) != 0) {
        print_error("policy '%s', reason '%s'\n", tlb->policy.name, tlb->policy.refusal.reason);
    }
    assert_string_equal(tlb->policy.name, policy);
}

static void a_level_that_draws_its_victims_is_found_whole(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 4, .ways = 6, .rule = RANDOM}}};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_whole(tlb, 4, 6, "random");
    assert_int_equal(tlb->policy.probability_count, 6);
    assert_value(&tlb->miss_penalty, FIRST);
    assert_false(found.tlbs[1].present);
    assert_int_equal(found.tlbs[1].absence.status, ATTRIBUTE_ABSENT);
}

static void a_bias_shows_in_the_shares(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 10, .rule = BIASED}}};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_whole(tlb, 1, 10, "biased");
    assert_float_equal(tlb->policy.probability[0], 3.0 / 12, 0.03);
}

static void behind_a_level_that_draws_a_rule_shows(void **state)
{
    (void)state;
    struct gpu gpu = {
        .level = {{.sets = 1, .ways = 8, .rule = RANDOM}, {.sets = 8, .ways = 5, .rule = LRU}}};
    const struct tlb_result *tlb = dissect(&gpu, 1);
    assert_whole(&found.tlbs[0], 1, 8, "random");
    assert_whole(tlb, 8, 5, "lru");
    assert_value(&tlb->miss_penalty, SECOND);
}

static void strays_do_not_pass_for_misses(void **state)
{
    (void)state;
    struct gpu gpu = {
        .level = {{.sets = 1, .ways = 9, .rule = LRU}, {.sets = 4, .ways = 12, .rule = RANDOM}},
        .strays = 0.0015};
    const struct tlb_result *tlb = dissect(&gpu, 1);
    assert_whole(&found.tlbs[0], 1, 9, "lru");
    assert_whole(tlb, 4, 12, "random");
}

/* One of them by one of 3 ways, one by many: both are told though the first level hides accesses.
 */
static void rules_show_from_a_state_that_is_known(void **state)
{
    (void)state;
    static const struct {
        enum rule rule;
        const char *name;
    } rules[] = {{LRU, "lru"}, {FIFO, "fifo"}, {NRU, "nru"}, {SRRIP, "srrip"}};
    static const struct {
        uint32_t front, sets, ways;
    } shapes[] = {{6, 5, 3}, {7, 3, 11}, {9, 1, 37}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
            for (int noisy = 0; noisy < 2; noisy++) {
                struct gpu gpu = {.level = {{.sets = 1, .ways = shapes[k].front, .rule = LRU},
                                            {.sets = shapes[k].sets,
                                             .ways = shapes[k].ways,
                                             .rule = rules[i].rule}},
                                  .strays = noisy ? 0.001 : 0};
                const struct tlb_result *tlb = dissect(&gpu, 1);
                assert_whole(tlb, shapes[k].sets, shapes[k].ways, rules[i].name);
                assert_int_equal(tlb->policy.equivalent_count, 0);
                assert_true(tlb->policy.confidence > 0.9);
            }
        }
    }
}

/* Of two entries LRU and NRU do the same. */
/* What srrip misses of a set depends on what was before: first a part of it, later the rest. */
static void a_part_of_a_set_is_no_set(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3);
    for (unsigned i = 0; i < 12; i++) {
        struct gpu gpu = {.level = {{.sets = 3 + i % 2, .ways = 4 + i % 3, .rule = SRRIP}}};
        for (size_t k = 0; k < 64; k++) {
            gpu.level[0].used[k / 8][k % 8] = rng_below(&rng, 4);
        }
        const struct tlb_result *tlb = dissect(&gpu, 0);
        if (tlb->sets.status == ATTRIBUTE_MEASURED && tlb->sets.confidence > 0.9) {
            assert_value(&tlb->sets, gpu.level[0].sets);
        }
    }
}

static void rules_of_two_entries_are_one(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 4, .ways = 2, .rule = NRU}}};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_whole(tlb, 4, 2, "lru");
    assert_int_equal(tlb->policy.equivalent_count, 2);
}

/* Half of 20 sets of one would overflow as 22 of these pages do, and all of them as 40. */
static void a_set_larger_than_others_is_no_set_alike(void **state)
{
    (void)state;
    static const uint32_t map[] = {12, 10, 0,  5, 0, 4, 9, 15, 6,  0,
                                   7,  14, 11, 3, 8, 0, 2, 1,  13, 0};
    struct gpu gpu = {.level = {{.sets = 16, .ways = 5, .less = 4, .map = map, .residues = 20}},
                      .strays = 0.0015};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_value(&tlb->entries, 20);
    assert_value(&tlb->sets, 16);
    assert_string_equal(tlb->policy.name, "lru");
}

/* Where victims are drawn and windows are too short to count misses in, each set is found by
 * leaving pages out, also one of a single entry. */
static void sets_of_one_entry_beside_one_that_draws_are_found(void **state)
{
    (void)state;
    static const uint32_t map[] = {3, 0, 1, 0, 2, 0, 0};
    struct gpu gpu = {
        .level = {{.sets = 4, .ways = 4, .less = 3, .map = map, .residues = 7, .rule = RANDOM}},
        .window = 64};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    uint32_t ones = 0, fours = 0;
    assert_value(&tlb->entries, 7);
    assert_value(&tlb->sets, 4);
    for (uint32_t i = 0; i < 4; i++) {
        ones += tlb->entries_per_set[i] == 1;
        fours += tlb->entries_per_set[i] == 4;
    }
    assert_int_equal(ones, 3);
    assert_int_equal(fours, 1);
}

/* Walks over few pages say that four fit; that which showed the level had more, and none missed. */
static void entries_that_a_longer_walk_denies_are_not_told(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 18, .rule = LRU, .forgetful = 13}}};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_true(tlb->present);
    assert_int_equal(tlb->entries.status, ATTRIBUTE_NOT_MEASURED);
    assert_int_equal(tlb->sets.status, ATTRIBUTE_NOT_MEASURED);
    assert_non_null(strstr(tlb->entries.reason, "hardly a miss"));
}

/* Pages beside those that fit show a set of one entry again and again: it is one set. */
static void a_set_of_one_entry_is_counted_once(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 11);
    for (unsigned i = 0; i < 16; i++) {
        uint32_t map[40], sets = 6 + i % 8, residues = sets + 3 + i % 5 * 5;
        for (uint32_t k = 0; k < residues; k++) {
            map[k] = k < sets ? k : (uint32_t)rng_below(&rng, sets);
        }
        struct gpu gpu = {.level = {{.sets = sets,
                                     .ways = 3 + i % 3,
                                     .less = 2 + i % 3,
                                     .map = map,
                                     .residues = residues}}};
        const struct tlb_result *tlb = dissect(&gpu, 0);
        if (tlb->sets.status == ATTRIBUTE_MEASURED && tlb->sets.confidence > 0.9) {
            assert_value(&tlb->sets, sets);
        }
        if (tlb->entries.status == ATTRIBUTE_MEASURED && tlb->entries.confidence > 0.9) {
            assert_value(&tlb->entries, gpu.level[0].ways + sets - 1);
        }
    }
}

static void assert_spanning(uint32_t front, uint32_t sets, uint32_t ways, uint32_t lines,
                            bool sets_may_hide)
{
    static struct data data; /* large */
    struct gpu gpu = {.level = {{.sets = 1, .ways = front, .page_bytes = UINT64_C(64) << 10},
                                {.sets = sets, .ways = ways, .page_bytes = UINT64_C(2) << 20}},
                      .data = &data};
    memset(&data, 0, sizeof data);
    data.lines = lines;
    const struct tlb_result *tlb = dissect(&gpu, 1);
    assert_value(&found.tlbs[0].page, 65536);
    assert_value(&found.tlbs[0].entries, front);
    assert_true(tlb->present);
    assert_value(&tlb->page, 2097152);
    assert_value(&tlb->entries, sets * ways);
    assert_value(&tlb->coverage, sets * ways * 2097152.0);
    assert_value(&tlb->miss_penalty, SECOND);
    if (!sets_may_hide || tlb->sets.status == ATTRIBUTE_MEASURED) {
        assert_value(&tlb->sets, sets);
        assert_int_equal(tlb->set_count, sets);
    } else {
        assert_int_equal(tlb->set_count, 0);
        assert_string_equal(tlb->policy.name, "");
    }
}

/* In walks of several times its reach L2 does not hold all lines: that is no miss of translation.
 */
static void entries_of_the_second_level_may_span_more(void **state)
{
    (void)state;
    assert_spanning(16, 8, 4, 3000, false);
    assert_spanning(16, 1, 65, MOST_HELD, false);
}

/* A line a page cannot fill it, for the first level holds as many pages: several lines a page do.
 */
static void a_second_level_of_fewer_and_longer_entries_shows(void **state)
{
    (void)state;
    assert_spanning(34, 4, 4, MOST_HELD, true);
    assert_spanning(32, 8, 4, MOST_HELD, true);
    assert_spanning(34, 1, 32, MOST_HELD, true);
}

/*
 * A miss of the first level costs little, and in a walk over the second one's pages both miss at
 * once: the first level shows inside these pages alone.
 */
static void a_cheap_first_level_of_shorter_entries_shows(void **state)
{
    (void)state;
    static const struct {
        uint32_t front, front_kib, back;
    } pairs[] = {{34, 64, 32}, {32, 64, 32}, {40, 256, 20}, {24, 1024, 32}, {60, 16, 24}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        uint64_t front_page = (uint64_t)pairs[i].front_kib << 10;
        struct gpu gpu = {
            .first = 6,
            .level = {{.sets = 1, .ways = pairs[i].front, .page_bytes = front_page},
                      {.sets = 1, .ways = pairs[i].back, .page_bytes = UINT64_C(2) << 20}}};
        const struct tlb_result *tlb = dissect(&gpu, 1);
        assert_value(&found.tlbs[0].page, (double)front_page);
        assert_value(&found.tlbs[0].entries, pairs[i].front);
        assert_value(&found.tlbs[0].miss_penalty, 6);
        assert_value(&tlb->page, 2097152);
        assert_value(&tlb->entries, pairs[i].back);
        assert_value(&tlb->miss_penalty, SECOND);
    }
}

/*
 * One in 32 elements misses the second level, as far apart as the first one's pages. Three times as
 * many all do, for L2 holds no line in rows so far apart: that is no miss of translation.
 */
static void pages_far_longer_than_those_in_front_show_in_short_walks(void **state)
{
    (void)state;
    static struct data data; /* large */
    memset(&data, 0, sizeof data);
    data.lines = 2200;
    data.far_apart = true;
    struct gpu gpu = {.first = 6,
                      .level = {{.sets = 1, .ways = 19, .page_bytes = UINT64_C(32) << 10},
                                {.sets = 1, .ways = 36, .page_bytes = UINT64_C(1) << 20}},
                      .data = &data};
    const struct tlb_result *tlb = dissect(&gpu, 1);
    assert_value(&found.tlbs[0].page, 32768);
    assert_value(&tlb->page, 1048576);
    assert_value(&tlb->entries, 36);
    assert_value(&tlb->miss_penalty, SECOND);
}

/* L2 is small, so what missing data costs is known; a miss of the level costs the same. */
static void a_miss_that_costs_as_much_as_missing_data_shows(void **state)
{
    (void)state;
    static struct data data; /* large */
    struct gpu gpu = {.level = {{.sets = 1, .ways = 16}}, .first = DATA, .data = &data};
    memset(&data, 0, sizeof data);
    data.lines = 1000;
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_whole(tlb, 1, 16, "lru");
    assert_value(&tlb->miss_penalty, DATA);
}

/* Of lines of which some are nearer the far ones are no strays: records agree, and tell the level
 * as surely as where all take equally long. */
static void lines_that_differ_are_no_strays(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 16}}, .far = 60};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_whole(tlb, 1, 16, "lru");
    assert_value(&tlb->miss_penalty, FIRST);
    assert_float_equal(tlb->miss_penalty.confidence, 0.97, 1e-9);
}

/* Pages that the other SM's own first level still holds ask the second level nothing. */
static void behind_large_first_levels_of_their_own_all_share_the_second(void **state)
{
    (void)state;
    static const uint32_t ways[] = {8, 26, 34, 60};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct gpu gpu = {.level = {{.sets = 1, .ways = ways[i]}, {.sets = 4, .ways = 40}},
                          .own_first = true};
        const struct tlb_result *tlb = dissect(&gpu, 1);
        assert_whole(tlb, 4, 40, "lru");
        assert_string_equal(found.tlbs[0].scope, "sm");
        assert_string_equal(tlb->scope, "gpu");
    }
}

/* Few records of a launch: of sets that differ the one that overflows first is known, which has a
 * single entry. Others have a choice. */
static void one_entry_of_some_sets_is_no_policy_of_all(void **state)
{
    (void)state;
    static const uint32_t map[] = {12, 10, 0,  5, 0, 4, 9, 15, 6,  0,
                                   7,  14, 11, 3, 8, 0, 2, 1,  13, 0};
    struct gpu gpu = {.level = {{.sets = 16, .ways = 5, .less = 4, .map = map, .residues = 20}},
                      .window = 16};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_int_equal(tlb->set_count, 16);
    assert_string_not_equal(tlb->policy.name, "none");
}

/* What SM 0 shares with none, others share with each other. */
static void sm_0_may_be_alone_in_its_cluster(void **state)
{
    (void)state;
    for (int lone = 0; lone < 2; lone++) {
        struct gpu gpu = {
            .level = {{.sets = 1, .ways = 16}}, .lone_first = lone, .own_first = !lone};
        dissect(&gpu, 0);
        assert_string_equal(found.tlbs[0].scope, lone ? "cluster" : "sm");
    }
}

/* The first walks go 2 MiB at a time, which is too many such pages for both levels. */
static void pages_of_4_kib_are_reached(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 16, .page_bytes = 4096},
                                {.sets = 5, .ways = 13, .page_bytes = 4096}}};
    const struct tlb_result *tlb = dissect(&gpu, 1);
    assert_value(&found.tlbs[0].page, 4096);
    assert_value(&found.tlbs[0].entries, 16);
    assert_value(&found.tlbs[0].miss_penalty, FIRST);
    assert_value(&tlb->page, 4096);
    assert_value(&tlb->entries, 65);
    assert_value(&tlb->sets, 5);
    assert_value(&tlb->miss_penalty, SECOND);
}

/* Of three pages two have lines that share a set of L2, which holds one; lines a little behind
 * these do not. So few pages are no more than the level holds. */
static void lines_that_share_a_set_of_l2_are_no_misses_of_a_level(void **state)
{
    (void)state;
    static struct data data; /* large */
    data.sets = 128;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 22}}, .data = &data};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_true(tlb->present);
    assert_value(&tlb->page, (double)PAGE);
    assert_value(&tlb->entries, 22);
}

/* No level at all; lines beside each other all fit, those of pages share sets. */
static void lines_that_l2_misses_alone_are_no_level(void **state)
{
    (void)state;
    static const uint32_t sets[] = {850, 1999};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        static struct data data; /* large */
        data = (struct data){.sets = sets[i]};
        struct gpu gpu = {.data = &data, .memory = UINT64_C(7) << 30};
        const struct tlb_result *tlb = dissect(&gpu, 0);
        assert_false(tlb->present);
        assert_int_equal(tlb->miss_penalty.status, ATTRIBUTE_ABSENT);
    }
}

/* Where a level's miss takes as long, it takes that on top of what its line does. */
static void a_level_beside_lines_that_l2_misses_shows(void **state)
{
    (void)state;
    static const uint32_t sets[] = {850, 1999};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        static struct data data; /* large */
        data = (struct data){.sets = sets[i]};
        struct gpu gpu = {.level = {{.sets = 1, .ways = 100}}, .data = &data, .first = DATA};
        const struct tlb_result *tlb = dissect(&gpu, 0);
        assert_true(tlb->present);
        assert_value(&tlb->page, (double)PAGE);
        assert_value(&tlb->miss_penalty, DATA);
    }
}

/* L2 holds 30 lines: more pages miss it, and what that costs depends on the row. */
static void rows_of_memory_are_no_misses_of_a_level(void **state)
{
    (void)state;
    static struct data data; /* large */
    data.lines = 30;
    data.rows = 24;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 40, .page_bytes = 8 * PAGE}}, .data = &data};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_true(tlb->present);
    assert_value(&tlb->page, 8.0 * PAGE);
    assert_value(&tlb->entries, 40);
}

/* Lines are measured in groups of eight, in as many pages. */
static void fewer_entries_than_lines_of_a_group_show_where_lines_differ(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 6}}, .far = 60};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_true(tlb->present);
    assert_value(&tlb->page, (double)PAGE);
    assert_value(&tlb->entries, 6);
}

/* Their pages are longer than the first walks' distance, of which a group then has fewer. */
static void fewer_and_longer_entries_show_where_lines_differ(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 5, .rule = LRU, .page_bytes = 8 * PAGE},
                                {.sets = 3, .ways = 16, .rule = LRU, .page_bytes = 8 * PAGE}},
                      .far = 60};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_true(tlb->present);
    assert_value(&tlb->page, 8.0 * PAGE);
    assert_value(&tlb->entries, 5);
    assert_value(&found.tlbs[1].entries, 48);
}

/* The first level keeps eleven pages for good where each is used once at a time. */
static void behind_a_level_that_keeps_what_it_has_all_entries_show(void **state)
{
    (void)state;
    const uint64_t page_bytes = 2 * PAGE;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 12, .rule = LRU_LATE, .page_bytes = page_bytes},
                                {.sets = 1, .ways = 60, .rule = FIFO, .page_bytes = page_bytes}}};
    const struct tlb_result *tlb = dissect(&gpu, 1);
    assert_true(tlb->present);
    assert_value(&tlb->entries, 60);
}

/* Lines of the later pages lie in the upper halves of these. */
static void a_page_of_two_blocks_is_no_smaller_behind_many(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 15, .page_bytes = 8192},
                                {.sets = 5, .ways = 13, .page_bytes = 8192}}};
    const struct tlb_result *tlb = dissect(&gpu, 1);
    assert_value(&found.tlbs[0].page, 8192);
    assert_value(&tlb->page, 8192);
    assert_value(&tlb->entries, 65);
}

/* Before any level is sought: the reason is the device's, and no other. */
static void what_the_device_refuses_says_why(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 16}}, .refuses = true};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_false(tlb->present);
    assert_int_equal(tlb->page.status, ATTRIBUTE_NOT_MEASURED);
    assert_int_equal(tlb->absence.status, ATTRIBUTE_NOT_MEASURED);
    assert_string_equal(tlb->absence.reason, tlb->page.reason);
    assert_non_null(strstr(tlb->page.reason, "nothing is walked here"));
    assert_non_null(strstr(tlb->policy.refusal.reason, "nothing is walked here"));
}

/* Hits of a second level lie 40 cycles above the first's, its misses 60 to 90, missing data cost
 * 100 to 110. */
static void missing_data_hide_neither_a_hit_nor_a_miss(void **state)
{
    (void)state;
    static const struct {
        double excess;
        enum tlb_sight sight;
    } rows[] = {{0, TLB_HIDDEN},                    /* the first level has it */
                {40, TLB_HIT},   {50, TLB_HIT},     /* neither yet a miss */
                {75, TLB_MISS},  {105, TLB_HIDDEN}, /* data alone */
                {145, TLB_HIT},                     /* data, and a miss of the first level */
                {175, TLB_MISS},                    /* data, and a miss of this one */
                {400, TLB_DOUBT}};
    struct tlb_lab tl = {.data_cycles = 100, .data_most = 110};
    struct tlb_level level = {.before = 40, .threshold = 45, .least = 60, .most = 90};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum tlb_sight sight = tlb_see(&tl, &level, rows[i].excess);
        if (sight != rows[i].sight) {
            fail_msg("%.0f cycles: %d, not %d", rows[i].excess, sight, rows[i].sight);
        }
    }
}

/* Of two parts a miss of L2 is near or far: what lies between costs no read of a table. */
static void what_a_miss_of_two_parts_is_in_the_middle_costs_no_table(void **state)
{
    (void)state;
    static struct dissection out;
    struct lab lab = {.out = &out};
    struct tlb_lab tl = {.lab = &lab};
    struct tlb_level between = {.penalty = 292}, near = {.penalty = 2 * 172};
    out.cache_count = 1;
    struct attribute *miss = &out.caches[0].miss_penalty;
    *miss = (struct attribute){.status = ATTRIBUTE_MEASURED, .value = 292, .low = 280, .high = 304};
    assert_true(tlb_costs_as_tables(&tl, &between));
    miss->low = 172;
    miss->high = 411;
    assert_false(tlb_costs_as_tables(&tl, &between));
    assert_true(tlb_costs_as_tables(&tl, &near));
}

/* A walk for which L2 has room for as many lines as `data`, or for all. */
static struct behind {
    struct gpu gpu;
    struct data data;
    struct lab lab;
    struct tlb_lab tl;
} behind; /* large */

static struct tlb_lab *begin_behind(uint32_t lines)
{
    static struct infer_options options = {
        .max_window = WINDOW, .max_footprint_bytes = 1 << 30, .max_mapped_bytes = 1 << 30};
    static struct trace_source source;
    source = (struct trace_source){.get = get, .ctx = &behind.gpu};
    memset(&found, 0, sizeof found);
    memset(&behind, 0, sizeof behind);
    found.cache_count = 1;
    behind.lab = (struct lab){.source = &source, .options = &options, .out = &found};
    behind.gpu = (struct gpu){.level = {{.sets = 1, .ways = 16}, {.sets = 1, .ways = 100}}};
    behind.data.lines = lines;
    behind.gpu.data = lines ? &behind.data : NULL;
    for (size_t k = 0; k < 2; k++) {
        memset(behind.gpu.level[k].page, 0xff, sizeof behind.gpu.level[k].page);
    }
    assert_int_equal(traceset_create(&behind.gpu.set), 0);
    assert_int_equal(tlb_lab_begin(&behind.tl, &behind.lab), 0);
    return &behind.tl;
}

static void end_behind(void)
{
    tlb_lab_end(&behind.tl);
    traceset_destroy(behind.gpu.set);
}

static const struct tlb_level behind_first = {
    .before = FIRST, .threshold = FIRST + 20, .penalty = SECOND, .in_front = 16, .page = PAGE};

/* A level may cost what a miss of L2 does: other places of its pages miss as well, where L2 holds
 * all these lines. Its size need not be known for that. */
static void drawn_places_are_walked_where_l2_is_seen_to_hold_them(void **state)
{
    (void)state;
    static const uint32_t lines[] = {0, 1800};
    for (size_t i = 0; i < 2; i++) {
        struct tlb_lab *tl = begin_behind(lines[i]);
        struct tlb_drawn drawn;
        assert_int_equal(tlb_ask_drawn(tl, &drawn, &behind_first, 200 * PAGE, 200), 0);
        assert_int_equal(drawn.asked, lines[i] == 0);
        assert_int_equal(drawn.misses, lines[i] == 0);
        assert_true(tl->data_cycles <= 0);
        end_behind();
    }
}

/* Where no line was missed so far, lines beside those of a walk say that L2 misses these. */
static void lines_that_l2_misses_are_no_pages(void **state)
{
    (void)state;
    static const uint32_t lines[] = {0, 1800};
    for (size_t i = 0; i < 2; i++) {
        bool missing = false;
        struct tlb_lab *tl = begin_behind(lines[i]);
        assert_int_equal(tlb_is_missing_lines(tl, &missing, &behind_first, 1000 * PAGE), 0);
        assert_int_equal(missing, lines[i] > 0);
        end_behind();
    }
}

/* Few pages are all translated: nothing is slow there, and that is no missing line. */
static void where_nothing_is_slow_no_line_is_missing(void **state)
{
    (void)state;
    bool missing = true;
    struct tlb_lab *tl = begin_behind(0);
    assert_int_equal(tlb_is_missing_lines(tl, &missing, &behind_first, 10 * PAGE), 0);
    assert_false(missing);
    end_behind();
}

/* The walk that showed a level had one page too many, and of that one a part. */
static void a_part_of_a_page_is_a_page_of_the_walk(void **state)
{
    (void)state;
    bool holds = false;
    struct tlb_lab *tl = begin_behind(1000);
    struct tlb_level level = behind_first;
    level.page = behind.gpu.level[1].page_bytes = 2 * PAGE;
    assert_int_equal(tlb_is_translation(tl, &holds, &level, 201 * PAGE), 0);
    assert_true(holds);
    end_behind();
}

/* Noise makes each walk long; to find each page of a set by halves would take too many. */
static void noise_does_not_hide_a_set_of_many_pages(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 16, .ways = 48, .rule = LRU}}, .strays = 0.0015};
    assert_whole(dissect(&gpu, 0), 16, 48, "lru");
}

/* Lines differ behind noise, so that medians are matched: rules that one page more leaves open. */
static void twice_the_pages_of_a_single_set_tell_rules_apart(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 29, .rule = LRU}}, .far = 60, .strays = 0.0015};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_string_equal(tlb->policy.name, "lru");
    assert_int_equal(tlb->policy.equivalent_count, 0);
}

/* Other work goes on while lines are compared: they seem to be nearer and farther. */
static void other_work_at_first_makes_no_lines_differ(void **state)
{
    (void)state;
    struct gpu gpu = {
        .level = {{.sets = 4, .ways = 6, .rule = RANDOM}, {.sets = 8, .ways = 12, .rule = LRU}},
        .strays = 0.0015,
        .busy = 40};
    assert_whole(dissect(&gpu, 1), 8, 12, "lru");
    assert_whole(&found.tlbs[0], 4, 6, "random");
    assert_value(&found.tlbs[0].miss_penalty, FIRST);
}

/* A page too many misses now and then; while other work adds to what that is held against it must
 * not pass for a hit. */
static void other_work_now_and_then_hides_no_miss(void **state)
{
    (void)state;
    for (uint32_t ways = 9; ways < 40; ways += 5) {
        struct gpu gpu = {.level = {{.sets = 1, .ways = ways, .rule = RANDOM}},
                          .strays = 0.0015,
                          .first = 26,
                          .busy = 20};
        assert_value(&dissect(&gpu, 0)->entries, ways);
    }
}

/* The walk that shows the level has eight lines of each page, more than L2 holds, and both miss. */
static void behind_noise_a_miss_takes_what_a_line_of_each_page_does(void **state)
{
    (void)state;
    static struct data data; /* large */
    data.lines = 200;
    struct gpu gpu = {.level = {{.sets = 4, .ways = 10, .page_bytes = 8 * PAGE}},
                      .strays = 0.0015,
                      .data = &data};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_value(&tlb->page, 8.0 * PAGE);
    assert_value(&tlb->entries, 40);
    assert_value(&tlb->sets, 4);
    assert_value(&tlb->miss_penalty, FIRST);
}

/* What SM 0 walked often stays there, whoever walks it again: new pages tell. */
static void a_level_that_keeps_old_pages_tells_whom_it_serves(void **state)
{
    (void)state;
    struct gpu gpu = {
        .level = {{.sets = 1, .ways = 54, .rule = SRRIP}}, .own_first = true, .strays = 0.0015};
    assert_string_equal(dissect(&gpu, 0)->scope, "sm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_device_refuses_says_why),
        cmocka_unit_test(a_page_of_two_blocks_is_no_smaller_behind_many),
        cmocka_unit_test(a_level_that_draws_its_victims_is_found_whole),
        cmocka_unit_test(a_bias_shows_in_the_shares),
        cmocka_unit_test(behind_a_level_that_draws_a_rule_shows),
        cmocka_unit_test(strays_do_not_pass_for_misses),
        cmocka_unit_test(rules_show_from_a_state_that_is_known),
        cmocka_unit_test(a_part_of_a_set_is_no_set),
        cmocka_unit_test(rules_of_two_entries_are_one),
        cmocka_unit_test(sets_of_one_entry_beside_one_that_draws_are_found),
        cmocka_unit_test(a_set_of_one_entry_is_counted_once),
        cmocka_unit_test(entries_that_a_longer_walk_denies_are_not_told),
        cmocka_unit_test(a_set_larger_than_others_is_no_set_alike),
        cmocka_unit_test(entries_of_the_second_level_may_span_more),
        cmocka_unit_test(a_second_level_of_fewer_and_longer_entries_shows),
        cmocka_unit_test(a_cheap_first_level_of_shorter_entries_shows),
        cmocka_unit_test(pages_far_longer_than_those_in_front_show_in_short_walks),
        cmocka_unit_test(a_miss_that_costs_as_much_as_missing_data_shows),
        cmocka_unit_test(lines_that_differ_are_no_strays),
        cmocka_unit_test(behind_large_first_levels_of_their_own_all_share_the_second),
        cmocka_unit_test(one_entry_of_some_sets_is_no_policy_of_all),
        cmocka_unit_test(sm_0_may_be_alone_in_its_cluster),
        cmocka_unit_test(pages_of_4_kib_are_reached),
        cmocka_unit_test(lines_that_share_a_set_of_l2_are_no_misses_of_a_level),
        cmocka_unit_test(missing_data_hide_neither_a_hit_nor_a_miss),
        cmocka_unit_test(drawn_places_are_walked_where_l2_is_seen_to_hold_them),
        cmocka_unit_test(lines_that_l2_misses_are_no_pages),
        cmocka_unit_test(where_nothing_is_slow_no_line_is_missing),
        cmocka_unit_test(a_part_of_a_page_is_a_page_of_the_walk),
        cmocka_unit_test(rows_of_memory_are_no_misses_of_a_level),
        cmocka_unit_test(fewer_entries_than_lines_of_a_group_show_where_lines_differ),
        cmocka_unit_test(fewer_and_longer_entries_show_where_lines_differ),
        cmocka_unit_test(lines_that_l2_misses_alone_are_no_level),
        cmocka_unit_test(a_level_beside_lines_that_l2_misses_shows),
        cmocka_unit_test(behind_a_level_that_keeps_what_it_has_all_entries_show),
        cmocka_unit_test(what_a_miss_of_two_parts_is_in_the_middle_costs_no_table),
        cmocka_unit_test(noise_does_not_hide_a_set_of_many_pages),
        cmocka_unit_test(twice_the_pages_of_a_single_set_tell_rules_apart),
        cmocka_unit_test(other_work_at_first_makes_no_lines_differ),
        cmocka_unit_test(other_work_now_and_then_hides_no_miss),
        cmocka_unit_test(behind_noise_a_miss_takes_what_a_line_of_each_page_does),
        cmocka_unit_test(a_level_that_keeps_old_pages_tells_whom_it_serves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
