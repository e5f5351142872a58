/*
 * What the components have counted, added up. An SM has hundreds of counters, and most launches use
 * few SMs: the sums over SMs are kept, and brought up to date by those that have had CTAs since.
 */
#include "core/profile.h"
#include "gpu/state.h"

#define COUNTERS(type) (sizeof(type) / sizeof(uint64_t))

/* Structures of counters of 64 bits and nothing else. */
static void add_counters(void *sum, const void *more, size_t count)
{
    uint64_t *to = sum;
    const uint64_t *from = more;
    for (size_t i = 0; i < count; i++) {
        to[i] += from[i];
    }
}

static void add_memory_stats(const struct gpu *gpu, struct gpu_stats *out)
{
    for (uint32_t i = 0; i < gpu->model->l2_slices; i++) {
        const struct mem_cache_stats *stats = mem_cache_stats(gpu->l2[i]);
        out->l2_reads += stats->reads;
        out->l2_hits += stats->read_hits;
        out->l2_pending_hits += stats->read_pending_hits;
        out->l2_writes += stats->writes;
        out->l2_write_hits += stats->write_hits;
        out->l2_evictions += stats->evictions;
        out->l2_writebacks += stats->writebacks;
    }
    for (uint32_t i = 0; i < gpu->model->dram.channels; i++) {
        const struct mem_dram_stats *stats = mem_dram_stats(gpu->channel[i].dram);
        out->dram_reads += stats->reads;
        out->dram_writes += stats->writes;
        out->dram_read_bytes += stats->read_bytes;
        out->dram_written_bytes += stats->written_bytes;
        out->dram_row_hits += stats->row_hits;
        out->dram_row_misses += stats->row_misses;
        out->dram_busy_ps += stats->busy_ps;
        out->dram_sending_ps += stats->sending_ps;
        out->dram_pending_ps += stats->pending_ps;
    }
    mem_noc_stats(&out->noc, gpu->noc);
}

/* An SM whose CTAs have ended still counts while the GPU is not idle. */
static void update_sums(const struct gpu *gpu)
{
    struct gpu_sm_sums *sums = gpu->sums;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        struct gpu_boundary *boundary = &gpu->boundary[i];
        if (!boundary->counts) {
            continue;
        }
        const uint64_t *now = (const uint64_t *)sm_stats(gpu->sm[i]);
        uint64_t *sum = (uint64_t *)&sums->sum, *before = (uint64_t *)&sums->before[i];
        for (size_t k = 0; k < COUNTERS(struct sm_stats); k++) {
            sum[k] += now[k] - before[k];
            before[k] = now[k];
        }
        boundary->counts = gpu->grids != NULL;
    }
}

static void add_sm_stats(const struct gpu *gpu, struct gpu_stats *out)
{
    update_sums(gpu);
    out->sm = gpu->sums->sum;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        if (gpu->l1[i]) {
            const struct mem_cache_stats *stats = mem_cache_stats(gpu->l1[i]);
            out->l1_reads += stats->reads;
            out->l1_hits += stats->read_hits;
            out->l1_pending_hits += stats->read_pending_hits;
        }
    }
    out->ctas = out->sm.ctas;
    out->shared_accesses = out->sm.shared_accesses;
    out->shared_conflicts = out->sm.shared_conflicts;
    out->transactions = out->sm.transactions;
    for (uint32_t lanes = 0; lanes <= WARP_LANES; lanes++) {
        out->warp_insns += out->sm.lanes[lanes];
        out->thread_insns += out->sm.lanes[lanes] * lanes;
    }
    out->machine_insns = out->warp_insns - out->sm.lowered_insns + out->sm.machine_insns;
}

/* CTAs that have not ended count until now. */
static uint64_t resident_warp_cycles(const struct gpu *gpu)
{
    uint64_t now = engine_now_ps(gpu->engine) / gpu->clock.period_ps;
    now = now > gpu->placed_cycle ? now : gpu->placed_cycle;
    return gpu->resident_warp_cycles + gpu->resident_warps * now;
}

void gpu_stats_drop_resident(struct gpu *gpu)
{
    gpu->resident_warp_cycles = resident_warp_cycles(gpu);
    gpu->resident_warps = 0;
}

void gpu_stats(const struct gpu *gpu, struct gpu_stats *out)
{
    *out = (struct gpu_stats){.launches = gpu->launches,
                              .cycles = gpu->cycles,
                              .resident_warp_cycles = resident_warp_cycles(gpu),
                              .l1_reads = gpu->l1_reads_before,
                              .l1_hits = gpu->l1_hits_before,
                              .l1_pending_hits = gpu->l1_pending_before};
    add_sm_stats(gpu, out);
    add_memory_stats(gpu, out);
    gpu_readonly_stats(gpu, out);
    gpu_vm_stats(gpu, out);
}

uint64_t gpu_stats_version(const struct gpu *gpu)
{
    return gpu->stats_version;
}

void gpu_stats_since(struct gpu_stats *stats, const struct gpu_stats *before)
{
    uint64_t *counter = (uint64_t *)stats;
    const uint64_t *had = (const uint64_t *)before;
    for (size_t i = 0; i < COUNTERS(struct gpu_stats); i++) {
        counter[i] -= had[i];
    }
}

void gpu_stats_add(struct gpu_stats *sum, const struct gpu_stats *more)
{
    add_counters(sum, more, COUNTERS(struct gpu_stats));
}

int gpu_profile_enable(struct gpu *gpu)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < gpu->model->sms; i++) {
        rc = sm_profile_enable(gpu->sm[i]);
    }
    return rc;
}

void gpu_profile_take(struct gpu *gpu, const struct exec_program *program,
                      struct profile_line *lines, uint64_t *resident)
{
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        sm_profile_take(gpu->sm[i], program, lines, resident);
    }
}

void gpu_set_placed(struct gpu *gpu, gpu_placed *placed, void *ctx)
{
    gpu->placed = placed;
    gpu->placed_ctx = ctx;
}
