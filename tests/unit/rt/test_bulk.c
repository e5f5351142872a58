/* Bulk copies and barriers in shared memory with timing: copies are requests of an engine, barriers
 * count their bytes when these are there, and who waits sleeps. */
#include "support/rt_bench.h"

#include <stdio.h>

#include "gpu/gpu.h"
#include "rt/queue/queue.h"

#define BUFFER_BYTES (1u << 20)

/* Times of its own, so that none follows the shipped model; two copies of the same bytes go each by
 * itself. */
struct times {
    unsigned latency, issue, write, wait_limit, across;
};
static const struct times usual = {20, 30, 40, 100000, 300};

/* p: thread 0; d0: the buffer; r0: shared memory, r1: its barrier. A thread's r3 is what it
 * measured. */
#define KERNEL(name, cluster, body)                                                                \
    ".visible .entry " name "(.param .u64 out) " cluster                                           \
    "\n{\n.reg .b64 %d<8>;\n.reg .b32 %r<16>;\n.reg .pred %p, %q, %w;\n"                           \
    ".shared .align 1024 .b8 s[32768];\n.shared .align 8 .b64 bar;\n"                              \
    "ld.param.u64 %d0, [out]; mov.u32 %r9, %tid.x; setp.eq.u32 %p, %r9, 0;\n"                      \
    "mov.u32 %r0, s; mov.u32 %r1, bar; mov.u32 %r7, 0; setp.lt.u32 %w, %r9, 32;\n"                 \
    "@%p mbarrier.init.shared.b64 [%r1], 1;\nfence.proxy.async; bar.sync 0;\n" body                \
    "sub.u32 %r3, %r3, %r2;\n@%p st.global.u32 [%d0], %r3;\n"                                      \
    "@%p st.global.u32 [%d0+4], %r6;\n@%p st.global.u32 [%d0+8], %r7;\nret;\n}\n"
#define START "mov.u32 %r2, %clock;\n"
#define END "mov.u32 %r3, %clock;\n"
#define EXPECT(bytes) "@%p mbarrier.arrive.expect_tx.shared.b64 %d5, [%r1], " #bytes ";\n"
#define IN(bytes, at)                                                                              \
    "@%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "                       \
    "[%r0+" #at "], [%d0+65536], " #bytes ", [%r1];\n"
#define OUT(bytes, at)                                                                             \
    "@%p cp.async.bulk.global.shared::cta.bulk_group [%d0+" #at "], [%r0], " #bytes ";\n"          \
    "cp.async.bulk.commit_group;\n"
#define GROUPS(left) "cp.async.bulk.wait_group " #left ";\n"
#define WAIT                                                                                       \
    "W:\nadd.u32 %r7, %r7, 1;\nmbarrier.try_wait.parity.shared.b64 %q, [%r1], 0;\n@!%q bra W;\n"
#define READ "ld.shared.u32 %r6, [%r0];\n"
#define WARM "ld.global.cg.u32 %r6, [%d0+65536]; st.volatile.shared.u32 [%r0], %r6;\n"
/* The first warp waits, the second one arrives in 2 microseconds. */
#define SLEEP                                                                                      \
    "setp.eq.u32 %p, %r9, 32;\n@%w bra WAITS;\nnanosleep.u32 2000;\n"                              \
    "@%p mbarrier.arrive.shared.b64 %d5, [%r1];\nbra DONE;\nWAITS:\n" START WAIT END               \
    "DONE:\nbar.sync 0; setp.eq.u32 %p, %r9, 0;\n"
/* Each CTA of two stores into the other's shared memory, and waits for what comes. */
#define ACROSS                                                                                     \
    "mov.u32 %r10, %cluster_ctarank; xor.b32 %r10, %r10, 1;\n"                                     \
    "mapa.shared::cluster.u32 %r11, %r0, %r10; mapa.shared::cluster.u32 %r12, %r1, %r10;\n"        \
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n" EXPECT(4) START              \
        "@%p st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r11], 77, [%r12];\n" WAIT \
            END READ "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"

static const char text[] = ".version 8.6\n.target sm_90a\n.address_size 64\n" KERNEL(
    "little", "", WARM EXPECT(16) START IN(16, 0) WAIT END READ)
    KERNEL("large", "", WARM EXPECT(16384) START IN(16384, 0) WAIT END READ)
        KERNEL("both", "", WARM EXPECT(32) START IN(16, 0) IN(16, 16) WAIT END READ) KERNEL(
            "nobody", "",
            EXPECT(16) START IN(16, 0) END) KERNEL("out", "", START OUT(16, 131072) GROUPS(0) END)
            KERNEL("out_large", "", START OUT(4096, 131072) GROUPS(0) END) KERNEL(
                "out_older", "", START OUT(16, 131072) OUT(4096, 262144) GROUPS(1) END)
                KERNEL("sleep", "",
                       SLEEP) ".visible .entry plain(.param .u64 out)\n{\n.shared .align 1024 .b8 "
                              "s[8192]; .reg .b32 %r<2>; mov.u32 %r0, s; st.shared.u32 [%r0], 0; "
                              "nanosleep.u32 300; ret;\n}\n" KERNEL(
                                  "across", ".reqnctapercluster 2, 1, 1", ACROSS);

static struct rt_bench bench;
static uint32_t value, rounds; /* of the last launch */

static void open_model(const struct times *t, bool timed)
{
    char yaml[512];
    snprintf(yaml, sizeof yaml,
             "inherits: h200\nsm: {bulk: {latency: %u cycles, issue_latency: %u cycles, "
             "write_latency: %u cycles, write_bytes: 32}, mbarrier: {latency: %u cycles, "
             "wait_limit: %u cycles}, cluster: {async_latency: %u cycles}}\n"
             "noc: {share_groups: 0}\n",
             timed ? t->latency : 0, t->issue, t->write, timed ? 40u : 0, t->wait_limit, t->across);
    rt_bench_open(&bench, yaml, text, BUFFER_BYTES);
}

static uint32_t cycles(const char *name, uint32_t ctas)
{
    uint32_t words[3];
    rt_bench_run(&bench, words, sizeof words, name, ctas, 64);
    value = words[1];
    rounds = words[2];
    return words[0];
}

static int teardown(void **state)
{
    (void)state;
    rt_bench_close(&bench);
    return 0;
}

/* The time of a kernel where one of the times is 100 more, less its usual one. */
static int longer(const char *name, uint32_t ctas, struct times changed)
{
    open_model(&usual, true);
    uint32_t before = cycles(name, ctas);
    rt_bench_close(&bench);
    open_model(&changed, true);
    return (int)cycles(name, ctas) - (int)before;
}

static void a_copy_sends_a_segment_a_cycle_and_is_waited_for(void **state)
{
    (void)state;
    open_model(&usual, true);
    uint32_t little = cycles("little", 1), cold = cycles("large", 1), large = cycles("large", 1);
    assert_in_range(cold, large + 1, large + 1000); /* from memory; then L2 has it */
    assert_int_equal(value, 65536 / 4);
    assert_in_range(little, 200, 500);
    assert_in_range(large, little + 100, little + 260);
    assert_in_range(cycles("nobody", 1), usual.issue, usual.issue + 10);
}

static void engine_and_issue_take_their_time(void **state)
{
    (void)state;
    struct times later = usual, slower = usual;
    later.latency += 100;
    slower.issue += 100;
    assert_int_equal(longer("little", 1, later), 100);
    rt_bench_close(&bench);
    assert_int_equal(longer("both", 1, slower), 100);
    rt_bench_close(&bench);
    assert_int_equal(longer("nobody", 1, slower), 100);
}

static void copies_to_memory_hold_their_groups(void **state)
{
    (void)state;
    struct times later = usual;
    later.write += 100;
    assert_int_equal(longer("out", 1, later), 100);
    rt_bench_close(&bench);
    open_model(&usual, true);
    uint32_t one = cycles("out", 1);
    assert_in_range(cycles("out_large", 1), one + 4080 / 32 - 4, one + 4080 / 32 + 4);
    assert_in_range(cycles("out_older", 1), one, one + 8);
}

static void who_waits_sleeps_until_the_phase_is_over(void **state)
{
    (void)state;
    struct times impatient = usual;
    impatient.wait_limit = 500;
    open_model(&usual, true);
    assert_in_range(cycles("sleep", 1), 3000, 6000);
    assert_int_equal(rounds, 1);
    /* What is left of the limit holds up no launch after this one. */
    assert_in_range(gpu_now_ps(rt_gpu(bench.rt)) / bench.model->core_period_ps, 3000, 10000);
    rt_bench_close(&bench);
    open_model(&impatient, true);
    assert_in_range(cycles("sleep", 1), 3000, 6000);
    assert_in_range(rounds, 5, 9);
}

/* Another kernel comes to the SM of one that sleeps, and wants more shared memory. */
static void who_comes_beside_a_warp_that_waits_does_not_move_its_barrier(void **state)
{
    (void)state;
    struct rt_stream *stream[2];
    struct rt_kernel *kernel[2];
    uint32_t words[3];
    uint64_t elsewhere;
    const void *args[2] = {&bench.out, &elsewhere};
    open_model(&usual, true);
    elsewhere = bench.out + BUFFER_BYTES / 2;
    uint64_t left;
    assert_int_equal(rt_set_carveout(bench.rt, 200u << 10, &left), 0);
    assert_int_equal(rt_kernel_get(bench.module, &kernel[0], "sleep"), 0);
    assert_int_equal(rt_kernel_get(bench.module, &kernel[1], "plain"), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(rt_stream_create(bench.rt, &stream[i], RT_STREAM_NONBLOCKING, 0), 0);
    for (int i = 0; i < 3; i++) { /* the third comes while the first sleeps */
        struct rt_launch request = {.grid = {i ? 2 * bench.model->sms : 1, 1, 1},
                                    .block = {64, 1, 1},
                                    .dynamic_shared_bytes = i == 2 ? 26000 : 0,
                                    .args = &args[i > 0],
                                    .arg_count = 1};
        assert_int_equal(rt_enqueue_launch(stream[i > 0], kernel[i > 0], &request), 0);
    }
    assert_int_equal(rt_sync(bench.rt), 0);
    assert_int_equal(rt_copy_from_device(bench.rt, words, bench.out, sizeof words), 0);
    assert_in_range(words[0], 3000, 6000);
    assert_int_equal(words[2], 1); /* woken by the arrival */
}

static void st_async_crosses_the_cluster(void **state)
{
    (void)state;
    struct times further = usual;
    further.across += 100;
    assert_int_equal(longer("across", 2, further), 100);
    assert_int_equal(value, 77);
}

static void without_their_latencies_copies_are_over_when_they_issue(void **state)
{
    (void)state;
    open_model(&usual, false);
    assert_in_range(cycles("large", 1), 1, 60);
    assert_int_equal(value, 65536 / 4);
    assert_in_range(cycles("out_large", 1), 1, 60);
    assert_in_range(cycles("across", 2), 1, 60);
    assert_int_equal(value, 77);
    assert_in_range(cycles("sleep", 1), 3000, 6000);
    assert_in_range(rounds, 10, 10000);
}

/* The warp that waits has its turn first; the other one needs one slice to get to its arrival. */
static void without_timing_who_waits_lets_the_others_have_their_turn(void **state)
{
    (void)state;
    struct rt_kernel *kernel;
    uint32_t words[3];
    const void *args[] = {&bench.out};
    open_model(&usual, true);
    struct rt_launch request = {
        .grid = {1, 1, 1}, .block = {64, 1, 1}, .args = args, .arg_count = 1, .functional = true};
    assert_int_equal(rt_kernel_get(bench.module, &kernel, "sleep"), 0);
    assert_int_equal(rt_launch(bench.rt, kernel, &request, NULL), 0);
    assert_int_equal(rt_copy_from_device(bench.rt, words, bench.out, sizeof words), 0);
    assert_in_range(words[2], 2, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_copy_sends_a_segment_a_cycle_and_is_waited_for, teardown),
        cmocka_unit_test_teardown(engine_and_issue_take_their_time, teardown),
        cmocka_unit_test_teardown(copies_to_memory_hold_their_groups, teardown),
        cmocka_unit_test_teardown(who_waits_sleeps_until_the_phase_is_over, teardown),
        cmocka_unit_test_teardown(who_comes_beside_a_warp_that_waits_does_not_move_its_barrier,
                                  teardown),
        cmocka_unit_test_teardown(st_async_crosses_the_cluster, teardown),
        cmocka_unit_test_teardown(without_their_latencies_copies_are_over_when_they_issue,
                                  teardown),
        cmocka_unit_test_teardown(without_timing_who_waits_lets_the_others_have_their_turn,
                                  teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
