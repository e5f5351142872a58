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

struct places {
    uint32_t started, ended;
    uint64_t latest_end;
    uint32_t by_sm[64];
};

static void note_place(void *ctx, uint64_t cta, uint32_t sm, uint64_t cycle, bool ends)
{
    struct places *places = ctx;
    assert_in_range(cta, 0, 29);
    places->started += !ends;
    places->ended += ends;
    places->by_sm[sm] += !ends;
    places->latest_end = ends && cycle > places->latest_end ? cycle : places->latest_end;
}

/* Blocks whose last stores are on their way are there still: an only SM is never empty. */
static void waiting_for_a_block_to_end_is_counted(void **state)
{
    (void)state;
    struct gpu_stats before, stats;
    assert_true(gpu_bench_load(&g, "gtx780"));
    g.model->sms = 1;
    assert_true(gpu_bench_build(&g));
    assert_true(gpu_bench_run(&g, THREAD "st.global.u32 [%rd1], %r3;\n", 1, 64));
    gpu_stats(g.gpu, &before);
    assert_true(gpu_bench_run(&g, THREAD "st.global.u32 [%rd1], %r3;\n", 1, 64));
    gpu_stats(g.gpu, &stats);
    gpu_stats_since(&stats, &before);
    uint64_t spent = stats.sm.issue_cycles;
    for (int i = 0; i < SM_WAIT_COUNT; i++) {
        spent += stats.sm.wait_cycles[i];
    }
    assert_int_equal(spent, stats.cycles);
    assert_true(stats.sm.wait_cycles[SM_WAIT_MEMORY] > stats.cycles / 2);
    gpu_bench_free(&g);
}

static void statistics_say_where_instructions_and_cycles_went(void **state)
{
    (void)state;
    build("gtx780");
    struct places places = {0};
    struct gpu_stats stats, again;
    gpu_set_placed(g.gpu, note_place, &places);
    /* A divergent half: 16 of 32 lanes load, add and store. */
    const char *text = THREAD "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra DONE;\n"
                              "mul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd1, %rd0;\n"
                              "ld.global.u32 %r3, [%rd1];\nadd.u32 %r3, %r3, 1;\n"
                              "st.global.u32 [%rd1], %r3;\nDONE:\n";
    assert_true(gpu_bench_run(&g, text, 30, 64));
    gpu_stats(g.gpu, &stats);
    assert_int_equal(places.started, 30);
    assert_int_equal(places.ended, 30);
    assert_int_equal(places.by_sm[0], 3); /* 12 SMs, breadth first: 2 or 3 each */
    assert_int_equal(places.by_sm[11], 2);
    assert_in_range(places.latest_end, 1, g.cycles);
    uint64_t warps = 30 * 2, insns = 0, waits = stats.sm.issue_cycles, accesses = 0;
    assert_int_equal(stats.sm.lanes[16], warps * 5);
    assert_int_equal(stats.sm.lanes[16] + stats.sm.lanes[32], stats.warp_insns);
    for (int i = 0; i < ISA_UNIT_COUNT; i++) {
        insns += stats.sm.unit_insns[i];
    }
    assert_int_equal(insns, stats.warp_insns);
    assert_int_equal(stats.sm.space[SPACE_GLOBAL], warps * 2);
    for (int i = 0; i < SM_WAIT_COUNT; i++) {
        waits += stats.sm.wait_cycles[i];
    }
    assert_in_range(waits, 1, stats.cycles * 12);
    assert_true(stats.sm.wait_cycles[SM_WAIT_MEMORY] > stats.sm.issue_cycles);
    for (int i = 0; i < SM_LATENCY_PLACES; i++) {
        accesses += stats.sm.latency[i];
    }
    assert_int_equal(accesses, warps * 2);
    assert_in_range(stats.dram_busy_ps, 1, stats.dram_pending_ps);
    /* A second launch of the same adds the same instructions. */
    gpu_set_placed(g.gpu, NULL, NULL);
    assert_true(gpu_bench_run(&g, text, 30, 64));
    gpu_stats(g.gpu, &again);
    gpu_stats_since(&again, &stats);
    assert_int_equal(again.launches, 1);
    assert_memory_equal(again.sm.lanes, stats.sm.lanes, sizeof stats.sm.lanes);
    assert_int_equal(places.started, 30);
    gpu_bench_free(&g);
}

static void latencies_have_places_without_gaps(void **state)
{
    (void)state;
    for (uint64_t cycles = 0; cycles < 100000; cycles++) {
        uint32_t place = sm_latency_place(cycles);
        assert_true(sm_latency_begin(place) <= cycles && cycles < sm_latency_begin(place + 1));
    }
    assert_int_equal(sm_latency_place(UINT64_MAX), SM_LATENCY_PLACES - 1);
}

/* Lines of all slices, each read twice and then written: every counter in its place. */
static void what_l2_serves_is_counted(void **state)
{
    (void)state;
    enum { LINES = 48 };
    assert_true(gpu_bench_load(&g, "gtx780"));
    g.model->tlb_l1.entries.enabled = g.model->tlb_l2.entries.enabled = false;
    g.model->copies_allocate_in_l2 = false;
    assert_true(gpu_bench_build(&g));
    char body[512];
    uint32_t line = g.model->l2.line_bytes;
    snprintf(body, sizeof body,
             "mov.u32 %%r1, 0;\nmov.u64 %%rd1, %%rd0;\nL:\n"
             "ld.global.cg.u32 %%r2, [%%rd1];\nadd.u32 %%r2, %%r2, 1;\n"
             "ld.global.cg.u32 %%r3, [%%rd1];\nadd.u32 %%r3, %%r3, %%r2;\n"
             "st.global.u32 [%%rd1], %%r3;\nadd.u64 %%rd1, %%rd1, %u;\nadd.u32 %%r1, %%r1, 1;\n"
             "setp.lt.u32 %%p1, %%r1, %u;\n@%%p1 bra L;\n",
             line, LINES);
    assert_true(gpu_bench_run(&g, body, 1, 1));
    struct gpu_stats stats;
    gpu_stats(g.gpu, &stats);
    assert_int_equal(stats.l2_reads, 2 * LINES);
    assert_int_equal(stats.l2_hits, LINES);
    assert_int_equal(stats.l2_writes, LINES);
    assert_int_equal(stats.l2_write_hits, LINES);
    assert_int_equal(stats.dram_reads, LINES);
    assert_int_equal(stats.l2_evictions, 0);
    assert_true(g.model->l2_slices > 1);
    gpu_bench_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_l2_serves_is_counted),
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
        cmocka_unit_test(waiting_for_a_block_to_end_is_counted),
        cmocka_unit_test(statistics_say_where_instructions_and_cycles_went),
        cmocka_unit_test(latencies_have_places_without_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
