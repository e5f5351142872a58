/*
 * Loads through the shipped models' TLBs, page tables and caches, by a chase that records each
 * load: every class of latency is the sum of the parts that the model lists, those that Mei et al.
 * 2014 print in Table 3 within 3 % of the printed figure, and the steps of their Fig. 11.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "rt/rt.h"
#include "util/error.h"

enum { MAX_RECORDS = 512, PAGE = 2 << 20, LINE = 128 };

/* `first` loads from a on that are not recorded, then `records` from b on that are. */
static const char chase_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry chase(.param .u64 a, .param .u32 first, .param .u64 b, .param .u32 records,\n"
    "                      .param .u64 out)\n{\n"
    ".reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .pred %p<2>; .shared .b32 record[512];\n"
    "ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [first]; ld.param.u64 %rd2, [b];\n"
    "ld.param.u32 %r2, [records]; ld.param.u64 %rd3, [out]; mov.u32 %r3, 0;\n"
    "mov.u32 %r8, record;\n"
    "WARM: setp.ge.u32 %p1, %r3, %r1; @%p1 bra WARMED;\n"
    "ld.global.OP.u64 %rd1, [%rd1]; add.u32 %r3, %r3, 1; bra WARM;\n"
    "WARMED: add.u64 %rd1, %rd1, 1; mov.u32 %r3, 0;\n"
    "LOOP: mov.u32 %r4, %clock; ld.global.OP.u64 %rd2, [%rd2];\n"
    "st.volatile.shared.u64 [smem], %rd2; mov.u32 %r5, %clock;\n"
    "sub.u32 %r6, %r5, %r4; st.shared.u32 [%r8], %r6; add.u32 %r8, %r8, 4;\n"
    "add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra LOOP;\n"
    "mov.u32 %r3, 0; mov.u32 %r8, record;\n"
    "COPY: ld.shared.u32 %r6, [%r8]; st.global.u32 [%rd3], %r6; add.u64 %rd3, %rd3, 4;\n"
    "add.u32 %r8, %r8, 4; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra COPY;\n"
    "ret;\n}\n";

struct bench {
    struct model *model;
    struct rt *rt;
    struct rt_kernel *kernel;
    uint64_t buffer, out;
    uint32_t record[MAX_RECORDS];
};

/* The chase with its operator in place, and a word of shared memory for the dependent store. */
static void load_kernel(struct bench *b, const char *op)
{
    char text[sizeof chase_text + 64] = "", *end = text;
    for (const char *p = chase_text; *p;) {
        if (strncmp(p, "OP", 2) == 0) {
            end = stpcpy(end, op);
            p += 2;
        } else if (strncmp(p, ".shared .b32 record", 19) == 0) {
            end = stpcpy(end, ".shared .b64 smem; ");
            *end++ = *p++;
        } else {
            *end++ = *p++;
        }
    }
    struct rt_module *module;
    int rc = rt_module_load(b->rt, &module, "chase.ptx", text, (size_t)(end - text));
    rc = rc < 0 ? rc : rt_kernel_get(module, &b->kernel, "chase");
    if (rc < 0) {
        fail_msg("%s", error_text());
    }
}

static void bench_open(struct bench *b, const char *model, const char *op, uint64_t bytes)
{
    memset(b, 0, sizeof *b);
    assert_int_equal(model_load(&b->model, model), 0);
    b->model->copies_allocate_in_l2 = false;
    assert_int_equal(rt_create(&b->rt, b->model), 0);
    load_kernel(b, op);
    assert_int_equal(rt_mem_alloc(b->rt, &b->buffer, bytes), 0);
    assert_int_equal(rt_mem_alloc(b->rt, &b->out, PAGE), 0);
}

static void bench_close(struct bench *b)
{
    rt_destroy(b->rt);
    model_destroy(b->model);
}

/* A ring of `count` elements from `offset` on; returns its first address. */
static uint64_t ring(struct bench *b, uint64_t offset, uint64_t stride, uint32_t count)
{
    uint64_t first = b->buffer + offset;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t next = first + stride * ((i + 1) % count);
        assert_int_equal(rt_copy_to_device(b->rt, first + stride * i, &next, 8), 0);
    }
    return first;
}

static void chase(struct bench *b, uint64_t warm, uint32_t warm_loads, uint64_t timed,
                  uint32_t records)
{
    const void *args[] = {&warm, &warm_loads, &timed, &records, &b->out};
    struct rt_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args, .arg_count = 5};
    assert_true(records <= MAX_RECORDS);
    int rc = rt_launch(b->rt, b->kernel, &launch, NULL);
    if (rc < 0) {
        fail_msg("%s", error_text());
    }
    assert_int_equal(rt_copy_from_device(b->rt, b->record, b->out, 4 * records), 0);
}

/*
 * Records from `from` on take `expected` cycles, to which each access to DRAM may add what it waits
 * for the next edge of the memory's clock, and the answer for one of the core's. Returns one.
 */
static uint32_t expect_all(const struct bench *b, uint32_t from, uint32_t records, double expected,
                           uint32_t dram_accesses)
{
    double edges = 1 + (double)b->model->dram.period_ps / (double)b->model->core_period_ps;
    for (uint32_t i = from; i < records; i++) {
        if (b->record[i] < expected - 0.01 || b->record[i] > expected + edges * dram_accesses) {
            fail_msg("record %u: %u cycles, not %.1f", i, b->record[i], expected);
        }
    }
    return b->record[from];
}

static void expect_printed(uint32_t measured, uint32_t printed)
{
    if (measured < printed * 0.97 || measured > printed * 1.03) {
        fail_msg("%u is not within 3 %% of %u", measured, printed);
    }
}

/* The parts, in cycles. */
struct parts {
    double l2_hit, l2_miss; /* L2's own, of 32 bytes */
    double path;            /* to L2 and back, past L1 */
    double tlb_hit, walk;   /* added by an L2 TLB's hit; by a walk, without its reads */
};

static struct parts parts_of(const struct model *m)
{
    const struct dram_spec *dram = &m->dram;
    const struct cache_spec *l1 = &m->tlb_l1.entries, *l2 = &m->tlb_l2.entries;
    double bursts = 1.0 * dram->burst_bytes / dram->bytes_per_cycle;
    double memory = dram->fixed_cycles + (dram->t_rcd + dram->t_cl + bursts) *
                                             (double)dram->period_ps / (double)m->core_period_ps;
    return (struct parts){.l2_hit = m->l2.hit_cycles,
                          .l2_miss = m->l2.miss_cycles + memory + m->l2.fill_cycles,
                          .path = m->sm.lsu_cycles + m->noc.request_cycles + m->noc.reply_cycles +
                                  (m->noc.header_bytes + 32 - 1) / m->noc.reply_bytes_per_cycle,
                          .tlb_hit = l1->miss_cycles + l2->hit_cycles + l1->fill_cycles,
                          .walk = l1->miss_cycles + l2->miss_cycles + m->walker.latency_cycles +
                                  l2->fill_cycles + l1->fill_cycles};
}

static void the_patterns_of_table_3_are_sums_of_parts(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        uint32_t printed[5];
    } rows[] = {{"gtx560ti", {371, 398, 482, 639, 1245}}, {"gtx780", {230, 236, 289, 371, 734}}};
    for (int i = 0; i < 2; i++) {
        struct bench b;
        bench_open(&b, rows[i].model, "cg", UINT64_C(256) << 20);
        struct parts p = parts_of(b.model);
        uint32_t got[5];

        /* All misses: nothing has been touched. 40 elements, so that no entry is read twice. */
        uint64_t cold = ring(&b, UINT64_C(160) << 20, PAGE + LINE, 40);
        chase(&b, cold, 0, cold, 40);
        got[4] = expect_all(&b, 0, 40, p.path + 3 * p.l2_miss + p.walk, 3);

        /* Data in L2. 16 pages fit the first TLB, 17 do not, 72 thrash all of the second. */
        uint64_t warm = ring(&b, 0, PAGE + LINE, 16);
        chase(&b, warm, 32, warm, 16);
        got[0] = expect_all(&b, 0, 16, p.path + p.l2_hit, 0);
        warm = ring(&b, 0, PAGE + LINE, 17);
        chase(&b, warm, 34, warm, 17);
        got[1] = expect_all(&b, 0, 17, p.path + p.l2_hit + p.tlb_hit, 0);
        warm = ring(&b, 0, PAGE + LINE, 72);
        chase(&b, warm, 144, warm, 72);
        got[2] = expect_all(&b, 0, 72, p.path + 3 * p.l2_hit + p.walk, 0);

        /* Data not in L2, its page in the first TLB: other lines of 16 pages. */
        warm = ring(&b, 0, PAGE + LINE, 16);
        uint64_t other = ring(&b, 3 * LINE + 2048, PAGE + LINE, 16);
        chase(&b, warm, 32, other, 16);
        got[3] = expect_all(&b, 0, 16, p.path + p.l2_miss, 1);
        for (int pattern = 0; pattern < 5; pattern++) {
            expect_printed(got[pattern], rows[i].printed[pattern]);
        }
        bench_close(&b);
    }
}

/*
 * Not printed, and there: data miss with the L2 TLB's hit; data miss with the entries in L2. A
 * sector of small-page entries stands for 16 KiB, so that other lines of a page have the same.
 */
static void classes_beyond_the_table_are_there_too(void **state)
{
    (void)state;
    static const char *const models[] = {"gtx560ti", "gtx780"};
    for (int i = 0; i < 2; i++) {
        struct bench b;
        bench_open(&b, models[i], "cg", UINT64_C(256) << 20);
        struct parts p = parts_of(b.model);
        uint64_t warm = ring(&b, 0, PAGE + LINE, 40);
        uint64_t other = ring(&b, 2048, PAGE + LINE, 40);
        chase(&b, warm, 80, other, 40);
        expect_all(&b, 0, 24, p.path + p.l2_miss + p.tlb_hit, 1);
        warm = ring(&b, 0, PAGE + LINE, 80);
        other = ring(&b, 3072, PAGE + LINE, 80);
        chase(&b, warm, 160, other, 80);
        expect_all(&b, 0, 80, p.path + p.l2_miss + p.walk + 2 * p.l2_hit, 1);
        bench_close(&b);
    }
}

static void fermi_with_its_l1_pays_six_cycles_more_for_each_miss(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, "gtx560ti", "ca", UINT64_C(256) << 20);
    enum { L1_COSTS = 6 }; /* ADR 3 */
    struct parts p = parts_of(b.model);
    uint64_t cold = ring(&b, UINT64_C(160) << 20, PAGE + LINE, 40);
    chase(&b, cold, 0, cold, 40);
    /* A line is three further bursts of data, one after the other. */
    const struct dram_spec *dram = &b.model->dram;
    double burst = 1.0 * dram->burst_bytes / dram->bytes_per_cycle;
    double line = 3 * burst * (double)dram->period_ps / (double)b.model->core_period_ps;
    double expected = p.path + 3 * p.l2_miss + p.walk + L1_COSTS + line;
    expect_printed(expect_all(&b, 0, 40, expected, 3), 1259);
    /* 8 KiB and a page apart, so that all lines share a set of 4 ways: more than 4 always miss. */
    uint64_t warm = ring(&b, 0, PAGE, 16);
    chase(&b, warm, 48, warm, 16);
    assert_int_equal(b.model->l1_data.ways, 4);
    uint32_t misses = 0;
    for (int i = 0; i < 16; i++) {
        bool hit = b.record[i] == 116;
        misses += !hit;
        assert_true(hit || b.record[i] == p.path + p.l2_hit + L1_COSTS);
    }
    assert_true(misses > 4);
    /* An L1 hit asks no TLB: 20 pages, each line in its own set. */
    warm = ring(&b, 0, PAGE + LINE, 20);
    chase(&b, warm, 20, warm, 20);
    expect_all(&b, 0, 20, 116, 0);
    bench_close(&b);
}

/* Fig. 11: pages walked in turn, 2 MB more each time. */
static void the_second_tlb_thrashes_in_the_steps_of_figure_11(void **state)
{
    (void)state;
    static const char *const models[] = {"gtx560ti", "gtx780"};
    static const struct {
        uint32_t mb, entries; /* in the sets that thrash */
    } steps[] = {{130, 0},  {132, 17}, {134, 25}, {136, 33},
                 {138, 41}, {140, 49}, {142, 57}, {144, 65}};
    for (int i = 0; i < 2; i++) {
        struct bench b;
        bench_open(&b, models[i], "cg", UINT64_C(256) << 20);
        struct parts p = parts_of(b.model);
        for (uint32_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            uint32_t pages = steps[s].mb / 2, misses = 0;
            uint64_t warm = ring(&b, 0, PAGE + LINE, pages);
            chase(&b, warm, 2 * pages, warm, pages);
            for (uint32_t j = 0; j < pages; j++) {
                bool miss = b.record[j] == p.path + 3 * p.l2_hit + p.walk;
                assert_true(miss || b.record[j] == p.path + p.l2_hit + p.tlb_hit);
                misses += miss;
            }
            /* Under LRU a set of n entries that thrashes misses n + 1 pages a pass. */
            assert_int_equal(misses, steps[s].entries + s);
        }
        bench_close(&b);
    }
}

static void kepler_switches_its_window_of_512_mb(void **state)
{
    (void)state;
    struct bench b;
    uint64_t window = UINT64_C(512) << 20;
    bench_open(&b, "gtx780", "cg", 4 * window);
    assert_int_equal(b.model->walker.window_bytes, window);
    struct parts p = parts_of(b.model);
    double walked = p.path + 3 * p.l2_miss + p.walk, switching = b.model->walker.switch_cycles;
    uint64_t far = ring(&b, 0, window + LINE, 4);
    chase(&b, far, 0, far, 4);
    expect_printed(expect_all(&b, 1, 4, walked + switching, 3), 1000);
    uint64_t near = ring(&b, window, PAGE + LINE, 40);
    chase(&b, near, 0, near, 40);
    expect_all(&b, 2, 40, walked, 3); /* the second switches: the first's page is known */
    struct gpu_stats stats;
    gpu_stats(rt_gpu(b.rt), &stats);
    assert_true(stats.window_switches >= 4);
    assert_int_equal(stats.walk_reads, 2 * stats.walks);
    assert_true(stats.tlb_l1_hits <= stats.tlb_l1_reads);
    bench_close(&b);
}

/* Every scope gives one warp the same latencies; what an SM's own TLBs miss is another SM's hit. */
static void a_scope_changes_who_shares_and_no_latency(void **state)
{
    (void)state;
    for (enum tlb_scope inner = TLB_PER_SM; inner < TLB_SCOPE_COUNT; inner++) {
        for (enum tlb_scope outer = inner; outer < TLB_SCOPE_COUNT; outer++) {
            for (int physical = 0; physical < 2; physical++) {
                struct bench b;
                memset(&b, 0, sizeof b);
                assert_int_equal(model_load(&b.model, "gtx560ti"), 0);
                b.model->copies_allocate_in_l2 = false;
                b.model->tlb_l1.scope = inner;
                b.model->tlb_l2.scope = outer;
                b.model->l1_data.address = physical ? ADDRESS_PHYSICAL : ADDRESS_VIRTUAL;
                assert_int_equal(rt_create(&b.rt, b.model), 0);
                load_kernel(&b, "cg");
                assert_int_equal(rt_mem_alloc(b.rt, &b.buffer, UINT64_C(64) << 20), 0);
                assert_int_equal(rt_mem_alloc(b.rt, &b.out, PAGE), 0);
                struct parts p = parts_of(b.model);
                uint64_t warm = ring(&b, 0, PAGE + LINE, 17);
                chase(&b, warm, 34, warm, 17);
                expect_all(&b, 0, 17, p.path + p.l2_hit + p.tlb_hit, 0);
                bench_close(&b);
            }
        }
    }
}

static void freeing_memory_forgets_its_translations(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, "gtx780", "cg", UINT64_C(64) << 20);
    struct parts p = parts_of(b.model);
    uint64_t warm = ring(&b, 0, PAGE + LINE, 8), other;
    chase(&b, warm, 16, warm, 8);
    expect_all(&b, 0, 8, p.path + p.l2_hit, 0);
    assert_int_equal(rt_mem_alloc(b.rt, &other, PAGE), 0);
    assert_int_equal(rt_mem_free(b.rt, other), 0);
    chase(&b, warm, 0, warm, 8);
    expect_all(&b, 0, 8, p.path + 3 * p.l2_hit + p.walk, 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_patterns_of_table_3_are_sums_of_parts),
        cmocka_unit_test(classes_beyond_the_table_are_there_too),
        cmocka_unit_test(fermi_with_its_l1_pays_six_cycles_more_for_each_miss),
        cmocka_unit_test(the_second_tlb_thrashes_in_the_steps_of_figure_11),
        cmocka_unit_test(kepler_switches_its_window_of_512_mb),
        cmocka_unit_test(a_scope_changes_who_shares_and_no_latency),
        cmocka_unit_test(freeing_memory_forgets_its_translations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
