/*
 * Asynchronous matrix products: with timing they run beside their warp, and groups are waited for;
 * with and without, a group is one of all four warps of a warpgroup.
 */
#include "support/rt_bench.h"

#define MODEL                                                                                      \
    "inherits: h200\nsm: {wgmma: {latency: 100 cycles, columns_per_cycle: "                        \
    "2, overhead: "                                                                                \
    "16 cycles}}\n"
#define PRODUCT                                                                                    \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d0, %d0, %p0, 1, "   \
    "1, "                                                                                          \
    "0, 0;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT(n) "wgmma.wait_group.sync.aligned " #n ";\n"
#define KERNEL(name, body)                                                                         \
    ".visible .entry " name "(.param .u64 out)\n{\n.reg .f32 %f<4>; .reg .b64 %d<4>;\n"            \
    ".reg .b32 %r<8>; .reg .pred %p<2>; .shared .align 1024 .b8 s[4096];\n"                        \
    "mov.u32 %r0, s; shr.u32 %r0, %r0, 4; cvt.u64.u32 %d0, %r0; or.b64 %d0, %d0, 0x1000080000;\n"  \
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; setp.eq.u32 %p0, %r1, %r1;\n"                   \
    "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n"             \
    "bar.sync 0; mov.u32 %r2, %clock;\n" body                                                      \
    "mov.u32 %r3, %clock; sub.u32 %r3, %r3, %r2; st.global.u32 [%d1], %r3;\n"                      \
    "add.f32 %f0, %f0, %f3; st.global.f32 [%d1+4], %f0;\nret;\n}\n"

/*
 * A warpgroup and a warp behind it, which waits until thread 0 says that what the products read,
 * ones, is no longer needed; then it writes twos. %r4: the warp. A thread leaves its first sum, and
 * the clock before its product and behind its wait.
 */
#define OVERWRITTEN(name, before, then)                                                            \
    ".visible .entry " name "(.param .u64 out)\n{\n.reg .f32 %f<4>; .reg .b64 %d<8>;\n"            \
    ".reg .b32 %r<16>; .reg .pred %p<4>; .shared .align 1024 .b8 s[4096];\n"                       \
    ".shared .align 8 .b64 unread;\n"                                                              \
    "mov.u32 %r0, s; shr.u32 %r1, %r0, 4; cvt.u64.u32 %d0, %r1; or.b64 %d0, %d0, 0x1000080000;\n"  \
    "ld.param.u64 %d1, [out]; mov.u32 %r3, %tid.x; shr.u32 %r4, %r3, 5; mov.u32 %r5, unread;\n"    \
    "mul.wide.u32 %d2, %r3, 4; add.u64 %d1, %d1, %d2; setp.eq.u32 %p0, %r3, %r3;\n"                \
    "setp.ge.u32 %p1, %r3, 128; setp.eq.u32 %p2, %r3, 0;\n"                                        \
    "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n"             \
    "@%p2 mbarrier.init.shared.b64 [%r5], 1;\n"                                                    \
    "mov.b64 %d3, 0x3c003c003c003c00; shl.b32 %r6, %r3, 5; add.u32 %r6, %r6, %r0;\n"               \
    "@!%p1 st.shared.v2.u64 [%r6], {%d3, %d3}; @!%p1 st.shared.v2.u64 [%r6+16], {%d3, %d3};\n"     \
    "fence.proxy.async; bar.sync 0; @%p1 bra writer;\n" before "mov.u32 %r7, %clock;\n"            \
    "wgmma.fence.sync.aligned;\n" then                                                             \
    "mov.u32 %r8, %clock; cvt.rni.u32.f32 %r9, %f0; st.global.u32 [%d1], %r9;\n"                   \
    "st.global.u32 [%d1+512], %r7; st.global.u32 [%d1+1024], %r8; ret;\n"                          \
    "writer: mbarrier.try_wait.parity.shared.b64 %p3, [%r5], 0; @!%p3 bra writer;\n"               \
    "mov.b64 %d3, 0x4000400040004000; and.b32 %r6, %r3, 31; shl.b32 %r6, %r6, 7;\n"                \
    "add.u32 %r6, %r6, %r0; mov.u32 %r10, 0;\n"                                                    \
    "more: st.shared.v2.u64 [%r6], {%d3, %d3}; add.u32 %r6, %r6, 16; add.u32 %r10, %r10, 1;\n"     \
    "setp.lt.u32 %p3, %r10, 8; @%p3 bra more; ret;\n}\n"
#define UNREAD "@%p2 mbarrier.arrive.shared.b64 _, [%r5];\n"
/* Warp w goes round w times as often. */
#define LATER(turns)                                                                               \
    "mul.lo.u32 %r11, %r4, " #turns ";\n"                                                          \
    "later: setp.eq.u32 %p3, %r11, 0; @%p3 bra now; sub.u32 %r11, %r11, 1; bra later;\nnow:\n"

static const char text[] = ".version 8.0\n.target sm_90a\n.address_size 64\n" KERNEL("none", "")
    KERNEL("one", PRODUCT COMMIT WAIT(0)) KERNEL("two", PRODUCT PRODUCT COMMIT WAIT(0))
        KERNEL("older", PRODUCT COMMIT PRODUCT COMMIT WAIT(1)) KERNEL("nobody", PRODUCT COMMIT)
            OVERWRITTEN("together", "", PRODUCT COMMIT WAIT(0) UNREAD)
                OVERWRITTEN("later_1", LATER(1), PRODUCT COMMIT WAIT(0) UNREAD)
                    OVERWRITTEN("later_9", LATER(9), PRODUCT COMMIT WAIT(0) UNREAD)
                        OVERWRITTEN("later_5000", LATER(5000), PRODUCT COMMIT WAIT(0) UNREAD)
    /* Warp 0 has two groups and waits for the first, before the others make their second. */
    OVERWRITTEN("ahead", LATER(50),
                PRODUCT COMMIT
                "setp.ne.u32 %p3, %r4, 0; @%p3 bar.sync 1, 128;\n" PRODUCT COMMIT WAIT(
                    1) "setp.eq.u32 %p3, %r4, 0; @%p3 bar.sync 1, 128;\n" WAIT(0) UNREAD)
    /* A sum that is still to come from memory. */
    OVERWRITTEN("loaded",
                "mov.f32 %f0, 0f40400000; st.global.f32 [%d1], %f0; ld.global.f32 %f0, [%d1];\n",
                PRODUCT COMMIT WAIT(0) UNREAD)
    /* What the manual forbids: warps that leave, or never come. */
    OVERWRITTEN("left", "setp.eq.u32 %p3, %r4, 2; @%p3 ret;\n", PRODUCT COMMIT WAIT(0) UNREAD)
        OVERWRITTEN("never", "setp.ne.u32 %p3, %r4, 0; @%p3 bar.sync 1, 128;\n",
                    PRODUCT COMMIT WAIT(0) "bar.sync 1, 128;\n" UNREAD);

#define THREADS 160

/* What OVERWRITTEN leaves. */
struct left {
    uint32_t sum[128], before[128], behind[128];
};

static struct rt_bench bench;

static void open_model(const char *yaml)
{
    rt_bench_open(&bench, yaml, text, sizeof(struct left));
}

static uint32_t cycles(const char *name)
{
    uint32_t words[2];
    rt_bench_run(&bench, words, sizeof words, name, 1, 128);
    return words[0];
}

static int teardown(void **state)
{
    (void)state;
    rt_bench_close(&bench);
    return 0;
}

/* m64n8 takes the tensor core for 16 + 8 / 2 / 2 cycles, and is there 100 + 8 / 2 after it begins.
 */
static void a_wait_lasts_until_the_group_is_over(void **state)
{
    (void)state;
    open_model(MODEL);
    uint32_t one = cycles("one"), two = cycles("two"), older = cycles("older");
    assert_in_range(one, 104, 140);
    assert_int_equal(two - one, 18);
    assert_in_range(older, 104, two - 1);
    assert_in_range(cycles("nobody"), 1, 60);
}

static void without_a_latency_a_product_is_over_when_it_issues(void **state)
{
    (void)state;
    open_model("inherits: h200\nsm: {wgmma: {latency: 0 cycles}}\n");
    assert_in_range(cycles("one"), cycles("none"), 60);
}

static int launch(const char *name, uint32_t threads, bool functional)
{
    struct rt_kernel *kernel;
    const void *args[] = {&bench.out};
    struct rt_launch request = {.grid = {1, 1, 1},
                                .block = {threads, 1, 1},
                                .args = args,
                                .arg_count = 1,
                                .functional = functional};
    assert_int_equal(rt_kernel_get(bench.module, &kernel, name), 0);
    return rt_launch(bench.rt, kernel, &request, NULL);
}

static void run(struct left *left, const char *name, bool functional)
{
    if (launch(name, THREADS, functional) < 0)
        fail_msg("%s: %s", name, error_text());
    assert_int_equal(rt_copy_from_device(bench.rt, left, bench.out, sizeof *left), 0);
}

static const char *const models[] = {
    "inherits: h200\n", "inherits: h200\nsm: {wgmma: {latency: 0 cycles}}\n",
    "inherits: h200\nsm: {wgmma: {latency: 1 cycles}, mbarrier: {latency: 0 cycles}}\n",
    "inherits: h200\nsm: {wgmma: {latency: 999 cycles}, mbarrier: {latency: 77 cycles}}\n",
    "inherits: h200\nsm: {divergence: stack}\n"};

/* 16 products of ones; of twos it would be 64. */
static void a_warp_has_waited_for_what_all_of_its_warpgroup_read(void **state)
{
    (void)state;
    static const char *const names[] = {"together", "later_1", "later_9", "later_5000", "ahead"};
    struct left left;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        open_model(models[m]);
        for (size_t k = 0; k < 2 * sizeof names / sizeof *names; k++) {
            uint32_t products = k / 2 == 4 ? 32 : 16;
            run(&left, names[k / 2], k % 2);
            for (int i = 0; i < 128; i++)
                if (left.sum[i] != products)
                    fail_msg("%s, model %zu: thread %d has %u", names[k / 2], m, i, left.sum[i]);
        }
        rt_bench_close(&bench);
    }
}

static void a_product_adds_to_what_is_loaded_just_before(void **state)
{
    (void)state;
    struct left left;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        open_model(models[m]);
        for (int functional = 0; functional < 2; functional++) {
            run(&left, "loaded", functional);
            for (int i = 0; i < 128; i++)
                assert_int_equal(left.sum[i], 3 + 16);
        }
        rt_bench_close(&bench);
    }
}

static void a_wait_lasts_until_the_last_of_the_four_is_over(void **state)
{
    (void)state;
    struct left left;
    open_model(MODEL);
    run(&left, "later_9", false);
    for (int warp = 0; warp < 4; warp++)
        assert_in_range(left.behind[warp * 32] - left.before[96], 104, 140);
    assert_true(left.before[96] - left.before[0] > 50);
}

static void warps_that_are_not_there_hold_nobody(void **state)
{
    (void)state;
    struct left left;
    for (int functional = 0; functional < 2; functional++) {
        open_model(MODEL);
        run(&left, "left", functional);
        assert_int_equal(left.sum[96], 16);
        assert_int_equal(launch("one", 32, functional), 0);
        rt_bench_close(&bench);
    }
}

static void a_warpgroup_that_never_comes_is_told(void **state)
{
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        open_model(MODEL);
        assert_true(launch("never", 128, functional) < 0);
        assert_non_null(strstr(error_text(), "for products of other warps of its warpgroup"));
        rt_bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_wait_lasts_until_the_group_is_over, teardown),
        cmocka_unit_test_teardown(without_a_latency_a_product_is_over_when_it_issues, teardown),
        cmocka_unit_test_teardown(a_warp_has_waited_for_what_all_of_its_warpgroup_read, teardown),
        cmocka_unit_test_teardown(a_product_adds_to_what_is_loaded_just_before, teardown),
        cmocka_unit_test_teardown(a_wait_lasts_until_the_last_of_the_four_is_over, teardown),
        cmocka_unit_test_teardown(warps_that_are_not_there_hold_nobody, teardown),
        cmocka_unit_test_teardown(a_warpgroup_that_never_comes_is_told, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
