/*
 * A whole GPU whose kernels stream through one narrow place: lookups and data ports of L1 and L2, a
 * link each way, the DRAM bus. What passes in a cycle is that place's configured width. A rate is
 * what a long run moves more than a short one, by the cycles that it takes longer. All other
 * widths are without limit or far wider; nothing is translated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/gpu_bench.h"
#include "support/tolerance.h"

static struct gpu_bench g;

/* What a row narrows. */
typedef void narrow(struct model *model, uint32_t width);

static void widen(struct model *model)
{
    model->sms = model->clusters = 4;
    model->tlb_l1.entries.enabled = model->tlb_l2.entries.enabled = false;
    model->l2_slices = 1;
    model->dram.channels = 1;
    model->l2_slice_index = (struct index_spec){.kind = INDEX_MODULO};
    model->sm.schedulers = 32;
    model->sm.issue_per_scheduler = 2;
    for (uint32_t i = 0; i < ISA_UNIT_COUNT; i++) {
        model->sm.unit[i] = (struct unit_spec){.latency_cycles = 1, .lanes_per_cycle = 1024};
    }
    model->sm.lsu_queue_entries = 64;
    model->sm.lanes = (struct lanes_spec){.parallel = 16, .request_cycles = 1};
    struct cache_spec *caches[] = {&model->l1_data, &model->l2};
    for (size_t i = 0; i < 2; i++) {
        caches[i]->accesses_per_cycle = 0;
        caches[i]->data_bytes_per_cycle = 0;
        caches[i]->mshr_entries = 4096;
        caches[i]->mshr_mergers = 64;
        caches[i]->queue_entries = 256;
    }
    model->noc.request_bytes_per_cycle = model->noc.reply_bytes_per_cycle = 0;
    model->noc.queue_entries = 1024;
    model->dram.bytes_per_cycle = 256;
    model->dram.t_ccd_s = model->dram.t_ccd_l = 0;
    model->dram.queue_entries = 256;
}

/*
 * Each warp reads (or writes) lines that move on by those of all warps, within the bits of `mask`;
 * of a line the words that the bits of `lane_mask` of its lanes name. Many schedulers and short
 * units keep arithmetic out of the way.
 */
static uint64_t cycles_of(narrow *change, uint32_t width, const char *op, uint32_t mask,
                          uint32_t lane_mask, uint32_t turns)
{
    static char body[4096];
    snprintf(body, sizeof body,
             "mov.u32 %%r1, %%ctaid.x;\nshl.b32 %%r1, %%r1, 5;\nmov.u32 %%r2, %%tid.x;\n"
             "shr.u32 %%r3, %%r2, 5;\nadd.u32 %%r1, %%r1, %%r3;\nand.b32 %%r2, %%r2, %u;\n"
             "shl.b32 %%r1, %%r1, 7;\nshl.b32 %%r2, %%r2, 2;\nmov.u32 %%r30, 0;\nL:\n"
             "%s"
             "add.u32 %%r30, %%r30, 1;\nsetp.lt.u32 %%p1, %%r30, %u;\n@%%p1 bra L;\n",
             lane_mask, op, turns);
    for (char *at = body; (at = strstr(at, "MASK")); at += 4) {
        char text[16];
        snprintf(text, sizeof text, "%8u", mask);
        memmove(at + 8, at + 4, strlen(at + 4) + 1);
        memcpy(at, text, 8);
    }
    assert_true(gpu_bench_load(&g, "gtx560ti"));
    widen(g.model);
    change(g.model, width);
    if (!gpu_bench_build(&g)) {
        fail_msg("%s", error_text());
    }
    gpu_host_copy(g.gpu, (uintptr_t)g.buffer, 64 << 10, true);
    if (!gpu_bench_run(&g, body, g.model->sms, 1024)) {
        fail_msg("%s", error_text());
    }
    uint64_t cycles = g.cycles;
    gpu_bench_free(&g);
    return cycles;
}

/* An access at a place that moves on; eight registers in turn, so that none waits for the one
 * before. */
#define ACCESS(kind, reg, end)                                                                     \
    "and.b32 %r4, %r1, MASK;\nadd.u32 %r4, %r4, %r2;\ncvt.u64.u32 %rd1, %r4;\n"                    \
    "add.u64 %rd1, %rd1, %rd0;\nadd.u32 %r1, %r1, 16384;\nadd.u32 %r20, %r20, " reg                \
    ";\n" kind reg end
#define EIGHT(kind, end)                                                                           \
    ACCESS(kind, "%r10", end)                                                                      \
    ACCESS(kind, "%r11", end)                                                                      \
    ACCESS(kind, "%r12", end)                                                                      \
    ACCESS(kind, "%r13", end)                                                                      \
    ACCESS(kind, "%r14", end)                                                                      \
    ACCESS(kind, "%r15", end) ACCESS(kind, "%r16", end) ACCESS(kind, "%r17", end)

enum { THREADS = 4 * 1024, LINE = 128 };

/* Bytes that all SMs together move in a cycle. `lines`: of 128 bytes, or 32 of each. */
static void expect(const char *what, narrow *change, uint32_t width, const char *op, uint32_t mask,
                   bool lines, double configured)
{
    const uint32_t turns[2] = {4, 20};
    uint64_t cycles[2];
    for (uint32_t i = 0; i < 2; i++) {
        cycles[i] = cycles_of(change, width, op, mask, lines ? 31 : 7, turns[i]);
    }
    double bytes = 8.0 * (turns[1] - turns[0]) * (THREADS / 32) * (lines ? LINE : 32);
    double measured = bytes / (double)(cycles[1] - cycles[0]);
    if (measured < configured * (1 - TOLERANCE_SATURATION) ||
        measured > configured * (1 + TOLERANCE_SATURATION)) {
        fail_msg("%s, %u: %g B a cycle, configured are %g", what, width, measured, configured);
    }
}

#define LOAD EIGHT("ld.global.ca.u32 ", ", [%rd1];\n")
#define LOAD_CG EIGHT("ld.global.cg.u32 ", ", [%rd1];\n")
#define STORE EIGHT("st.global.cg.u32 [%rd1], ", ";\n")

enum { IN_L1 = 4095 & ~127, IN_L2 = 65535 & ~127, NOWHERE = (32 << 20) - 128 };

static double per_line(uint32_t width, uint32_t header)
{
    return (double)LINE / ((LINE + header + width - 1) / width);
}

static void l1_port(struct model *model, uint32_t width)
{
    model->l1_data.data_bytes_per_cycle = width;
}

static void l1_lookups(struct model *model, uint32_t count)
{
    model->l1_data.accesses_per_cycle = count;
}

static void l1_saturates(void **state)
{
    (void)state;
    static const uint32_t widths[] = {8, 16, 32, 48, 64};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        expect("L1 port", l1_port, widths[i], LOAD, IN_L1, true, 4 * per_line(widths[i], 0));
    }
    for (uint32_t count = 1; count <= 2; count++) {
        expect("L1 lookups", l1_lookups, count, LOAD, IN_L1, false, 4.0 * 32 * count);
    }
}

static void l2_port(struct model *model, uint32_t width)
{
    model->l2.data_bytes_per_cycle = width;
}

static void l2_lookups(struct model *model, uint32_t count)
{
    model->l2.accesses_per_cycle = count;
}

static void l2_saturates(void **state)
{
    (void)state;
    static const uint32_t widths[] = {16, 32, 48, 64, 128};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        expect("L2 port", l2_port, widths[i], LOAD_CG, IN_L2, true, per_line(widths[i], 0));
    }
    for (uint32_t count = 1; count <= 2; count++) {
        expect("L2 lookups", l2_lookups, count, LOAD_CG, IN_L2, false, 32.0 * count);
    }
}

static void reply_link(struct model *model, uint32_t width)
{
    model->noc.reply_bytes_per_cycle = width;
}

static void request_link(struct model *model, uint32_t width)
{
    model->noc.request_bytes_per_cycle = width;
}

static void links_saturate(void **state)
{
    (void)state;
    static const uint32_t widths[] = {8, 16, 32, 33, 68};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        expect("reply link", reply_link, widths[i], LOAD_CG, IN_L2, true,
               4 * per_line(widths[i], 8));
        expect("request link", request_link, widths[i], STORE, IN_L2, true,
               4 * per_line(widths[i], 8));
    }
}

/* In bytes a core cycle: the memory's clock is another. */
static void dram_bus(struct model *model, uint32_t width)
{
    model->dram.subchannels = 1;
    model->dram.bank_groups = 1;
    model->dram.bytes_per_cycle = width;
}

static void two_subchannels(struct model *model, uint32_t width)
{
    dram_bus(model, width);
    model->dram.subchannels = 2;
}

static void the_dram_bus_saturates(void **state)
{
    (void)state;
    assert_true(gpu_bench_load(&g, "gtx560ti"));
    double clocks = (double)g.model->core_period_ps / (double)g.model->dram.period_ps;
    model_destroy(g.model);
    for (uint32_t width = 2; width <= 8; width *= 2) {
        expect("DRAM bus", dram_bus, width, LOAD_CG, NOWHERE, true, width * clocks);
        expect("two DRAM buses", two_subchannels, width, LOAD_CG, NOWHERE, true,
               2 * width * clocks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(l1_saturates),
        cmocka_unit_test(l2_saturates),
        cmocka_unit_test(links_saturate),
        cmocka_unit_test(the_dram_bus_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
