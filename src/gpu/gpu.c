/*
 * The GPU as an object: creation, carve-out, host copies, statistics. build.c wires it and launch.c
 * runs it.
 */
#include "gpu/gpu.h"

#include <stdlib.h>

#include "gpu/state.h"
#include "util/error.h"

int gpu_create(struct gpu **out, const struct model *model, struct exec_memory *memory,
               const struct gpu_translate *translate)
{
    *out = NULL;
    struct gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu) {
        return error_memory();
    }
    gpu->model = model;
    gpu->memory = memory;
    gpu->translate = *translate;
    gpu->clock.period_ps = model->core_period_ps;
    gpu->wanted_carveout = model->carveout.initial;
    int rc = gpu_build(gpu);
    if (rc < 0) {
        gpu_destroy(gpu);
        return rc;
    }
    *out = gpu;
    return 0;
}

void gpu_destroy(struct gpu *gpu)
{
    if (!gpu) {
        return;
    }
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        if (gpu->sm) {
            sm_destroy(gpu->sm[i]);
        }
        if (gpu->l1) {
            mem_cache_destroy(gpu->l1[i]);
        }
    }
    gpu_readonly_destroy(gpu);
    gpu_vm_destroy(gpu);
    mem_noc_destroy(gpu->noc);
    for (uint32_t i = 0; gpu->l2 && i < gpu->model->l2_slices; i++) {
        mem_cache_destroy(gpu->l2[i]);
    }
    for (uint32_t i = 0; gpu->dram && i < gpu->model->dram.channels; i++) {
        mem_dram_destroy(gpu->dram[i]);
    }
    engine_destroy(gpu->engine);
    free(gpu->sm);
    free(gpu->l1);
    free(gpu->source_port);
    free(gpu->network_port);
    free(gpu->l2);
    free(gpu->dram);
    free(gpu);
}

int gpu_set_carveout(struct gpu *gpu, uint32_t choice)
{
    if (choice >= gpu->model->carveout.count) {
        return error_set(SONDE_EINPUT, "%s has no carve-out choice %u", gpu->model->name, choice);
    }
    gpu->wanted_carveout = choice;
    return 0;
}

uint32_t gpu_carveout(const struct gpu *gpu)
{
    return gpu->wanted_carveout;
}

void gpu_set_cancel(struct gpu *gpu, const volatile int *cancel)
{
    gpu->cancel = cancel;
}

/* Line by line: the slice may change with every line. */
void gpu_host_copy(struct gpu *gpu, uint64_t vaddr, uint64_t bytes, bool to_device)
{
    const struct model *model = gpu->model;
    if (!model->copies_allocate_in_l2) {
        return;
    }
    uint64_t line_bytes = model->l2.line_bytes;
    for (uint64_t at = vaddr, next; at < vaddr + bytes; at = next) {
        next = (at / line_bytes + 1) * line_bytes;
        uint64_t end = next < vaddr + bytes ? next : vaddr + bytes;
        uint64_t paddr;
        if (!gpu->translate.physical(gpu->translate.ctx, at, &paddr)) {
            continue;
        }
        uint32_t slice =
            mem_index_set(&model->l2_slice_index, model->l2_slices, model->l2.line_bytes, paddr);
        uint64_t key = model->l2.address == ADDRESS_VIRTUAL ? at : paddr;
        mem_cache_touch(gpu->l2[slice], key, end - at, to_device);
    }
}

static void add_memory_stats(const struct gpu *gpu, struct gpu_stats *out)
{
    for (uint32_t i = 0; i < gpu->model->l2_slices; i++) {
        const struct mem_cache_stats *stats = mem_cache_stats(gpu->l2[i]);
        out->l2_reads += stats->reads;
        out->l2_hits += stats->read_hits;
    }
    for (uint32_t i = 0; i < gpu->model->dram.channels; i++) {
        const struct mem_dram_stats *stats = mem_dram_stats(gpu->dram[i]);
        out->dram_reads += stats->reads;
        out->dram_writes += stats->writes;
    }
}

void gpu_stats(const struct gpu *gpu, struct gpu_stats *out)
{
    *out = (struct gpu_stats){.launches = gpu->launches,
                              .cycles = gpu->cycles,
                              .l1_reads = gpu->l1_reads_before,
                              .l1_hits = gpu->l1_hits_before};
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        const struct sm_stats *stats = sm_stats(gpu->sm[i]);
        out->ctas += stats->ctas;
        out->warp_insns += stats->warp_insns;
        out->thread_insns += stats->thread_insns;
        out->shared_accesses += stats->shared_accesses;
        out->shared_conflicts += stats->shared_conflicts;
        out->transactions += stats->transactions;
        if (gpu->l1[i]) {
            out->l1_reads += mem_cache_stats(gpu->l1[i])->reads;
            out->l1_hits += mem_cache_stats(gpu->l1[i])->read_hits;
        }
    }
    add_memory_stats(gpu, out);
    gpu_readonly_stats(gpu, out);
    gpu_vm_stats(gpu, out);
}
