/*
 * An SM's timing on a bench (tests/support/sm_bench.h), against sums derived from its
 * specification. A measured stretch is: clock, what is measured, a volatile store to shared memory
 * that waits for it, clock. In-order issue of one instruction a cycle adds 1 cycle before and 1
 * after.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/sm_bench.h"

#define STRETCH(what)                                                                              \
    "mov.u32 %r1, %clock;\n" what "st.volatile.shared.u32 [smem], %r2;\nmov.u32 %r3, %clock;\n"    \
    "sub.u32 %r4, %r3, %r1;\nst.global.u32 [%rd0], %r4;\n"
/* Registers that somebody reads later: dead ones would share a slot, and wait for each other. */
#define KEEP(a, b, c, d) "st.global.v4.u32 [%rd0+16], {" a ", " b ", " c ", " d "};\n"

static struct bench b;

static uint32_t measure_threads(const char *body, uint32_t threads)
{
    assert_true(bench_run(&b, body, 1, threads));
    uint32_t value = b.out[0];
    bench_free(&b);
    return value;
}

static uint32_t measure(const char *body)
{
    return measure_threads(body, 1);
}

static void a_result_is_usable_exactly_after_its_units_latency(void **state)
{
    (void)state;
    static const struct {
        enum isa_unit unit;
        const char *body;
    } rows[] = {
        {UNIT_ALU, STRETCH("add.s32 %r2, %r1, 1;\n")},
        {UNIT_IMUL, STRETCH("mul.lo.s32 %r2, %r1, %r1;\n")},
        {UNIT_SHIFT, STRETCH("shl.b32 %r2, %r1, 3;\n")},
        {UNIT_IDIV, STRETCH("div.u32 %r2, %r1, 7;\n")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (uint32_t latency = 6; latency <= 200; latency += 97) {
            bench_defaults(&b);
            b.spec.unit[rows[i].unit].latency_cycles = latency;
            /* It also waits for the clock's value, 5 cycles instead of 1. */
            assert_int_equal(measure(rows[i].body), b.spec.clock_read_cycles + latency + 1);
        }
    }
}

static void a_chain_takes_the_sum_of_its_latencies(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.spec.unit[UNIT_ALU].latency_cycles = 18;
    assert_int_equal(measure(STRETCH("add.s32 %r2, %r5, 1;\nadd.s32 %r2, %r2, 1;\n"
                                     "add.s32 %r2, %r2, 1;\n")),
                     1 + 3 * 18 + 1);
}

static void independent_instructions_issue_every_cycle(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_int_equal(measure(STRETCH("add.s32 %r5, %r9, 1;\nadd.s32 %r6, %r9, 1;\n"
                                     "add.s32 %r7, %r9, 1;\nadd.s32 %r8, %r9, 1;\n")
                                 KEEP("%r5", "%r6", "%r7", "%r8")),
                     6);
}

static void a_narrow_unit_is_taken_for_several_cycles(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.spec.unit[UNIT_ALU].lanes_per_cycle = 8;
    /* clock 0, adds 1, 5, 9, 13, store 14, clock 15 */
    assert_int_equal(measure(STRETCH("add.s32 %r5, %r9, 1;\nadd.s32 %r6, %r9, 1;\n"
                                     "add.s32 %r7, %r9, 1;\nadd.s32 %r8, %r9, 1;\n")
                                 KEEP("%r5", "%r6", "%r7", "%r8")),
                     15);
}

static void two_instructions_of_a_warp_issue_in_a_cycle_where_the_model_says_so(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.spec.issue_per_scheduler = 2;
    b.spec.unit[UNIT_ALU].lanes_per_cycle = 64;
    b.spec.unit[UNIT_SPECIAL].lanes_per_cycle = 32;
    /* clock+add 0, add+add 1, add+store 2, clock 3 */
    assert_int_equal(measure(STRETCH("add.s32 %r5, %r9, 1;\nadd.s32 %r6, %r9, 1;\n"
                                     "add.s32 %r7, %r9, 1;\nadd.s32 %r8, %r9, 1;\n")
                                 KEEP("%r5", "%r6", "%r7", "%r8")),
                     3);
}

static void a_scheduler_with_an_interval_issues_once_in_it(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.spec.issue_interval = 4;
    /* clock 0, adds 4, 8, 12, 16, store 20, clock 24: however wide the units are */
    assert_int_equal(measure(STRETCH("add.s32 %r5, %r9, 1;\nadd.s32 %r6, %r9, 1;\n"
                                     "add.s32 %r7, %r9, 1;\nadd.s32 %r8, %r9, 1;\n")
                                 KEEP("%r5", "%r6", "%r7", "%r8")),
                     24);
}

static void a_pending_destination_stops_the_next_writer(void **state)
{
    (void)state;
    bench_defaults(&b);
    /* The second writer of r2 must not overtake the load. */
    assert_int_equal(measure(STRETCH("ld.global.u32 %r2, [%rd0+64];\nmov.u32 %r2, 7;\n")),
                     1 + 20 + 100 + 10 + 1);
}

static void a_load_takes_address_path_and_memory(void **state)
{
    (void)state;
    for (uint32_t memory = 1; memory <= 601; memory += 200) {
        bench_defaults(&b);
        b.memory_cycles = memory;
        assert_int_equal(measure(STRETCH("ld.global.u32 %r2, [%rd0+64];\n")), 1 + 20 + memory + 1);
    }
}

static void independent_loads_overlap(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_int_equal(
        measure(STRETCH("ld.global.u32 %r5, [%rd0+64];\nld.global.u32 %r6, [%rd0+512];\n"
                        "ld.global.u32 %r2, [%rd0+1024];\n") KEEP("%r5", "%r6", "%r2", "%r2")),
        3 + 20 + 100 + 1);
}

static void transactions_leave_one_a_cycle(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_int_equal(measure_threads("mov.u32 %r9, %tid.x;\nmul.wide.u32 %rd1, %r9, 128;\n"
                                     "add.u64 %rd1, %rd1, %rd0;\n" BENCH_WAIT_FOR("%rd1")
                                         STRETCH("ld.global.u32 %r2, [%rd1+4096];\n"),
                                     32),
                     1 + 20 + 31 + 100 + 1);
    assert_int_equal(b.stats.transactions, 33);
}

static void a_full_queue_holds_memory_instructions_back(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.spec.lsu_queue_entries = 1;
    /* Each of the loads must leave the queue (20 cycles) before the next may enter it, in the
     * cycle in which it leaves. */
    assert_int_equal(
        measure(STRETCH("ld.global.u32 %r5, [%rd0+64];\nld.global.u32 %r6, [%rd0+512];\n"
                        "ld.global.u32 %r2, [%rd0+1024];\n") KEEP("%r5", "%r6", "%r2", "%r2")),
        1 + 3 * 20 + 100 + 1);
}

static void a_refused_transaction_goes_out_when_there_is_space(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.refuse_above = 1;
    assert_true(bench_run(&b,
                          "ld.global.u32 %r5, [%rd0+64];\nld.global.u32 %r6, [%rd0+512];\n"
                          "add.u32 %r7, %r5, %r6;\nst.global.u32 [%rd0], %r7;\n",
                          1, 1));
    assert_int_equal(b.log_count, 3);
    assert_in_range(b.log[1].cycle - b.log[0].cycle, 100, 101);
    bench_free(&b);
}

static void shared_memory_takes_its_latency_and_its_conflicts(void **state)
{
    (void)state;
    static const uint32_t strides[] = {4, 8, 16, 32, 64, 12, 128};
    static const uint32_t ways[] = {1, 2, 4, 8, 16, 1, 32};
    for (int i = 0; i < 7; i++) {
        char body[1024];
        snprintf(body, sizeof body,
                 "mov.u32 %%r9, %%tid.x;\nmul.lo.u32 %%r9, %%r9, %u;\n"
                 "mov.u32 %%r10, smem;\nadd.u32 %%r9, %%r9, %%r10;\ncvt.u64.u32 %%rd1, %%r9;\n%s%s",
                 strides[i], BENCH_WAIT_FOR("%rd1"), STRETCH("ld.shared.u32 %r2, [%r9];\n"));
        bench_defaults(&b);
        /* The store behind it is without conflict: one lane's word for all. */
        assert_int_equal(measure_threads(body, 32), 1 + 30 + (ways[i] - 1) * 3 + 1);
        assert_int_equal(b.stats.shared_conflicts, ways[i] - 1);
    }
}

static void parameters_come_from_constant_memory(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_int_equal(measure(STRETCH("ld.param.u32 %r2, [out];\n")), 1 + 8 + 1);
}

static void a_store_does_not_hold_its_warp(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_int_equal(measure(STRETCH("st.global.u32 [%rd0+64], %r9;\n")), 3);
    assert_true(b.cycles > 100); /* but the CTA ends only when it has been acknowledged */
}

static void a_store_holds_its_warp_where_the_l1_says_so(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.with_l1 = b.l1_stores_wait = true;
    assert_int_equal(measure("mov.u32 %r1, %clock;\nst.global.u32 [%rd0+64], %r9;\n"
                             "mov.u32 %r3, %clock;\nsub.u32 %r4, %r3, %r1;\n"
                             "st.global.u32 [%rd0], %r4;\n"),
                     1 + 20 + 100);
}

static void a_store_that_hits_holds_its_warp_until_its_lookup(void **state)
{
    (void)state;
    static const struct {
        uint64_t held_bytes;
        uint32_t cycles;
    } cases[] = {{128, 1 + 20}, {96, 1 + 20}, {80, 1 + 20 + 100}, {0, 1 + 20 + 100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_defaults(&b);
        b.with_l1 = b.l1_stores_wait = true;
        b.l1_holds = cases[i].held_bytes;
        assert_int_equal(
            measure_threads("mov.u32 %r5, %tid.x;\nmul.wide.u32 %rd1, %r5, 4;\n"
                            "add.u64 %rd1, %rd0, %rd1;\n" BENCH_WAIT_FOR(
                                "%rd1") "mov.u32 %r1, %clock;\n"
                                        "st.global.u32 [%rd1+64], %r9;\n"
                                        "mov.u32 %r3, %clock;\nsub.u32 %r4, %r3, %r1;\n"
                                        "st.global.u32 [%rd0], %r4;\n",
                            8),
            cases[i].cycles);
    }
}

static void a_store_that_passes_the_l1_does_not_hold_its_warp(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.with_l1 = b.l1_stores_wait = true;
    assert_int_equal(measure(STRETCH("st.global.cg.u32 [%rd0+64], %r9;\n")), 3);
}

static void loads_are_not_held_by_each_other_where_stores_are(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.with_l1 = b.l1_stores_wait = true;
    assert_int_equal(measure("mov.u32 %r1, %clock;\nld.global.u32 %r9, [%rd0+64];\n"
                             "mov.u32 %r3, %clock;\nsub.u32 %r4, %r3, %r1;\n"
                             "st.global.u32 [%rd0], %r4;\nst.global.u32 [%rd0+4], %r9;\n"),
                     2);
}

static void a_load_holds_its_warp_where_the_model_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *load;
        uint32_t cycles;
    } cases[] = {{"ld.global.u32 %r9, [%rd0+64];\n", 1 + 20 + 100},
                 {"ld.shared.u32 %r9, [smem+64];\n", 2},
                 {"st.global.u32 [%rd0+64], %r9;\n", 2}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        bench_defaults(&b);
        b.spec.loads_hold_warp = i % 2;
        char body[512];
        snprintf(body, sizeof body,
                 "mov.u32 %%r1, %%clock;\n%smov.u32 %%r3, %%clock;\nsub.u32 %%r4, %%r3, %%r1;\n"
                 "st.global.u32 [%%rd0], %%r4;\nst.global.u32 [%%rd0+4], %%r9;\n",
                 cases[i / 2].load);
        assert_int_equal(measure(body), i % 2 ? cases[i / 2].cycles : 2);
    }
}

static void a_load_that_hits_holds_its_warp_until_its_lookup(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.spec.loads_hold_warp = true;
    b.with_l1 = b.l1_stores_wait = true;
    b.l1_holds = 128;
    assert_int_equal(
        measure(BENCH_WAIT_FOR("%rd0") "mov.u32 %r1, %clock;\n"
                                       "ld.global.u32 %r9, [%rd0+64];\nmov.u32 %r3, %clock;\n"
                                       "sub.u32 %r4, %r3, %r1;\nst.global.u32 [%rd0], %r4;\n"
                                       "st.global.u32 [%rd0+4], %r9;\n"),
        1 + 20);
}

static void a_fence_waits_for_stores(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_int_equal(measure("mov.u32 %r1, %clock;\nst.global.u32 [%rd0+64], %r9;\nmembar.gl;\n"
                             "mov.u32 %r3, %clock;\nsub.u32 %r4, %r3, %r1;\n"
                             "st.global.u32 [%rd0], %r4;\n"),
                     1 + 20 + 100 + 1);
}

/* Lane 0 waits for an arrival of lane 1, which is behind the place where the two meet. */
static void a_lane_that_waits_at_an_mbarrier_lets_the_others_of_its_warp_go_on(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.yield_after = 64;
    b.spec.mbarrier.latency_cycles = 20;
    b.spec.mbarrier.limit_cycles = 100000;
    uint32_t cycles = measure_threads(
        "mov.u32 %r5, %tid.x;\nsetp.ne.u32 %p0, %r5, 0;\nsetp.ne.u32 %p1, %r5, 1;\n"
        "@!%p0 mbarrier.init.shared.b64 [smem], 1;\nbar.sync 0;\nmov.u32 %r1, %clock;\n"
        "@%p0 bra MEET;\n"
        "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra WAIT;\n"
        "MEET: @%p1 bra LAST;\nmbarrier.arrive.shared.b64 %rd1, [smem];\n"
        "LAST: bar.sync 0;\nmov.u32 %r3, %clock;\nsub.u32 %r4, %r3, %r1;\n"
        "@!%p0 st.global.u32 [%rd0], %r4;\n",
        32);
    assert_in_range(cycles, 1, 500); /* 64 limits before, and a fault for the wait */
}

static void a_release_waits_for_what_is_before_it(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_true(bench_run(&b,
                          "red.global.add.u32 [%rd0], 1;\nst.global.u32 [%rd0+512], %r9;\n"
                          "st.release.gpu.global.u32 [%rd0+1024], %r9;\n",
                          1, 1));
    assert_int_equal(b.log_count, 3);
    assert_int_equal(b.log[2].cycle - b.log[1].cycle, 100 + 20);
    bench_free(&b);
}

static void nothing_overtakes_an_acquire(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_true(bench_run(&b,
                          "atom.acquire.gpu.global.add.u32 %r1, [%rd0], 1;\n"
                          "ld.global.u32 %r2, [%rd0+512];\n"
                          "ld.acquire.gpu.global.u32 %r3, [%rd0+1024];\n"
                          "st.global.u32 [%rd0+2048], %r9;\n" KEEP("%r1", "%r2", "%r3", "%r3"),
                          1, 1));
    assert_int_equal(b.log_count, 5);
    assert_int_equal(b.log[1].cycle - b.log[0].cycle, 100 + 20);
    assert_int_equal(b.log[2].cycle - b.log[1].cycle, 1);
    assert_int_equal(b.log[3].cycle - b.log[2].cycle, 100 + 20);
    assert_true(b.log[2].bypass);
    bench_free(&b);
}

static void a_prefetch_of_nothing_is_ignored(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_true(bench_run(&b,
                          "prefetch.global.L2 [%rd0];\nmov.u64 %rd1, 0;\n"
                          "prefetch.global.L2 [%rd1];\nst.global.u32 [%rd0], %r9;\n",
                          1, 1));
    assert_int_equal(b.log[0].kind, MEM_PREFETCH);
    bench_free(&b);
}

static void accesses_take_the_path_their_operator_names(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.with_l1 = true;
    assert_true(bench_run(&b,
                          "ld.global.ca.u32 %r1, [%rd0];\nld.global.cg.u32 %r2, [%rd0];\n"
                          "ld.volatile.global.u32 %r3, [%rd0];\nst.global.u32 [%rd0], %r9;\n"
                          "atom.global.add.u32 %r4, [%rd0], 1;\nld.global.u32 %r5, [%rd0+64];\n",
                          1, 1));
    static const struct {
        enum mem_kind kind;
        bool bypass;
    } expected[] = {{MEM_READ, false},  {MEM_READ, true},   {MEM_READ, true},
                    {MEM_WRITE, false}, {MEM_ATOMIC, true}, {MEM_READ, false}};
    assert_int_equal(b.log_count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(b.log[i].kind, expected[i].kind);
        assert_int_equal(b.log[i].bypass, expected[i].bypass);
        assert_true(b.log[i].l1);
    }
    bench_free(&b);
}

static void global_accesses_pass_an_l1_that_does_not_cache_them(void **state)
{
    (void)state;
    bench_defaults(&b);
    b.with_l1 = true;
    b.spec.l1_caches_global = false;
    assert_true(bench_run(&b, "ld.global.ca.u32 %r1, [%rd0];\nst.global.u32 [%rd0], %r1;\n", 1, 1));
    assert_int_equal(b.log_count, 2);
    assert_false(b.log[0].l1);
    assert_false(b.log[1].l1);
    bench_free(&b);
}

static void a_load_does_not_see_the_store_behind_it(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_true(bench_run(&b,
                          "mov.u32 %r9, 41;\nst.global.u32 [%rd0], %r9;\nmov.u32 %r8, 99;\n"
                          "ld.global.u32 %r1, [%rd0];\nst.global.u32 [%rd0], %r8;\n"
                          "st.global.u32 [%rd0+4], %r1;\n",
                          1, 1));
    assert_int_equal(b.out[0], 99);
    assert_int_equal(b.out[1], 41);
    bench_free(&b);
}

static void a_load_sees_the_threads_own_atomic_before_it(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_true(bench_run(&b,
                          "mov.u32 %r9, 41;\nst.global.u32 [%rd0], %r9;\n"
                          "red.global.add.u32 [%rd0], 1;\nred.global.add.u32 [%rd0], 1;\n"
                          "ld.global.u32 %r1, [%rd0];\nst.global.u32 [%rd0+4], %r1;\n"
                          "st.global.u32 [%rd0], %r9;\n",
                          1, 1));
    assert_int_equal(b.out[1], 43);
    assert_int_equal(b.out[0], 41);
    bench_free(&b);
}

static void an_atomic_returns_after_address_path_and_memory(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_int_equal(measure(STRETCH("atom.global.add.u32 %r2, [%rd0+64], 1;\n")),
                     1 + 20 + 100 + 1);
}

static void a_barrier_waits_for_the_atomics_before_it(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_true(bench_run(&b,
                          "mov.u32 %r1, %tid.x;\nred.global.add.u32 [%rd0], 1;\nbar.sync 0;\n"
                          "ld.global.u32 %r2, [%rd0];\nmul.wide.u32 %rd1, %r1, 4;\n"
                          "add.u64 %rd1, %rd1, %rd0;\nst.global.u32 [%rd1+4], %r2;\n",
                          1, 128));
    for (uint32_t i = 0; i < 128; i++) {
        assert_int_equal(b.out[1 + i], 128);
    }
    bench_free(&b);
}

static void lanes_of_a_generic_access_may_go_to_different_spaces(void **state)
{
    (void)state;
    bench_defaults(&b);
    /* Even lanes read a shared word, odd lanes a global one. */
    assert_true(
        bench_run(&b,
                  "mov.u32 %r1, %tid.x;\nmov.u32 %r2, 5;\nst.shared.u32 [smem], %r2;\n"
                  "mov.u32 %r2, 6;\nst.global.u32 [%rd0+1024], %r2;\nbar.sync 0;\n"
                  "mov.u64 %rd1, smem;\ncvta.shared.u64 %rd1, %rd1;\nadd.u64 %rd2, %rd0, 1024;\n"
                  "and.b32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, 0;\n"
                  "selp.b64 %rd3, %rd1, %rd2, %p1;\nld.u32 %r4, [%rd3];\n"
                  "mul.wide.u32 %rd4, %r1, 4;\nadd.u64 %rd4, %rd4, %rd0;\n"
                  "st.u32 [%rd4], %r4;\n",
                  1, 32));
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(b.out[i], 5 + (i & 1));
    }
    bench_free(&b);
}

static void lanes_of_an_atomic_all_take_part(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_true(
        bench_run(&b,
                  "atom.global.add.u32 %r1, [%rd0], 2;\n"
                  "shl.b32 %r2, %r1, 1;\ncvt.u64.u32 %rd1, %r2;\nadd.u64 %rd1, %rd1, %rd0;\n"
                  "mov.u32 %r3, 1;\nst.global.u32 [%rd1+1024], %r3;\n",
                  1, 96));
    assert_int_equal(b.out[0], 192);
    for (uint32_t i = 0; i < 96; i++) {
        assert_int_equal(b.out[256 + i], 1); /* every old value was handed out once */
    }
    bench_free(&b);
}

static void a_barrier_lets_nobody_through_early(void **state)
{
    (void)state;
    bench_defaults(&b);
    /* Each thread writes its number, then reads the one of the thread half a block away, many
     * times. */
    assert_true(bench_run(
        &b,
        "mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, smem;\nadd.u32 %r4, %r3, %r2;\n"
        "xor.b32 %r5, %r2, 1024;\nadd.u32 %r5, %r5, %r3;\nmov.u32 %r6, 0;\nmov.u32 %r7, 0;\n"
        "LOOP:\nadd.u32 %r8, %r1, %r7;\nst.shared.u32 [%r4], %r8;\nbar.sync 0;\n"
        "ld.shared.u32 %r9, [%r5];\nbar.sync 0;\nadd.u32 %r6, %r6, %r9;\nadd.u32 %r7, %r7, 1;\n"
        "setp.lt.u32 %p1, %r7, 20;\n@%p1 bra LOOP;\n"
        "cvt.u64.u32 %rd1, %r2;\nadd.u64 %rd1, %rd1, %rd0;\nst.global.u32 [%rd1], %r6;\n",
        1, 512));
    for (uint32_t i = 0; i < 512; i++) {
        assert_int_equal(b.out[i], 20 * (i ^ 256) + 190);
    }
    bench_free(&b);
}

static void named_barriers_count_threads_and_arrivals(void **state)
{
    (void)state;
    bench_defaults(&b);
    /* Warp 0 waits for 64 threads; warp 1 works for a while, arrives, and does not wait. */
    assert_true(bench_run(
        &b,
        "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 bra ARRIVE;\n"
        "mov.u32 %r2, %clock;\nbar.sync 3, 64;\nmov.u32 %r3, %clock;\nld.shared.u32 %r5, [smem];\n"
        "sub.u32 %r4, %r3, %r2;\nst.global.u32 [%rd0], %r4;\nst.global.u32 [%rd0+4], %r5;\nbra "
        "DONE;\n"
        "ARRIVE:\nmov.u32 %r6, 77;\ndiv.u32 %r7, %r6, 1;\ndiv.u32 %r7, %r7, 1;\ndiv.u32 %r7, %r7, "
        "1;\n"
        "st.shared.u32 [smem], %r7;\nbar.arrive 3, 64;\nDONE:\n",
        1, 64));
    assert_in_range(b.out[0], 40, 100);
    assert_int_equal(b.out[1], 77);
    bench_free(&b);
}

static void an_exited_warp_is_not_waited_for(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_true(bench_run(&b,
                          "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 ret;\n"
                          "bar.sync 0;\nst.global.u32 [%rd0], %r1;\n",
                          1, 128));
    bench_free(&b);
}

static void warps_that_wait_for_ever_are_reported(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_false(bench_run(&b, "bar.sync 2, 64;\n", 1, 32));
    assert_int_equal(b.error, 0); /* nobody faulted: the machine has just stopped */
    assert_int_equal(b.ctas_ended, 0);
    assert_non_null(strstr(b.stall, "waits for ever at barrier 2"));
    bench_free(&b);
}

static void a_fault_stops_the_launch_and_leaves_nothing_behind(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_false(bench_run(&b,
                           "ld.global.u32 %r1, [%rd0+64];\natom.global.add.u32 %r3, [%rd0], 1;\n"
                           "mov.u64 %rd1, 64;\nld.global.u32 %r2, [%rd1];\n"
                           "st.global.u32 [%rd0], %r2;\n",
                           1, 64));
    assert_int_equal(b.error, SONDE_EFAULT);
    assert_int_equal(b.requests_out, 0);
    bench_free(&b);
}

static void ctas_share_an_sm_and_keep_their_shared_memory_apart(void **state)
{
    (void)state;
    bench_defaults(&b);
    assert_true(bench_run(&b,
                          "mov.u32 %r1, %ctaid.x;\nst.shared.u32 [smem], %r1;\nbar.sync 0;\n"
                          "ld.shared.u32 %r2, [smem];\nmul.wide.u32 %rd1, %r1, 4;\n"
                          "add.u64 %rd1, %rd1, %rd0;\nst.global.u32 [%rd1], %r2;\n",
                          8, 64));
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(b.out[i], i);
    }
    bench_free(&b);
}

static void warps_hide_each_others_latency(void **state)
{
    (void)state;
    uint64_t one, many;
    static const char *const body =
        "add.s32 %r2, %r2, 1;\nadd.s32 %r2, %r2, 1;\nadd.s32 %r2, %r2, 1;\n"
        "add.s32 %r2, %r2, 1;\nadd.s32 %r2, %r2, 1;\nadd.s32 %r2, %r2, 1;\n";
    bench_defaults(&b);
    assert_true(bench_run(&b, body, 1, 32));
    one = b.cycles;
    bench_free(&b);
    bench_defaults(&b);
    assert_true(bench_run(&b, body, 1, 8 * 32));
    many = b.cycles;
    bench_free(&b);
    assert_in_range(many, 8 * 8, 2 * one);
}

static void units_wider_than_a_warp_take_several_warps_a_cycle(void **state)
{
    (void)state;
    /* 48 lanes: three warps in two cycles. 160 adds of 12 warps: 1920 warp instructions. */
    char body[8192] = "";
    for (int i = 0; i < 160; i++) {
        sprintf(body + strlen(body), "add.s32 %%r%d, %%r%d, 1;\n", i % 16 + 1, i % 16 + 1);
    }
    strcat(body, KEEP("%r1", "%r2", "%r3", "%r4") KEEP("%r5", "%r6", "%r7", "%r8")
                     KEEP("%r9", "%r10", "%r11", "%r12") KEEP("%r13", "%r14", "%r15", "%r16"));
    bench_defaults(&b);
    b.spec.schedulers = 2;
    b.spec.unit[UNIT_ALU].lanes_per_cycle = 48;
    assert_true(bench_run(&b, body, 1, 12 * 32));
    uint64_t wide = b.cycles;
    bench_free(&b);
    bench_defaults(&b);
    b.spec.schedulers = 2;
    assert_true(bench_run(&b, body, 1, 12 * 32));
    assert_in_range(b.cycles - wide, 640 - 64, 640 + 64); /* 1920 cycles against 1280 */
    bench_free(&b);
}

/*
 * Warps of three schedulers want a lock. Those that do not get it take the load/store unit for long
 * with each attempt (32 lanes, one word): the one that has the lock must come by nevertheless.
 */
static void a_scheduler_that_waits_for_a_unit_is_not_passed_over_for_ever(void **state)
{
    (void)state;
    static const char body[] =
        "mov.u32 %r1, 0;\nmov.u32 %r9, smem;\nst.shared.u32 [smem], %r1;\n"
        "st.shared.u32 [smem+4], %r1;\nbar.sync 0;\nmov.u32 %r2, 1;\n"
        "LOOP:\natom.shared.cas.b32 %r3, [%r9], 0, %r2;\nsetp.ne.u32 %p1, %r3, 0;\n"
        "@%p1 bra MEET;\nld.shared.u32 %r4, [smem+4];\nadd.u32 %r4, %r4, 1;\n"
        "st.shared.u32 [smem+4], %r4;\nmembar.cta;\natom.shared.exch.b32 %r5, [%r9], 0;\n"
        "MEET:\nadd.u32 %r1, %r1, 1;\nsetp.gt.u32 %p2, %r1, 1000;\n@%p2 bra GIVE_UP;\n"
        "@%p1 bra LOOP;\nGIVE_UP:\nbar.sync 0;\nld.shared.u32 %r6, [smem+4];\n"
        "st.global.u32 [%rd0], %r6;\n";
    for (uint32_t conflict_cycles = 0; conflict_cycles <= 40; conflict_cycles += 5) {
        bench_defaults(&b);
        b.spec.schedulers = 3;
        b.spec.shared.conflict_cycles = conflict_cycles;
        assert_true(bench_run(&b, body, 1, 96));
        assert_int_equal(b.out[0], 96);
        bench_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_is_usable_exactly_after_its_units_latency),
        cmocka_unit_test(a_chain_takes_the_sum_of_its_latencies),
        cmocka_unit_test(independent_instructions_issue_every_cycle),
        cmocka_unit_test(a_narrow_unit_is_taken_for_several_cycles),
        cmocka_unit_test(two_instructions_of_a_warp_issue_in_a_cycle_where_the_model_says_so),
        cmocka_unit_test(a_scheduler_with_an_interval_issues_once_in_it),
        cmocka_unit_test(a_pending_destination_stops_the_next_writer),
        cmocka_unit_test(a_load_takes_address_path_and_memory),
        cmocka_unit_test(independent_loads_overlap),
        cmocka_unit_test(transactions_leave_one_a_cycle),
        cmocka_unit_test(a_full_queue_holds_memory_instructions_back),
        cmocka_unit_test(a_refused_transaction_goes_out_when_there_is_space),
        cmocka_unit_test(shared_memory_takes_its_latency_and_its_conflicts),
        cmocka_unit_test(parameters_come_from_constant_memory),
        cmocka_unit_test(a_store_does_not_hold_its_warp),
        cmocka_unit_test(a_store_holds_its_warp_where_the_l1_says_so),
        cmocka_unit_test(a_store_that_hits_holds_its_warp_until_its_lookup),
        cmocka_unit_test(a_store_that_passes_the_l1_does_not_hold_its_warp),
        cmocka_unit_test(loads_are_not_held_by_each_other_where_stores_are),
        cmocka_unit_test(a_load_holds_its_warp_where_the_model_says_so),
        cmocka_unit_test(a_load_that_hits_holds_its_warp_until_its_lookup),
        cmocka_unit_test(a_fence_waits_for_stores),
        cmocka_unit_test(a_lane_that_waits_at_an_mbarrier_lets_the_others_of_its_warp_go_on),
        cmocka_unit_test(a_release_waits_for_what_is_before_it),
        cmocka_unit_test(nothing_overtakes_an_acquire),
        cmocka_unit_test(a_prefetch_of_nothing_is_ignored),
        cmocka_unit_test(accesses_take_the_path_their_operator_names),
        cmocka_unit_test(global_accesses_pass_an_l1_that_does_not_cache_them),
        cmocka_unit_test(a_load_does_not_see_the_store_behind_it),
        cmocka_unit_test(a_load_sees_the_threads_own_atomic_before_it),
        cmocka_unit_test(an_atomic_returns_after_address_path_and_memory),
        cmocka_unit_test(a_barrier_waits_for_the_atomics_before_it),
        cmocka_unit_test(lanes_of_a_generic_access_may_go_to_different_spaces),
        cmocka_unit_test(lanes_of_an_atomic_all_take_part),
        cmocka_unit_test(a_barrier_lets_nobody_through_early),
        cmocka_unit_test(named_barriers_count_threads_and_arrivals),
        cmocka_unit_test(an_exited_warp_is_not_waited_for),
        cmocka_unit_test(warps_that_wait_for_ever_are_reported),
        cmocka_unit_test(a_fault_stops_the_launch_and_leaves_nothing_behind),
        cmocka_unit_test(ctas_share_an_sm_and_keep_their_shared_memory_apart),
        cmocka_unit_test(warps_hide_each_others_latency),
        cmocka_unit_test(units_wider_than_a_warp_take_several_warps_a_cycle),
        cmocka_unit_test(a_scheduler_that_waits_for_a_unit_is_not_passed_over_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
