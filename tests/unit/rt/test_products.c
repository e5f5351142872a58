/* Asynchronous matrix products with timing: they run beside their warp, and groups are waited for.
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

static const char text[] = ".version 8.0\n.target sm_90a\n.address_size 64\n" KERNEL("none", "")
    KERNEL("one", PRODUCT COMMIT WAIT(0)) KERNEL("two", PRODUCT PRODUCT COMMIT WAIT(0))
        KERNEL("older", PRODUCT COMMIT PRODUCT COMMIT WAIT(1)) KERNEL("nobody", PRODUCT COMMIT);

static struct rt_bench bench;

static void open_model(const char *yaml)
{
    rt_bench_open(&bench, yaml, text, 64);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_wait_lasts_until_the_group_is_over, teardown),
        cmocka_unit_test_teardown(without_a_latency_a_product_is_over_when_it_issues, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
