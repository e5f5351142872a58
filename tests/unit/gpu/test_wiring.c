/* Which L2 slice reaches which DRAM channel: what `model params` says of dram.channels. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu/state.h"
#include "support/gpu_bench.h"

#define SLICES 4
#define CHANNELS 2

static struct gpu_bench g;

/* Lines are dealt to slices in turn, and to channels in turn as well. */
static void build(uint32_t slices)
{
    assert_true(gpu_bench_load(&g, "gtx560ti"));
    g.model->l2_slices = slices;
    g.model->l2_slice_index = (struct index_spec){.kind = INDEX_MODULO};
    g.model->dram.channels = CHANNELS;
    g.model->dram.interleave_bytes = g.model->l2.line_bytes;
    g.model->dram.bank_interleave_bytes = g.model->l2.line_bytes;
    g.model->dram.subchannels = 1;
    g.model->dram.banks = 4;
    g.model->dram.closed_page = true;
    g.model->copies_allocate_in_l2 = false;
    g.model->tlb_l1.entries.enabled = g.model->tlb_l2.entries.enabled = false;
    if (!gpu_bench_build(&g)) {
        fail_msg("%s", error_text());
    }
}

static uint64_t channel_reads(uint32_t channel)
{
    return mem_dram_stats(g.gpu->channel[channel].dram)->reads;
}

static void slice_s_uses_channel_s_mod_channels(void **state)
{
    (void)state;
    build(SLICES);
    for (uint32_t line = 0; line < 2 * SLICES; line++) {
        char body[128];
        uint64_t slice = line % SLICES, before[CHANNELS];
        uint64_t slice_reads = mem_cache_stats(g.gpu->l2[slice])->reads;
        for (uint32_t i = 0; i < CHANNELS; i++) {
            before[i] = channel_reads(i);
        }
        snprintf(body, sizeof body, "ld.global.cg.u32 %%r1, [%%rd0+%u];\n",
                 line * g.model->l2.line_bytes);
        assert_true(gpu_bench_run(&g, body, 1, 1));
        assert_int_equal(mem_cache_stats(g.gpu->l2[slice])->reads, slice_reads + 1);
        for (uint32_t i = 0; i < CHANNELS; i++) {
            assert_int_equal(channel_reads(i) > before[i], i == slice % CHANNELS);
        }
    }
    gpu_bench_free(&g);
}

/* Cycles of a kernel that the banks bound: it reads lines in an order that opens a row for each. */
static uint64_t scattered_cycles(uint32_t slices)
{
    build(slices);
    char body[512];
    snprintf(body, sizeof body,
             "mov.u32 %%r1, %%ctaid.x;\nmov.u32 %%r2, %%ntid.x;\nmov.u32 %%r3, %%tid.x;\n"
             "mad.lo.u32 %%r1, %%r1, %%r2, %%r3;\nmul.lo.u32 %%r1, %%r1, 40503;\n"
             "and.b32 %%r1, %%r1, 32767;\nmul.wide.u32 %%rd1, %%r1, %u;\n"
             "add.u64 %%rd1, %%rd1, %%rd0;\nld.global.cg.u32 %%r4, [%%rd1];\n"
             "add.u32 %%r4, %%r4, 1;\n",
             g.model->l2.line_bytes);
    assert_true(gpu_bench_run(&g, body, 64, 256));
    uint64_t cycles = g.cycles;
    gpu_bench_free(&g);
    return cycles;
}

/* Slices that reach the same place of a channel would leave other places, and banks, unused. */
static void more_slices_than_channels_use_all_banks(void **state)
{
    (void)state;
    uint64_t as_many = scattered_cycles(CHANNELS), twice_as_many = scattered_cycles(2 * CHANNELS);
    if (twice_as_many > as_many + as_many / 20) {
        fail_msg("%u slices: %" PRIu64 " cycles; %u slices: %" PRIu64, CHANNELS, as_many,
                 2 * CHANNELS, twice_as_many);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slice_s_uses_channel_s_mod_channels),
        cmocka_unit_test(more_slices_than_channels_use_all_banks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
