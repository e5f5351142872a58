/*
 * Thread-latency curves drawn by the test, as a recording that a study is measured on: what the
 * rules of study/outstanding.c read off them, and what is no curve.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "sonde/sonde.h"
#include "study/bench.h"
#include "trace/trace.h"
#include "util/error.h"

enum { POINTS = 512, RUNS = 3 };

struct curve {
    double cycles[POINTS * RUNS];
    uint32_t threads[POINTS];
    size_t points, runs;
};

static struct traceset *set;
static char path[64];

/* A latency of 400, and `rise` more with each of the first `until` threads. */
static struct curve *flat_curve(double rise, uint32_t until)
{
    static struct curve curve;
    curve.points = POINTS;
    curve.runs = RUNS;
    for (uint32_t i = 0; i < POINTS; i++) {
        uint32_t threads = curve.threads[i] = 2 * (i + 1);
        for (uint32_t run = 0; run < RUNS; run++) {
            curve.cycles[i * RUNS + run] = 400 + rise * (threads < until ? threads : until);
        }
    }
    return &curve;
}

/* So many cycles more from behind `threads` on. */
static void jump(struct curve *curve, uint32_t threads, double cycles)
{
    for (uint32_t i = threads / 2; i < POINTS; i++) {
        for (uint32_t run = 0; run < RUNS; run++) {
            curve->cycles[i * RUNS + run] += cycles;
        }
    }
}

static void record(const struct curve *curve, const char *merge, uint64_t loads)
{
    struct trace_request request;
    struct trace trace;
    trace_request_init(&request, "threads");
    assert_int_equal(trace_request_set_text(&request, "merge", merge), 0);
    assert_int_equal(trace_request_set_u64(&request, "loads", loads), 0);
    assert_int_equal(trace_init(&trace, &request), 0);
    assert_int_equal(trace_add_column(&trace, "threads", TRACE_U32, curve->threads, curve->points),
                     0);
    assert_int_equal(
        trace_add_column(&trace, "cycles", TRACE_F64, curve->cycles, curve->points * curve->runs),
        0);
    assert_int_equal(traceset_add(set, &trace, NULL), 0);
}

static int begin(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "curves.%ld.rec", (long)getpid());
    return traceset_create(&set);
}

static int end(void **state)
{
    (void)state;
    traceset_destroy(set);
    unlink(path);
    return 0;
}

/* What a study of one row measures on the recording; the error's code when it cannot go on. */
static int measure(struct study_value *value, const char *how)
{
    char text[512];
    struct study *study = NULL;
    struct study_bench *bench = NULL;
    struct sonde_watch watch = {0};
    int length =
        snprintf(text, sizeof text,
                 "name: s\ntitle: t\ndevices: {a: 'replay:%s'}\nrows:\n"
                 "  - {id: x, what: w, device: a, published: 1, tolerance: exact, basis: input, "
                 "measure: {%s}}\n",
                 path, how);
    assert_int_equal(traceset_write(set, path), 0);
    assert_int_equal(study_parse(&study, "s.yaml", text, (size_t)length), 0);
    assert_int_equal(study_bench_create(&bench, study, 1, &watch), 0);
    int rc = study_run(study, bench);
    *value = study->rows[0].readings[0].measured;
    study_bench_destroy(bench);
    study_destroy(study);
    return rc;
}

static void reads(const char *how, double expected)
{
    struct study_value value;
    assert_int_equal(measure(&value, how), 0);
    if (value.kind != STUDY_NUMBER || value.number != expected) {
        fail_msg("%s: %g (%s) instead of %g", how, value.number, value.reason, expected);
    }
}

static void a_jump_is_a_spike_at_the_last_point_before_it(void **state)
{
    (void)state;
    struct curve *curve = flat_curve(0.1, 1024);
    jump(curve, 128, 120);
    record(curve, "1", 1);
    reads("saturation: unique, loads: 1", 128);
}

static void the_first_of_spikes_at_least_half_as_high_is_the_saturation(void **state)
{
    (void)state;
    struct curve *curve = flat_curve(0.1, 1024);
    jump(curve, 96, 90); /* (90 / 200)^2: a fifth */
    jump(curve, 256, 150);
    jump(curve, 512, 200);
    record(curve, "1", 1);
    reads("saturation: unique, loads: 1", 256);
}

static void small_jumps_and_slopes_are_no_spikes(void **state)
{
    (void)state;
    struct curve *curve = flat_curve(3, 1024);
    for (uint32_t threads = 32; threads < 1024; threads += 32) {
        jump(curve, threads, 60);
    }
    record(curve, "16", 4);
    reads("saturation: merger16, loads: 4", 0);
}

static void a_point_is_the_harmonic_mean_of_its_runs(void **state)
{
    (void)state;
    struct curve *curve = flat_curve(0, 2);
    jump(curve, 128, 120);
    /* One late run of three: its harmonic mean is 6 % more, no spike; its arithmetic one 58 %. */
    curve->cycles[100 * RUNS] = 1100;
    record(curve, "1", 1);
    reads("saturation: unique, loads: 1", 128);
}

static void the_rise_ends_with_the_warp_and_the_plateau_where_it_grows_again(void **state)
{
    (void)state;
    struct curve *curve = flat_curve(3, 32);
    jump(curve, 32, 4); /* a second warp: less than a step of the rise */
    jump(curve, 96, 30);
    jump(curve, 128, 200);
    record(curve, "1", 1);
    reads("serialization: rise", 32);
    reads("serialization: plateau", 96);
}

static void a_rise_that_never_ends_lasts_to_the_last_point(void **state)
{
    (void)state;
    record(flat_curve(3, 1024), "1", 1);
    reads("serialization: rise", 1024);
    reads("serialization: plateau", 38); /* a fifth of the first warp's rise: 6 threads */
}

static void a_curve_that_stays_flat_has_no_rise_and_one_plateau(void **state)
{
    (void)state;
    record(flat_curve(0, 2), "1", 1);
    reads("serialization: rise", 0);
    reads("serialization: plateau", 1024);
}

static void the_mergers_are_those_of_the_last_pattern_that_shows_all_lines(void **state)
{
    (void)state;
    static const struct {
        const char *merge;
        uint32_t loads, full;
    } rows[] = {{"1", 1, 128}, {"2", 1, 256}, {"4", 2, 256}, {"8", 4, 200}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct curve *curve = flat_curve(0.1, 1024);
        jump(curve, rows[i].full, 200);
        record(curve, rows[i].merge, rows[i].loads);
    }
    reads("merged: 128", 4);
    reads("merged: 96", 0);
}

static void what_is_no_curve_is_not_measured(void **state)
{
    (void)state;
    struct study_value value;
    assert_int_equal(measure(&value, "saturation: unique, loads: 1"), 0);
    assert_int_equal(value.kind, STUDY_NOTHING);
    struct curve *curve = flat_curve(1, 32);
    curve->points = 2;
    curve->runs = 1;
    record(curve, "1", 1);
    curve = flat_curve(1, 32);
    curve->cycles[7] = 0;
    record(curve, "1", 2);
    curve = flat_curve(1, 32);
    curve->threads[3] = 9;
    record(curve, "1", 3);
    curve = flat_curve(1, 32);
    curve->points = 10;
    curve->runs = 1;
    record(curve, "2", 1);
    for (uint32_t loads = 1; loads <= 3; loads++) {
        char how[64];
        snprintf(how, sizeof how, "saturation: unique, loads: %u", loads);
        assert_int_equal(measure(&value, how), 0);
        assert_int_equal(value.kind, STUDY_NOTHING);
        assert_non_null(strstr(value.reason, "recorded"));
    }
    reads("saturation: merger2, loads: 1", 0);
}

static void what_cannot_be_asked_is_an_error_with_its_place(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "saturation: merger3, loads: 1",
        "saturation: merger64, loads: 1",
        "saturation: unique",
        "saturation: unique, loads: 0",
        "saturation: unique, loads: 17",
        "saturation: unique, loads: [1, x]",
        "serialization: fall",
        "merged: many",
        "copies: [1, 2]",
        "copies: [0, 64, 32]",
        "copies: [64, 128, 0]",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct study_value value;
        if (measure(&value, wrong[i]) != SONDE_EINPUT) {
            fail_msg("%s is accepted", wrong[i]);
        }
        if (!strstr(error_text(), "s.yaml:5")) {
            fail_msg("%s: %s", wrong[i], error_text());
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(a_jump_is_a_spike_at_the_last_point_before_it),
        TEST(the_first_of_spikes_at_least_half_as_high_is_the_saturation),
        TEST(small_jumps_and_slopes_are_no_spikes),
        TEST(a_point_is_the_harmonic_mean_of_its_runs),
        TEST(the_rise_ends_with_the_warp_and_the_plateau_where_it_grows_again),
        TEST(a_rise_that_never_ends_lasts_to_the_last_point),
        TEST(a_curve_that_stays_flat_has_no_rise_and_one_plateau),
        TEST(the_mergers_are_those_of_the_last_pattern_that_shows_all_lines),
        TEST(what_is_no_curve_is_not_measured),
        TEST(what_cannot_be_asked_is_an_error_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
