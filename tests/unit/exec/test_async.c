/* Copies behind the program's back, barriers in shared memory, matrices: what recordings from
 * hardware cannot tell. */
#include "exec/program.h"
#include "support/exec_device.h"

#define STORE32(r) "cvt.u64.u32 %l19, " r "; st.global.u64 [%out], %l19;\n"

static uint64_t *run(struct device *dev, const char *text, uint32_t threads)
{
    return device_results(dev, text, threads);
}

static void copies_arrive_at_a_barrier_that_all_threads_test(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out =
        run(&dev,
            KERNEL(".global .align 16 .b32 from[64] = {5, 6, 7, 8, 9, 10, 11, 12};\n",
                   ".shared .align 16 .b32 s[64];\n.shared .align 8 .b64 bar;\n"
                   "setp.ne.u32 %p0, %t, 0; @%p0 bra READY; mbarrier.init.shared.b64 [bar], 64;\n"
                   "READY: bar.sync 0; mov.u32 %r0, s; mad.lo.u32 %r0, %t, 4, %r0;\n"
                   "mov.u64 %l0, from; mul.wide.u32 %l1, %t, 4; add.u64 %l0, %l0, %l1;\n"
                   "cp.async.ca.shared.global [%r0], [%l0], 4;\n"
                   "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
                   "TRY: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra TRY;\n"
                   "xor.b32 %r1, %t, 1; mov.u32 %r0, s; mad.lo.u32 %r0, %r1, 4, %r0;\n"
                   "ld.shared.u32 %r2, [%r0];\n" STORE32("%r2")),
            64);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal((uint32_t)out[t], (t ^ 1) < 8 ? (t ^ 1) + 5 : 0);
    device_close(&dev);
}

static void a_copy_of_fewer_bytes_is_filled_with_zeros(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = run(&dev,
                        KERNEL(".global .align 16 .b32 from[4] = {-1, -1, -1, -1};\n",
                               ".shared .align 16 .b32 s[4];\n"
                               "mov.u32 %r0, s; mov.u64 %l0, from; mov.u32 %r1, 6;\n"
                               "cp.async.cg.shared.global [%r0], [%l0], 16, %r1;\n"
                               "cp.async.commit_group; cp.async.wait_group 0;\n"
                               "ld.shared.u32 %r2, [%r0+4];\n" STORE32("%r2")),
                        1);
    assert_int_equal((uint32_t)out[0], 0xffff);
    device_close(&dev);
}

/* The operand behind the bytes is a cache policy, not the number of bytes to read. */
static void a_hinted_copy_reads_all_its_bytes(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = run(
        &dev,
        KERNEL(".global .align 16 .b32 from[4] = {11, 12, 13, 14};\n",
               ".shared .align 16 .b32 s[8];\n"
               "mov.u32 %r0, s; mov.u64 %l0, from; mov.u64 %l1, 4;\n"
               "cp.async.ca.shared.global.L2::cache_hint [%r0], [%l0], 16, %l1;\n"
               "mov.u32 %r1, 8; cp.async.ca.shared.global.L2::cache_hint\n"
               "  [%r0+16], [%l0], 16, %r1, %l1;\n"
               "cp.async.wait_all; ld.shared.u32 %r2, [%r0+12];\n"
               "ld.shared.u32 %r3, [%r0+20]; ld.shared.u32 %r4, [%r0+24];\n"
               "mad.lo.u32 %r2, %r2, 100, %r3; mad.lo.u32 %r2, %r2, 100, %r4;\n" STORE32("%r2")),
        1);
    assert_int_equal((uint32_t)out[0], 14 * 10000 + 12 * 100);
    device_close(&dev);
}

static void a_barrier_counts_its_phases_and_those_who_drop_out(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = run(&dev,
                        KERNEL("", ".shared .align 8 .b64 bar;\n"
                                   "mbarrier.init.shared.b64 [bar], 2;\n"
                                   "mbarrier.arrive.shared.b64 %l0, [bar];\n"
                                   "mbarrier.test_wait.shared.b64 %p0, [bar], %l0;\n"
                                   "mbarrier.arrive_drop.shared.b64 %l1, [bar];\n"
                                   "mbarrier.test_wait.shared.b64 %p1, [bar], %l0;\n"
                                   "mbarrier.arrive.shared.b64 %l2, [bar];\n"
                                   "mbarrier.test_wait.shared.b64 %p2, [bar], %l2;\n"
                                   "selp.u32 %r0, 1, 0, %p0; selp.u32 %r1, 2, 0, %p1;\n"
                                   "selp.u32 %r2, 4, 0, %p2; or.b32 %r0, %r0, %r1;\n"
                                   "or.b32 %r0, %r0, %r2;\n" STORE32("%r0")),
                        1);
    assert_int_equal((uint32_t)out[0], 6);
    device_close(&dev);
}

static void a_copy_to_outside_of_shared_memory_is_a_fault(void **state)
{
    (void)state;
    struct device dev;
    device_open(&dev,
                PTX_HEAD ".global .align 16 .b32 from[4];\n"
                         ".visible .entry k()\n{\n.reg .b32 %r<2>;\n.reg .b64 %l<2>;\n"
                         "mov.u32 %r0, 64; mov.u64 %l0, from;\n"
                         "cp.async.ca.shared.global [%r0], [%l0], 4;\nret;\n}\n",
                "k");
    assert_int_equal(device_try_run(&dev, 1, 1), SONDE_EFAULT);
    assert_non_null(strstr(error_text(), "shared access of 4 bytes at 0x40"));
    device_close(&dev);
}

/* What other warps may execute at the same time depends on it. */
static void what_may_reach_device_memory_at_issue_is_told_from_shared_memory(void **state)
{
    (void)state;
#define FRAGMENT "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, "
    static const struct {
        const char *instruction;
        bool acts;
    } cases[] = {
        {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " FRAGMENT "[%l0];", false},
        {"wmma.load.a.sync.aligned.row.m16n16k16.f16 " FRAGMENT "[s];", false},
        {"wmma.load.a.sync.aligned.row.m16n16k16.f16 " FRAGMENT "[%l0];", false},
        {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " FRAGMENT "[%l0];", false},
        {"wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%l0], {%f0, %f1, %f2, %f3, %f4, "
         "%f5, %f6, %f7};",
         false},
        {"wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%l0], {%f0, %f1, %f2, %f3, %f4, "
         "%f5, %f6, %f7};",
         false},
        {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%l0];", false},
        {"ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%l0];", true},
        {"mbarrier.init.shared.b64 [%l0], 1;", false},
        {"mbarrier.init.b64 [%l0], 1;", true},
        {"mbarrier.test_wait.parity.b64 %p0, [%l0], 0;", true},
        {"cp.async.ca.shared.global [%l0], [%l1], 4;", false},
        {"cp.async.commit_group;", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct device dev;
        char text[2048];
        snprintf(text, sizeof text, "%s.shared .align 16 .b8 s[1024];\n%s%s", KERNEL_BEGIN(""),
                 cases[i].instruction, KERNEL_END);
        device_open(&dev, text, "k");
        if (exec_program_acts_at_issue(dev.program) != cases[i].acts)
            fail_msg("%s", cases[i].instruction);
        device_close(&dev);
    }
}

#define HOPPER_KERNEL(globals, body)                                                               \
    ".version 8.6\n.target sm_90a\n.address_size 64\n" KERNEL_TEXT(globals) body KERNEL_END

static void a_phase_waits_for_its_bytes(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out =
        run(&dev,
            HOPPER_KERNEL(
                ".global .align 16 .b32 from[4] = {5, 6, 7, 8};\n",
                ".shared .align 16 .b32 s[4];\n.shared .align 8 .b64 bar;\n"
                "mov.u32 %r0, s; mov.u64 %l0, from; mbarrier.init.shared.b64 [bar], 1;\n"
                "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
                "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; selp.u32 %r1, 1, 0, %p1;\n"
                "mov.u32 %r4, bar;\n"
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%l0], "
                "16, [%r4];\n"
                "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; selp.u32 %r2, 2, 0, %p1;\n"
                "ld.shared.u32 %r3, [s+8]; shl.b32 %r3, %r3, 4; or.b32 %r1, %r1, %r2;\n"
                "or.b32 %r1, %r1, %r3;\n" STORE32("%r1")),
            1);
    assert_int_equal((uint32_t)out[0], 7 << 4 | 2);
    device_close(&dev);
}

static void bytes_may_arrive_before_they_are_expected(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out =
        run(&dev,
            HOPPER_KERNEL("", ".shared .align 8 .b64 bar;\nmbarrier.init.shared.b64 [bar], 2;\n"
                              "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 40;\n"
                              "mbarrier.arrive.shared.b64 %l0, [bar];\n"
                              "mbarrier.arrive.expect_tx.shared.b64 %l1, [bar], 40;\n"
                              "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n"
                              "selp.u32 %r1, 1, 0, %p1; mbarrier.pending_count.b64 %r2, %l1;\n"
                              "shl.b32 %r2, %r2, 4; or.b32 %r1, %r1, %r2;\n" STORE32("%r1")),
            1);
    assert_int_equal((uint32_t)out[0], 1 << 4 | 1);
    device_close(&dev);
}

static void one_lane_of_the_mask_is_elected(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out =
        run(&dev,
            HOPPER_KERNEL("", "setp.gt.u32 %p1, %t, 9; mov.u32 %r1, 77; @!%p1 bra X;\n"
                              "elect.sync %r1|%p2, 0xfffffc00; @%p2 add.u32 %r1, %r1, 100;\n"
                              "X: bar.warp.sync -1;\n" STORE32("%r1")),
            32);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal((uint32_t)out[t], t < 10 ? 77 : t == 10 ? 110 : 10);
    device_close(&dev);
}

static bool barriers_release(const struct exec_program *program)
{
    for (uint32_t pc = 0; pc < program->length; pc++)
        if (program->infos[pc].is_barrier)
            return program->infos[pc].releases;
    fail_msg("no barrier");
    return false;
}

/* Where one does, all accesses of those who come to it are answered before they go on. */
static void a_barrier_waits_for_stores_only_where_a_copy_in_bulk_may_see_them(void **state)
{
    (void)state;
#define BULK                                                                                       \
    "mov.u32 %r0, s; mov.u32 %r4, bar; mov.u64 %l0, from;\n"                                       \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%l0], 16, [%r4];\n"
    static const struct {
        const char *instructions;
        bool releases;
    } cases[] = {
        {"bar.sync 0;\n", false},
        {"bar.sync 0;\n" BULK, false},
        {BULK "fence.proxy.async.shared::cta; bar.sync 0;\n", false},
        {BULK "fence.proxy.async; bar.sync 0;\n", true},
        {BULK "fence.proxy.async.global; bar.sync 0;\n", true},
        {"bar.sync 0;\n" BULK "mbarrier.test_wait.parity.b64 %p0, [%l0], 0;\n", true},
        {"fence.proxy.async; bar.sync 0;\n", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct device dev;
        char text[2048];
        snprintf(text, sizeof text, "%s%s%s",
                 ".version 8.6\n.target sm_90a\n.address_size 64\n" KERNEL_TEXT(
                     ".global .align 16 .b32 from[4];\n") ".shared .align 16 .b32 s[4];\n.shared "
                                                          ".align 8 .b64 bar;\n"
                                                          "st.global.u64 [%out], %l5;\n",
                 cases[i].instructions, KERNEL_END);
        device_open(&dev, text, "k");
        if (barriers_release(dev.program) != cases[i].releases)
            fail_msg("%s", cases[i].instructions);
        device_close(&dev);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_phase_waits_for_its_bytes),
        cmocka_unit_test(bytes_may_arrive_before_they_are_expected),
        cmocka_unit_test(one_lane_of_the_mask_is_elected),
        cmocka_unit_test(copies_arrive_at_a_barrier_that_all_threads_test),
        cmocka_unit_test(a_copy_of_fewer_bytes_is_filled_with_zeros),
        cmocka_unit_test(a_hinted_copy_reads_all_its_bytes),
        cmocka_unit_test(a_barrier_counts_its_phases_and_those_who_drop_out),
        cmocka_unit_test(a_copy_to_outside_of_shared_memory_is_a_fault),
        cmocka_unit_test(what_may_reach_device_memory_at_issue_is_told_from_shared_memory),
        cmocka_unit_test(a_barrier_waits_for_stores_only_where_a_copy_in_bulk_may_see_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
