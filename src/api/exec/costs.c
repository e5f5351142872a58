/*
 * What a launch cost, for people and for scripts: a name and a number a line.
 */
#include <inttypes.h>

#include "api/exec/target.h"
#include "rt/rt.h"

static void line(struct strbuf *out, const char *label, uint64_t value)
{
    strbuf_printf(out, "%-17s %" PRIu64 "\n", label, value);
}

void exec_costs_kernel(struct strbuf *out, const struct rt_kernel *kernel)
{
    uint32_t registers, shared, local;
    rt_kernel_info(kernel, &registers, &shared, &local);
    strbuf_printf(out,
                  "registers         %u per thread\nshared            %u B static\n"
                  "local             %u B per thread\n",
                  registers, shared, local);
}

static void translation(struct strbuf *out, const struct gpu_stats *stats)
{
    line(out, "tlb_l1_reads", stats->tlb_l1_reads);
    line(out, "tlb_l1_hits", stats->tlb_l1_hits);
    line(out, "tlb_l2_reads", stats->tlb_l2_reads);
    line(out, "tlb_l2_hits", stats->tlb_l2_hits);
    line(out, "page_walks", stats->walks);
    line(out, "page_walk_reads", stats->walk_reads);
    line(out, "window_switches", stats->window_switches);
}

static void constants(struct strbuf *out, const struct gpu_stats *stats)
{
    line(out, "constant_reads", stats->constant_reads);
    line(out, "constant_hits", stats->constant_hits);
    line(out, "constant_l15_reads", stats->constant_l15_reads);
    line(out, "constant_l15_hits", stats->constant_l15_hits);
}

void exec_costs_counters(struct strbuf *out, const struct gpu_stats *stats, uint64_t cycles)
{
    line(out, "cycles", cycles);
    line(out, "warp_insns", stats->warp_insns);
    line(out, "thread_insns", stats->thread_insns);
    if (stats->sm.lowered_insns) {
        line(out, "machine_insns", stats->machine_insns);
    }
    line(out, "transactions", stats->transactions);
    line(out, "l1_reads", stats->l1_reads);
    line(out, "l1_hits", stats->l1_hits);
    line(out, "l2_reads", stats->l2_reads);
    line(out, "l2_hits", stats->l2_hits);
    line(out, "dram_reads", stats->dram_reads);
    line(out, "dram_writes", stats->dram_writes);
    if (stats->tlb_l1_reads + stats->tlb_l2_reads > 0) {
        translation(out, stats);
    }
    if (stats->texture_reads > 0) {
        line(out, "texture_reads", stats->texture_reads);
        line(out, "texture_hits", stats->texture_hits);
    }
    if (stats->constant_reads > 0) {
        constants(out, stats);
    }
    line(out, "shared_accesses", stats->shared_accesses);
    line(out, "shared_conflicts", stats->shared_conflicts);
}
