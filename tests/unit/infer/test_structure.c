/* Replacement policy and set index of toy caches, held against the toy's configuration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "infer/infer.h"
#include "util/error.h"

/* The toy is one file, compiled into each test that uses it. */
#include "support/toy_gpu.c"

static const struct toy_config fermi = {
    .l1 = {true, 128, 128, 32, 4, TOY_BIASED, TOY_MODULO, 0, 116},
    .l2 = {true, 128, 32, 64, 8, TOY_LRU, TOY_MODULO, 0, 371},
    .memory_cycles = 639,
    .seed = 7,
};

/* Of the caches in a dissection. */
enum {
    CACHES = 0
#define LEVEL(...) +1
#include "infer/levels.def"
    ,
    L2 = CACHES - 1
};

static struct dissection found;

static const struct cache_result *dissect_l1(const struct toy_config *config)
{
    struct toy_gpu *toy = toy_create(config);
    struct trace_source source = toy_source(toy);
    struct infer_options options = {
        .max_footprint_bytes = UINT64_C(64) << 20, .max_window = 6000, .only = "policy,index,sets"};
    assert_int_equal(infer_dissect(&found, &source, &options), 0);
    toy_destroy(toy);
    return &found.caches[0];
}

static bool names(const struct policy_result *policy, const char *name)
{
    bool named = strcmp(policy->name, name) == 0;
    for (size_t i = 0; i < policy->equivalent_count; i++) {
        named = named || strcmp(policy->equivalent[i], name) == 0;
    }
    return named;
}

static const struct {
    enum toy_policy policy;
    const char *name;
} rules[] = {
    {TOY_LRU, "lru"}, {TOY_FIFO, "fifo"},   {TOY_PLRU, "plru"},
    {TOY_NRU, "nru"}, {TOY_SRRIP, "srrip"}, {TOY_LRU_LATE, "lru_late"},
};

static void each_rule_of_replacement_is_told_from_the_others(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        for (config.l1.ways = 4; config.l1.ways <= 8; config.l1.ways += 4) {
            config.l1.policy = rules[i].policy;
            const struct policy_result *policy = &dissect_l1(&config)->policy;
            assert_string_equal(policy->name, rules[i].name);
            assert_int_equal(policy->equivalent_count, 0);
            assert_true(policy->confidence > 0.9);
        }
    }
}

static void noise_does_not_hide_the_rule(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.noise = (struct toy_noise){6, 0.002, 0.01};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        config.l1.policy = rules[i].policy;
        assert_string_equal(dissect_l1(&config)->policy.name, rules[i].name);
    }
}

static void two_ways_cannot_tell_lru_from_a_tree(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.ways = 2;
    config.l1.policy = TOY_PLRU;
    const struct policy_result *policy = &dissect_l1(&config)->policy;
    assert_true(names(policy, "lru"));
    assert_true(names(policy, "plru"));
    assert_false(names(policy, "fifo"));
}

/* Over one line more than ways nearly all visits of these hit, and they predict the same. */
static void policies_of_many_ways_are_told_apart_by_more_lines(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    const uint32_t ways[] = {20, 64};
    for (size_t w = 0; w < 2; w++) {
        config.l1.sets = 4;
        config.l1.ways = ways[w];
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
            config.l1.policy = rules[i].policy;
            bool power = (ways[w] & (ways[w] - 1)) == 0;
            if (rules[i].policy == TOY_PLRU && !power) {
                continue;
            }
            const struct policy_result *policy = &dissect_l1(&config)->policy;
            assert_string_equal(policy->name, rules[i].name);
            assert_int_equal(policy->equivalent_count, 0);
        }
    }
}

static void one_way_has_no_policy(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.ways = 1;
    assert_string_equal(dissect_l1(&config)->policy.name, "none");
}

static void shares_of_drawn_victims_are_found(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    const struct policy_result *policy = &dissect_l1(&config)->policy;
    assert_string_equal(policy->name, "biased");
    assert_int_equal(policy->probability_count, 4);
    assert_int_equal(policy->serial, SERIAL_NO);
    for (size_t i = 0; i < 4; i++) {
        assert_float_equal(policy->probability[i], i == 1 ? 0.5 : 1.0 / 6, 0.03);
    }
    config.l1.policy = TOY_RANDOM;
    config.l1.ways = 6;
    policy = &dissect_l1(&config)->policy;
    assert_string_equal(policy->name, "random");
    for (size_t i = 0; i < 6; i++) {
        assert_float_equal(policy->probability[i], 1.0 / 6, 0.03);
    }
}

static void a_cache_that_is_never_empty_has_its_rule_or_none(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.present = false;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        config.l2.policy = rules[i].policy;
        dissect_l1(&config);
        const struct policy_result *policy = &found.caches[L2].policy;
        if (policy->name[0]) {
            assert_true(names(policy, rules[i].name));
        } else {
            assert_true(policy->refusal.reason[0] != '\0');
            assert_true(rules[i].policy != TOY_LRU && rules[i].policy != TOY_FIFO);
        }
    }
}

static bool parity(uint64_t value)
{
    return __builtin_popcountll(value) & 1;
}

/* Whatever masks were found, they must say of any two addresses whether they share a set. */
static void assert_masks(const struct index_result *index, const struct toy_cache *cache)
{
    struct rng rng;
    rng_seed(&rng, 5);
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t a = rng_below(&rng, UINT64_C(1) << index->bit_limit);
        uint64_t b = a;
        for (unsigned flips = 1 + i % 4; flips > 0; flips--) {
            b ^= UINT64_C(1) << rng_below(&rng, index->bit_limit);
        }
        bool alike = true;
        for (size_t k = 0; k < index->mask_count; k++) {
            alike = alike && parity(a & index->masks[k]) == parity(b & index->masks[k]);
        }
        bool share = set_of(cache, a / cache->line_bytes) == set_of(cache, b / cache->line_bytes);
        assert_int_equal(alike, share);
    }
}

static void masks_predict_which_addresses_share_a_set(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.index = TOY_XOR;
    for (config.l1.sets = 2; config.l1.sets <= 128; config.l1.sets *= 4) {
        config.l1.policy = config.l1.sets == 8 ? TOY_LRU : TOY_BIASED;
        const struct index_result *index = &dissect_l1(&config)->index;
        assert_string_equal(index->kind, "xor");
        assert_masks(index, &config.l1);
    }
}

static void plain_address_bits_are_told_as_such(void **state)
{
    (void)state;
    const struct index_result *index = &dissect_l1(&fermi)->index;
    assert_string_equal(index->kind, "bits");
    assert_int_equal(index->mask_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(index->masks[i], 128 << i);
    }
}

/* Lines near the buffer's beginning divide as by plain bits; that is not all there is. */
static void a_bit_beyond_what_was_looked_at_is_not_denied(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.index = TOY_FAR;
    const struct index_result *index = &dissect_l1(&config)->index;
    assert_true(strcmp(index->kind, "bits") == 0 || strcmp(index->kind, "xor") == 0);
    assert_int_equal(index->mask_count, 5);
    assert_in_range(index->bit_limit, 14, 32);
    assert_masks(index, &config.l1);
}

static void sets_of_many_ways_that_resist_thrashing_are_found(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1 = (struct toy_cache){true, 192, 32, 2, 32, TOY_SRRIP, TOY_MODULO, 0, 116};
    const struct cache_result *l1 = dissect_l1(&config);
    assert_string_equal(l1->index.kind, "modulo");
    assert_int_equal(l1->index.modulus, 2);
    assert_float_equal(l1->sets.value, 2, 0);
    assert_float_equal(l1->ways.value, 32, 0);
    assert_true(l1->sets.confidence > 0.9);
}

/*
 * A line too many among 384 misses twice a pass, and what was there before goes away one by one.
 * Dissections have no more loads than these for all caches together.
 */
static void sets_that_draw_among_many_ways_and_keep_their_lines_are_found(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.present = false;
    config.l2 = (struct toy_cache){true, 128, 128, 4, 96, TOY_RANDOM, TOY_XOR, 0, 371};
    for (unsigned noisy = 0; noisy < 2; noisy++) {
        config.noise = noisy ? (struct toy_noise){6, 0.001, 0.005} : (struct toy_noise){0};
        struct toy_gpu *toy = toy_create(&config);
        struct trace_source source = toy_source(toy);
        struct infer_options options = {.max_footprint_bytes = UINT64_C(64) << 20,
                                        .max_window = 4096,
                                        .max_cache_loads = 13000000,
                                        .only = "l2,index,sets"};
        assert_int_equal(infer_dissect(&found, &source, &options), 0);
        toy_destroy(toy);
        const struct cache_result *l2 = &found.caches[L2];
        assert_float_equal(l2->sets.value, 4, 0);
        assert_float_equal(l2->ways.value, 96, 0);
        assert_float_equal(l2->size.value, 4 * 96 * 128, 0);
        assert_true(l2->sets.confidence > 0.9);
        assert_masks(&l2->index, &config.l2);
    }
}

static void loads_that_caches_may_not_take_are_left_to_latencies(void **state)
{
    (void)state;
    struct toy_gpu *toy = toy_create(&fermi);
    struct trace_source source = toy_source(toy);
    struct infer_options options = {.max_footprint_bytes = UINT64_C(64) << 20,
                                    .max_window = 6000,
                                    .max_cache_loads = 1000,
                                    .only = "l1_data,index,latency"};
    assert_int_equal(infer_dissect(&found, &source, &options), 0);
    toy_destroy(toy);
    assert_int_equal(found.caches[0].size.status, ATTRIBUTE_NOT_MEASURED);
    assert_non_null(strstr(found.caches[0].size.reason, "more loads than are left"));
    assert_int_equal(found.caches[0].hit_latency.status, ATTRIBUTE_MEASURED);
}

static void a_modulus_that_is_no_power_of_two_is_found(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.sets = 13;
    config.l1.line_bytes = config.l1.sector_bytes = 96;
    const struct index_result *index = &dissect_l1(&config)->index;
    assert_string_equal(index->kind, "modulo");
    assert_int_equal(index->modulus, 13);
}

static void a_single_set_needs_no_index(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.sets = 1;
    config.l1.ways = 32;
    config.l1.policy = TOY_LRU;
    assert_string_equal(dissect_l1(&config)->index.kind, "none");
}

/* Several sets of 64 ways with data for fewer lines than tags may never be crowded by drawn lines.
 */
static void a_single_set_of_many_ways_is_not_certain(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1 = (struct toy_cache){true, 128, 128, 1, 100, TOY_LRU, TOY_MODULO, 0, 116};
    const struct cache_result *l1 = dissect_l1(&config);
    assert_float_equal(l1->sets.value, 1, 0);
    assert_float_equal(l1->ways.value, 100, 0);
    assert_true(l1->sets.confidence < 0.9 && l1->ways.confidence < 0.9);
    assert_true(l1->index.confidence < 0.9);
    assert_true(l1->size.confidence > 0.9);
    config.l1.ways = 12;
    l1 = dissect_l1(&config);
    assert_float_equal(l1->ways.value, 12, 0);
    assert_true(l1->sets.confidence > 0.9 && l1->ways.confidence > 0.9);
}

/* Data for 45 lines under four sets of 14 tags: in order as many fit as if there were one set of 45
 * ways. Drawn lines, fewer than fit, are too many for a set. */
static void data_for_fewer_lines_than_tags_are_no_single_set(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1 = (struct toy_cache){true, 128, 128, 4, 14, TOY_LRU, TOY_XOR, 0, 116};
    config.l1_lines = 45;
    const struct cache_result *l1 = dissect_l1(&config);
    assert_float_equal(l1->size.value, 45 * 128, 0);
    assert_float_equal(l1->sets.value, 4, 0);
    assert_float_equal(l1->ways.value, 14, 0);
    assert_masks(&l1->index, &config.l1);
}

/* Whatever the classes are called, two lines share one exactly if they share a set. */
static void assert_map(const struct index_result *index)
{
    assert_string_equal(index->kind, "map");
    assert_int_equal(index->map_count, 8);
    for (size_t a = 0; a < index->map_count; a++) {
        for (size_t b = 0; b < a; b++) {
            assert_int_equal(index->map[a] == index->map[b], toy_map[a] == toy_map[b]);
        }
    }
}

static void residues_without_a_rule_are_a_map(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.index = TOY_MAP;
    config.l1.sets = 4;
    config.l1.ways = 6;
    for (config.l1.extra_ways = 0; config.l1.extra_ways <= 3; config.l1.extra_ways += 3) {
        config.l1.policy = config.l1.extra_ways ? TOY_LRU : TOY_RANDOM;
        const struct cache_result *l1 = dissect_l1(&config);
        assert_map(&l1->index);
        assert_true(names(&l1->policy, config.l1.extra_ways ? "lru" : "random"));
    }
}

/* Its pattern is longer than what is looked at first. */
static void a_map_of_a_hundred_residues_is_found(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.index = TOY_LONG;
    config.l1.sets = 4;
    config.l1.ways = 2;
    config.l1.policy = TOY_LRU;
    const struct index_result *index = &dissect_l1(&config)->index;
    assert_string_equal(index->kind, "map");
    assert_int_equal(index->modulus, 100);
    for (uint64_t line = 1; line < 100; line++) {
        bool together = set_of(&config.l1, line) == set_of(&config.l1, 0);
        assert_int_equal(index->map[line] == index->map[0], together);
    }
}

static void a_map_with_a_residue_a_set_is_a_modulus(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.index = TOY_PERMUTED;
    config.l1.sets = 5;
    const struct index_result *index = &dissect_l1(&config)->index;
    assert_string_equal(index->kind, "modulo");
    assert_int_equal(index->modulus, 5);
}

static void noise_does_not_hide_shares_nor_many_ways(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.noise = (struct toy_noise){6, 0.002, 0.01};
    const struct policy_result *policy = &dissect_l1(&config)->policy;
    assert_string_equal(policy->name, "biased");
    for (size_t i = 0; i < 4; i++) {
        assert_float_equal(policy->probability[i], i == 1 ? 0.5 : 1.0 / 6, 0.03);
    }
    config.l1.ways = 128; /* PLRU once passed for the victims of so many ways */
    config.l1.sets = 1;
    config.l1.policy = TOY_RANDOM;
    assert_true(names(&dissect_l1(&config)->policy, "random"));
}

static void a_first_level_that_keeps_its_lines_has_its_rule_too(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.keeps_l1 = true;
    config.l1.ways = 16;
    config.l2.sets = 512;
    /* The last one keeps lines of the launch before for so long that no line size shows. */
    for (size_t i = 0; i + 1 < sizeof rules / sizeof *rules; i++) {
        config.l1.policy = rules[i].policy;
        assert_true(names(&dissect_l1(&config)->policy, rules[i].name));
    }
}

static void a_hash_that_is_not_linear_is_unknown(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.index = TOY_HASH;
    const struct index_result *index = &dissect_l1(&config)->index;
    assert_string_equal(index->kind, "");
    assert_true(index->refusal.reason[0] != '\0');
}

static void assert_number(const struct attribute *attribute, double expected)
{
    assert_int_equal(attribute->status, ATTRIBUTE_MEASURED);
    assert_float_equal(attribute->value, expected, 1e-9);
}

static void translation_is_found_with_its_unequal_sets(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.present = false;
    config.l2.sets = 256;
    for (uint64_t page = 65536; page <= UINT64_C(2) << 20; page *= 32) {
        config.l1_tlb = (struct toy_tlb){page, 1, 16, 0, 27};
        config.l2_tlb = (struct toy_tlb){page, 7, 8, 9, 74};
        struct toy_gpu *toy = toy_create(&config);
        struct trace_source source = toy_source(toy);
        struct infer_options options = {
            .max_footprint_bytes = UINT64_C(1) << 30, .max_window = 6000, .only = "tlbs"};
        assert_int_equal(infer_dissect(&found, &source, &options), 0);
        toy_destroy(toy);
        assert_int_equal(found.tlb_count, 2);
        assert_number(&found.tlbs[0].page, (double)page);
        assert_number(&found.tlbs[0].entries, 16);
        assert_number(&found.tlbs[0].sets, 1);
        assert_number(&found.tlbs[0].miss_penalty, 27);
        assert_true(names(&found.tlbs[0].policy, "lru"));
    }
}

/* A first level whose miss costs less than lines are apart, on a device whose loads vary. */
static void translation_shows_behind_lines_that_differ_more(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.present = false;
    config.l2.sets = 1024;
    config.far_cycles = 33;
    config.noise = (struct toy_noise){6, 0.001, 0.002};
    config.l1_tlb = (struct toy_tlb){UINT64_C(16) << 20, 1, 16, 0, 10};
    config.l2_tlb = (struct toy_tlb){UINT64_C(16) << 20, 8, 8, 0, 95};
    for (config.seed = 1; config.seed <= 3; config.seed++) {
        struct toy_gpu *toy = toy_create(&config);
        struct trace_source source = toy_source(toy);
        struct infer_options options = {.max_footprint_bytes = UINT64_C(1) << 30,
                                        .max_mapped_bytes = UINT64_C(4) << 30,
                                        .max_window = 16000,
                                        .only = "tlbs"};
        assert_int_equal(infer_dissect(&found, &source, &options), 0);
        toy_destroy(toy);
        assert_int_equal(found.tlb_count, 2);
        assert_number(&found.tlbs[0].page, 16 << 20);
        assert_number(&found.tlbs[0].entries, 16);
        assert_number(&found.tlbs[0].sets, 1);
        assert_float_equal(found.tlbs[0].miss_penalty.value, 10, 1.5);
        assert_true(names(&found.tlbs[0].policy, "lru"));
        assert_number(&found.tlbs[1].page, 16 << 20);
        assert_number(&found.tlbs[1].entries, 64);
        assert_number(&found.tlbs[1].sets, 8);
        assert_float_equal(found.tlbs[1].miss_penalty.value, 95, 2);
        assert_string_equal(found.tlbs[0].scope, "");
        assert_true(found.tlbs[0].scope_refusal.reason[0] != '\0');
    }
}

static void without_translation_no_level_of_it_shows(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l2.sets = 1024;
    struct toy_gpu *toy = toy_create(&config);
    struct trace_source source = toy_source(toy);
    struct infer_options options = {
        .max_footprint_bytes = UINT64_C(256) << 20, .max_window = 6000, .only = "tlbs"};
    assert_int_equal(infer_dissect(&found, &source, &options), 0);
    toy_destroy(toy);
    assert_int_equal(found.tlb_count, 1);
    assert_false(found.tlbs[0].present);
    assert_true(found.tlbs[0].page.reason[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_of_replacement_is_told_from_the_others),
        cmocka_unit_test(noise_does_not_hide_the_rule),
        cmocka_unit_test(two_ways_cannot_tell_lru_from_a_tree),
        cmocka_unit_test(policies_of_many_ways_are_told_apart_by_more_lines),
        cmocka_unit_test(one_way_has_no_policy),
        cmocka_unit_test(shares_of_drawn_victims_are_found),
        cmocka_unit_test(a_cache_that_is_never_empty_has_its_rule_or_none),
        cmocka_unit_test(masks_predict_which_addresses_share_a_set),
        cmocka_unit_test(plain_address_bits_are_told_as_such),
        cmocka_unit_test(a_bit_beyond_what_was_looked_at_is_not_denied),
        cmocka_unit_test(sets_of_many_ways_that_resist_thrashing_are_found),
        cmocka_unit_test(sets_that_draw_among_many_ways_and_keep_their_lines_are_found),
        cmocka_unit_test(loads_that_caches_may_not_take_are_left_to_latencies),
        cmocka_unit_test(a_modulus_that_is_no_power_of_two_is_found),
        cmocka_unit_test(a_single_set_needs_no_index),
        cmocka_unit_test(a_single_set_of_many_ways_is_not_certain),
        cmocka_unit_test(data_for_fewer_lines_than_tags_are_no_single_set),
        cmocka_unit_test(residues_without_a_rule_are_a_map),
        cmocka_unit_test(a_map_of_a_hundred_residues_is_found),
        cmocka_unit_test(a_map_with_a_residue_a_set_is_a_modulus),
        cmocka_unit_test(noise_does_not_hide_shares_nor_many_ways),
        cmocka_unit_test(a_first_level_that_keeps_its_lines_has_its_rule_too),
        cmocka_unit_test(a_hash_that_is_not_linear_is_unknown),
        cmocka_unit_test(translation_is_found_with_its_unequal_sets),
        cmocka_unit_test(translation_shows_behind_lines_that_differ_more),
        cmocka_unit_test(without_translation_no_level_of_it_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
