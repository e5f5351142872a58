/* Launches over all SMs: distribution, ends, deadlocks, determinism, litmus programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/gpu_bench.h"

static struct gpu_bench g;

static void build(const char *model)
{
    assert_true(gpu_bench_load(&g, model));
    assert_true(gpu_bench_build(&g));
}

/* rd1 = buffer + 4 * (global thread number), r1 = that number */
#define THREAD                                                                                     \
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"                        \
    "mad.lo.u32 %r1, %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd1, %rd0;\n"

static void every_thread_of_a_large_grid_runs_once(void **state)
{
    (void)state;
    build("gtx780");
    assert_true(gpu_bench_run(&g, THREAD "atom.global.add.u32 %r4, [%rd1], 1;\n", 1000, 96));
    for (uint32_t i = 0; i < 96000; i++) {
        assert_int_equal(g.buffer[i], 1);
    }
    assert_int_equal(g.buffer[96000], 0);
    gpu_bench_free(&g);
}

static void ctas_go_breadth_first_to_the_emptiest_sm(void **state)
{
    (void)state;
    build("gtx780");
    uint32_t sms = g.model->sms;
    /* Two for each SM, long enough that none ends before all have started. */
    assert_true(gpu_bench_run(&g,
                              "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %smid;\n"
                              "mul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd1, %rd0;\n"
                              "st.global.u32 [%rd1], %r2;\n",
                              2 * sms, 32));
    for (uint32_t i = 0; i < 2 * sms; i++) {
        assert_int_equal(g.buffer[i], i % sms);
    }
    gpu_bench_free(&g);
}

static void a_block_that_can_never_fit_is_refused(void **state)
{
    (void)state;
    assert_true(gpu_bench_load(&g, "gtx780"));
    g.model->sm.max_threads = 512;
    assert_true(gpu_bench_build(&g));
    assert_false(gpu_bench_run(&g, "", 1, 1024));
    assert_int_equal(g.error, SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "threads"));
    gpu_bench_free(&g);
}

static void a_deadlock_is_a_fault_and_the_gpu_goes_on(void **state)
{
    (void)state;
    build("gtx780");
    assert_false(gpu_bench_run(&g, "bar.sync 1, 96;\n", 3, 64));
    assert_int_equal(g.error, SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "deadlock"));
    assert_non_null(strstr(error_text(), "barrier 1"));
    assert_non_null(strstr(error_text(), "test.ptx:"));
    assert_true(gpu_bench_run(&g, THREAD "st.global.u32 [%rd1], %r1;\n", 4, 64));
    assert_int_equal(g.buffer[255], 255);
    gpu_bench_free(&g);
}

static void a_fault_in_one_warp_ends_the_launch_and_the_gpu_goes_on(void **state)
{
    (void)state;
    build("gtx560ti");
    assert_false(gpu_bench_run(&g,
                               THREAD
                               "setp.ne.u32 %p1, %r1, 777;\nmov.u64 %rd2, 16;\n"
                               "selp.b64 %rd1, %rd1, %rd2, %p1;\nld.global.u32 %r5, [%rd1];\n"
                               "atom.global.add.u32 %r5, [%rd1], %r5;\n",
                               64, 128));
    assert_int_equal(g.error, SONDE_EFAULT);
    assert_true(gpu_bench_run(&g, THREAD "st.global.u32 [%rd1], %r1;\n", 4, 64));
    assert_int_equal(g.buffer[255], 255);
    gpu_bench_free(&g);
}

static void a_cancelled_launch_is_interrupted(void **state)
{
    (void)state;
    build("gtx780");
    volatile int cancel = 1;
    gpu_set_cancel(g.gpu, &cancel);
    assert_false(gpu_bench_run(&g, "LOOP:\nbra LOOP;\n", 1, 32));
    assert_int_equal(g.error, SONDE_EINTERRUPTED);
    gpu_set_cancel(g.gpu, NULL);
    assert_true(gpu_bench_run(&g, "", 1, 32));
    gpu_bench_free(&g);
}

static struct gpu_stats mixed_program(uint64_t *cycles)
{
    build("gtx560ti");
    /* Loads of several strides, shared memory, atomics that race, divergence. */
    assert_true(gpu_bench_run(
        &g,
        THREAD
        "mul.lo.u32 %r4, %r1, 1664525;\nand.b32 %r4, %r4, 0xFFFFC;\ncvt.u64.u32 %rd2, %r4;\n"
        "add.u64 %rd2, %rd2, %rd0;\nmov.u32 %r5, 0;\nLOOP:\nld.global.u32 %r6, [%rd2+1048576];\n"
        "and.b32 %r7, %r6, 3;\nadd.u32 %r7, %r7, %r3;\nand.b32 %r7, %r7, 1;\nsetp.eq.u32 %p1, %r7, "
        "0;\n"
        "@%p1 bra EVEN;\natom.global.add.u32 %r8, [%rd0], 1;\nst.global.u32 [%rd2+1048576], %r8;\n"
        "EVEN:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 4;\n@%p1 bra LOOP;\n",
        64, 192));
    struct gpu_stats stats;
    gpu_stats(g.gpu, &stats);
    *cycles = g.cycles;
    gpu_bench_free(&g);
    return stats;
}

static void two_runs_are_identical_in_every_statistic(void **state)
{
    (void)state;
    uint64_t cycles[2];
    struct gpu_stats first = mixed_program(&cycles[0]);
    struct gpu_stats second = mixed_program(&cycles[1]);
    assert_int_equal(cycles[0], cycles[1]);
    assert_memory_equal(&first, &second, sizeof first);
    assert_true(first.warp_insns > 64 * 6 * 20);
}

static void a_message_passed_with_fences_arrives_whole(void **state)
{
    (void)state;
    build("gtx780");
    /* Block 0 writes data, fences, raises the flag; the others wait for the flag and read the data.
     */
    assert_true(gpu_bench_run(
        &g,
        "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra READ;\n"
        "mov.u32 %r2, 4711;\nst.global.u32 [%rd0+4096], %r2;\nmembar.gl;\nmov.u32 %r2, 1;\n"
        "st.volatile.global.u32 [%rd0], %r2;\nbra DONE;\n"
        "READ:\nld.volatile.global.u32 %r3, [%rd0];\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra READ;\n"
        "membar.gl;\nld.global.cg.u32 %r4, [%rd0+4096];\nmul.wide.u32 %rd1, %r1, 4;\n"
        "add.u64 %rd1, %rd1, %rd0;\nst.global.u32 [%rd1+8192], %r4;\nDONE:\n",
        40, 1));
    for (uint32_t i = 1; i < 40; i++) {
        assert_int_equal(g.buffer[2048 + i], 4711);
    }
    gpu_bench_free(&g);
}

static void a_spin_lock_between_blocks_excludes(void **state)
{
    (void)state;
    build("gtx780");
    /* A counter without atomics, under a lock taken with compare-and-swap. */
    assert_true(
        gpu_bench_run(&g,
                      "mov.u32 %r9, 0;\nAGAIN:\nLOCK:\natom.global.cas.b32 %r1, [%rd0], 0, 1;\n"
                      "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOCK;\nmembar.gl;\n"
                      "ld.volatile.global.u32 %r2, [%rd0+128];\nadd.u32 %r2, %r2, 1;\n"
                      "st.volatile.global.u32 [%rd0+128], %r2;\nmembar.gl;\natom.global.exch.b32 "
                      "%r3, [%rd0], 0;\n"
                      "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, 5;\n@%p1 bra AGAIN;\n",
                      30, 1));
    assert_int_equal(g.buffer[32], 150);
    gpu_bench_free(&g);
}

static void racing_stores_leave_one_of_their_values(void **state)
{
    (void)state;
    build("gtx780");
    assert_true(
        gpu_bench_run(&g, THREAD "add.u32 %r1, %r1, 1;\nst.global.u32 [%rd0], %r1;\n", 48, 64));
    assert_in_range(g.buffer[0], 1, 48 * 64);
    gpu_bench_free(&g);
}

static void instructions_are_counted_by_warp_and_by_thread(void **state)
{
    (void)state;
    build("gtx780");
    assert_true(gpu_bench_run(&g, "add.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\n", 3, 40));
    struct gpu_stats stats;
    gpu_stats(g.gpu, &stats);
    assert_int_equal(stats.warp_insns, 3 * 2 * 4); /* ld.param, two adds, ret */
    assert_int_equal(stats.thread_insns, 3 * 40 * 4);
    assert_int_equal(stats.ctas, 3);
    assert_int_equal(stats.launches, 1);
    gpu_bench_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_of_a_large_grid_runs_once),
        cmocka_unit_test(ctas_go_breadth_first_to_the_emptiest_sm),
        cmocka_unit_test(a_block_that_can_never_fit_is_refused),
        cmocka_unit_test(a_deadlock_is_a_fault_and_the_gpu_goes_on),
        cmocka_unit_test(a_fault_in_one_warp_ends_the_launch_and_the_gpu_goes_on),
        cmocka_unit_test(a_cancelled_launch_is_interrupted),
        cmocka_unit_test(two_runs_are_identical_in_every_statistic),
        cmocka_unit_test(a_message_passed_with_fences_arrives_whole),
        cmocka_unit_test(a_spin_lock_between_blocks_excludes),
        cmocka_unit_test(racing_stores_leave_one_of_their_values),
        cmocka_unit_test(instructions_are_counted_by_warp_and_by_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
