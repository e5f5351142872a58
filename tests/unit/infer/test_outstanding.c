/* What an SM may have outstanding, found in toys: each structure as configured, bounds where it
 * never fills, with and without noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "infer/infer.h"
#include "util/error.h"
#include "util/rng.h"

/* Compiled in: the runner gives a test only the rooms that this one may use. */
#include "support/toy_sm.c"

static struct dissection result;

static const struct toy_sm_config plain = {.structure = TOY_UNBOUNDED,
                                           .mergers = 8,
                                           .latency_cycles = 400,
                                           .request_cycles = 1,
                                           .issue_cycles = 2,
                                           .overhead_cycles = 80,
                                           .seed = 1};

static const struct outstanding_result *dissect(const struct toy_sm_config *config)
{
    struct toy_sm *toy = toy_sm_create(config);
    struct trace_source source = toy_sm_source(toy);
    struct infer_options options = {.only = "outstanding", .seed = 1};
    int rc = infer_dissect(&result, &source, &options);
    uint64_t refused = toy_sm_refused(toy);
    toy_sm_destroy(toy);
    if (rc || refused) {
        fail_msg("%s", error_text());
    }
    return &result.outstanding;
}

static void assert_value(const struct attribute *attribute, double value)
{
    if (attribute->status != ATTRIBUTE_MEASURED) {
        fail_msg("not measured (%s), expected %g", attribute->reason, value);
    }
    if (attribute->value != value) {
        fail_msg("%g, expected %g", attribute->value, value);
    }
    assert_true(attribute->confidence >= 0.8);
}

static void a_table_of_misses_is_counted_in_lines(void **state)
{
    (void)state;
    struct toy_sm_config config = plain;
    config.structure = TOY_MSHR;
    config.entries = 128;
    config.loads_per_warp = 4;
    const struct outstanding_result *o = dissect(&config);
    assert_string_equal(o->structure, "mshr");
    assert_value(&o->entries, 128);
    assert_value(&o->max_requests, 128);
    assert_value(&o->mergers, 8);
    assert_value(&o->loads_per_warp, 4);
    assert_true(o->spike_count >= 3);
}

/* Who finds no merger waits for the line, and then hits it: that is soon. A limit has no mergers,
 * and its turns are none. */
static void mergers_show_where_hits_are_quick(void **state)
{
    (void)state;
    for (unsigned limit = 0; limit < 2; limit++) {
        struct toy_sm_config config = plain;
        config.structure = limit ? TOY_REQUEST_LIMIT : TOY_MSHR;
        config.entries = 128;
        config.mergers = 5;
        config.again_cycles = 25;
        const struct outstanding_result *o = dissect(&config);
        assert_string_equal(o->structure, limit ? "request_limit" : "mshr");
        if (limit) {
            assert_int_equal(o->mergers.status, ATTRIBUTE_NOT_MEASURED);
        } else {
            assert_value(&o->mergers, 5);
        }
    }
}

/* Rays of several lanes alone jump, and leave some numbers: warps of fewer say which it is. */
static void what_rays_of_several_lanes_leave_open_is_narrowed(void **state)
{
    (void)state;
    static const struct {
        uint32_t entries;
        double request_cycles;
    } rows[] = {{93, 3}, {90, 3.1}, {82, 3.4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct toy_sm_config config = plain;
        config.structure = TOY_REQUEST_LIMIT;
        config.entries = rows[i].entries;
        config.request_cycles = rows[i].request_cycles;
        config.loads_per_warp = 1;
        const struct outstanding_result *o = dissect(&config);
        assert_string_equal(o->structure, "request_limit");
        assert_value(&o->entries, rows[i].entries);
    }
}

/* Answers come back so slowly that no number of loads makes the time jump: hits behind them wait.
 */
static void what_slow_answers_hide_shows_in_hits_behind_the_loads(void **state)
{
    (void)state;
    static const struct {
        enum toy_structure structure;
        const char *name;
        uint32_t entries, mergers;
    } rows[] = {{TOY_MSHR, "mshr", 118, 8},
                {TOY_MSHR, "mshr", 97, 0},
                {TOY_MSHR, "mshr", 245, 8},
                {TOY_REQUEST_LIMIT, "request_limit", 110, 8},
                {TOY_PRT, "prt", 61, 8}};
    for (size_t k = 0; k < 2 * sizeof rows / sizeof *rows; k++) {
        struct toy_sm_config config = plain;
        const size_t i = k / 2;
        bool noisy = k % 2;
        config.structure = rows[i].structure;
        config.entries = rows[i].entries;
        config.mergers = rows[i].mergers;
        config.answer_cycles = 5;
        config.hit_cycles = 60;
        config.noise.jitter_cycles = noisy ? 6 : 0;
        config.noise.outlier_share = noisy ? 0.002 : 0;
        const struct outstanding_result *o = dissect(&config);
        assert_string_equal(o->structure, rows[i].name);
        assert_value(&o->entries, rows[i].entries);
    }
}

/* Pairs of warps ask for more than leaves before the hit comes: that these are on their way alone
 * makes it wait, and a line counts once all the same. */
static void requests_that_leave_after_the_hit_came_are_no_limit(void **state)
{
    (void)state;
    for (unsigned limit = 0; limit < 2; limit++) {
        struct toy_sm_config config = plain;
        config.structure = limit ? TOY_REQUEST_LIMIT : TOY_MSHR;
        config.entries = 89;
        config.mergers = 4;
        config.latency_cycles = 265;
        config.overhead_cycles = 31;
        config.request_cycles = 2;
        config.answer_cycles = 5;
        config.hit_cycles = 30;
        config.loads_per_warp = 1;
        const struct outstanding_result *o = dissect(&config);
        assert_string_equal(o->structure, limit ? "request_limit" : "mshr");
        assert_value(&o->entries, 89);
    }
}

/* Without a first level it stays open, and so it does where nothing fills. */
static void what_slow_answers_hide_is_not_made_up(void **state)
{
    (void)state;
    struct toy_sm_config config = plain;
    config.answer_cycles = 5;
    config.hit_cycles = 60;
    assert_string_equal(dissect(&config)->structure, "");
    /* A warp whose requests leave late makes hits behind it wait, too, and no structure is full. */
    config.late_warp = 4;
    config.late_cycles = 180;
    assert_string_equal(dissect(&config)->structure, "");
    config.late_cycles = 0;
    config.hit_cycles = 0;
    config.structure = TOY_MSHR;
    config.entries = 118;
    assert_string_equal(dissect(&config)->structure, "");
}

/* The table of L1's misses, wide as it is, lets the second load of a line wait; what is full is a
 * limit, that loads past L1 fill as well. */
static void what_loads_past_l1_fill_is_no_table_of_its_misses(void **state)
{
    (void)state;
    for (unsigned slow = 0; slow < 2; slow++) {
        for (enum toy_structure kind = TOY_MSHR; kind <= TOY_REQUEST_LIMIT; kind += 2) {
            struct toy_sm_config config = plain;
            config.structure = kind;
            config.entries = 110;
            config.table_beside = true;
            config.mergers = 0;
            config.answer_cycles = slow ? 5 : 0;
            config.hit_cycles = slow ? 60 : 0;
            const struct outstanding_result *o = dissect(&config);
            assert_string_equal(o->structure, kind == TOY_MSHR ? "mshr" : "request_limit");
            assert_value(&o->entries, 110);
        }
    }
}

/* Where a warp has few loads, so many more are asked past L1 that a block would need more warps
 * than it has. */
static void past_l1_no_more_is_asked_than_a_block_has(void **state)
{
    (void)state;
    struct toy_sm_config config = plain;
    config.structure = TOY_MSHR;
    config.entries = 208;
    config.mergers = 0;
    config.loads_per_warp = 2;
    config.latency_cycles = 330;
    config.request_cycles = 1;
    config.answer_cycles = 5;
    config.hit_cycles = 60;
    const struct outstanding_result *o = dissect(&config);
    assert_string_equal(o->structure, "mshr");
    assert_value(&o->entries, 208);
}

/* Hits wait behind rays from one warp on, since that one is late, and nothing is full. */
static void a_number_that_loads_of_another_shape_do_not_show_is_not_told(void **state)
{
    (void)state;
    static const struct {
        uint32_t warp;
        double cycles;
    } late[] = {{5, 300}, {7, 100}, {12, 300}};
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        struct toy_sm_config config = plain;
        config.answer_cycles = 5;
        config.hit_cycles = 60;
        config.late_warp = late[i].warp;
        config.late_cycles = late[i].cycles;
        config.late_always = true;
        const struct outstanding_result *o = dissect(&config);
        assert_string_equal(o->structure, "");
        assert_int_equal(o->entries.status, ATTRIBUTE_NOT_MEASURED);
    }
}

/* Behind 32 single loads of memory the time jumps by a round trip where eight leave a warp, as on
 * an H200 now and then, and by less than a tenth of that where there are two: nothing is full. */
static void a_jump_that_is_far_smaller_in_another_shape_is_no_structures(void **state)
{
    (void)state;
    struct toy_sm_config config = plain;
    config.memory_cycles = 570;
    config.request_cycles = 3;
    config.answer_cycles = 9;
    config.crowd.loads = 32;
    config.crowd.few_warps = 650;
    config.crowd.many_warps = 40;
    const struct outstanding_result *o = dissect(&config);
    assert_string_equal(o->structure, "");
    assert_int_equal(o->entries.status, ATTRIBUTE_NOT_MEASURED);
    assert_int_equal(o->max_requests.status, ATTRIBUTE_NOT_MEASURED);
    config.crowd.many_warps = 650;
    o = dissect(&config);
    assert_string_equal(o->structure, "prt");
    assert_value(&o->entries, 32);
}

/* It is full a little before the first answer: the time jumps by less than a quarter. */
static void what_takes_nearly_a_round_trip_to_fill_is_found(void **state)
{
    (void)state;
    struct toy_sm_config config = plain;
    config.structure = TOY_REQUEST_LIMIT;
    config.entries = 154;
    config.request_cycles = 2;
    const struct outstanding_result *o = dissect(&config);
    assert_string_equal(o->structure, "request_limit");
    assert_value(&o->entries, 154);
    assert_true(o->confidence < 0.9);
}

static void a_table_of_instructions_is_counted_in_warp_loads(void **state)
{
    (void)state;
    struct toy_sm_config config = plain;
    config.structure = TOY_PRT;
    config.entries = 45;
    config.request_cycles = 0.1;
    config.loads_per_warp = 3;
    const struct outstanding_result *o = dissect(&config);
    assert_string_equal(o->structure, "prt");
    assert_value(&o->entries, 45);
    assert_value(&o->loads_per_warp, 3);
    assert_value(&o->max_requests, 45 * 32);
}

static void a_limit_counts_each_request(void **state)
{
    (void)state;
    struct toy_sm_config config = plain;
    config.structure = TOY_REQUEST_LIMIT;
    config.entries = 100;
    const struct outstanding_result *o = dissect(&config);
    assert_string_equal(o->structure, "request_limit");
    assert_value(&o->entries, 100);
    assert_value(&o->max_requests, 100);
    assert_int_equal(o->loads_per_warp.status, ATTRIBUTE_NOT_MEASURED);
    assert_true(o->loads_per_warp_least == 16);
}

/* Keplers' printed spikes, at 680 threads of two loads and 454 of three, are what this gives. */
static void a_limit_beyond_one_load_a_thread_is_found_with_more(void **state)
{
    (void)state;
    struct toy_sm_config config = plain;
    config.structure = TOY_REQUEST_LIMIT;
    config.entries = 1362;
    config.request_cycles = 0.1;
    config.loads_per_warp = 3;
    const struct outstanding_result *o = dissect(&config);
    assert_int_equal(o->structure[0] != '\0', true);
    assert_string_equal(o->structure, "request_limit");
    assert_true(o->max_requests.status == ATTRIBUTE_MEASURED);
    assert_in_range((long)o->max_requests.value, 1360, 1363);
}

static void what_never_fills_has_a_lower_bound(void **state)
{
    (void)state;
    struct toy_sm_config config = plain;
    const struct outstanding_result *o = dissect(&config);
    assert_string_equal(o->structure, "");
    assert_string_equal(o->refusal.reason,
                        "no number of loads that one block can have makes the time jump");
    assert_int_equal(o->entries.status, ATTRIBUTE_NOT_MEASURED);
    assert_int_equal(o->max_requests.status, ATTRIBUTE_NOT_MEASURED);
    /* 400 cycles under way, one a cycle: 400 are at once, and no more than that can be seen. */
    assert_in_range((long)o->max_requests_least, 256, 400);
    assert_true(o->mergers_least >= 31);
}

/* From the fifth warp on loads take a round trip more: they miss L2. Elsewhere they do not. */
static void lines_that_are_slow_by_themselves_fill_nothing(void **state)
{
    (void)state;
    struct toy_sm_config config = plain;
    config.slow_warp = 4;
    config.slower_cycles = 300;
    const struct outstanding_result *o = dissect(&config);
    assert_string_equal(o->structure, "");
    assert_int_equal(o->entries.status, ATTRIBUTE_NOT_MEASURED);
}

static void turns_that_cost_much_hide_a_table_and_make_none(void **state)
{
    (void)state;
    struct toy_sm_config config = plain;
    config.structure = TOY_MSHR;
    config.entries = 128;
    config.request_cycles = 5; /* 128 x 5 > 400 */
    const struct outstanding_result *o = dissect(&config);
    assert_string_equal(o->structure, "");
    assert_int_equal(o->max_requests.status, ATTRIBUTE_NOT_MEASURED);
    assert_true(o->max_requests_least <= 128);
}

static void lanes_may_count_as_mergers(void **state)
{
    (void)state;
    struct toy_sm_config config = plain;
    config.structure = TOY_MSHR;
    config.entries = 64;
    config.lanes_merge_there = true;
    const struct outstanding_result *o = dissect(&config);
    assert_true(o->lanes_merge_known && o->lanes_merge_in_table);
    assert_value(&o->mergers, 8);
    config.lanes_merge_there = false;
    o = dissect(&config);
    assert_true(o->lanes_merge_known && !o->lanes_merge_in_table);
}

static void a_source_without_the_probe_leaves_reasons(void **state)
{
    (void)state;
    struct traceset *set;
    assert_int_equal(traceset_create(&set), 0);
    struct trace_source source = traceset_source(set);
    struct infer_options options = {.only = "outstanding", .seed = 1};
    assert_int_equal(infer_dissect(&result, &source, &options), 0);
    assert_string_equal(result.outstanding.structure, "");
    assert_true(result.outstanding.refusal.reason[0] && result.outstanding.mergers.reason[0]);
    traceset_destroy(set);
}

static int take_nothing(void *ctx, const struct trace **out, const struct trace_request *request)
{
    (void)ctx;
    (void)out;
    return error_set(SONDE_EUSAGE, "probe %s: nothing goes with anything", request->probe);
}

/* A request that nobody should have made costs what it was for, and no more. */
static void a_request_that_the_probe_does_not_take_leaves_reasons(void **state)
{
    (void)state;
    struct trace_source source = {.get = take_nothing};
    struct infer_options options = {.only = "outstanding", .seed = 1};
    assert_int_equal(infer_dissect(&result, &source, &options), 0);
    assert_string_equal(result.outstanding.structure, "");
    assert_non_null(strstr(result.outstanding.entries.reason, "nothing goes with anything"));
}

/* ---- random structures ---- */

/* What may be found: a structure whose filling costs most of a round trip and is within reach. */
struct truth {
    bool structure, entries, mergers, loads;
};

static void draw(struct toy_sm_config *c, struct truth *truth, uint64_t seed, bool noisy)
{
    struct rng rng;
    rng_seed(&rng, seed);
    *c = plain;
    c->seed = seed;
    c->structure = (enum toy_structure)rng_below(&rng, TOY_STRUCTURES);
    c->entries = c->structure == TOY_PRT ? 8 + (uint32_t)rng_below(&rng, 121)
                                         : 16 + (uint32_t)rng_below(&rng, 241);
    c->mergers = 1 + (uint32_t)rng_below(&rng, 16);
    c->lanes_merge_there = c->structure == TOY_MSHR && rng_below(&rng, 2);
    c->loads_per_warp = 1 + (uint32_t)rng_below(&rng, 8);
    c->latency_cycles = 200 + (double)rng_below(&rng, 500);
    c->request_cycles = 0.1 + rng_double(&rng) * 2;
    c->issue_cycles = 1 + (double)rng_below(&rng, 3);
    c->overhead_cycles = 20 + (double)rng_below(&rng, 100);
    if (noisy) {
        c->noise.jitter_cycles = (double)rng_below(&rng, 12);
        c->noise.outlier_share = rng_double(&rng) * 0.002;
        c->noise.drift = rng_double(&rng) * 0.01;
    }
    double one = c->latency_cycles + c->overhead_cycles;
    double turn = c->request_cycles > 0.2 ? c->request_cycles : 0.2;
    bool shows = c->latency_cycles - c->entries * turn - 32 * 3 > 0.35 * one;
    uint32_t reach = 32 * (c->loads_per_warp < 8 ? c->loads_per_warp : 8);
    /* A table of instructions shows only with one or two lanes; those of requests need room for
     * half as many again. */
    truth->structure = c->structure != TOY_UNBOUNDED && shows &&
                       (c->structure == TOY_PRT ? c->entries < reach : true);
    truth->entries = truth->structure;
    truth->mergers = c->structure == TOY_MSHR && c->mergers + 2 < c->entries;
    truth->loads = c->structure == TOY_UNBOUNDED || c->entries > 2 * c->loads_per_warp + 2;
}

static unsigned wrong_of(const char *what, uint64_t seed, const struct attribute *a, double value,
                         bool identifiable)
{
    if (a->status == ATTRIBUTE_MEASURED ? a->value == value : !identifiable) {
        return 0;
    }
    print_message("seed %llu: %s %g (%s), is %g\n", (unsigned long long)seed, what,
                  a->status == ATTRIBUTE_MEASURED ? a->value : -1, a->reason, value);
    return 1;
}

static void judge_random(bool noisy, unsigned most_wrong)
{
    unsigned identifiable = 0;
    static const char *const names[] = {"", "mshr", "prt", "request_limit"};
    unsigned wrong = 0;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct toy_sm_config c;
        struct truth truth;
        draw(&c, &truth, seed, noisy);
        const struct outstanding_result *o = dissect(&c);
        unsigned before = wrong;
        identifiable += truth.structure;
        if (o->structure[0] ? strcmp(o->structure, names[c.structure]) != 0 : truth.structure) {
            print_message("seed %llu: structure '%s' (%s), is %s\n", (unsigned long long)seed,
                          o->structure, o->refusal.reason, names[c.structure]);
            wrong++;
        }
        wrong += wrong_of("entries", seed, &o->entries, c.entries, truth.entries);
        if (c.structure == TOY_MSHR) {
            wrong += wrong_of("mergers", seed, &o->mergers, c.mergers, truth.mergers);
        }
        wrong += wrong_of("loads", seed, &o->loads_per_warp, c.loads_per_warp, truth.loads);
        bool bounded = c.structure == TOY_MSHR || c.structure == TOY_REQUEST_LIMIT;
        if (bounded && o->max_requests_least > c.entries) {
            print_message("seed %llu: at least %g requests, are %u\n", (unsigned long long)seed,
                          o->max_requests_least, c.entries);
            wrong++;
        }
        if (wrong > before) {
            print_message("   %s entries %u mergers %u%s loads %u latency %g request %g issue %g "
                          "overhead %g\n",
                          names[c.structure], c.entries, c.mergers,
                          c.lanes_merge_there ? " of lanes" : "", c.loads_per_warp,
                          c.latency_cycles, c.request_cycles, c.issue_cycles, c.overhead_cycles);
        }
    }
    print_message("%u structures to be told, %u answers wrong\n", identifiable, wrong);
    assert_true(identifiable >= 40);
    assert_true(wrong <= most_wrong);
}

static void random_structures_are_found_without_noise(void **state)
{
    (void)state;
    judge_random(false, 1);
}

static void random_structures_are_found_in_noise(void **state)
{
    (void)state;
    judge_random(true, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_of_misses_is_counted_in_lines),
        cmocka_unit_test(mergers_show_where_hits_are_quick),
        cmocka_unit_test(what_rays_of_several_lanes_leave_open_is_narrowed),
        cmocka_unit_test(what_slow_answers_hide_shows_in_hits_behind_the_loads),
        cmocka_unit_test(requests_that_leave_after_the_hit_came_are_no_limit),
        cmocka_unit_test(what_slow_answers_hide_is_not_made_up),
        cmocka_unit_test(what_loads_past_l1_fill_is_no_table_of_its_misses),
        cmocka_unit_test(past_l1_no_more_is_asked_than_a_block_has),
        cmocka_unit_test(a_number_that_loads_of_another_shape_do_not_show_is_not_told),
        cmocka_unit_test(a_jump_that_is_far_smaller_in_another_shape_is_no_structures),
        cmocka_unit_test(what_takes_nearly_a_round_trip_to_fill_is_found),
        cmocka_unit_test(a_table_of_instructions_is_counted_in_warp_loads),
        cmocka_unit_test(a_limit_counts_each_request),
        cmocka_unit_test(a_limit_beyond_one_load_a_thread_is_found_with_more),
        cmocka_unit_test(what_never_fills_has_a_lower_bound),
        cmocka_unit_test(lines_that_are_slow_by_themselves_fill_nothing),
        cmocka_unit_test(turns_that_cost_much_hide_a_table_and_make_none),
        cmocka_unit_test(lanes_may_count_as_mergers),
        cmocka_unit_test(a_source_without_the_probe_leaves_reasons),
        cmocka_unit_test(a_request_that_the_probe_does_not_take_leaves_reasons),
        cmocka_unit_test(random_structures_are_found_without_noise),
        cmocka_unit_test(random_structures_are_found_in_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
