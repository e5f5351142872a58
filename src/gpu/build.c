/*
 * Wiring: the one place that knows which component talks to which. Components are created from the
 * memory boundary up, since each needs the port below it; their engine source ids rise in the same
 * order, so that at one instant memory goes before the SMs.
 */
#include <stdlib.h>

#include "gpu/state.h"
#include "util/error.h"

static int model_check(const struct model *model)
{
    if (model->sms == 0 || model->l2_slices == 0 || model->dram.channels == 0) {
        return error_set(SONDE_EINPUT, "a GPU needs SMs, L2 slices and DRAM channels");
    }
    if (model->l2_slices % model->dram.channels) {
        return error_set(SONDE_EINPUT, "%u L2 slices cannot be shared out over %u DRAM channels",
                         model->l2_slices, model->dram.channels);
    }
    if (model->l2_parts.count == 0 || model->l2_slices % model->l2_parts.count) {
        return error_set(SONDE_EINPUT, "%u L2 slices cannot be shared out over %u parts",
                         model->l2_slices, model->l2_parts.count);
    }
    if (model->core_period_ps == 0) {
        return error_set(SONDE_EINPUT, "the core clock's period is 0");
    }
    return mem_index_check(&model->l2_slice_index, model->l2_slices / model->l2_parts.count);
}

static int arrays_create(struct gpu *gpu)
{
    const struct model *model = gpu->model;
    gpu->sm = calloc(model->sms, sizeof(struct sm *));
    gpu->l1 = calloc(model->sms, sizeof(struct mem_cache *));
    gpu->source_port = calloc(model->sms, sizeof *gpu->source_port);
    gpu->network_port = calloc(model->sms, sizeof *gpu->network_port);
    gpu->l2 = calloc(model->l2_slices, sizeof(struct mem_cache *));
    gpu->room = calloc(model->sms, sizeof *gpu->room);
    return gpu->room && gpu->sm && gpu->l1 && gpu->source_port && gpu->network_port && gpu->l2
               ? 0
               : error_memory();
}

/* SMs of a cluster are dealt to its groups, so many at a time. */
static void share_reads(struct gpu *gpu)
{
    const struct noc_spec *noc = &gpu->model->noc;
    uint32_t each = noc->share_groups;
    for (uint32_t i = 0; each > 0 && i < gpu->model->sms; i++) {
        uint32_t cluster = gpu_cluster_of(gpu->model, i), before = 0;
        for (uint32_t k = 0; k < i; k++) {
            before += gpu_cluster_of(gpu->model, k) == cluster;
        }
        mem_noc_set_group(gpu->noc, i, cluster * each + before / noc->share_deal % each);
    }
}

static int network_create(struct gpu *gpu)
{
    const struct model *model = gpu->model;
    gpu->noc_source = gpu->next_source++;
    int rc = mem_noc_create(&gpu->noc, &model->noc, gpu->engine, &gpu->clock, gpu->noc_source,
                            model->sms, model->l2_slices);
    if (rc < 0) {
        return rc;
    }
    for (uint32_t i = 0; i < model->l2_slices; i++) {
        mem_noc_connect(gpu->noc, i, gpu_slice_port(gpu, i));
    }
    share_reads(gpu);
    for (uint32_t i = 0; rc == 0 && i < model->sms; i++) {
        mem_noc_set_outlet(gpu->noc, i, gpu_boundary_outlet(&gpu->boundary[i]));
        gpu->network_port[i] = mem_noc_port(gpu->noc, i, gpu_near_slice, gpu);
        gpu->source_port[i] = gpu->network_port[i];
        rc = gpu_translator(gpu, &gpu->source_port[i], i, false);
        gpu_constants_below(gpu, &gpu->source_port[i], i);
        gpu_boundary_attach(&gpu->boundary[i], &gpu->source_port[i]);
    }
    gpu->start_source = gpu->next_source++;
    return rc;
}

static void l1_destroy(struct gpu *gpu, uint32_t i)
{
    if (gpu->l1[i]) {
        const struct mem_cache_stats *stats = mem_cache_stats(gpu->l1[i]);
        gpu->l1_reads_before += stats->reads;
        gpu->l1_hits_before += stats->read_hits;
        gpu->l1_pending_before += stats->read_pending_hits;
        mem_cache_destroy(gpu->l1[i]);
        gpu->l1[i] = NULL;
    }
}

/* (Re)make the L1s and the shared memory of the chosen carve-out; the old L1s have nothing on its
 * way. */
int gpu_apply_carveout(struct gpu *gpu)
{
    const struct model *model = gpu->model;
    for (uint32_t i = 0; i < model->sms; i++) {
        l1_destroy(gpu, i);
    }
    gpu->carveout = gpu->wanted_carveout;
    gpu->l1_spec = model->l1_data;
    gpu->shared_bytes = model->sm.shared.size_bytes;
    if (model->carveout.count > 0) {
        model_carve(&gpu->l1_spec, &gpu->shared_bytes, model, gpu->carveout);
    }
    for (uint32_t i = 0; i < model->sms; i++) {
        sm_set_shared(gpu->sm[i], gpu->shared_bytes);
        sm_set_l1(gpu->sm[i], NULL, NULL);
        sm_set_gathers(gpu->sm[i], (struct sm_gathers){0});
        gpu_readonly_attach(gpu, i, NULL);
        if (!gpu->l1_spec.enabled) {
            continue;
        }
        bool physical = gpu->l1_spec.address == ADDRESS_PHYSICAL;
        struct mem_port port = physical ? gpu->network_port[i] : gpu->source_port[i];
        int rc = mem_cache_create(&gpu->l1[i], &gpu->l1_spec, MEM_AT_L1, gpu->boundary[i].engine,
                                  &gpu->clock, gpu->l1_source + i, port);
        if (rc < 0) {
            return rc;
        }
        port = mem_cache_port(gpu->l1[i]);
        rc = physical ? gpu_translator(gpu, &port, i, true) : 0;
        if (rc < 0) {
            return rc;
        }
        const struct sm_stores_wait waits = {mem_cache_holds, gpu->l1[i], physical};
        sm_set_l1(gpu->sm[i], &port, gpu->l1_spec.write == WRITE_BACK_WHOLE ? &waits : NULL);
        if (gpu->l1_spec.gather_lines > 0) {
            sm_set_gathers(gpu->sm[i], (struct sm_gathers){mem_cache_send_gathered, gpu->l1[i]});
        }
        gpu_readonly_attach(gpu, i, &port);
    }
    return 0;
}

static bool physical(void *ctx, uint64_t vaddr, uint64_t *paddr)
{
    struct gpu *gpu = ctx;
    return gpu->translate.physical(gpu->translate.ctx, vaddr, paddr);
}

static int sms_create(struct gpu *gpu)
{
    const struct model *model = gpu->model;
    gpu->l1_source = gpu->next_source;
    gpu->next_source += model->sms;
    for (uint32_t i = 0; i < model->sms; i++) {
        struct sm_setup setup = {.spec = &model->sm,
                                 .engine = gpu->boundary[i].engine,
                                 .clock = gpu->clock,
                                 .source = gpu->next_source++,
                                 .id = i,
                                 .sm_count = model->sms,
                                 .network = gpu->source_port[i],
                                 .host = {.physical = physical,
                                          .page_bytes = model->vm.page_bytes,
                                          .cta_done = gpu_cta_done,
                                          .cluster_phase = gpu_cluster_phase,
                                          .cluster_barriers = gpu_cluster_barriers,
                                          .is_far = model->l2_parts.count > 1 ? gpu_is_far : NULL,
                                          .fault = gpu_fault,
                                          .ctx = gpu}};
        int rc = sm_create(&gpu->sm[i], &setup);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

int gpu_build(struct gpu *gpu)
{
    int rc = model_check(gpu->model);
    if (rc == 0) {
        rc = arrays_create(gpu);
    }
    if (rc == 0) {
        rc = engine_create(&gpu->engine);
    }
    if (rc == 0) {
        rc = gpu_boundaries_create(gpu);
    }
    if (rc == 0) {
        rc = gpu_channels_create(gpu);
    }
    if (rc == 0) {
        rc = gpu_l2_create(gpu);
    }
    if (rc == 0) {
        rc = gpu_vm_create(gpu);
    }
    if (rc == 0) {
        rc = gpu_constants_create(gpu);
    }
    if (rc == 0) {
        rc = network_create(gpu);
    }
    if (rc == 0) {
        rc = gpu_readonly_create(gpu);
    }
    if (rc == 0) {
        rc = sms_create(gpu);
    }
    return rc == 0 ? gpu_apply_carveout(gpu) : rc;
}
