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
    gpu->threads = 1;
    gpu->sums = calloc(1, sizeof *gpu->sums + model->sms * sizeof gpu->sums->before[0]);
    int rc = gpu->sums ? gpu_build(gpu) : error_memory();
    if (rc < 0) {
        gpu_destroy(gpu);
        return rc;
    }
    *out = gpu;
    return 0;
}

void gpu_empty_caches(struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        struct mem_cache *const caches[] = {gpu->l1[i], gpu->readonly[i].texture,
                                            gpu->readonly[i].constant,
                                            gpu->readonly[i].constant_l15};
        for (size_t k = 0; k < sizeof caches / sizeof *caches; k++) {
            if (caches[k]) {
                mem_cache_invalidate(caches[k]);
            }
        }
    }
    for (uint32_t i = 0; gpu->constant_l15 && i < gpu->model->clusters; i++) {
        mem_cache_invalidate(gpu->constant_l15[i]);
    }
    for (uint32_t i = 0; i < gpu->model->l2_slices; i++) {
        mem_cache_invalidate(gpu->l2[i]);
    }
    gpu_forget_translations(gpu);
}

void gpu_set_progress(struct gpu *gpu, const struct progress *progress)
{
    gpu->progress = progress;
}

void gpu_tell_when_cancelled(struct gpu *gpu)
{
    gpu->tells_cancelled = true;
}

void gpu_set_sampler(struct gpu *gpu, void (*sample)(void *ctx, uint64_t now_ps), void *ctx,
                     uint64_t interval_ps)
{
    gpu->sample = sample;
    gpu->sample_ctx = ctx;
    gpu->sample_interval_ps = interval_ps;
    if (gpu->next_sample_ps < gpu_now_ps(gpu)) {
        gpu->next_sample_ps = gpu_now_ps(gpu);
    }
}

uint64_t gpu_resident_warps(const struct gpu *gpu)
{
    uint64_t warps = 0;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        warps += sm_resident_warps(gpu->sm[i]);
    }
    return warps;
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
    team_destroy(gpu->team);
    gpu_readonly_destroy(gpu);
    gpu_vm_destroy(gpu);
    mem_noc_destroy(gpu->noc);
    gpu_constants_destroy(gpu);
    gpu_l2_destroy(gpu);
    gpu_channels_destroy(gpu);
    gpu_boundaries_destroy(gpu);
    engine_destroy(gpu->engine);
    free(gpu->sums);
    free(gpu->sm);
    free(gpu->l1);
    free(gpu->room);
    free(gpu->source_port);
    free(gpu->network_port);
    free(gpu);
}

bool gpu_is_idle(const struct gpu *gpu)
{
    return !gpu->grids;
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

uint32_t gpu_carveout_in_force(const struct gpu *gpu)
{
    return gpu->carveout;
}

int gpu_set_threads(struct gpu *gpu, uint32_t threads)
{
    if (threads == 0 || threads > TEAM_THREADS_MAX) {
        return error_set(SONDE_EINPUT, "%u host threads: must be 1 to %d", threads,
                         TEAM_THREADS_MAX);
    }
    team_destroy(gpu->team);
    gpu->team = NULL;
    gpu->threads = threads;
    return 0;
}

void gpu_set_cancel(struct gpu *gpu, const volatile int *cancel)
{
    gpu->cancel = cancel;
}

/* Line by line: the slice may change with every line. */
void gpu_host_copy(struct gpu *gpu, uint64_t vaddr, uint64_t bytes, bool to_device)
{
    if (gpu->model->copies_allocate_in_l2 && !gpu->grids) {
        gpu_touch_l2(gpu, vaddr, bytes, to_device);
    }
}

void gpu_touch_l2(struct gpu *gpu, uint64_t vaddr, uint64_t bytes, bool writes)
{
    const struct model *model = gpu->model;
    gpu->stats_version++;
    uint64_t line_bytes = model->l2.line_bytes;
    for (uint64_t at = vaddr, next; at < vaddr + bytes; at = next) {
        next = (at / line_bytes + 1) * line_bytes;
        uint64_t end = next < vaddr + bytes ? next : vaddr + bytes;
        uint64_t paddr;
        if (!gpu->translate.physical(gpu->translate.ctx, at, &paddr)) {
            continue;
        }
        uint64_t key = model->l2.address == ADDRESS_VIRTUAL ? at : paddr;
        mem_cache_touch(gpu->l2[gpu_home_slice(gpu, paddr)], key, end - at, writes);
        if (writes && model->l2_parts.count > 1) {
            gpu_drop_copies(gpu, at, paddr);
        }
    }
}
