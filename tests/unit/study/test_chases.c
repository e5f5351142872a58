/*
 * What studies take from a recorded chase: its mean latency, and nothing where there is no such
 * chase. The recordings are made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sonde/sonde.h"
#include "study/bench.h"
#include "trace/trace.h"
#include "util/error.h"

enum { MOST = 2048 };

struct fixture {
    struct traceset *set;
    struct study *study;
    struct study_bench *bench;
    struct sonde_watch watch;
    char path[64];
};

static int begin(void **state)
{
    static struct fixture f;
    f = (struct fixture){0};
    snprintf(f.path, sizeof f.path, "chases.%ld.rec", (long)getpid());
    *state = &f;
    return traceset_create(&f.set);
}

static int end(void **state)
{
    struct fixture *f = *state;
    study_bench_destroy(f->bench);
    study_destroy(f->study);
    traceset_destroy(f->set);
    unlink(f->path);
    return 0;
}

/* A texture chase over `bytes` by `stride`: two passes before, then `window` latencies 100, 101,
 * ... */
static void record(struct fixture *f, uint64_t bytes, uint64_t stride, uint64_t elements,
                   uint64_t window)
{
    static uint32_t latency[MOST];
    struct trace_request request;
    struct trace trace;
    for (uint32_t i = 0; i < window; i++) {
        latency[i] = 100 + i;
    }
    trace_request_init(&request, "chase");
    assert_int_equal(trace_request_set_text(&request, "op", "tex"), 0);
    assert_int_equal(trace_request_set_u64(&request, "bytes", bytes), 0);
    assert_int_equal(trace_request_set_u64(&request, "stride", stride), 0);
    assert_int_equal(trace_request_set_u64(&request, "warm", 2 * elements), 0);
    assert_int_equal(trace_request_set_u64(&request, "window", window), 0);
    assert_int_equal(trace_request_set_u64(&request, "windows", 1), 0);
    assert_int_equal(trace_init(&trace, &request), 0);
    assert_int_equal(trace_add_column(&trace, "latency", TRACE_U32, latency, window), 0);
    assert_int_equal(traceset_add(f->set, &trace, NULL), 0);
}

static void open_recording(struct fixture *f)
{
    char text[256];
    int length = snprintf(text, sizeof text,
                          "name: s\ntitle: t\ndevices: {a: 'replay:%s'}\nrows:\n"
                          "  - {id: x, what: w, device: a, published: 1, tolerance: exact, "
                          "basis: input, measure: {averages: line}}\n",
                          f->path);
    assert_int_equal(traceset_write(f->set, f->path), 0);
    assert_int_equal(study_parse(&f->study, "s.yaml", text, (size_t)length), 0);
    assert_int_equal(study_bench_create(&f->bench, f->study, 1, &f->watch), 0);
}

static void average_is(struct fixture *f, uint64_t bytes, uint64_t stride, double expected)
{
    struct study_value value = {.kind = STUDY_NOTHING};
    assert_int_equal(measure_average(f->bench, &value, 0, bytes, stride), 0);
    assert_int_equal(value.kind, STUDY_NUMBER);
    assert_true(value.number == expected);
}

static void an_average_is_the_mean_of_one_pass(void **state)
{
    struct fixture *f = *state;
    record(f, 256, 32, 8, 8);
    record(f, 100, 32, 4, 4); /* the last element is a part of a stride */
    record(f, 64, 64, 1, 1);
    record(f, 65536, 16, 4096, MOST);
    open_recording(f);
    average_is(f, 256, 32, 103.5);
    average_is(f, 100, 32, 101.5);
    average_is(f, 64, 64, 100);
    average_is(f, 65536, 16, 100 + (MOST - 1) / 2.0);
}

static void a_chase_that_was_not_recorded_has_no_average(void **state)
{
    struct fixture *f = *state;
    record(f, 256, 32, 8, 8);
    open_recording(f);
    struct study_value value = {.kind = STUDY_NUMBER, .number = 7};
    assert_int_equal(measure_average(f->bench, &value, 0, 512, 32), 0);
    assert_int_equal(value.kind, STUDY_NOTHING);
    assert_true(value.reason[0] != '\0');
}

static void a_chase_that_was_not_recorded_hands_out_no_latencies(void **state)
{
    struct fixture *f = *state;
    record(f, 256, 32, 8, 8);
    open_recording(f);
    struct study_value why;
    uint32_t stale = 7;
    const uint32_t *latency = &stale;
    size_t count = 1;
    const struct study_chase chase = {
        .op = "tex", .bytes = 256, .stride = 64, .warm = 8, .window = 4, .windows = 1};
    assert_int_equal(study_bench_chase(f->bench, &latency, &count, 0, &chase, &why), 0);
    assert_null(latency);
    assert_int_equal(why.kind, STUDY_NOTHING);
    const struct study_chase there = {
        .op = "tex", .bytes = 256, .stride = 32, .warm = 16, .window = 8, .windows = 1};
    assert_int_equal(study_bench_chase(f->bench, &latency, &count, 0, &there, &why), 0);
    assert_int_equal(count, 8);
    assert_int_equal(latency[7], 107);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(an_average_is_the_mean_of_one_pass),
        TEST(a_chase_that_was_not_recorded_has_no_average),
        TEST(a_chase_that_was_not_recorded_hands_out_no_latencies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
