/*
 * Replacement policies through a cache of one or more sets, against models written from the
 * policies' definitions and not from the code: a recency list, a queue, an explicit tree, sets of
 * bits. A reference is a set of lines; the question is always only "hit or miss?", which is all
 * that a probe can see.
 */
#include "support/cache_rig.h"

enum { LINE_BYTES = 128, MAX_WAYS = 130, EMPTY = -1 };

/* A reference model of one set. */
struct model {
    uint32_t ways;
    int64_t line[MAX_WAYS];
    uint64_t used_at[MAX_WAYS], filled_at[MAX_WAYS];
    uint64_t time, hits;
    bool bit[MAX_WAYS];
    uint32_t rrpv[MAX_WAYS];
    uint32_t upper[16][256]; /* tree: [level][node]: 1: take the upper half next */
};

typedef uint32_t model_victim(struct model *model);
typedef void model_use(struct model *model, uint32_t way, bool fill);

static uint32_t victim_lru(struct model *model)
{
    uint32_t oldest = 0;
    for (uint32_t way = 1; way < model->ways; way++) {
        oldest = model->used_at[way] < model->used_at[oldest] ? way : oldest;
    }
    return oldest;
}

static uint32_t victim_fifo(struct model *model)
{
    uint32_t oldest = 0;
    for (uint32_t way = 1; way < model->ways; way++) {
        oldest = model->filled_at[way] < model->filled_at[oldest] ? way : oldest;
    }
    return oldest;
}

static void use_time(struct model *model, uint32_t way, bool fill)
{
    model->used_at[way] = ++model->time;
    if (fill) {
        model->filled_at[way] = model->time;
    }
}

/* A hit's place is its number, a fill's lies between those of the hits two and three back. */
static void use_late(struct model *model, uint32_t way, bool fill)
{
    model->time++;
    model->hits += !fill;
    uint64_t behind = model->hits < 2 ? 0 : model->hits - 2;
    model->used_at[way] = fill ? (behind << 20) + model->time : model->hits << 20;
}

static uint32_t victim_nru(struct model *model)
{
    for (uint32_t way = 0; way < model->ways; way++) {
        if (!model->bit[way]) {
            return way;
        }
    }
    return 0;
}

static void use_nru(struct model *model, uint32_t way, bool fill)
{
    (void)fill;
    uint32_t set = 0;
    model->bit[way] = true;
    for (uint32_t i = 0; i < model->ways; i++) {
        set += model->bit[i];
    }
    for (uint32_t i = 0; set == model->ways && i < model->ways; i++) {
        model->bit[i] = i == way;
    }
}

static uint32_t victim_srrip(struct model *model)
{
    for (;;) {
        for (uint32_t way = 0; way < model->ways; way++) {
            if (model->rrpv[way] == 3) {
                return way;
            }
        }
        for (uint32_t way = 0; way < model->ways; way++) {
            model->rrpv[way]++;
        }
    }
}

static void use_srrip(struct model *model, uint32_t way, bool fill)
{
    model->rrpv[way] = fill ? 2 : 0;
}

static uint32_t tree_levels(uint32_t ways)
{
    uint32_t levels = 0;
    while (UINT32_C(1) << levels < ways) {
        levels++;
    }
    return levels;
}

static uint32_t victim_plru(struct model *model)
{
    uint32_t levels = tree_levels(model->ways), prefix = 0;
    for (uint32_t level = 0; level < levels; level++) {
        uint32_t below = levels - level - 1;
        uint32_t upper_first = (2 * prefix + 1) << below;
        bool upper = model->upper[level][prefix] && upper_first < model->ways;
        prefix = 2 * prefix + upper;
    }
    return prefix;
}

static void use_plru(struct model *model, uint32_t way, bool fill)
{
    (void)fill;
    uint32_t levels = tree_levels(model->ways);
    for (uint32_t level = 0; level < levels; level++) {
        uint32_t prefix = way >> (levels - level);
        uint32_t went_upper = way >> (levels - level - 1) & 1;
        model->upper[level][prefix] = !went_upper;
    }
}

static bool model_access(struct model *model, int64_t line, model_victim *victim, model_use *use)
{
    for (uint32_t way = 0; way < model->ways; way++) {
        if (model->line[way] == line) {
            use(model, way, false);
            return true;
        }
    }
    uint32_t way = 0;
    while (way < model->ways && model->line[way] != EMPTY) {
        way++;
    }
    way = way < model->ways ? way : victim(model);
    model->line[way] = line;
    use(model, way, true);
    return false;
}

static void open_set(struct cache_rig *f, enum replacement_kind kind, uint32_t ways)
{
    cache_rig_open(f, 10);
    rig_resize(&f->spec, LINE_BYTES, 1, ways);
    f->spec.replacement.kind = kind;
}

static bool cache_access(struct cache_rig *f, uint64_t line)
{
    enum mem_level served_at;
    probe_alone(f->engine, f->port, MEM_READ, line * LINE_BYTES, 4, &served_at);
    return served_at == MEM_AT_L2;
}

static void agree(enum replacement_kind kind, uint32_t ways, model_victim *victim, model_use *use)
{
    struct cache_rig f;
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model->ways = ways;
    for (uint32_t way = 0; way < ways; way++) {
        model->line[way] = EMPTY;
    }
    open_set(&f, kind, ways);
    cache_rig_start(&f, MEM_AT_L2);
    struct rng rng;
    rng_seed(&rng, ways);
    uint32_t hits = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        /* half of it local, so that there are hits to order the ways by */
        uint64_t line = rng_below(&rng, i % 2 ? ways + 1 : ways * 2);
        bool expected = model_access(model, (int64_t)line, victim, use);
        assert_int_equal(cache_access(&f, line), expected);
        hits += expected;
    }
    assert_true(hits > 2000 && hits < 19900);
    assert_int_equal(mem_cache_stats(f.cache)->read_hits, hits);
    cache_rig_close(&f);
    free(model);
}

static const uint32_t some_ways[] = {1, 2, 3, 4, 6, 8, 16, 24, 96, 128};

#define AGREES(name, kind, victim, use)                                                            \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        for (size_t i = 0; i < sizeof some_ways / sizeof *some_ways; i++) {                        \
            agree(kind, some_ways[i], victim, use);                                                \
        }                                                                                          \
    }

AGREES(lru_agrees_with_a_recency_list, REPLACE_LRU, victim_lru, use_time)
AGREES(lru_late_agrees_with_places_between_hits, REPLACE_LRU_LATE, victim_lru, use_late)
AGREES(fifo_agrees_with_a_queue_of_fills, REPLACE_FIFO, victim_fifo, use_time)
AGREES(plru_agrees_with_an_explicit_tree, REPLACE_PLRU, victim_plru, use_plru)
AGREES(nru_agrees_with_used_bits, REPLACE_NRU, victim_nru, use_nru)
AGREES(srrip_agrees_with_counters_that_step_one_by_one, REPLACE_SRRIP, victim_srrip, use_srrip)

/*
 * Which way each miss takes, seen from outside: lines 0 .. ways - 1 fill the ways in order; after
 * each further line exactly one known line is gone.
 */
static void count_victims(struct cache_rig *f, uint32_t ways, uint32_t misses, uint32_t *victims)
{
    uint64_t held[MAX_WAYS];
    for (uint32_t way = 0; way < ways; way++) {
        assert_false(cache_access(f, way));
        held[way] = way;
    }
    for (uint32_t i = 0; i < misses; i++) {
        uint64_t line = ways + i;
        assert_false(cache_access(f, line));
        uint32_t gone = 0, victim = 0;
        for (uint32_t way = 0; way < ways; way++) {
            if (!mem_cache_holds(f->cache, held[way] * LINE_BYTES, LINE_BYTES)) {
                gone++;
                victim = way;
            }
        }
        assert_int_equal(gone, 1);
        held[victim] = line;
        victims[i] = victim;
    }
}

enum { DRAWS = 60000 };

static void check_frequencies(const uint32_t *victims, uint32_t ways, const double *probability)
{
    uint32_t count[MAX_WAYS] = {0};
    for (uint32_t i = 0; i < DRAWS; i++) {
        count[victims[i]]++;
    }
    for (uint32_t way = 0; way < ways; way++) {
        /* five standard deviations of 60000 draws are below 0.0103 */
        assert_true((double)count[way] / DRAWS > probability[way] - 0.0103);
        assert_true((double)count[way] / DRAWS < probability[way] + 0.0103);
    }
}

/* How often the victim is way 1 right after it was way 1. */
static double repeats(const uint32_t *victims)
{
    uint32_t after = 0, again = 0;
    for (uint32_t i = 1; i < DRAWS; i++) {
        after += victims[i - 1] == 1;
        again += victims[i - 1] == 1 && victims[i] == 1;
    }
    return (double)again / after;
}

static const double fermi[4] = {1.0 / 6, 1.0 / 2, 1.0 / 6, 1.0 / 6};

static void random_takes_each_way_equally_often(void **state)
{
    (void)state;
    static uint32_t victims[DRAWS];
    const double even[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
    struct cache_rig f;
    open_set(&f, REPLACE_RANDOM, 3);
    f.spec.replacement.seed = 5;
    cache_rig_start(&f, MEM_AT_L2);
    count_victims(&f, 3, DRAWS, victims);
    check_frequencies(victims, 3, even);
    assert_true(repeats(victims) > 0.31 && repeats(victims) < 0.36);
    cache_rig_close(&f);
}

static void biased_takes_ways_by_their_probabilities_independently(void **state)
{
    (void)state;
    static uint32_t victims[DRAWS];
    struct cache_rig f;
    open_set(&f, REPLACE_BIASED, 4);
    f.spec.replacement.probability_count = 4;
    memcpy(f.spec.replacement.probability, fermi, sizeof fermi);
    cache_rig_start(&f, MEM_AT_L2);
    count_victims(&f, 4, DRAWS, victims);
    check_frequencies(victims, 4, fermi);
    assert_true(repeats(victims) > 0.485 && repeats(victims) < 0.515);
    cache_rig_close(&f);
}

static void a_way_of_probability_one_is_always_the_victim(void **state)
{
    (void)state;
    uint32_t victims[100];
    const double sure[4] = {0, 0, 1, 0};
    struct cache_rig f;
    open_set(&f, REPLACE_BIASED, 4);
    f.spec.replacement.probability_count = 4;
    memcpy(f.spec.replacement.probability, sure, sizeof sure);
    assert_int_equal(mem_cache_check(&f.spec), 0);
    cache_rig_start(&f, MEM_AT_L2);
    count_victims(&f, 4, 100, victims);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(victims[i], 2);
    }
    cache_rig_close(&f);
}

static void biased_alternating_takes_the_likeliest_way_every_second_miss(void **state)
{
    (void)state;
    static uint32_t victims[DRAWS];
    struct cache_rig f;
    open_set(&f, REPLACE_BIASED_ALTERNATING, 4);
    f.spec.replacement.probability_count = 4;
    memcpy(f.spec.replacement.probability, fermi, sizeof fermi);
    cache_rig_start(&f, MEM_AT_L2);
    count_victims(&f, 4, DRAWS, victims);
    check_frequencies(victims, 4, fermi);
    for (uint32_t i = 0; i < DRAWS; i++) {
        assert_int_equal(victims[i] == 1, i % 2 == 1);
    }
    cache_rig_close(&f);
}

static void random_policies_repeat_with_their_seed_and_differ_without(void **state)
{
    (void)state;
    uint32_t victims[3][200];
    for (uint32_t run = 0; run < 3; run++) {
        struct cache_rig f;
        open_set(&f, REPLACE_RANDOM, 8);
        f.spec.replacement.seed = run < 2 ? 1 : 2;
        cache_rig_start(&f, MEM_AT_L2);
        count_victims(&f, 8, 200, victims[run]);
        cache_rig_close(&f);
    }
    assert_memory_equal(victims[0], victims[1], sizeof victims[0]);
    assert_memory_not_equal(victims[0], victims[2], sizeof victims[0]);
}

static void probabilities_that_are_none_are_refused(void **state)
{
    (void)state;
    struct cache_rig f;
    open_set(&f, REPLACE_BIASED, 4);
    f.spec.replacement.probability_count = 3;
    assert_int_equal(mem_cache_check(&f.spec), SONDE_EINPUT);
    assert_string_equal(error_text(), "replacement: 3 probabilities for 4 ways");
    f.spec.replacement.probability_count = 4;
    assert_int_equal(mem_cache_check(&f.spec), SONDE_EINPUT);
    assert_string_equal(error_text(), "replacement: the probabilities add up to 0, not 1");
    f.spec.replacement.probability[2] = -1;
    assert_int_equal(mem_cache_check(&f.spec), SONDE_EINPUT);
    assert_string_equal(error_text(), "replacement: probability 2 is -1, not 0 to 1");
    f.spec.replacement.kind = REPLACE_KIND_COUNT;
    assert_int_equal(mem_cache_check(&f.spec), SONDE_EINPUT);
    assert_string_equal(error_text(), "replacement: unknown policy 9");
    cache_rig_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru_agrees_with_a_recency_list),
        cmocka_unit_test(lru_late_agrees_with_places_between_hits),
        cmocka_unit_test(fifo_agrees_with_a_queue_of_fills),
        cmocka_unit_test(plru_agrees_with_an_explicit_tree),
        cmocka_unit_test(nru_agrees_with_used_bits),
        cmocka_unit_test(srrip_agrees_with_counters_that_step_one_by_one),
        cmocka_unit_test(random_takes_each_way_equally_often),
        cmocka_unit_test(biased_takes_ways_by_their_probabilities_independently),
        cmocka_unit_test(a_way_of_probability_one_is_always_the_victim),
        cmocka_unit_test(biased_alternating_takes_the_likeliest_way_every_second_miss),
        cmocka_unit_test(random_policies_repeat_with_their_seed_and_differ_without),
        cmocka_unit_test(probabilities_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
