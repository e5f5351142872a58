/* SMs of a group that read the same bytes at a time ask L2 once: who is of one group. */
#include "support/rt_bench.h"

#include <stdio.h>

#include "gpu/gpu.h"

/* One CTA on each of eight SMs; two of them read the same word. */
#define KERNEL(name, mask)                                                                         \
    ".visible .entry " name "(.param .u64 out)\n{\n.reg .b64 %d0;\n.reg .b32 %r<4>;\n.reg .pred "  \
    "%p;\nmov.u32 %r0, %smid; mov.u32 %r1, 1; shl.b32 %r1, %r1, %r0;\n"                            \
    "and.b32 %r1, %r1, " mask "; setp.ne.u32 %p, %r1, 0;\nld.param.u64 %d0, [out];\n"              \
    "@%p ld.global.cg.u32 %r2, [%d0+4096];\n@%p st.shared.u32 [s], %r2;\nret;\n}\n"

static const char text[] =
    ".version 8.0\n.target sm_35\n.address_size 64\n.shared .b32 s;\n" KERNEL("neighbours", "3")
        KERNEL("apart", "5") KERNEL("round", "17") KERNEL("all", "255");

/* Sectors that L2 is asked for. */
static uint64_t asked(const char *sharing, const char *kernel)
{
    struct rt_bench bench;
    struct gpu_stats before, stats;
    char yaml[160];
    uint32_t word;
    snprintf(yaml, sizeof yaml, "inherits: gtx780\nsms: 8\n%s\n", sharing);
    rt_bench_open(&bench, yaml, text, 8192);
    gpu_stats(rt_gpu(bench.rt), &before);
    rt_bench_run(&bench, &word, sizeof word, kernel, 8, 1);
    gpu_stats(rt_gpu(bench.rt), &stats);
    rt_bench_close(&bench);
    return stats.noc.requests.sectors - before.noc.requests.sectors;
}

static void nobody_shares_unless_the_model_says_so(void **state)
{
    (void)state;
    assert_int_equal(asked("clusters: 1", "neighbours"), 2);
    assert_int_equal(asked("clusters: 1", "all"), 8);
}

static void sms_are_dealt_to_groups_two_at_a_time(void **state)
{
    (void)state;
    static const char two[] = "clusters: 1\nnoc: {share_groups: 2, share_deal: 2}";
    assert_int_equal(asked(two, "neighbours"), 1);
    assert_int_equal(asked(two, "round"), 1);
    assert_int_equal(asked(two, "apart"), 2);
    assert_int_equal(asked(two, "all"), 2);
}

static void and_one_at_a_time(void **state)
{
    (void)state;
    static const char two[] = "clusters: 1\nnoc: {share_groups: 2, share_deal: 1}";
    assert_int_equal(asked(two, "neighbours"), 2);
    assert_int_equal(asked(two, "apart"), 1);
    assert_int_equal(asked(two, "all"), 2);
}

static void no_group_has_sms_of_two_clusters(void **state)
{
    (void)state;
    static const char two[] = "clusters: 2\nnoc: {share_groups: 2, share_deal: 2}";
    assert_int_equal(asked(two, "neighbours"), 1);
    assert_int_equal(asked(two, "round"), 2);
    assert_int_equal(asked(two, "all"), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_shares_unless_the_model_says_so),
        cmocka_unit_test(sms_are_dealt_to_groups_two_at_a_time),
        cmocka_unit_test(and_one_at_a_time),
        cmocka_unit_test(no_group_has_sms_of_two_clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
