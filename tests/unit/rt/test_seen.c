/*
 * What one thread did to memory is seen by another that has been told so, whatever way it was told
 * and by whatever way it looks: a warp's lanes after bar.warp.sync, warps after a barrier, an
 * mbarrier, or a fence and a flag; by loads, and by copies in bulk behind a fence of proxies.
 */
#include "support/rt_bench.h"

/* Words of the buffer from 1024 on are worked on, those before are what readers have seen. */
#define WORK 1024
#define BYTES (3 * 4096)
#define THREADS 160

/* %rd1: a word for each of four warps that write, %rd6: for each lane of the fifth; %rd5: where it
 * says what it has seen. %r2: an mbarrier for 128 threads, %r3: a flag. */
#define KERNEL(name, writes, tells, hears, reads)                                                  \
    ".visible .entry " name                                                                        \
    "(.param .u64 out)\n{\n.reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .pred %p<8>;\n"               \
    ".shared .align 128 .b8 s[4096]; .shared .align 8 .b64 there, full; .shared .b32 flag;\n"      \
    "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, full; mov.u32 %r2, there;\n"      \
    "mov.u32 %r3, flag; mov.u32 %r16, s; setp.eq.u32 %p0, %r0, 0;\n"                               \
    "and.b32 %r4, %r0, 31; shr.u32 %r5, %r0, 5; mul.wide.u32 %rd1, %r5, 4;\n"                      \
    "add.u64 %rd1, %rd1, %rd0; add.u64 %rd1, %rd1, 4096; mul.wide.u32 %rd5, %r4, 4;\n"             \
    "add.u64 %rd5, %rd5, %rd0; add.u64 %rd6, %rd5, 4096; mov.u32 %r8, 1; mov.u32 %r9, 32;\n"       \
    "mul.wide.u32 %rd7, %r4, 128; add.u64 %rd7, %rd7, %rd0; mul.wide.u32 %rd8, %r5, 32;\n"         \
    "add.u64 %rd7, %rd7, %rd8;\n"                                                                  \
    "@%p0 mbarrier.init.shared.b64 [%r2], 128; @%p0 mbarrier.init.shared.b64 [%r1], 1;\n"          \
    "@%p0 st.shared.u32 [%r3], 0; setp.ge.u32 %p1, %r0, 128;\n"                                    \
    "@!%p1 st.global.u32 [%rd1], 0; membar.gl; bar.sync 0; @%p1 bra reader;\n" writes "\n" tells   \
    "\nret;\nreader:\n" hears "\n" reads "\nret;\n}\n"

#define ADD "red.global.add.u32 [%rd1], %r8;"
#define LOAD "ld.global.u32 %r13, [%rd6]; st.global.u32 [%rd5], %r13;"
#define ARRIVE "mbarrier.arrive.shared.b64 _, [%r2];"
#define WAIT "look: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0; @!%p5 bra look;"
#define RAISE "fence.acq_rel.cta; red.shared.add.u32 [%r3], 1;"
#define LOOK                                                                                       \
    "look: ld.volatile.shared.u32 %r14, [%r3]; setp.ne.u32 %p5, %r14, 128; @%p5 bra look;\n"       \
    "fence.acq_rel.cta;"
/* Lane 0 adds, lane 1 loads. */
#define LANES                                                                                      \
    "setp.eq.u32 %p2, %r4, 0; setp.eq.u32 %p3, %r4, 1; @%p2 red.global.add.u32 [%rd1], %r9;\n"     \
    "bar.warp.sync 0xffffffff; @%p3 ld.global.u32 %r13, [%rd1];\n"                                 \
    "@%p3 st.global.u32 [%rd1+-4096], %r13;"
/* Each warp stores eight times to 32 lines, so that the last wait for their turn. */
#define SCATTER                                                                                    \
    "add.u32 %r10, %r0, 7000; st.global.u32 [%rd7+4096], %r10; st.global.u32 [%rd7+4100], %r10;\n" \
    "st.global.u32 [%rd7+4104], %r10; st.global.u32 [%rd7+4108], %r10;\n"                          \
    "st.global.u32 [%rd7+4112], %r10; st.global.u32 [%rd7+4116], %r10;\n"                          \
    "st.global.u32 [%rd7+4120], %r10; st.global.u32 [%rd7+4124], %r10;"
#define COPY                                                                                       \
    "setp.ne.u32 %p2, %r4, 0; @%p2 bra copied; fence.proxy.async.global;\n"                        \
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 4096; add.u64 %rd9, %rd0, 4096;\n"             \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r16], [%rd9], 4096, "     \
    "[%r1];\ncopied: mbarrier.try_wait.parity.shared.b64 %p3, [%r1], 0; @!%p3 bra copied;\n"       \
    "mov.u32 %r11, 0; shl.b32 %r12, %r4, 2; add.u32 %r12, %r12, %r16;\n"                           \
    "more: ld.shared.u32 %r13, [%r12]; st.global.u32 [%rd5], %r13; add.u32 %r12, %r12, 128;\n"     \
    "add.u64 %rd5, %rd5, 128; add.u32 %r11, %r11, 1; setp.lt.u32 %p4, %r11, 32; @%p4 bra more;"
/* One store by even lanes to shared memory, by odd ones to the buffer. */
#define BOTH                                                                                       \
    "shl.b32 %r12, %r4, 2; add.u32 %r12, %r12, %r16; cvt.u64.u32 %rd9, %r12;\n"                    \
    "cvta.shared.u64 %rd9, %rd9; and.b32 %r11, %r4, 1; setp.eq.u32 %p2, %r11, 0;\n"                \
    "selp.b64 %rd10, %rd9, %rd6, %p2; mov.u32 %r10, 32; st.u32 [%rd10], %r10;"
#define SHARED                                                                                     \
    "shl.b32 %r12, %r4, 2; add.u32 %r12, %r12, %r16; ld.shared.u32 %r13, [%r12];\n"                \
    "and.b32 %r11, %r4, 1; setp.ne.u32 %p2, %r11, 0; @%p2 ld.global.u32 %r13, [%rd6];\n"           \
    "st.global.u32 [%rd5], %r13;"

static const char text[] = ".version 8.0\n.target sm_90a\n.address_size 64\n" KERNEL(
    "add_barrier", ADD, "bar.arrive 1, 160;", "bar.sync 1, 160;", LOAD)
    KERNEL("add_mbarrier", ADD, ARRIVE, WAIT, LOAD) KERNEL("add_flag", ADD, RAISE, LOOK, LOAD)
        KERNEL("add_lanes", LANES, "", "", "")
            KERNEL("copy_barrier", SCATTER, "bar.arrive 1, 160;", "bar.sync 1, 160;", COPY)
                KERNEL("copy_mbarrier", SCATTER, ARRIVE, WAIT, COPY) KERNEL("copy_flag", SCATTER,
                                                                            RAISE, LOOK, COPY)
                    KERNEL("both_barrier", BOTH, "bar.arrive 1, 160;", "bar.sync 1, 160;", SHARED)
                        KERNEL("both_mbarrier", BOTH, ARRIVE, WAIT, SHARED);

static struct rt_bench bench;

static const char *const models[] = {
    "inherits: h200\n",
    "inherits: h200\nsm: {lsu: {latency: 600 cycles}}\n",
    "inherits: h200\nsm: {lsu: {latency: 600 cycles}, fence: {copies_latency: 0 cycles}}\n",
    "inherits: h200\nsm: {lsu: {parallel: 4, request_interval: 9 cycles}}\n",
    "inherits: h200\nnoc: {request_latency: 2000 cycles}\n",
};

/* The first `count` words that are seen; each is `first`, or (scattered) the thread's that stored
 * it. */
static void run(const char *name, size_t model, bool functional, uint32_t count, bool scattered)
{
    static uint32_t words[WORK];
    struct rt_kernel *kernel;
    const void *args[] = {&bench.out};
    struct rt_launch request = {.grid = {1, 1, 1},
                                .block = {THREADS, 1, 1},
                                .args = args,
                                .arg_count = 1,
                                .functional = functional};
    assert_int_equal(rt_kernel_get(bench.module, &kernel, name), 0);
    if (rt_launch(bench.rt, kernel, &request, NULL) < 0)
        fail_msg("%s: %s", name, error_text());
    assert_int_equal(rt_copy_from_device(bench.rt, words, bench.out, sizeof words), 0);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t wanted = scattered ? 7000 + i % 32 / 8 * 32 + i / 32 : 32;
        if (words[i] != wanted)
            fail_msg("%s, model %zu%s: word %u is %u, not %u", name, model,
                     functional ? ", functional" : "", i, words[i], wanted);
    }
}

static void run_all(const char *const *names, size_t name_count, uint32_t count, bool scattered)
{
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        for (size_t k = 0; k < 2 * name_count; k++) {
            rt_bench_open(&bench, models[m], text, BYTES);
            run(names[k / 2], m, k % 2, count, scattered);
            rt_bench_close(&bench);
        }
}

static int teardown(void **state)
{
    (void)state;
    rt_bench_close(&bench);
    return 0;
}

static void sums_are_seen_by_loads(void **state)
{
    (void)state;
    run_all((const char *[]){"add_barrier", "add_mbarrier", "add_flag", "add_lanes"}, 4, 4, false);
}

static void stores_are_seen_by_copies_behind_a_fence_of_their_reader(void **state)
{
    (void)state;
    run_all((const char *[]){"copy_barrier", "copy_mbarrier", "copy_flag"}, 3, WORK, true);
}

static void a_store_to_two_spaces_is_seen_in_both(void **state)
{
    (void)state;
    run_all((const char *[]){"both_barrier", "both_mbarrier"}, 2, 32, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(sums_are_seen_by_loads, teardown),
        cmocka_unit_test_teardown(stores_are_seen_by_copies_behind_a_fence_of_their_reader,
                                  teardown),
        cmocka_unit_test_teardown(a_store_to_two_spaces_is_seen_in_both, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
