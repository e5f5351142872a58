/* Launches that are sampled: what they do to memory is what it is without samples, and what cannot
 * be sampled is simulated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include <string.h>

#include "rt/queue/queue.h"
#include "sample/sampler.h"
#include "util/error.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define ELEMENTS 4096

static struct model *model;
static struct rt *rt;
static struct rt_kernel *mix, *count, *clocks, *until_set, *wild, *strided;
static uint64_t data, flag;

static const char *const text = HEAD /* data[i] = data[i] * factor + data[i ^ 32] */
    ".visible .entry mix(.param .u64 data, .param .u32 factor)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<5>;\n"
    "ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [factor];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %r2, %r2, %r3, %r4; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2;\n"
    "ld.global.u32 %r5, [%rd2]; mad.lo.u32 %r5, %r5, %r1, %r2; st.global.u32 [%rd2], %r5;\n"
    "ret;\n}\n"
    ".visible .entry count(.param .u64 p, .param .u32 factor)\n{\n.reg .b32 %r; .reg .b64 %a;\n"
    "ld.param.u64 %a, [p]; atom.global.add.u32 %r, [%a], 1;\nret;\n}\n"
    ".visible .entry clocks(.param .u64 p, .param .u32 factor)\n{\n.reg .b32 %r; .reg .b64 %a;\n"
    "ld.param.u64 %a, [p]; mov.u32 %r, %clock; st.global.u32 [%a], %r;\nret;\n}\n"
    /* block 0 waits for what the last block writes */
    ".visible .entry until_set(.param .u64 p, .param .u32 factor)\n{\n"
    ".reg .b32 %r; .reg .b64 %a; .reg .pred %q;\nld.param.u64 %a, [p];\n"
    "mov.u32 %r, %ctaid.x; setp.ne.u32 %q, %r, 0; @%q bra SET;\n"
    "L: ld.volatile.global.u32 %r, [%a]; setp.eq.u32 %q, %r, 0; @%q bra L;\nret;\n"
    "SET: st.volatile.global.u32 [%a], 1;\nret;\n}\n"
    ".visible .entry wild(.param .u64 p, .param .u32 factor)\n{\n"
    ".reg .b32 %r; .reg .b64 %a;\nld.param.u64 %a, [p]; st.global.u32 [%a], 77;\n"
    "mov.u64 %a, 16; ld.global.u32 %r, [%a]; st.global.u32 [%a], %r;\nret;\n}\n"
    /* words of shared memory, `factor` apart, four times */
    ".visible .entry strided(.param .u64 p, .param .u32 factor)\n{\n"
    ".shared .b32 s[4096]; .reg .b32 %r<5>; .reg .b64 %a; .reg .pred %q;\n"
    "ld.param.u64 %a, [p]; ld.param.u32 %r1, [factor]; mov.u32 %r2, %tid.x;\n"
    "mul.lo.u32 %r1, %r1, %r2; shl.b32 %r1, %r1, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2;\n"
    "mov.u32 %r3, 0; mov.u32 %r4, 0;\n"
    "L: ld.shared.u32 %r2, [%r1]; add.u32 %r3, %r3, %r2; add.u32 %r4, %r4, 1;\n"
    "setp.lt.u32 %q, %r4, 4; @%q bra L;\nst.global.u32 [%a], %r3;\nret;\n}\n";

static int setup(void **state)
{
    (void)state;
    struct rt_module *module;
    bool built = model_load(&model, "gtx780") == 0 && rt_create(&rt, model) == 0 &&
                 rt_module_load(rt, &module, "test.ptx", text, strlen(text)) == 0 &&
                 rt_kernel_get(module, &mix, "mix") == 0 &&
                 rt_kernel_get(module, &count, "count") == 0 &&
                 rt_kernel_get(module, &clocks, "clocks") == 0 &&
                 rt_kernel_get(module, &until_set, "until_set") == 0 &&
                 rt_kernel_get(module, &wild, "wild") == 0 &&
                 rt_kernel_get(module, &strided, "strided") == 0 &&
                 rt_mem_alloc(rt, &data, 4 * ELEMENTS) == 0 && rt_mem_alloc(rt, &flag, 4) == 0 &&
                 rt_memset(rt, data, 0, 4 * ELEMENTS) == 0 && rt_memset(rt, flag, 0, 4) == 0;
    if (!built) {
        print_error("%s\n", error_text());
        return -1;
    }
    rt_set_watchdog(rt, 0);
    return 0;
}

static int setup_sampled(void **state)
{
    const struct sampler_spec spec = {.error = 0.03, .seed = 1};
    return setup(state) < 0 || rt_sample(rt, &spec) < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    rt_destroy(rt);
    model_destroy(model);
    return 0;
}

static int put(struct rt_stream *stream, struct rt_kernel *kernel, uint64_t address,
               uint32_t blocks, uint32_t factor)
{
    const void *args[] = {&address, &factor};
    struct rt_launch launch = {
        .grid = {blocks, 1, 1}, .block = {128, 1, 1}, .args = args, .arg_count = 2};
    return rt_enqueue_launch(stream, kernel, &launch);
}

static uint32_t word(uint64_t address)
{
    uint32_t value;
    assert_int_equal(rt_copy_from_device(rt, &value, address, 4), 0);
    return value;
}

static void run_program(uint32_t *out)
{
    struct rt_stream *stream = rt_stream_default(rt);
    for (uint32_t i = 0; i < 60; i++) {
        assert_int_equal(put(stream, mix, data, ELEMENTS / 128, i), 0);
        assert_int_equal(put(stream, count, flag, 3, i), 0);
    }
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(rt_copy_from_device(rt, out, data, sizeof(uint32_t) * ELEMENTS), 0);
}

static void results_are_those_of_every_launch_done_once(void **state)
{
    static uint32_t sampled[ELEMENTS];
    struct sampler_total total;
    run_program(sampled);
    assert_int_equal(word(flag), 60 * 3 * 128);
    sampler_all(rt_sampler(rt), &total);
    assert_int_equal(total.launches, 120);
    assert_in_range(total.timed, 6, 60);
    assert_int_equal(total.whole, 0);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        uint32_t value = 0;
        for (uint32_t factor = 0; factor < 60; factor++) {
            value = value * factor + i;
        }
        assert_int_equal(sampled[i], value);
    }
    (void)state;
}

static void the_estimate_is_near_what_all_launches_take(void **state)
{
    static uint32_t out[ELEMENTS];
    struct sampler_total total;
    struct gpu_stats stats;
    (void)state;
    run_program(out);
    sampler_all(rt_sampler(rt), &total);
    assert_int_equal(teardown(NULL), 0);
    assert_int_equal(setup(NULL), 0);
    run_program(out);
    gpu_stats(rt_gpu(rt), &stats);
    assert_true(total.low <= (double)stats.cycles && (double)stats.cycles <= total.high);
    assert_true(fabs(total.cycles - (double)stats.cycles) <= 0.02 * (double)stats.cycles);
}

/* The same instructions, sectors and blocks, and as many launches before that did not: only the
 * banks of shared memory tell the later ones. */
static void run_strides(void)
{
    struct rt_stream *stream = rt_stream_default(rt);
    for (uint32_t i = 0; i < 80; i++) {
        assert_int_equal(put(stream, strided, data, 2, i < 40 ? 1 : 32), 0);
    }
    assert_int_equal(rt_sync(rt), 0);
}

static void launches_whose_banks_conflict_from_some_time_on_are_told_apart(void **state)
{
    struct sampler_total total;
    struct gpu_stats stats;
    (void)state;
    run_strides();
    sampler_all(rt_sampler(rt), &total);
    assert_true(total.timed <= 40);
    assert_int_equal(teardown(NULL), 0);
    assert_int_equal(setup(NULL), 0);
    run_strides();
    gpu_stats(rt_gpu(rt), &stats);
    assert_true(total.low <= (double)stats.cycles && (double)stats.cycles <= total.high);
    assert_true(fabs(total.cycles - (double)stats.cycles) <= 0.02 * (double)stats.cycles);
    assert_true(total.strata >= 2);
}

static void simulated_time_goes_on_by_estimates(void **state)
{
    struct rt_event *begin, *end;
    int64_t ps;
    struct sampler_total total;
    struct rt_stream *stream = rt_stream_default(rt);
    (void)state;
    assert_int_equal(rt_event_create(rt, &begin, 0), 0);
    assert_int_equal(rt_event_create(rt, &end, 0), 0);
    assert_int_equal(rt_event_record(begin, stream), 0);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(put(stream, mix, data, ELEMENTS / 128, i), 0);
    }
    assert_int_equal(rt_event_record(end, stream), 0);
    assert_int_equal(rt_sync(rt), 0);
    assert_int_equal(rt_event_elapsed(&ps, begin, end), 0);
    sampler_all(rt_sampler(rt), &total);
    assert_true(total.timed < 40);
    double told = total.cycles * (double)model->core_period_ps;
    assert_true(fabs((double)ps - told) <= 0.02 * told);
    assert_int_equal(rt_event_destroy(begin), 0);
    assert_int_equal(rt_event_destroy(end), 0);
}

static void expect_whole(struct rt_kernel *kernel, uint32_t launches)
{
    struct sampler_total total;
    for (uint32_t i = 0; i < launches; i++) {
        assert_int_equal(put(rt_stream_default(rt), kernel, flag, 2, i), 0);
        assert_int_equal(rt_sync(rt), 0);
    }
    sampler_all(rt_sampler(rt), &total);
    assert_int_equal(total.launches, launches);
    assert_int_equal(total.whole, launches);
    assert_true(total.low == total.high);
}

static void kernels_that_read_clocks_are_simulated(void **state)
{
    (void)state;
    expect_whole(clocks, 10);
}

static void kernels_whose_blocks_wait_for_each_other_are_simulated(void **state)
{
    (void)state;
    expect_whole(until_set, 3);
    assert_int_equal(word(flag), 1);
}

static void launches_beside_others_are_simulated(void **state)
{
    struct rt_stream *other;
    struct sampler_total total;
    (void)state;
    assert_int_equal(rt_stream_create(rt, &other, RT_STREAM_NONBLOCKING, 0), 0);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(put(rt_stream_default(rt), count, flag, 1, i), 0);
        assert_int_equal(put(other, count, flag, 1, i), 0);
        assert_int_equal(rt_sync(rt), 0);
    }
    sampler_all(rt_sampler(rt), &total);
    assert_int_equal(total.launches, 10);
    assert_true(total.whole >= 5);
    assert_int_equal(word(flag), 10 * 128);
}

#define STREAMS 3

static void add_time(void *ctx, const struct rt_done *launch)
{
    *(uint64_t *)ctx += launch->end_ps - launch->begin_ps;
}

/* As many launches in each stream, all of which may be on the GPU together; what they take, added
 * up, in cycles. */
static double run_streams(void)
{
    struct rt_stream *stream[STREAMS];
    uint64_t ps = 0;
    rt_set_done(rt, add_time, &ps);
    for (int k = 0; k < STREAMS; k++) {
        assert_int_equal(rt_stream_create(rt, &stream[k], RT_STREAM_NONBLOCKING, 0), 0);
    }
    for (uint32_t i = 0; i < 60; i++) {
        for (int k = 0; k < STREAMS; k++) {
            assert_int_equal(put(stream[k], mix, data + 4096 * (uint64_t)k, 8, i), 0);
        }
    }
    assert_int_equal(rt_sync(rt), 0);
    return (double)ps / (double)model->core_period_ps;
}

static void streams_beside_each_other_take_what_they_take_without_samples(void **state)
{
    struct sampler_total total;
    (void)state;
    (void)run_streams();
    sampler_all(rt_sampler(rt), &total);
    assert_int_equal(total.launches, 60 * STREAMS);
    assert_int_equal(teardown(NULL), 0);
    assert_int_equal(setup(NULL), 0);
    double cycles = run_streams();
    assert_true(fabs(total.cycles - cycles) <= 0.02 * cycles);
}

static void a_fault_is_that_of_the_timed_launch(void **state)
{
    (void)state;
    assert_int_equal(put(rt_stream_default(rt), wild, flag, 1, 0), 0);
    assert_int_equal(rt_sync(rt), SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "wild"));
    assert_non_null(strstr(error_text(), "test.ptx:"));
}

static void a_launch_that_waits_for_its_end_is_sampled_too(void **state)
{
    uint64_t cycles, most = 0;
    struct sampler_total total;
    const uint32_t factor = 3;
    const void *args[] = {&data, &factor};
    const struct rt_launch launch = {
        .grid = {ELEMENTS / 128, 1, 1}, .block = {128, 1, 1}, .args = args, .arg_count = 2};
    (void)state;
    for (int i = 0; i < 30; i++) {
        assert_int_equal(rt_launch(rt, mix, &launch, &cycles), 0);
        assert_true(cycles > 0);
        most = cycles > most ? cycles : most;
    }
    sampler_all(rt_sampler(rt), &total);
    assert_int_equal(total.launches, 30);
    assert_true(total.timed < 20 && total.cycles <= 30.0 * (double)most);
}

int main(void)
{
#define SAMPLED(test) cmocka_unit_test_setup_teardown(test, setup_sampled, teardown)
    const struct CMUnitTest tests[] = {
        SAMPLED(results_are_those_of_every_launch_done_once),
        SAMPLED(the_estimate_is_near_what_all_launches_take),
        SAMPLED(launches_whose_banks_conflict_from_some_time_on_are_told_apart),
        SAMPLED(simulated_time_goes_on_by_estimates),
        SAMPLED(kernels_that_read_clocks_are_simulated),
        SAMPLED(kernels_whose_blocks_wait_for_each_other_are_simulated),
        SAMPLED(launches_beside_others_are_simulated),
        SAMPLED(streams_beside_each_other_take_what_they_take_without_samples),
        SAMPLED(a_fault_is_that_of_the_timed_launch),
        SAMPLED(a_launch_that_waits_for_its_end_is_sampled_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
