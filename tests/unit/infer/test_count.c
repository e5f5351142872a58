/*
 * How many of each cache there are, from a source of traces that answers the probe `peers` as a GPU
 * would whose SMs share caches as the test says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/experiments.h"
#include "infer/level.h"
#include "support/toy_source.h"
#include "trace/trace.h"
#include "util/error.h"

enum { QUICK = 30, SLOW = 300, THRESHOLD = 100, SMS = 24 };

/* A GPU: who shares with whom is `group`; 0 for a number without an SM. */
struct gpu {
    uint32_t group[SMS];
    bool wavers;  /* of each other SM's lines half are found */
    bool forgets; /* an SM does not find what it walked itself */
    bool refuses;
    bool halves;  /* half of another one's lines are found */
    bool crossed; /* SM 0 finds everything */
    bool noisy;   /* one line in three that is found is slow; `repeats`: that was seen before */
    uint32_t repeats;
    struct traceset *set;
    uint64_t highest_base;
};

static uint64_t number(const struct trace_request *request, const char *name)
{
    uint64_t value = 0;
    assert_true(trace_request_u64(request, name, &value));
    return value;
}

static void answer(struct gpu *gpu, struct trace *trace)
{
    const struct trace_request *request = &trace->request;
    uint64_t owner = number(request, "owner"), from = number(request, "from");
    uint64_t count = number(request, "count"), again = number(request, "again");
    uint32_t *latency = calloc((1 + count) * again, sizeof *latency), sms = SMS;
    uint32_t *there = calloc(1 + count, sizeof *there);
    assert_non_null(latency);
    assert_non_null(there);
    there[0] = 1;
    for (uint64_t i = 0; i < again; i++) {
        latency[i] = gpu->forgets ? SLOW : QUICK;
    }
    for (uint64_t k = 0; k < count; k++) {
        uint64_t sm = from + k;
        there[1 + k] = sm < SMS && gpu->group[sm] != 0 && sm != owner;
        for (uint64_t i = 0; there[1 + k] && i < again; i++) {
            bool finds = gpu->wavers
                             ? i % 2 == 0
                             : gpu->group[sm] == gpu->group[owner] || (gpu->crossed && sm == 0);
            finds = finds || (gpu->halves && i % 2 == 0);
            finds = finds && !(gpu->noisy && (i + k) % 3 == 0);
            latency[(1 + k) * again + i] = finds ? QUICK : SLOW;
        }
    }
    assert_int_equal(trace_add_column(trace, "latency", TRACE_U32, latency, (1 + count) * again),
                     0);
    assert_int_equal(trace_add_column(trace, "there", TRACE_U32, there, 1 + count), 0);
    assert_int_equal(trace_add_column(trace, "sms", TRACE_U32, &sms, 1), 0);
    free(latency);
    free(there);
}

static int answer_peers(void *ctx, struct trace *trace)
{
    struct gpu *gpu = ctx;
    uint64_t base = number(&trace->request, "base");
    assert_string_equal(trace->request.probe, "peers");
    gpu->highest_base = base > gpu->highest_base ? base : gpu->highest_base;
    if (gpu->refuses) {
        trace->status = SONDE_EUNSUPPORTED;
        snprintf(trace->reason, sizeof trace->reason, "no such thing");
    } else {
        answer(gpu, trace);
    }
    return 0;
}

static int get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct gpu *gpu = ctx;
    return toy_get(gpu->set, answer_peers, gpu, out, request);
}

static const struct level_info first = {"l1_data", "sm", "ca", "", "cg", 8192, 576, ""};
static const struct level_info constants = {"constant_l1", "sm", "const", "", "cg", 0, 6144, ""};
static const struct level_info behind = {"constant_l15", "sm", "const", "constant_l1",
                                         "cg",           0,    6144,    ""};
static const struct level_info last = {"l2", "gpu", "cg", "", "", 0, 6144, ""};

/* Counts one cache of which `fits` lines of 128 bytes fit. */
static struct cache_result count_on(struct gpu *gpu, const struct level_info *info, size_t fits)
{
    struct level_summary summary = {.info = info,
                                    .known = true,
                                    .repeats = gpu->repeats,
                                    .timing.threshold = THRESHOLD,
                                    .fit.stride = 128,
                                    .fit.count = fits,
                                    .line.bytes = 128,
                                    .timing.fetch_bytes = 32};
    struct dissection *d = calloc(1, sizeof *d);
    struct infer_options options = {.max_footprint_bytes = 1 << 28};
    assert_non_null(d);
    assert_int_equal(traceset_create(&gpu->set), 0);
    struct trace_source source = {.get = get, .ctx = gpu};
    struct lab lab = {
        .source = &source, .options = &options, .out = d, .levels = &summary, .level_count = 1};
    d->cache_count = 1;
    d->caches[0].present = true;
    snprintf(d->caches[0].scope, sizeof d->caches[0].scope, "%s", info->scope);
    assert_int_equal(count_dissect(&lab), 0);
    count_refuse(d, &(struct refusal){.reason = "the measurements do not decide"});
    struct cache_result result = d->caches[0];
    traceset_destroy(gpu->set);
    free(d);
    return result;
}

/* So many SMs to a cache, of the first `sms` numbers. */
static struct gpu grouped(uint32_t served, uint32_t sms)
{
    struct gpu gpu = {.refuses = false};
    for (uint32_t sm = 0; sm < sms; sm++) {
        gpu.group[sm] = 1 + sm / served;
    }
    return gpu;
}

static void expect_count(struct gpu gpu, uint32_t count, const char *scope)
{
    struct cache_result r = count_on(&gpu, &first, 1024);
    assert_int_equal(r.count.status, ATTRIBUTE_MEASURED);
    assert_int_equal((int)r.count.value, count);
    assert_string_equal(r.scope, scope);
}

/* Noise makes misses of hits, and no hits of misses: where it is known to, half of the lines do. */
static void lines_that_noise_makes_slow_are_found_all_the_same(void **state)
{
    (void)state;
    struct gpu gpu = grouped(4, SMS);
    gpu.noisy = true;
    struct cache_result r = count_on(&gpu, &first, 1024);
    assert_int_not_equal(r.count.status, ATTRIBUTE_MEASURED);
    gpu.repeats = 3;
    expect_count(gpu, SMS / 4, "cluster");
}

static void caches_of_one_sm_are_as_many_as_the_sms(void **state)
{
    (void)state;
    expect_count(grouped(1, SMS), SMS, "sm");
    expect_count(grouped(1, 2), 2, "sm");
}

static void caches_of_several_are_fewer(void **state)
{
    (void)state;
    expect_count(grouped(2, SMS), SMS / 2, "cluster");
    expect_count(grouped(8, SMS), 3, "cluster");
    expect_count(grouped(SMS, SMS), 1, "gpu");
}

static void numbers_without_an_sm_do_not_count(void **state)
{
    (void)state;
    struct gpu gpu = grouped(1, SMS);
    gpu.group[5] = gpu.group[SMS - 1] = 0;
    expect_count(gpu, SMS - 2, "sm");
}

static void a_small_cache_is_asked_for_few_sms_at_a_time(void **state)
{
    (void)state;
    struct gpu gpu = grouped(3, SMS);
    struct cache_result r = count_on(&gpu, &first, 32);
    assert_int_equal((int)r.count.value, SMS / 3);
    assert_true(gpu.highest_base > 0); /* and each time for other lines */
    gpu = grouped(3, SMS);
    r = count_on(&gpu, &first, 4);
    assert_int_equal(r.count.status, ATTRIBUTE_NOT_MEASURED);
    assert_string_equal(r.count.reason, "too few lines fit to give each of two SMs some");
}

static void the_last_cache_needs_no_size(void **state)
{
    (void)state;
    struct gpu gpu = grouped(SMS, SMS);
    assert_int_equal((int)count_on(&gpu, &last, 0).count.value, 1);
    gpu = grouped(1, SMS);
    struct cache_result r = count_on(&gpu, &first, 0);
    assert_string_equal(r.count.reason, "how much fits is not known");
}

/* Of two parts of the last cache, each is where half of the lines comes from. */
static void parts_of_the_last_cache_are_told(void **state)
{
    (void)state;
    struct gpu gpu = grouped(SMS / 2, SMS);
    gpu.halves = true;
    struct cache_result r = count_on(&gpu, &last, 0);
    assert_int_equal((int)r.count.value, 2);
    assert_string_equal(r.scope, "gpu");
    gpu = grouped(SMS / 2, SMS);
    gpu.halves = true; /* of an SM's own cache nobody should find a half */
    assert_int_equal(count_on(&gpu, &first, 1024).count.status, ATTRIBUTE_NOT_MEASURED);
}

/* No miss shows in a cache that holds all that its path reaches; it is counted all the same. */
static void a_cache_that_is_never_full_is_counted(void **state)
{
    (void)state;
    struct level_summary summaries[2] = {{.info = &constants}, {.info = &behind}};
    struct dissection *d = calloc(1, sizeof *d);
    struct infer_options options = {.max_footprint_bytes = 1 << 28};
    struct gpu gpu = grouped(6, SMS);
    assert_non_null(d);
    assert_int_equal(traceset_create(&gpu.set), 0);
    struct trace_source source = {.get = get, .ctx = &gpu};
    struct lab lab = {
        .source = &source, .options = &options, .out = d, .levels = summaries, .level_count = 2};
    d->cache_count = 2;
    d->caches[1].present = true;
    attribute_set(&d->caches[1].hit_latency, 96, "cycles", 0.9, "");
    assert_int_equal(count_dissect(&lab), 0);
    assert_int_equal((int)d->caches[1].count.value, SMS / 6);
    assert_string_equal(d->caches[1].scope, "cluster");
    traceset_destroy(gpu.set);
    free(d);
}

static void what_does_not_agree_is_not_told(void **state)
{
    (void)state;
    struct gpu gpu = grouped(2, SMS);
    gpu.crossed = true;
    struct cache_result r = count_on(&gpu, &first, 1024);
    assert_string_equal(r.count.reason, "SM 0 finds what two caches hold");
}

static void a_single_sm_has_one_of_each(void **state)
{
    (void)state;
    struct gpu gpu = grouped(1, 1);
    struct cache_result r = count_on(&gpu, &last, 1024); /* whether it is the SM's or the GPU's */
    assert_int_equal((int)r.count.value, 1);
    assert_string_equal(r.scope, "gpu");
}

static void caches_need_not_serve_as_many(void **state)
{
    (void)state;
    struct gpu gpu = grouped(2, SMS);
    gpu.group[2] = 1; /* three share the first cache, one has the next for itself */
    expect_count(gpu, SMS / 2, "cluster");
    gpu = grouped(5, SMS); /* the last serves four */
    expect_count(gpu, 5, "cluster");
    gpu = grouped(1, SMS);
    gpu.group[SMS - 1] = gpu.group[3]; /* the last is asked */
    expect_count(gpu, SMS - 1, "cluster");
}

static void doubt_is_not_decided(void **state)
{
    (void)state;
    struct gpu gpu = grouped(1, SMS);
    gpu.wavers = true;
    assert_string_equal(count_on(&gpu, &first, 1024).count.reason,
                        "an SM finds some of the lines of SM 0, time and again");
    gpu = grouped(1, SMS);
    gpu.forgets = true;
    assert_string_equal(count_on(&gpu, &first, 1024).count.reason,
                        "what SM 0 walked it does not find again");
    gpu = grouped(1, SMS);
    gpu.refuses = true;
    assert_non_null(strstr(count_on(&gpu, &first, 1024).count.reason, "no such thing"));
}

/* Of four lines half are found, which decides nothing; of many that is a part's share. */
static void of_an_l2_that_holds_few_lines_in_order_many_are_taken(void **state)
{
    (void)state;
    struct gpu gpu = grouped(12, SMS);
    gpu.halves = true;
    struct cache_result result = count_on(&gpu, &last, 60);
    assert_int_equal(result.count.status, ATTRIBUTE_MEASURED);
    assert_true(result.count.value == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_noise_makes_slow_are_found_all_the_same),
        cmocka_unit_test(of_an_l2_that_holds_few_lines_in_order_many_are_taken),
        cmocka_unit_test(caches_of_one_sm_are_as_many_as_the_sms),
        cmocka_unit_test(caches_of_several_are_fewer),
        cmocka_unit_test(numbers_without_an_sm_do_not_count),
        cmocka_unit_test(a_small_cache_is_asked_for_few_sms_at_a_time),
        cmocka_unit_test(the_last_cache_needs_no_size),
        cmocka_unit_test(parts_of_the_last_cache_are_told),
        cmocka_unit_test(a_cache_that_is_never_full_is_counted),
        cmocka_unit_test(what_does_not_agree_is_not_told),
        cmocka_unit_test(a_single_sm_has_one_of_each),
        cmocka_unit_test(caches_need_not_serve_as_many),
        cmocka_unit_test(doubt_is_not_decided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
