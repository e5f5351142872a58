/* What the counters of launches say of them: time, work, occupancy, caches, memory, waits. */
#include "statistics/summary.h"

#include <inttypes.h>

#include "model/model.h"

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void put_time(struct strbuf *out, const struct model *model, uint64_t cycles)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double time = (double)cycles * (double)model->core_period_ps * 1e-3;
    size_t i = 0;
    while (time >= 1000 && i < 3) {
        time /= 1000;
        i++;
    }
    strbuf_printf(out, "time              %.4g %s, %" PRIu64 " cycles at %.3f GHz\n", time,
                  units[i], cycles, 1e3 / (double)model->core_period_ps);
}

static void put_work(struct strbuf *out, const struct model *model, const struct gpu_stats *stats,
                     uint64_t cycles)
{
    uint32_t interval = model->sm.issue_interval ? model->sm.issue_interval : 1;
    double most = (double)model->sms * model->sm.schedulers * model->sm.issue_per_scheduler /
                  (double)interval;
    double ipc = cycles ? (double)stats->warp_insns / (double)cycles : 0;
    strbuf_printf(out, "issued            %.2f warp instructions a cycle, of %.0f (%.1f %%)\n", ipc,
                  most, percent(ipc, most));
}

static void put_occupancy(struct strbuf *out, const struct model *model,
                          const struct gpu_stats *stats, uint64_t cycles, uint32_t possible_warps)
{
    double places = (double)model->sm.max_warps;
    strbuf_printf(
        out, "occupancy         %.1f %% of the GPU's warps",
        percent((double)stats->resident_warp_cycles, places * model->sms * (double)cycles));
    if (possible_warps > 0) {
        strbuf_printf(out, ", %.1f %% of an SM's possible",
                      percent((double)possible_warps, places));
    }
    strbuf_append(out, "\n");
}

/* Reads that needed nothing new from below. */
static void put_hits(struct strbuf *out, const char *name, uint64_t hits, uint64_t pending_hits,
                     uint64_t reads)
{
    if (reads > 0) {
        strbuf_printf(out, "%s %.1f %% of %" PRIu64, name,
                      percent((double)(hits + pending_hits), (double)reads), reads);
        if (pending_hits > 0) {
            strbuf_printf(out, ", %.1f %% pending", percent((double)pending_hits, (double)reads));
        }
        strbuf_append(out, "\n");
    }
}

static void put_memory(struct strbuf *out, const struct model *model, const struct gpu_stats *stats,
                       uint64_t cycles)
{
    const struct dram_spec *dram = &model->dram;
    double seconds = (double)cycles * (double)model->core_period_ps * 1e-12;
    double bytes = (double)(stats->dram_read_bytes + stats->dram_written_bytes);
    double rate = seconds > 0 ? bytes / seconds * 1e-9 : 0;
    double buses = (double)dram->channels * (dram->subchannels ? dram->subchannels : 1);
    double peak =
        dram->period_ps ? buses * dram->bytes_per_cycle * 1e3 / (double)dram->period_ps : 0;
    put_hits(out, "L1 hits          ", stats->l1_hits, stats->l1_pending_hits, stats->l1_reads);
    put_hits(out, "texture hits     ", stats->texture_hits, stats->texture_pending_hits,
             stats->texture_reads);
    put_hits(out, "L2 hits          ", stats->l2_hits, stats->l2_pending_hits, stats->l2_reads);
    strbuf_printf(out, "DRAM              %.4g GB/s", rate);
    if (peak > 0) {
        strbuf_printf(out, ", of %.4g (%.1f %%)", peak, percent(rate, peak));
    }
    strbuf_append(out, "\n");
}

/* What SMs with a block did, those that did most of it first. */
static void put_waits(struct strbuf *out, const struct gpu_stats *stats)
{
    static const char *const names[] = {
        "issues",
#define WAIT(id, text, doc) text,
#include "core/wait.def"
#undef WAIT
    };
    uint64_t cycles[SM_WAIT_COUNT + 1] = {stats->sm.issue_cycles}, all = stats->sm.issue_cycles;
    for (int i = 0; i < SM_WAIT_COUNT; i++) {
        cycles[i + 1] = stats->sm.wait_cycles[i];
        all += cycles[i + 1];
    }
    strbuf_append(out, "SM cycles        ");
    for (int shown = 0; shown <= SM_WAIT_COUNT; shown++) {
        int most = 0;
        for (int i = 1; i <= SM_WAIT_COUNT; i++) {
            most = cycles[i] > cycles[most] ? i : most;
        }
        if (cycles[most] > 0) {
            strbuf_printf(out, "%s %s %.1f %%", shown ? "," : "", names[most],
                          percent((double)cycles[most], (double)all));
            cycles[most] = 0;
        }
    }
    strbuf_append(out, "\n");
}

void statistics_summary(struct strbuf *out, const struct model *model,
                        const struct gpu_stats *stats, uint64_t cycles, uint32_t possible_warps)
{
    put_time(out, model, cycles);
    put_work(out, model, stats, cycles);
    put_occupancy(out, model, stats, cycles, possible_warps);
    put_memory(out, model, stats, cycles);
    put_waits(out, stats);
}
