/* Dissections of toy GPUs, one property each. All expected values come from the toy's
 * configuration. */
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
    .l2 = {true, 128, 32, 256, 16, TOY_LRU, TOY_MODULO, 0, 371},
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

static struct infer_options default_options(void)
{
    return (struct infer_options){.max_footprint_bytes = UINT64_C(64) << 20, .max_window = 6000};
}

static int dissect_with(const struct toy_config *config, const struct infer_options *options)
{
    struct toy_gpu *toy = toy_create(config);
    struct trace_source source = toy_source(toy);
    int rc = infer_dissect(&found, &source, options);
    toy_destroy(toy);
    return rc;
}

static void dissect(const struct toy_config *config)
{
    struct infer_options options = default_options();
    assert_int_equal(dissect_with(config, &options), 0);
    assert_int_equal(found.cache_count, CACHES);
    assert_string_equal(found.caches[L2].id, "l2");
}

static void assert_value(const struct attribute *attribute, double expected)
{
    if (attribute->status != ATTRIBUTE_MEASURED) {
        print_error("not measured: %s\n", attribute->reason);
    }
    assert_int_equal(attribute->status, ATTRIBUTE_MEASURED);
    assert_float_equal(attribute->value, expected, 1e-9);
    assert_true(attribute->confidence > 0 && attribute->confidence <= 1);
    assert_true(attribute->evidence[0] != '\0');
}

static const struct cache_result *find_cache(const struct dissection *d, const char *id)
{
    for (size_t i = 0; i < d->cache_count; i++) {
        if (strcmp(d->caches[i].id, id) == 0) {
            return &d->caches[i];
        }
    }
    fail_msg("no cache %s", id);
    return NULL;
}

static void assert_refused_as(const struct attribute *attribute, enum attribute_status status)
{
    assert_int_equal(attribute->status, status);
    assert_true(attribute->reason[0] != '\0');
}

static void assert_refused(const struct attribute *attribute)
{
    assert_refused_as(attribute, ATTRIBUTE_NOT_MEASURED);
}

static void assert_geometry(const struct cache_result *result, const struct toy_cache *cache)
{
    assert_true(result->present);
    assert_value(&result->size, (double)cache->line_bytes * cache->sets * cache->ways);
    assert_value(&result->line, cache->line_bytes);
    assert_value(&result->fetch_granularity, cache->sector_bytes);
    assert_value(&result->sets, cache->sets);
    assert_value(&result->ways, cache->ways);
    assert_value(&result->hit_latency, cache->hit_cycles);
}

static void assert_all_refused_as(const struct cache_result *result, enum attribute_status status)
{
    const struct attribute *all[] = {&result->size,
                                     &result->line,
                                     &result->fetch_granularity,
                                     &result->sets,
                                     &result->ways,
                                     &result->hit_latency,
                                     &result->miss_penalty,
                                     &result->load_to_use_latency};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_refused_as(all[i], status);
    }
}

static void assert_all_refused(const struct cache_result *result)
{
    assert_all_refused_as(result, ATTRIBUTE_NOT_MEASURED);
}

static void a_fermi_like_hierarchy_is_found_whole(void **state)
{
    (void)state;
    dissect(&fermi);
    assert_geometry(&found.caches[0], &fermi.l1);
    assert_geometry(&found.caches[L2], &fermi.l2);
    assert_string_equal(found.caches[0].id, "l1_data");
    assert_string_equal(found.caches[0].scope, "sm");
    assert_value(&found.caches[0].miss_penalty, 371 - 116);
    assert_value(&found.caches[L2].miss_penalty, 639 - 371);
    assert_value(&found.caches[0].load_to_use_latency, 108);
    assert_value(&found.memory_latency, 639);
    assert_int_equal(found.caches[0].carveout_shared.status, ATTRIBUTE_MEASURED);
}

static void the_answer_does_not_depend_on_the_replacement_policy(void **state)
{
    (void)state;
    for (int policy = 0; policy < TOY_POLICIES; policy++) {
        struct toy_config config = fermi;
        config.l1.policy = (enum toy_policy)policy;
        dissect(&config);
        assert_geometry(&found.caches[0], &config.l1);
    }
}

static void nothing_needs_to_be_a_power_of_two(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1 = (struct toy_cache){true, 96, 32, 13, 5, TOY_SRRIP, TOY_MODULO, 0, 33};
    config.l2 = (struct toy_cache){true, 160, 160, 100, 12, TOY_FIFO, TOY_MODULO, 0, 217};
    dissect(&config);
    assert_geometry(&found.caches[0], &config.l1);
    assert_geometry(&found.caches[L2], &config.l2);
}

static void a_sectored_line_is_told_from_its_fetch_unit(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1 = (struct toy_cache){true, 128, 32, 64, 4, TOY_LRU, TOY_XOR, 0, 33};
    dissect(&config);
    assert_geometry(&found.caches[0], &config.l1);
}

static void direct_mapped_and_fully_associative_caches_are_told(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.sets = 64;
    config.l1.ways = 1;
    config.l1.policy = TOY_LRU;
    dissect(&config);
    assert_geometry(&found.caches[0], &config.l1);
    config.l1.sets = 1;
    config.l1.ways = 128;
    dissect(&config);
    assert_geometry(&found.caches[0], &config.l1);
}

static void unequal_sets_have_ways_each(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.extra_ways = 2;
    dissect(&config);
    const struct cache_result *l1 = &found.caches[0];
    assert_refused(&l1->ways);
    assert_value(&l1->sets, 32);
    assert_value(&l1->line, 128);
    assert_value(&l1->size, 128 * (32 * 4 + 2));
    assert_int_equal(l1->ways_per_set_count, 32);
    unsigned longer = 0;
    for (size_t i = 0; i < 32; i++) {
        assert_true(l1->ways_per_set[i] == 4 || l1->ways_per_set[i] == 6);
        longer += l1->ways_per_set[i] == 6;
    }
    assert_int_equal(longer, 1);
}

static void a_cache_smaller_than_the_first_circle_is_found(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.present = false;
    config.l2.sets = 1;
    config.l2.ways = 4; /* 512 B */
    dissect(&config);
    assert_geometry(&found.caches[L2], &config.l2);
}

static void sets_of_an_uneven_hash_are_found_one_by_one(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.index = TOY_HASH;
    dissect(&config);
    assert_value(&found.caches[0].sets, config.l1.sets);
    assert_value(&found.caches[0].size,
                 (double)config.l1.line_bytes * config.l1.sets * config.l1.ways);
}

static void a_missing_first_level_is_absent_and_hides_nothing(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.present = false;
    dissect(&config);
    assert_false(found.caches[0].present);
    assert_int_equal(found.caches[0].absence.status, ATTRIBUTE_ABSENT);
    assert_all_refused_as(&found.caches[0], ATTRIBUTE_ABSENT);
    assert_geometry(&found.caches[L2], &config.l2);
}

static void without_any_cache_the_memory_still_has_a_latency(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.present = config.l2.present = false;
    dissect(&config);
    assert_false(found.caches[0].present);
    assert_false(found.caches[L2].present);
    assert_int_equal(found.caches[L2].absence.status, ATTRIBUTE_ABSENT);
    assert_all_refused_as(&found.caches[L2], ATTRIBUTE_ABSENT);
    assert_value(&found.memory_latency, 639);
}

static void shuffled_latencies_say_nothing(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.shuffle = true;
    for (config.seed = 1; config.seed <= 5; config.seed++) {
        dissect(&config);
        assert_all_refused(&found.caches[0]);
        assert_all_refused(&found.caches[L2]);
        assert_refused(&found.memory_latency);
    }
}

static void near_and_far_hits_are_two_classes_of_one_cache(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.far_cycles = 80;
    dissect(&config);
    const struct cache_result *l2 = &found.caches[L2];
    assert_int_equal(l2->latency_count, 2);
    assert_float_equal(l2->latencies[0].cycles, 371, 1e-9);
    assert_float_equal(l2->latencies[1].cycles, 451, 1e-9);
    assert_value(&l2->size, 524288);
}

static void steps_of_the_sweep_lie_around_the_size(void **state)
{
    (void)state;
    dissect(&fermi);
    const struct cache_result *l1 = &found.caches[0];
    assert_true(l1->step_count > 8);
    for (size_t i = 0; i < l1->step_count; i++) {
        if (l1->steps[i].bytes <= 16384) {
            assert_true(l1->steps[i].miss_share == 0);
        } else {
            assert_true(l1->steps[i].miss_share > 0);
        }
    }
}

static void a_cache_of_many_megabytes_is_told_by_drawn_lines(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l2.sets = 8192;
    dissect(&config);
    const struct cache_result *l2 = &found.caches[L2];
    assert_value(&l2->size, 16 << 20);
    assert_value(&l2->sets, 8192);
    assert_value(&l2->fetch_granularity, 32);
}

static void a_rule_of_many_ways_shows_where_nothing_predicts_the_sets(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l2.sets = 1024;
    config.l2.ways = 32;
    config.l2.policy = TOY_SRRIP;
    config.l2.index = TOY_HASH;
    dissect(&config);
    const struct cache_result *l2 = &found.caches[L2];
    assert_value(&l2->ways, 32);
    assert_string_equal(l2->policy.name, "srrip");
    assert_int_equal(l2->policy.equivalent_count, 0);
}

static void the_same_source_gives_the_same_answer(void **state)
{
    (void)state;
    static struct dissection before;
    struct toy_config config = fermi;
    config.noise = (struct toy_noise){8, 0.002, 0.01};
    dissect(&config);
    before = found;
    dissect(&config);
    assert_memory_equal(&before, &found, sizeof found);
}

static const struct method_result *method(const char *name)
{
    for (size_t i = 0; i < found.method_count; i++) {
        if (strcmp(found.methods[i].name, name) == 0) {
            assert_string_equal(found.methods[i].cache, "l1_data");
            return &found.methods[i];
        }
    }
    fail_msg("no method %s", name);
    return NULL;
}

static void mei_four_steps_find_the_fermi_cache_and_that_it_is_not_lru(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    dissect(&config);
    const struct method_result *mei = method("mei");
    assert_value(&mei->size, 16384);
    assert_value(&mei->line, 128);
    assert_value(&mei->sets, 32);
    assert_value(&mei->ways, 4);
    assert_value(&mei->periodic, 0);
    config.l1.policy = TOY_LRU;
    dissect(&config);
    assert_value(&method("mei")->periodic, 1);
}

static void averages_take_the_fetch_unit_of_a_sectored_cache_for_its_line(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.l1.policy = TOY_LRU;
    dissect(&config);
    assert_value(&method("saavedra")->line, 128);
    assert_value(&method("saavedra")->ways, 4);
    assert_value(&method("saavedra")->sets, 32);
    assert_value(&method("wong")->size, 16384);
    assert_value(&method("wong")->sets, 32);
    assert_value(&method("wong")->ways, 4);
    config.l1.sector_bytes = 32;
    dissect(&config);
    assert_value(&method("saavedra")->line, 32);
    assert_value(&method("mei")->line, 128);
}

static void only_and_skip_choose_experiments(void **state)
{
    (void)state;
    struct infer_options options = default_options();
    options.only = "latency";
    assert_int_equal(dissect_with(&fermi, &options), 0);
    assert_value(&found.caches[0].hit_latency, 116);
    assert_refused_as(&found.caches[0].ways, ATTRIBUTE_NOT_ASKED);
    options.only = NULL;
    options.skip = "ways,sweep";
    assert_int_equal(dissect_with(&fermi, &options), 0);
    assert_refused_as(&found.caches[0].ways, ATTRIBUTE_NOT_ASKED);
    assert_refused_as(&found.caches[0].line, ATTRIBUTE_NOT_ASKED);
    assert_string_equal(found.caches[0].line.reason, "not asked for");
    assert_int_equal(found.caches[0].step_count, 0);
}

/* The caches that an experiment on the device looks at, the one in front of a cache, and no more.
 */
static void an_experiment_brings_what_it_needs(void **state)
{
    (void)state;
    struct infer_options options = default_options();
    options.only = "sharing,l1_data";
    assert_int_equal(dissect_with(&fermi, &options), 0);
    assert_value(&found.caches[0].size, 128.0 * 32 * 4);
    assert_true(found.caches[0].sharing_known);
    assert_int_equal(found.caches[L2].absence.status, ATTRIBUTE_NOT_ASKED);
    options.only = "memory";
    assert_int_equal(dissect_with(&fermi, &options), 0);
    assert_value(&found.caches[L2].size, 128.0 * 256 * 16);
    assert_refused(&found.memory.read_bandwidth); /* a toy has no such probe */
    assert_int_equal(found.caches[0].absence.status, ATTRIBUTE_NOT_ASKED);
    assert_int_equal(found.shared.banks.status, ATTRIBUTE_NOT_ASKED);
    options.only = "constant_l15";
    assert_int_equal(dissect_with(&fermi, &options), 0);
    for (size_t i = 0; i < CACHES; i++) {
        const struct cache_result *cache = &found.caches[i];
        bool asked = strncmp(cache->id, "constant_", 9) == 0;
        assert_true(asked == (cache->absence.status != ATTRIBUTE_NOT_ASKED));
    }
}

/* Of two ways under lru_late one keeps its line while others take turns in the other: the lines
 * that miss alone look like a set of one way. */
static void a_line_that_stays_is_of_the_set_of_those_that_miss(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    struct infer_options options = default_options();
    options.only = "constant_l15,index,policy";
    config.constant_l1 = (struct toy_cache){true, 64, 64, 14, 4, TOY_LRU_LATE, TOY_HASH, 0, 50};
    config.constant_l15 = (struct toy_cache){true, 128, 64, 64, 2, TOY_LRU_LATE, TOY_MODULO, 0, 96};
    assert_int_equal(dissect_with(&config, &options), 0);
    const struct cache_result *cache = find_cache(&found, "constant_l15");
    assert_value(&cache->size, 128.0 * 64 * 2);
    assert_value(&cache->ways, 2);
    assert_value(&cache->sets, 64);
}

/* A cache whose hits take longer than loads from L2, which lies behind it. */
static void a_second_cache_may_answer_later_than_what_lies_behind_it(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    struct infer_options options = default_options();
    options.only = "constant_l15";
    config.constant_l1 = (struct toy_cache){true, 64, 64, 8, 4, TOY_LRU, TOY_MODULO, 0, 50};
    config.constant_l15 = (struct toy_cache){true, 128, 64, 16, 8, TOY_LRU, TOY_MODULO, 0, 450};
    for (int noisy = 0; noisy < 2; noisy++) {
        config.noise = noisy ? (struct toy_noise){4, 0.002, 0.01} : (struct toy_noise){0};
        assert_int_equal(dissect_with(&config, &options), 0);
        const struct cache_result *cache = find_cache(&found, "constant_l15");
        assert_true(cache->present);
        assert_value(&cache->size, 128.0 * 16 * 8);
        assert_value(&cache->line, 128);
        assert_value(&cache->fetch_granularity, 64);
        assert_value(&cache->sets, 16);
        assert_value(&cache->ways, 8);
        assert_string_equal(cache->policy.name, "lru");
        assert_float_equal(cache->hit_latency.value, 450, noisy ? 3 : 0);
        assert_float_equal(cache->miss_penalty.value, 371 - 450, noisy ? 4 : 0);
    }
    /* Without it nothing is made up. */
    config.constant_l15.present = false;
    assert_int_equal(dissect_with(&config, &options), 0);
    assert_false(find_cache(&found, "constant_l15")->present);
}

static void an_unknown_experiment_is_wrong_usage(void **state)
{
    (void)state;
    struct infer_options options = default_options();
    options.only = "latency,magic";
    assert_int_equal(dissect_with(&fermi, &options), SONDE_EUSAGE);
    assert_non_null(strstr(error_text(), "magic"));
}

static void a_cancelled_dissection_says_so(void **state)
{
    (void)state;
    volatile int cancel = 1;
    struct infer_options options = default_options();
    options.cancel = &cancel;
    assert_int_equal(dissect_with(&fermi, &options), SONDE_EINTERRUPTED);
}

/* ---- sources that do not behave ---- */

static int nothing_recorded(void *ctx, const struct trace **out,
                            const struct trace_request *request)
{
    (void)ctx;
    (void)out;
    return error_set(SONDE_ENOTRECORDED, "%s is not in the recording", request->probe);
}

static void an_empty_recording_measures_nothing_and_says_why(void **state)
{
    (void)state;
    struct trace_source source = {.get = nothing_recorded};
    struct infer_options options = default_options();
    assert_int_equal(infer_dissect(&found, &source, &options), 0);
    assert_all_refused_as(&found.caches[0], ATTRIBUTE_NOT_RECORDED);
    assert_int_equal(found.caches[L2].policy.refusal.status, ATTRIBUTE_NOT_RECORDED);
    assert_refused_as(&found.memory_latency, ATTRIBUTE_NOT_RECORDED);
    assert_non_null(strstr(found.caches[L2].size.reason, "not in the recording"));
}

/* Refuses what is longer than a first-level cache, as a device does that finds it too dear. */
static int refuse_long_walks(void *ctx, const struct trace **out,
                             const struct trace_request *request)
{
    struct trace_source toy = toy_source(ctx);
    uint64_t bytes = 0;
    static struct trace refused = {.status = SONDE_EUNSUPPORTED, .reason = "too dear"};
    if (trace_request_u64(request, "bytes", &bytes) && bytes > 65536) {
        *out = &refused;
        return 0;
    }
    return toy.get(toy.ctx, out, request);
}

static void a_refused_walk_shows_neither_that_no_cache_is_there_nor_the_memory(void **state)
{
    (void)state;
    struct infer_options options = default_options();
    struct toy_gpu *toy = toy_create(&fermi);
    struct trace_source source = {.get = refuse_long_walks, .ctx = toy};
    assert_int_equal(infer_dissect(&found, &source, &options), 0);
    assert_value(&found.caches[0].hit_latency, 116);
    assert_false(found.caches[L2].present);
    assert_int_equal(found.caches[L2].absence.status, ATTRIBUTE_NOT_MEASURED);
    assert_non_null(strstr(found.caches[L2].absence.reason, "too dear"));
    assert_refused(&found.memory_latency);
    /* What was seen of it is told, without a name. */
    assert_non_null(
        strstr(found.memory_latency.reason, "too dear; loads through 64 KiB take 371 cycles"));
    toy_destroy(toy);
}

/* A cache of many megabytes would look the same in so little memory. */
static void short_walks_that_are_all_alike_show_nothing(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    struct infer_options options = default_options();
    config.l1.present = false;
    options.max_footprint_bytes = 65536; /* L2 has 512 KiB */
    assert_int_equal(dissect_with(&config, &options), 0);
    assert_int_equal(found.caches[L2].absence.status, ATTRIBUTE_NOT_MEASURED);
    assert_refused(&found.memory_latency);
}

static int broken_device(void *ctx, const struct trace **out, const struct trace_request *request)
{
    (void)ctx;
    (void)out;
    (void)request;
    return error_set(SONDE_EDEVICE, "the device fell off the bus");
}

static void a_broken_source_ends_the_dissection(void **state)
{
    (void)state;
    struct trace_source source = {.get = broken_device};
    struct infer_options options = default_options();
    assert_int_equal(infer_dissect(&found, &source, &options), SONDE_EDEVICE);
}

static void refused_windows_cost_only_what_needs_them(void **state)
{
    (void)state;
    struct toy_config config = fermi;
    config.max_window = 1024; /* the caller believes in more: L2's long windows are refused */
    dissect(&config);
    assert_geometry(&found.caches[0], &config.l1);
    assert_refused(&found.caches[L2].sets);
    assert_non_null(strstr(found.caches[L2].sets.reason, "refused"));
}

struct told {
    double last; /* fraction */
    unsigned calls;
    char what[64];
};

static void tell(void *ctx, double fraction, const char *what)
{
    struct told *told = ctx;
    assert_true(fraction >= told->last && fraction < 1);
    told->last = fraction;
    told->calls++;
    snprintf(told->what, sizeof told->what, "%s", what);
}

/* What follows the caches has its part: a line that stands at 100 % tells nobody how much is left.
 */
static void progress_grows_and_is_short_of_all_while_something_is_measured(void **state)
{
    (void)state;
    static const char *const asked[] = {NULL, "l1_data", "memory,copy"};
    static const double least[] = {0.8, 0.9, 0.4};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        struct told told = {0};
        struct infer_options options = default_options();
        options.only = asked[i];
        options.progress = tell;
        options.progress_ctx = &told;
        assert_int_equal(dissect_with(&fermi, &options), 0);
        assert_true(told.calls > 1 && told.what[0] != '\0');
        assert_true(told.last >= least[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fermi_like_hierarchy_is_found_whole),
        cmocka_unit_test(the_answer_does_not_depend_on_the_replacement_policy),
        cmocka_unit_test(nothing_needs_to_be_a_power_of_two),
        cmocka_unit_test(a_sectored_line_is_told_from_its_fetch_unit),
        cmocka_unit_test(direct_mapped_and_fully_associative_caches_are_told),
        cmocka_unit_test(unequal_sets_have_ways_each),
        cmocka_unit_test(a_cache_smaller_than_the_first_circle_is_found),
        cmocka_unit_test(sets_of_an_uneven_hash_are_found_one_by_one),
        cmocka_unit_test(a_missing_first_level_is_absent_and_hides_nothing),
        cmocka_unit_test(without_any_cache_the_memory_still_has_a_latency),
        cmocka_unit_test(shuffled_latencies_say_nothing),
        cmocka_unit_test(near_and_far_hits_are_two_classes_of_one_cache),
        cmocka_unit_test(steps_of_the_sweep_lie_around_the_size),
        cmocka_unit_test(a_cache_of_many_megabytes_is_told_by_drawn_lines),
        cmocka_unit_test(a_rule_of_many_ways_shows_where_nothing_predicts_the_sets),
        cmocka_unit_test(the_same_source_gives_the_same_answer),
        cmocka_unit_test(mei_four_steps_find_the_fermi_cache_and_that_it_is_not_lru),
        cmocka_unit_test(averages_take_the_fetch_unit_of_a_sectored_cache_for_its_line),
        cmocka_unit_test(only_and_skip_choose_experiments),
        cmocka_unit_test(an_experiment_brings_what_it_needs),
        cmocka_unit_test(a_refused_walk_shows_neither_that_no_cache_is_there_nor_the_memory),
        cmocka_unit_test(short_walks_that_are_all_alike_show_nothing),
        cmocka_unit_test(an_unknown_experiment_is_wrong_usage),
        cmocka_unit_test(a_line_that_stays_is_of_the_set_of_those_that_miss),
        cmocka_unit_test(a_second_cache_may_answer_later_than_what_lies_behind_it),
        cmocka_unit_test(a_cancelled_dissection_says_so),
        cmocka_unit_test(an_empty_recording_measures_nothing_and_says_why),
        cmocka_unit_test(a_broken_source_ends_the_dissection),
        cmocka_unit_test(refused_windows_cost_only_what_needs_them),
        cmocka_unit_test(progress_grows_and_is_short_of_all_while_something_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
