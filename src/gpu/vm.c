/*
 * Wiring of address translation: one TLB of each level for each SM, cluster or GPU as its scope
 * says, the walker below, and a translator for each SM in front of the network or, where the L1
 * knows lines by physical addresses, in front of the L1 as well.
 */
#include <stdlib.h>

#include "gpu/state.h"
#include "util/error.h"

static bool gpu_translates(const struct gpu *gpu)
{
    return gpu->model->tlb_l1.entries.enabled || gpu->model->tlb_l2.entries.enabled;
}

static uint32_t scope_count(const struct model *model, enum tlb_scope scope)
{
    return scope == TLB_PER_SM ? model->sms : scope == TLB_PER_CLUSTER ? model->clusters : 1;
}

static uint32_t instance_of(const struct model *model, enum tlb_scope scope, uint32_t sm)
{
    return scope == TLB_PER_SM ? sm : scope == TLB_PER_CLUSTER ? gpu_cluster_of(model, sm) : 0;
}

/* Of the instances of the scope `outer`, the one that serves instance i of `inner`. */
static uint32_t outer_instance(const struct model *model, enum tlb_scope outer,
                               enum tlb_scope inner, uint32_t i)
{
    if (inner == outer) {
        return i;
    }
    return inner == TLB_PER_SM ? instance_of(model, outer, i) : 0;
}

static bool table_entry(void *ctx, uint32_t level, uint64_t vaddr, uint64_t *paddr)
{
    const struct gpu *gpu = ctx;
    return gpu->translate.entry(gpu->translate.ctx, level, vaddr, paddr);
}

static struct mem_port slice_port(void *ctx, uint64_t paddr)
{
    const struct gpu *gpu = ctx;
    return gpu->slice[gpu_home_slice(gpu, paddr)].cache;
}

static int tlbs_create(struct gpu *gpu, struct gpu_tlbs *tlbs, const struct tlb_spec *spec)
{
    tlbs->count = scope_count(gpu->model, spec->scope);
    tlbs->cache = calloc(tlbs->count, sizeof(struct mem_cache *));
    return tlbs->cache ? 0 : error_memory();
}

static int tlb_create(struct gpu *gpu, struct mem_cache **out, const struct tlb_spec *spec,
                      struct mem_port below)
{
    return mem_cache_create(out, &spec->entries, MEM_AT_NONE, gpu->engine, &gpu->clock,
                            gpu->next_source++, below);
}

int gpu_vm_create(struct gpu *gpu)
{
    const struct model *model = gpu->model;
    if (!gpu_translates(gpu)) {
        return 0;
    }
    if (model->walker.levels > 0 && !gpu->translate.entry) {
        return error_set(SONDE_EINPUT, "%s walks page tables, and nobody tells where they lie",
                         model->name);
    }
    struct mem_walker_memory memory = {.entry = table_entry, .port = slice_port, .ctx = gpu};
    int rc = mem_walker_create(&gpu->walker, &model->walker, gpu->engine, &gpu->clock,
                               gpu->next_source++, &memory);
    rc = rc < 0 ? rc : tlbs_create(gpu, &gpu->tlb_l2, &model->tlb_l2);
    for (uint32_t i = 0; rc == 0 && i < gpu->tlb_l2.count; i++) {
        rc = tlb_create(gpu, &gpu->tlb_l2.cache[i], &model->tlb_l2, mem_walker_port(gpu->walker));
    }
    rc = rc < 0 ? rc : tlbs_create(gpu, &gpu->tlb_l1, &model->tlb_l1);
    for (uint32_t i = 0; rc == 0 && i < gpu->tlb_l1.count; i++) {
        uint32_t below = outer_instance(model, model->tlb_l2.scope, model->tlb_l1.scope, i);
        rc = tlb_create(gpu, &gpu->tlb_l1.cache[i], &model->tlb_l1,
                        mem_cache_port(gpu->tlb_l2.cache[below]));
    }
    gpu->translator_source = gpu->next_source;
    gpu->next_source += 2 * model->sms;
    gpu->translators = rc < 0 ? NULL : calloc(2 * (size_t)model->sms, sizeof(void *));
    return rc < 0 ? rc : gpu->translators ? 0 : error_memory();
}

/* An SM has two: one in front of the network, one in front of an L1 that needs it. */
int gpu_translator(struct gpu *gpu, struct mem_port *port, uint32_t sm, bool before_l1)
{
    const struct model *model = gpu->model;
    if (!gpu_translates(gpu)) {
        return 0;
    }
    bool first = model->tlb_l1.entries.enabled;
    const struct tlb_spec *spec = first ? &model->tlb_l1 : &model->tlb_l2;
    struct gpu_tlbs *tlbs = first ? &gpu->tlb_l1 : &gpu->tlb_l2;
    struct mem_cache *tlb = tlbs->cache[instance_of(model, spec->scope, sm)];
    struct mem_translator **translator = &gpu->translators[2 * sm + before_l1];
    mem_translator_destroy(*translator);
    int rc =
        mem_translator_create(translator, gpu->engine, gpu->translator_source + 2 * sm + before_l1,
                              spec->entries.queue_entries, tlb, mem_cache_port(tlb), *port);
    if (rc == 0) {
        *port = mem_translator_port(*translator);
    }
    return rc;
}

void gpu_vm_destroy(struct gpu *gpu)
{
    for (uint32_t i = 0; gpu->translators && i < 2 * gpu->model->sms; i++) {
        mem_translator_destroy(gpu->translators[i]);
    }
    for (uint32_t i = 0; gpu->tlb_l1.cache && i < gpu->tlb_l1.count; i++) {
        mem_cache_destroy(gpu->tlb_l1.cache[i]);
    }
    for (uint32_t i = 0; gpu->tlb_l2.cache && i < gpu->tlb_l2.count; i++) {
        mem_cache_destroy(gpu->tlb_l2.cache[i]);
    }
    mem_walker_destroy(gpu->walker);
    free(gpu->translators);
    free(gpu->tlb_l1.cache);
    free(gpu->tlb_l2.cache);
}

void gpu_forget_translations(struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->tlb_l1.count; i++) {
        mem_cache_invalidate(gpu->tlb_l1.cache[i]);
    }
    for (uint32_t i = 0; i < gpu->tlb_l2.count; i++) {
        mem_cache_invalidate(gpu->tlb_l2.cache[i]);
    }
}

static void add_tlbs(const struct gpu_tlbs *tlbs, uint64_t *reads, uint64_t *hits,
                     uint64_t *pending_hits)
{
    for (uint32_t i = 0; i < tlbs->count; i++) {
        const struct mem_cache_stats *stats = mem_cache_stats(tlbs->cache[i]);
        *reads += stats->reads;
        *hits += stats->read_hits;
        *pending_hits += stats->read_pending_hits;
    }
}

void gpu_vm_stats(const struct gpu *gpu, struct gpu_stats *out)
{
    add_tlbs(&gpu->tlb_l1, &out->tlb_l1_reads, &out->tlb_l1_hits, &out->tlb_l1_pending_hits);
    add_tlbs(&gpu->tlb_l2, &out->tlb_l2_reads, &out->tlb_l2_hits, &out->tlb_l2_pending_hits);
    if (gpu->walker) {
        const struct mem_walker_stats *stats = mem_walker_stats(gpu->walker);
        out->walks += stats->walks;
        out->walk_reads += stats->reads;
        out->window_switches += stats->window_switches;
    }
}
