/*
 * Clusters of several blocks: where blocks are in them, each other's shared memory, the barrier,
 * what is refused and what faults; functional and with timing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/rt.h"
#include "util/error.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define REGS ".reg .b32 %r<24>; .reg .b64 %rd<12>; .reg .pred %p<4>; .reg .f32 %f<4>;\n"
#define KERNEL(name) ".visible .entry " name "(.param .u64 out)\n"
/* %rd0: where the thread writes, 64 bytes each; %r0, %r1: its number in the block, the block's rank
 */
#define PLACE                                                                                      \
    "{\n" REGS "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank;\n"   \
    "mov.u32 %r20, %ctaid.y; mov.u32 %r21, %nctaid.x; mov.u32 %r22, %ctaid.x;\n"                   \
    "mad.lo.u32 %r20, %r20, %r21, %r22; mov.u32 %r21, %ntid.x; mad.lo.u32 %r20, %r20, %r21, "      \
    "%r0;\n"                                                                                       \
    "mul.wide.u32 %rd1, %r20, 64; add.u64 %rd0, %rd0, %rd1;\n"
#define SYNC "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n"
#define NEXT_RANK "add.u32 %r2, %r1, 1; mov.u32 %r3, %cluster_nctarank; rem.u32 %r2, %r2, %r3;\n"

/* clang-format off */
static const char *const text = HEAD
KERNEL("where") PLACE
    "mov.u32 %r2, %clusterid.x; mov.u32 %r3, %clusterid.y; mov.u32 %r4, %nclusterid.x;\n"
    "mov.u32 %r5, %nclusterid.y; mov.u32 %r6, %cluster_ctaid.x; mov.u32 %r7, %cluster_ctaid.y;\n"
    "mov.u32 %r8, %cluster_nctaid.x; mov.u32 %r9, %cluster_nctaid.y;\n"
    "mov.u32 %r10, %cluster_nctarank; mov.pred %p0, %is_explicit_cluster; "
    "selp.u32 %r11, 1, 0, %p0;\n"
    "st.global.v4.u32 [%rd0], {%r2, %r3, %r4, %r5}; "
    "st.global.v4.u32 [%rd0+16], {%r6, %r7, %r8, %r9};\n"
    "st.global.v4.u32 [%rd0+32], {%r1, %r10, %r11, %r11};\nret;\n}\n"
/* Every block writes its own, and reads, writes and counts in the next one's. */
KERNEL("ring") PLACE ".shared .align 8 .b8 mine[512];\n" NEXT_RANK
    "mov.u32 %r4, mine; shl.b32 %r5, %r0, 2; add.u32 %r5, %r4, %r5;\n"
    "mad.lo.u32 %r6, %r1, 100, %r0; st.shared.u32 [%r5], %r6; st.shared.u32 [%r5+256], 0;\n" SYNC
    "mapa.shared::cluster.u32 %r7, %r5, %r2; ld.shared::cluster.u32 %r8, [%r7];\n"
    "cvt.u64.u32 %rd2, %r5; cvta.shared.u64 %rd2, %rd2; mapa.u64 %rd3, %rd2, %r2;\n"
    "ld.u32 %r9, [%rd3]; getctarank.shared::cluster.u32 %r10, %r7; getctarank.u64 %r11, %rd2;\n"
    "st.shared::cluster.u32 [%r7+256], %r6; mapa.shared::cluster.u32 %r12, mine+128, %r2;\n" SYNC
    "atom.add.u32 %r13, [%rd3], 1000; red.shared::cluster.add.u32 [%r7], 1;\n" SYNC
    "ld.shared.u32 %r14, [%r5]; ld.shared.u32 %r15, [%r5+256]; "
    "isspacep.shared::cluster %p0, %rd3;\n"
    "isspacep.shared::cta %p1, %rd3; selp.u32 %r16, 1, 0, %p0; selp.u32 %r17, 2, 0, %p1;\n"
    "add.u32 %r16, %r16, %r17; sub.u32 %r12, %r12, %r7; add.u32 %r12, %r12, %r5; "
    "sub.u32 %r12, %r12, %r4;\n"
    "st.global.v4.u32 [%rd0], {%r8, %r9, %r10, %r11}; "
    "st.global.v4.u32 [%rd0+16], {%r13, %r14, %r15, %r16};\n"
    "st.global.u32 [%rd0+32], %r12;\n" SYNC "ret;\n}\n"
/* Odd lanes read the next block's, even ones their own and device memory. */
KERNEL("mixed") PLACE ".shared .align 8 .b8 mine[256];\n" NEXT_RANK
    "mov.u32 %r4, mine; shl.b32 %r5, %r0, 2; add.u32 %r5, %r4, %r5; "
    "mad.lo.u32 %r6, %r1, 100, %r0;\n"
    "st.shared.u32 [%r5], %r6; st.global.u32 [%rd0+8], 7777;\n" SYNC
    "cvt.u64.u32 %rd2, %r5; cvta.shared.u64 %rd2, %rd2; and.b32 %r7, %r0, 3; "
    "setp.eq.u32 %p0, %r7, 1;\n"
    "setp.eq.u32 %p1, %r7, 2; mov.u64 %rd3, %rd2; @%p0 mapa.u64 %rd3, %rd2, %r2; "
    "add.u64 %rd4, %rd0, 8;\n"
    "selp.u64 %rd3, %rd4, %rd3, %p1; ld.u32 %r8, [%rd3]; "
    "st.global.u32 [%rd0], %r8;\n" SYNC "ret;\n}\n"
/* Odd lanes leave before the barrier, and block 0 altogether; the others meet, each in a branch. */
KERNEL("leavers") PLACE
    "setp.eq.u32 %p0, %r1, 0; @%p0 exit; and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 1; @%p1 exit;\n"
    "setp.lt.u32 %p2, %r0, 16; @%p2 bra LOW;\n" SYNC "bra.uni DONE;\nLOW:\n" SYNC
    "DONE: st.global.u32 [%rd0], 5; ret;\n}\n"
/* An arrival does not wait: block 0 arrives, then tells through device memory; the others wait. */
KERNEL("split") PLACE
    "barrier.cluster.arrive.relaxed; st.global.u32 [%rd0], 9; barrier.cluster.wait; ret;\n}\n"
KERNEL("times") PLACE ".shared .align 8 .b8 mine[256];\n" NEXT_RANK
    "mov.u32 %r4, mine; mapa.shared::cluster.u32 %r5, %r4, %r2;\n" SYNC
    "mov.u32 %r6, %clock; ld.shared::cluster.u32 %r7, [%r5]; add.u32 %r7, %r7, %r7;\n"
    "mov.u32 %r8, %clock; sub.u32 %r8, %r8, %r6; st.global.v2.u32 [%rd0], {%r8, %r7};\n" SYNC
    "mov.u32 %r6, %clock; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r8, %clock;\n"
    "sub.u32 %r8, %r8, %r6; mov.u32 %r9, %smid; st.global.v2.u32 [%rd0+8], {%r8, %r9};\nret;\n}\n"
/* Block 0 comes late to the barrier, and waits for nobody there; when each goes on. */
KERNEL("late") PLACE
    SYNC "setp.eq.u32 %p0, %r1, 0; @%p0 st.global.u32 [%rd0+32], %r1;\n" SYNC
    "mov.u32 %r2, %clock; st.global.u32 [%rd0], %r2; ret;\n}\n"
/* Of an mbarrier that was made, of shared memory's copies: behind a load, behind none. */
KERNEL("shared_fences") PLACE
    "ld.volatile.global.u32 %r9, [%rd0]; mov.u32 %r2, %clock;\n"
    "fence.mbarrier_init.release.cluster;\n"
    "mov.u32 %r3, %clock; fence.proxy.async.shared::cta; mov.u32 %r4, %clock; membar.gl;\n"
    "mov.u32 %r5, %clock; fence.mbarrier_init.release.cluster; mov.u32 %r6, %clock;\n"
    "fence.proxy.async.shared::cta; mov.u32 %r7, %clock;\n"
    "sub.u32 %r2, %r3, %r2; sub.u32 %r3, %r4, %r3; sub.u32 %r5, %r6, %r5;\n"
    "sub.u32 %r6, %r7, %r6; st.global.v4.u32 [%rd0], {%r2, %r3, %r5, %r6}; ret;\n}\n"
/* Of the CTA, for others: alone, once more behind a load that is over; for the system; where no
 * guard holds. */
KERNEL("fences") PLACE
    "ld.volatile.global.u32 %r9, [%rd0]; add.u32 %r9, %r9, %r9; membar.gl;\n"
    "mov.u32 %r2, %clock; fence.acq_rel.cta; mov.u32 %r3, %clock; fence.acq_rel.gpu;\n"
    "mov.u32 %r4, %clock; ld.volatile.global.u32 %r9, [%rd0]; setp.eq.u32 %p0, %r9, 77;\n"
    "add.u32 %r9, %r9, %r9; mov.u32 %r10, %r9;\n"
    "mov.u32 %r5, %clock; fence.acq_rel.cluster; mov.u32 %r6, %clock; fence.acq_rel.sys;\n"
    "mov.u32 %r7, %clock; @%p0 fence.acq_rel.sys; mov.u32 %r8, %clock;\n"
    "sub.u32 %r2, %r3, %r2; sub.u32 %r3, %r4, %r3; sub.u32 %r5, %r6, %r5;\n"
    "sub.u32 %r6, %r7, %r6; sub.u32 %r7, %r8, %r7;\n"
    "st.global.v4.u32 [%rd0], {%r2, %r3, %r5, %r6}; st.global.v2.u32 [%rd0+16], {%r7, %r10};\n"
    "ret;\n}\n"
KERNEL("beyond") PLACE ".shared .align 8 .b8 mine[256];\n" NEXT_RANK
    "mov.u32 %r4, mine; mapa.shared::cluster.u32 %r5, %r4, %r2;\n" SYNC
    "ld.shared::cluster.u32 %r6, [%r5+4096]; st.global.u32 [%rd0], %r6; ret;\n}\n"
KERNEL("no_rank") PLACE ".shared .align 8 .b8 mine[256];\n"
    "mov.u32 %r4, mine; mapa.shared::cluster.u32 %r5, %r4, 7; st.global.u32 [%rd0], %r5; ret;\n}\n"
/* Block 1 reads from block 0, which has exited long before. */
KERNEL("gone") PLACE ".shared .align 8 .b8 mine[256];\n"
    "mov.u32 %r4, mine; mapa.shared::cluster.u32 %r5, %r4, 0; setp.eq.u32 %p0, %r1, 0; @%p0 exit;\n"
    SYNC "mov.u32 %r7, 1000;\nLOOP: sub.u32 %r7, %r7, 1; setp.ne.u32 %p1, %r7, 0; @%p1 bra LOOP;\n"
    "ld.shared::cluster.u32 %r6, [%r5]; st.global.u32 [%rd0], %r6; ret;\n}\n"
KERNEL("stuck") PLACE
    "setp.eq.u32 %p0, %r1, 0; @%p0 bra SKIP;\n" SYNC "SKIP: bar.sync 0; setp.ne.u32 %p1, %r1, 0;\n"
    "@%p1 exit; bar.sync 1, 64; ret;\n}\n"
".visible .entry fixed(.param .u64 out)\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n" PLACE
    "mov.u32 %r2, %cluster_nctarank; mov.pred %p0, %is_explicit_cluster; selp.u32 %r3, 1, 0, %p0;\n"
    "st.global.v2.u32 [%rd0], {%r2, %r3}; ret;\n}\n";
/* clang-format on */

#define WORDS 16 /* of each thread */
#define THREADS_MAX 1024

static struct model *model;
static struct rt *rt;
static struct rt_module *module;
static uint64_t out;
static uint32_t words[THREADS_MAX * WORDS];

static void open_model(const char *source)
{
    rt_destroy(rt);
    model_destroy(model);
    rt = NULL;
    model = NULL;
    assert_int_equal(model_parse(&model, "m.yaml", source, strlen(source)), 0);
    assert_int_equal(rt_create(&rt, model), 0);
    if (rt_module_load(rt, &module, "clusters.ptx", text, strlen(text)) < 0) {
        fail_msg("%s", error_text());
    }
    assert_int_equal(rt_mem_alloc(rt, &out, sizeof words), 0);
}

/* Four SMs in two clusters; lanes of a warp that part wait for each other, or do not. */
static const char *const stacked = "inherits: gtx780\nsms: 4\nclusters: 2\n";
static const char *const apart =
    "inherits: gtx780\nsms: 4\nclusters: 2\nsm: {divergence: independent}\n";

static int setup(void **state)
{
    (void)state;
    open_model(stacked);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rt_destroy(rt);
    model_destroy(model);
    rt = NULL;
    model = NULL;
    return 0;
}

static int launch(const char *name, const uint32_t grid[2], uint32_t threads,
                  const uint32_t cluster[2], bool functional)
{
    struct rt_kernel *kernel;
    const void *args[] = {&out};
    struct rt_launch request = {.grid = {grid[0], grid[1], 1},
                                .block = {threads, 1, 1},
                                .cluster = {cluster[0], cluster[1], cluster[1] ? 1 : 0},
                                .args = args,
                                .arg_count = 1,
                                .functional = functional};
    assert_int_equal(rt_kernel_get(module, &kernel, name), 0);
    assert_int_equal(rt_memset(rt, out, 0, sizeof words), 0);
    int rc = rt_launch(rt, kernel, &request, NULL);
    if (rc == 0) {
        assert_int_equal(rt_copy_from_device(rt, words, out, sizeof words), 0);
    }
    return rc;
}

static void run(const char *name, uint32_t blocks, uint32_t threads, uint32_t cluster,
                bool functional)
{
    if (launch(name, (uint32_t[]){blocks, 1}, threads, (uint32_t[]){cluster, 1}, functional) < 0) {
        fail_msg("%s: %s", name, error_text());
    }
}

static const uint32_t *of_thread(uint32_t thread)
{
    return words + (size_t)thread * WORDS;
}

static void blocks_know_their_places(void **state)
{
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        assert_int_equal(launch("where", (uint32_t[]){6, 4}, 1, (uint32_t[]){3, 2}, functional), 0);
        for (uint32_t y = 0; y < 4; y++) {
            for (uint32_t x = 0; x < 6; x++) {
                const uint32_t *w = of_thread(y * 6 + x);
                const uint32_t wanted[11] = {
                    x / 3, y / 2, 2, 2, x % 3, y % 2, 3, 2, x % 3 + 3 * (y % 2), 6, 1};
                assert_memory_equal(w, wanted, sizeof wanted);
            }
        }
        assert_int_equal(launch("where", (uint32_t[]){6, 1}, 1, (uint32_t[]){0, 0}, functional), 0);
        const uint32_t alone[11] = {5, 0, 6, 1, 0, 0, 1, 1, 0, 1, 0};
        assert_memory_equal(of_thread(5), alone, sizeof alone);
    }
}

static void check_ring(uint32_t blocks, uint32_t threads, uint32_t cluster)
{
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t rank = b % cluster, next = (rank + 1) % cluster,
                 before = (rank + cluster - 1) % cluster;
        for (uint32_t t = 0; t < threads; t++) {
            const uint32_t *w = of_thread(b * threads + t), value = next * 100 + t;
            assert_int_equal(w[0], value);
            assert_int_equal(w[1], value);
            assert_int_equal(w[2], next);
            assert_int_equal(w[3], rank);
            assert_int_equal(w[4] - value <= 1, 1); /* before or after the red */
            assert_int_equal(w[5], rank * 100 + t + 1001);
            assert_int_equal(w[6], before * 100 + t);
            assert_int_equal(w[7], cluster == 1 ? 3 : 1);
            assert_int_equal(w[8], 128); /* mine+128 is mapped as mine is */
        }
    }
}

static void blocks_reach_each_others_shared_memory(void **state)
{
    (void)state;
    const char *const models[] = {stacked, apart};
    for (int m = 0; m < 2; m++) {
        open_model(models[m]);
        for (int functional = 0; functional < 2; functional++) {
            for (uint32_t cluster = 1; cluster <= 8; cluster *= 2) {
                run("ring", 16, 48, cluster, functional);
                check_ring(16, 48, cluster);
            }
        }
    }
}

static void lanes_of_an_access_may_be_in_different_memories(void **state)
{
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        run("mixed", 4, 64, 2, functional);
        for (uint32_t b = 0; b < 4; b++) {
            for (uint32_t t = 0; t < 64; t++) {
                uint32_t own = b % 2 * 100 + t, other = (b + 1) % 2 * 100 + t;
                uint32_t wanted = t % 4 == 1 ? other : t % 4 == 2 ? 7777 : own;
                assert_int_equal(of_thread(b * 64 + t)[0], wanted);
            }
        }
    }
}

static void threads_that_have_exited_are_not_waited_for(void **state)
{
    (void)state;
    open_model(apart);
    for (int functional = 0; functional < 2; functional++) {
        run("leavers", 8, 64, 4, functional);
        for (uint32_t i = 0; i < 8 * 64; i++) {
            assert_int_equal(of_thread(i)[0], i / 64 % 4 > 0 && i % 2 == 0 ? 5 : 0);
        }
        run("split", 8, 64, 8, functional);
        assert_int_equal(of_thread(511)[0], 9);
    }
}

/* Of a load: the latency, and the addition; of the barrier: its own, once all have come. */
static void accesses_and_barriers_take_the_models_time(void **state)
{
    (void)state;
    run("times", 2, 1, 2, false);
    uint32_t load = of_thread(0)[0], barrier = of_thread(0)[2];
    assert_int_not_equal(of_thread(0)[3], of_thread(1)[3]); /* on two SMs */
    open_model("inherits: gtx780\nsms: 4\nclusters: 2\n"
               "sm: {cluster: {latency: 280 cycles, barrier_latency: 480 cycles}}\n");
    run("times", 2, 1, 2, false);
    assert_int_equal(of_thread(0)[0] - load, 100);
    assert_int_equal(of_thread(0)[2] - barrier, 300);
    assert_in_range(load, 180, 220);
    assert_in_range(barrier, 180, 260);
    /* 32 lanes of 4 bytes at 16 bytes a cycle: 7 cycles more than one lane. */
    run("times", 2, 32, 2, false);
    assert_int_equal(of_thread(0)[0] - load, 100 + 7);
}

/* However far away that is. */
static void all_blocks_leave_a_barrier_at_the_same_time(void **state)
{
    (void)state;
    for (int latency = 20; latency <= 200; latency += 45) {
        char source[160];
        (void)snprintf(source, sizeof source,
                       "inherits: gtx780\nsms: 4\nclusters: 2\n"
                       "sm: {cluster: {barrier_latency: %d cycles}}\n",
                       latency);
        open_model(source);
        run("late", 2, 1, 2, false);
        assert_int_equal(of_thread(0)[0], of_thread(1)[0]);
    }
}

/* Of an mbarrier that was made, of shared memory's copies: behind a load that is under way, alone.
 */
static void fences_of_shared_memory_wait_for_no_access(void **state)
{
    (void)state;
    open_model("inherits: gtx780\nsms: 4\nclusters: 2\nsm: {fence: {init_latency: 5 cycles, "
               "shared_copies_latency: 11 cycles}}\n");
    run("shared_fences", 1, 1, 1, false);
    const uint32_t *times = of_thread(0);
    assert_in_range(times[0], 5, 7);
    assert_in_range(times[1], 11, 13);
    assert_in_range(times[2], 5, 7);
    assert_in_range(times[3], 11, 13);
}

#define FENCED                                                                                     \
    "inherits: gtx780\nsms: 4\nclusters: 2\nsm: {fence: {cta_latency: 40 cycles, latency: "        \
    "300 cycles, system_latency: 1000 cycles, access_latency: %d cycles}}\n"

/* Each more than without it by what the model says; of those that no lane comes to, nothing. */
static void fences_hold_their_warp_as_long_as_the_model_says(void **state)
{
    (void)state;
    uint32_t plain[5], times[2][5];
    open_model("inherits: gtx780\nsms: 4\nclusters: 2\n");
    run("fences", 1, 1, 1, false);
    memcpy(plain, of_thread(0), sizeof plain);
    for (int longer = 0; longer < 2; longer++) {
        char source[240];
        (void)snprintf(source, sizeof source, FENCED, longer * 120);
        open_model(source);
        run("fences", 1, 1, 1, false);
        memcpy(times[longer], of_thread(0), sizeof times[longer]);
    }
    assert_in_range(times[0][0] - plain[0], 39, 41);
    assert_in_range(times[0][1] - plain[1], 299, 301);
    assert_in_range(times[0][3] - plain[3], 999, 1001);
    assert_int_equal(times[0][4], plain[4]);
    assert_int_equal(times[1][1], times[0][1]);
    assert_int_equal(times[1][2], times[0][2] + 120);
    assert_int_equal(times[1][3], times[0][3]);
}

/* SMs 0 and 1 are one cluster of the model, 2 and 3 the other. */
static void blocks_of_a_cluster_share_one_of_the_models_clusters(void **state)
{
    (void)state;
    run("times", 8, 1, 4, false);
    for (uint32_t c = 0; c < 2; c++) {
        for (uint32_t b = 1; b < 4; b++) {
            assert_int_equal(of_thread(c * 4 + b)[3] / 2, of_thread(c * 4)[3] / 2);
        }
    }
    assert_int_not_equal(of_thread(0)[3] / 2, of_thread(4)[3] / 2);
}

static void many_clusters_come_one_after_the_other(void **state)
{
    (void)state;
    run("ring", 256, 4, 4, false);
    check_ring(256, 4, 4);
    run("ring", 256, 4, 4, true);
    check_ring(256, 4, 4);
}

static void refused(const char *name, uint32_t blocks, uint32_t cluster, const char *why)
{
    assert_int_equal(launch(name, (uint32_t[]){blocks, 1}, 32, (uint32_t[]){cluster, 1}, false),
                     SONDE_EINPUT);
    assert_non_null(strstr(error_text(), why));
}

static void impossible_clusters_are_refused(void **state)
{
    (void)state;
    refused("where", 5, 2, "cluster.x is 2, which does not divide 5 blocks");
    refused("where", 32, 16, "clusters of 16 x 1 x 1 blocks, at most 8 are possible");
    refused("fixed", 8, 4, "cluster.x is 4, but .reqnctapercluster wants 2");
    open_model("inherits: gtx780\nsms: 2\nclusters: 2\nsm: {max_ctas: 2}\n");
    refused("where", 8, 4,
            "a cluster of 4 blocks, of which at most 2 can be resident together (limited by CTAs)");
    run("fixed", 4, 1, 0, false);
    assert_int_equal(of_thread(3)[0], 2);
    assert_int_equal(of_thread(3)[1], 1);
}

static void faults(const char *name, uint32_t threads, bool functional, const char *why)
{
    assert_int_equal(launch(name, (uint32_t[]){2, 1}, threads, (uint32_t[]){2, 1}, functional),
                     SONDE_EFAULT);
    if (!strstr(error_text(), why)) {
        fail_msg("%s", error_text());
    }
    rt_recover(rt);
}

static void what_is_not_there_is_a_fault(void **state)
{
    (void)state;
    for (int functional = 0; functional < 2; functional++) {
        faults("beyond", 1, functional,
               "shared::cluster load of 4 bytes at 0x11001000 is out of bounds: block 1 of the "
               "cluster has no shared memory there");
        faults("no_rank", 1, functional, "mapa into block 7 of a cluster of 2");
        faults("gone", 32, functional, "block 0 of the cluster has exited");
        faults("stuck", 32, functional, "deadlock");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_know_their_places, setup, teardown),
        cmocka_unit_test_setup_teardown(blocks_reach_each_others_shared_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(lanes_of_an_access_may_be_in_different_memories, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(threads_that_have_exited_are_not_waited_for, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(accesses_and_barriers_take_the_models_time, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(all_blocks_leave_a_barrier_at_the_same_time, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(fences_of_shared_memory_wait_for_no_access, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(fences_hold_their_warp_as_long_as_the_model_says, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(blocks_of_a_cluster_share_one_of_the_models_clusters, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(many_clusters_come_one_after_the_other, setup, teardown),
        cmocka_unit_test_setup_teardown(impossible_clusters_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_a_fault, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
