/*
 * The probes threads, flight and copy on the simulator. What is expected follows from the model of
 * the GTX 560 Ti (models/gtx560ti.yaml): lines of 128 B, an L2 hit through L1 after 377 cycles; the
 * rest of a stretch without loads, from barrier to barrier, is less than a hundred.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/probe.h"
#include "util/error.h"

enum { L2_THROUGH_L1 = 377, REST = 100 };

struct bench {
    struct device *device;
    struct traceset *set;
    struct probe_live *live;
    struct trace_source source;
};

static int bench_up(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    if (device_open(&bench->device, "sim:gtx560ti") < 0) {
        fail_msg("%s", error_text());
    }
    assert_int_equal(traceset_create(&bench->set), 0);
    assert_int_equal(probe_live_create(&bench->live, bench->device, bench->set), 0);
    bench->source = probe_live_source(bench->live);
    *state = bench;
    return 0;
}

static int bench_down(void **state)
{
    struct bench *bench = *state;
    probe_live_destroy(bench->live);
    traceset_destroy(bench->set);
    device_close(bench->device);
    free(bench);
    return 0;
}

static int ask(const struct trace **trace, struct bench *bench, const char *text)
{
    struct trace_request request;
    char copy[400], *rest = NULL;
    snprintf(copy, sizeof(copy), "%s", text);
    trace_request_init(&request, strtok_r(copy, " ", &rest));
    for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        assert_int_equal(trace_request_set_text(&request, word, equals + 1), 0);
    }
    return trace_get(&bench->source, trace, &request);
}

/* A column of a measurement that must work. */
static const double *column(void *state, const char *text, const char *name, size_t count)
{
    const struct trace *trace = NULL;
    size_t got;
    if (ask(&trace, state, text) < 0 || trace->status < 0) {
        fail_msg("%s: %s", text, trace ? trace->reason : error_text());
    }
    const double *values = trace_f64(trace, name, &got);
    assert_non_null(values);
    assert_int_equal(got, count);
    return values;
}

static double cycles_of(void *state, const char *text)
{
    return column(state, text, "cycles", 1)[0];
}

static void one_load_takes_a_hit_in_l2_from_barrier_to_barrier(void **state)
{
    double none = cycles_of(*state, "threads from=1 to=1 lanes=0 runs=1");
    double one = cycles_of(*state, "threads from=1 to=1 runs=1");
    assert_true(none < REST);
    assert_true(one >= L2_THROUGH_L1 && one < L2_THROUGH_L1 + REST);
}

static void a_sweep_has_a_row_a_block_size_and_run(void **state)
{
    const struct trace *trace = NULL;
    size_t count;
    assert_int_equal(ask(&trace, *state, "threads from=2 to=9 step=3 runs=2"), 0);
    const uint32_t *threads = trace_u32(trace, "threads", &count);
    assert_int_equal(count, 3);
    assert_int_equal(threads[0], 2);
    assert_int_equal(threads[2], 8);
    const double *cycles = trace_f64(trace, "cycles", &count);
    assert_int_equal(count, 6);
    for (size_t i = 1; i < count; i++) {
        assert_true(cycles[i] >= cycles[i - 1]);
    }
}

static void loads_of_one_line_take_less_than_loads_of_many(void **state)
{
    double unique = cycles_of(*state, "threads from=32 to=32 runs=1");
    double half = cycles_of(*state, "threads from=32 to=32 merge=2 runs=1");
    double same = cycles_of(*state, "threads from=32 to=32 merge=32 runs=1");
    double one = cycles_of(*state, "threads from=1 to=1 runs=1");
    assert_true(unique > half && half > same);
    assert_true(same < one + 10);
}

static void warps_and_lanes_share_as_asked(void **state)
{
    double apart = cycles_of(*state, "threads from=256 to=256 lanes=8 runs=1");
    double some = cycles_of(*state, "threads from=256 to=256 lanes=8 share=8 common=4 runs=1");
    double all = cycles_of(*state, "threads from=256 to=256 lanes=8 share=8 runs=1");
    assert_true(apart > some && some > all);
}

static void more_adds_a_load_to_the_first_warps(void **state)
{
    double two = cycles_of(*state, "threads from=64 to=64 loads=2 runs=1");
    double between = cycles_of(*state, "threads from=64 to=64 loads=2 more=1 runs=1");
    double three = cycles_of(*state, "threads from=64 to=64 loads=3 runs=1");
    assert_true(two < between && between < three);
}

/* Whatever way the loads before it take. */
static void a_hit_behind_loads_past_l1_is_one(void **state)
{
    double through = cycles_of(*state, "threads from=32 to=32 hit=100 runs=1");
    double past = cycles_of(*state, "threads from=32 to=32 op=cg hit=100 runs=1");
    assert_true(2 * through < L2_THROUGH_L1 && 2 * past < L2_THROUGH_L1);
}

static void loads_past_l1_may_miss_l2(void **state)
{
    double hits = cycles_of(*state, "threads from=1 to=1 op=cg runs=1");
    double misses = cycles_of(*state, "threads from=1 to=1 op=cg cold=1 stride=1024 runs=1");
    assert_true(misses > hits + 100);
}

static void wrong_requests_are_refused_with_the_reason(void **state)
{
    static const char *const wrong[] = {"threads from=8 to=4",
                                        "threads loads=17",
                                        "threads merge=3",
                                        "threads lanes=33",
                                        "threads stride=6",
                                        "flight threads=33",
                                        "flight bytes=4096 loads=16 threads=1024",
                                        "copy bytes=8",
                                        "threads cold=1 hit=100",
                                        "threads to=2048"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct trace *trace = NULL;
        assert_int_equal(ask(&trace, *state, wrong[i]), SONDE_EUSAGE);
        assert_true(error_text()[0] != '\0');
    }
}

static void flight_counts_lines_and_bytes(void **state)
{
    const char *text = "flight blocks=3 threads=64 loads=4 turns=5 bytes=1048576";
    assert_true(column(*state, text, "requests", 1)[0] == 3 * 2 * 4);
    assert_true(column(*state, text, "bytes", 1)[0] == 3 * 2 * 4 * 5 * 128);
    /* Fermi has no timer in nanoseconds. */
    assert_true(column(*state, text, "ns", 1)[0] == 0);
}

static void loads_take_longer_the_more_are_under_way(void **state)
{
    double one = cycles_of(*state, "flight blocks=1 turns=4");
    double many = cycles_of(*state, "flight threads=1024 loads=8 turns=4");
    assert_true(one > 600 && one < 1000); /* memory */
    assert_true(many > 2 * one);
}

static void a_copy_takes_longer_after_a_flush(void **state)
{
    double again = cycles_of(*state, "copy bytes=65536 runs=1");
    double flushed = cycles_of(*state, "copy bytes=65536 runs=1 flush_bytes=4194304");
    assert_true(flushed > 1.5 * again);
}

#define ON_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_up, bench_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BENCH(one_load_takes_a_hit_in_l2_from_barrier_to_barrier),
        ON_BENCH(a_sweep_has_a_row_a_block_size_and_run),
        ON_BENCH(loads_of_one_line_take_less_than_loads_of_many),
        ON_BENCH(warps_and_lanes_share_as_asked),
        ON_BENCH(more_adds_a_load_to_the_first_warps),
        ON_BENCH(a_hit_behind_loads_past_l1_is_one),
        ON_BENCH(loads_past_l1_may_miss_l2),
        ON_BENCH(wrong_requests_are_refused_with_the_reason),
        ON_BENCH(flight_counts_lines_and_bytes),
        ON_BENCH(loads_take_longer_the_more_are_under_way),
        ON_BENCH(a_copy_takes_longer_after_a_flush),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
