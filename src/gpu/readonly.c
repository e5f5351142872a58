/*
 * The SMs' caches besides L1, and where local memory lies.
 *
 *     SM --+-- texture cache -----------------------+
 *          +-- constant L1 -- constant L1.5 --------+-- the SM's source port, as L1's misses
 *
 * The texture unit may look in L1 instead, and the SMs of a cluster may share the L1.5
 * (constants.c). Else they are each SM's own. They know lines by virtual addresses as the model
 * says, and never see a write: a kernel's stores do not reach them, which is why they start a
 * launch empty.
 */
#include <stdlib.h>

#include "exec/cluster.h"
#include "gpu/state.h"
#include "util/error.h"

static int cache_create(struct gpu_boundary *boundary, struct mem_cache **out,
                        const struct cache_spec *spec, struct mem_port *port)
{
    struct gpu *gpu = boundary->gpu;
    int rc = mem_cache_create(out, spec, MEM_AT_L1, boundary->engine, &gpu->clock,
                              gpu->next_source++, *port);
    if (rc == 0) {
        *port = mem_cache_port(*out);
    }
    return rc;
}

int gpu_readonly_create(struct gpu *gpu)
{
    const struct model *model = gpu->model;
    gpu->readonly = calloc(model->sms, sizeof *gpu->readonly);
    if (!gpu->readonly) {
        return error_memory();
    }
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < model->sms; i++) {
        struct gpu_readonly *caches = &gpu->readonly[i];
        caches->texture_port = caches->constant_port = gpu->source_port[i];
        if (gpu->constant_way) {
            caches->constant_port = gpu_constants_above(gpu, i);
        }
        if (model->texture_l1.enabled) {
            rc = cache_create(&gpu->boundary[i], &caches->texture, &model->texture_l1,
                              &caches->texture_port);
        }
        if (rc == 0 && model->constant_l15.enabled && !gpu->constant_way) {
            rc = cache_create(&gpu->boundary[i], &caches->constant_l15, &model->constant_l15,
                              &caches->constant_port);
        }
        if (rc == 0 && model->constant_l1.enabled) {
            rc = cache_create(&gpu->boundary[i], &caches->constant, &model->constant_l1,
                              &caches->constant_port);
        }
    }
    return rc;
}

void gpu_readonly_attach(struct gpu *gpu, uint32_t sm, const struct mem_port *l1)
{
    struct gpu_readonly *caches = &gpu->readonly[sm];
    const struct mem_port *texture = caches->texture ? &caches->texture_port : NULL;
    sm_set_readonly(gpu->sm[sm], gpu->model->sm.texture.by_l1 ? l1 : texture,
                    caches->constant ? &caches->constant_port : NULL);
}

void gpu_readonly_destroy(struct gpu *gpu)
{
    for (uint32_t i = 0; gpu->readonly && i < gpu->model->sms; i++) {
        mem_cache_destroy(gpu->readonly[i].texture);
        mem_cache_destroy(gpu->readonly[i].constant);
        mem_cache_destroy(gpu->readonly[i].constant_l15);
    }
    free(gpu->readonly);
}

void gpu_readonly_invalidate_sm(struct gpu *gpu, uint32_t sm)
{
    const struct model *model = gpu->model;
    struct gpu_readonly *caches = &gpu->readonly[sm];
    if (caches->texture && model->texture_l1.invalidate_on_launch) {
        mem_cache_invalidate(caches->texture);
    }
    if (caches->constant && model->constant_l1.invalidate_on_launch) {
        mem_cache_invalidate(caches->constant);
    }
    if (caches->constant_l15 && model->constant_l15.invalidate_on_launch) {
        mem_cache_invalidate(caches->constant_l15);
    }
}

void gpu_readonly_invalidate(struct gpu *gpu)
{
    const struct model *model = gpu->model;
    for (uint32_t i = 0; gpu->constant_l15 && i < model->clusters; i++) {
        if (model->constant_l15.invalidate_on_launch) {
            mem_cache_invalidate(gpu->constant_l15[i]);
        }
    }
}

static void add_cache(const struct mem_cache *cache, uint64_t *reads, uint64_t *hits,
                      uint64_t *pending_hits)
{
    if (cache) {
        *reads += mem_cache_stats(cache)->reads;
        *hits += mem_cache_stats(cache)->read_hits;
        *pending_hits += mem_cache_stats(cache)->read_pending_hits;
    }
}

void gpu_readonly_stats(const struct gpu *gpu, struct gpu_stats *out)
{
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        const struct gpu_readonly *caches = &gpu->readonly[i];
        add_cache(caches->texture, &out->texture_reads, &out->texture_hits,
                  &out->texture_pending_hits);
        add_cache(caches->constant, &out->constant_reads, &out->constant_hits,
                  &out->constant_pending_hits);
        add_cache(caches->constant_l15, &out->constant_l15_reads, &out->constant_l15_hits,
                  &out->constant_l15_pending_hits);
    }
    for (uint32_t i = 0; gpu->constant_l15 && i < gpu->model->clusters; i++) {
        add_cache(gpu->constant_l15[i], &out->constant_l15_reads, &out->constant_l15_hits,
                  &out->constant_l15_pending_hits);
    }
}

/* ---- local memory ---- */

struct local_shape {
    uint64_t thread_bytes; /* rounded up to the granule */
    uint32_t slots;        /* of an SM */
    uint64_t sm_bytes;
};

/*
 * An SM never has more CTAs than fit it, nor than its share of the grid, which is handed out
 * breadth first; their warps take the lowest slots that are free.
 */
static void local_shape(struct local_shape *out, const struct gpu *gpu,
                        const struct exec_launch *launch)
{
    const struct model *model = gpu->model;
    const uint32_t *block = launch->block, *grid = launch->grid;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    uint64_t ctas = (uint64_t)grid[0] * grid[1] * grid[2];
    uint64_t warps = (threads + WARP_LANES - 1) / WARP_LANES;
    uint64_t granules =
        (exec_program_local_bytes(launch->program) + SM_LOCAL_GRANULE_BYTES - 1ull) /
        SM_LOCAL_GRANULE_BYTES;
    uint64_t share = (ctas + model->sms - 1) / model->sms;
    uint64_t slots = warps * (share < model->sm.max_ctas ? share : model->sm.max_ctas);
    out->slots = slots < model->sm.max_warps ? (uint32_t)slots : model->sm.max_warps;
    out->thread_bytes = granules * SM_LOCAL_GRANULE_BYTES;
}

/* Beside others, and in clusters, a launch may get any slot of any SM. Few CTAs go to the first
 * SMs, unless they are dealt by clusters (deal.c). */
static uint64_t local_bytes(struct local_shape *shape, const struct gpu *gpu,
                            const struct exec_launch *launch, bool shares)
{
    const uint32_t *grid = launch->grid, sms = gpu->model->sms;
    uint64_t ctas = (uint64_t)grid[0] * grid[1] * grid[2];
    bool any_slot = shares || cluster_size(launch) > 1;
    bool any_sm = any_slot || gpu->model->cta_deal.by_cluster || ctas > sms;
    local_shape(shape, gpu, launch);
    shape->slots = any_slot ? gpu->model->sm.max_warps : shape->slots;
    shape->sm_bytes = shape->thread_bytes * WARP_LANES * shape->slots;
    return shape->sm_bytes * (any_sm ? sms : ctas);
}

uint64_t gpu_local_bytes(const struct gpu *gpu, const struct exec_launch *launch, bool shares)
{
    struct local_shape shape;
    return local_bytes(&shape, gpu, launch, shares);
}

void gpu_set_local(struct gpu *gpu, uint64_t address, uint64_t bytes)
{
    gpu->local_address = address;
    gpu->local_bytes = bytes;
}

void gpu_local_place(struct gpu *gpu, const struct exec_launch *launch, bool shares)
{
    struct local_shape shape;
    uint64_t needed = local_bytes(&shape, gpu, launch, shares);
    bool placed = gpu->local_address && needed > 0 && needed <= gpu->local_bytes;
    gpu->local_thread_bytes = placed ? shape.thread_bytes : 0;
    gpu->local_shared = shares;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        sm_set_local(gpu->sm[i], gpu->local_address + i * shape.sm_bytes, gpu->local_thread_bytes,
                     shape.slots);
    }
}

bool gpu_local_is_placed(const struct gpu *gpu, const struct exec_launch *launch)
{
    struct local_shape shape;
    local_shape(&shape, gpu, launch);
    return shape.thread_bytes == 0 ||
           (gpu->local_shared && shape.thread_bytes <= gpu->local_thread_bytes);
}

int gpu_set_shared_bank_bytes(struct gpu *gpu, uint32_t bytes)
{
    const struct shared_spec *shared = &gpu->model->sm.shared;
    uint32_t word = shared->word_bytes ? shared->word_bytes : shared->bank_bytes;
    if (bytes != 0 && bytes != word &&
        !(shared->word_selectable && (bytes == 4 || bytes == shared->bank_bytes))) {
        return error_set(SONDE_EUNSUPPORTED, "%s has no shared-memory banks of %u bytes to choose",
                         gpu->model->name, bytes);
    }
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        sm_set_bank_word(gpu->sm[i], bytes ? bytes : word);
    }
    return 0;
}
