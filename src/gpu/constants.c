/*
 * The second cache of constants, where the SMs of a cluster share one. An SM runs apart from others
 * (windows.c), so it lies beyond the SM's boundary, with memory:
 *
 *     SM -- constant L1 -- boundary --+-- the cluster's cache -- translation, network of the SM
 *                                     |                          that asked
 *                                     +-- translation, network       everything else
 *
 * Its answers go to the SM past the network, constant_l15.return_latency after the cache's. What it
 * fetches comes back to it, and takes nothing of the SM's port for replies. Shown by an NVIDIA H200
 * (docs/h200.md).
 */
#include <stdlib.h>

#include "gpu/state.h"
#include "util/error.h"

bool gpu_constants_are_shared(const struct model *model)
{
    return model->constant_l15.enabled && model->constant_l15_scope == TLB_PER_CLUSTER;
}

/* ---- between the SM and its boundary ---- */

static bool above_send(void *self, struct mem_request *request)
{
    struct gpu_constant_way *way = self;
    request->constant = true;
    bool taken = way->above.send(way->above.self, request);
    way->asked += taken;
    return taken;
}

static void above_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct gpu_constant_way *way = self;
    way->above.when_space(way->above.self, handler, ctx, arg);
}

struct mem_port gpu_constants_above(struct gpu *gpu, uint32_t sm)
{
    struct gpu_constant_way *way = &gpu->constant_way[sm];
    way->above = gpu->source_port[sm];
    return (struct mem_port){.send = above_send, .when_space = above_when_space, .self = way};
}

/* ---- between two windows ---- */

void gpu_constants_part(struct gpu *gpu)
{
    for (uint32_t i = 0; gpu->constant_way && i < gpu->model->sms; i++) {
        gpu->constant_way[i].asked = gpu->constant_way[i].noted = 0;
    }
    gpu->constants_asked = gpu->notes->constants_answered = 0;
}

void gpu_constants_note(struct gpu *gpu, uint32_t sm)
{
    if (gpu->constant_way) {
        struct gpu_constant_way *way = &gpu->constant_way[sm];
        gpu->constants_asked += way->asked - way->noted;
        way->noted = way->asked;
    }
}

bool gpu_constants_are_awaited(const struct gpu *gpu)
{
    return gpu->constants_asked != gpu->notes->constants_answered;
}

uint64_t gpu_constants_lookahead_ps(const struct gpu *gpu)
{
    return gpu->constant_way
               ? clock_cycles_to_ps(&gpu->clock, gpu->model->constant_l15_return_cycles)
               : ENGINE_NEVER;
}

uint64_t gpu_constants_round_ps(const struct gpu *gpu)
{
    return gpu->constant_way
               ? clock_cycles_to_ps(&gpu->clock, gpu->model->constant_l15.hit_cycles) +
                     gpu_constants_lookahead_ps(gpu)
               : ENGINE_NEVER;
}

/* ---- below the boundary ---- */

static void told(void *self, struct mem_request *request, uint64_t at_ps)
{
    struct gpu_constant_way *way = self;
    struct gpu *gpu = way->gpu;
    request->outlet = NULL;
    gpu->notes->constants_answered++;
    gpu_mailbox_reply(&gpu->boundary[way->sm].mailbox, request,
                      at_ps + gpu_constants_lookahead_ps(gpu));
}

static bool below_send(void *self, struct mem_request *request)
{
    struct gpu_constant_way *way = self;
    way->constant_refused = request->constant;
    if (request->constant) {
        request->outlet = &way->told;
        return way->cache.send(way->cache.self, request);
    }
    return way->below.send(way->below.self, request);
}

static void below_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct gpu_constant_way *way = self;
    const struct mem_port *port = way->constant_refused ? &way->cache : &way->below;
    port->when_space(port->self, handler, ctx, arg);
}

void gpu_constants_below(struct gpu *gpu, struct mem_port *port, uint32_t sm)
{
    if (gpu->constant_way) {
        struct gpu_constant_way *way = &gpu->constant_way[sm];
        way->below = *port;
        *port = (struct mem_port){.send = below_send, .when_space = below_when_space, .self = way};
    }
}

/* ---- below the cache ---- */

static bool fetch_send(void *self, struct mem_request *request)
{
    struct gpu *gpu = self;
    struct gpu_constant_way *way = &gpu->constant_way[request->sm];
    request->inner = true;
    gpu->fetch_refused = request->sm;
    return way->below.send(way->below.self, request);
}

static void fetch_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct gpu *gpu = self;
    const struct mem_port *port = &gpu->constant_way[gpu->fetch_refused].below;
    port->when_space(port->self, handler, ctx, arg);
}

int gpu_constants_create(struct gpu *gpu)
{
    const struct model *model = gpu->model;
    if (!gpu_constants_are_shared(model)) {
        return 0;
    }
    struct mem_port fetch = {.send = fetch_send, .when_space = fetch_when_space, .self = gpu};
    gpu->constant_l15 = calloc(model->clusters, sizeof(struct mem_cache *));
    gpu->constant_way = calloc(model->sms, sizeof *gpu->constant_way);
    if (!gpu->constant_l15 || !gpu->constant_way) {
        return error_memory();
    }
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < model->clusters; i++) {
        rc = mem_cache_create(&gpu->constant_l15[i], &model->constant_l15, MEM_AT_L1, gpu->engine,
                              &gpu->clock, gpu->next_source++, fetch);
    }
    for (uint32_t i = 0; rc == 0 && i < model->sms; i++) {
        struct gpu_constant_way *way = &gpu->constant_way[i];
        *way = (struct gpu_constant_way){.gpu = gpu, .sm = i};
        way->told = (struct mem_outlet){.reply = told, .self = way};
        way->cache = mem_cache_port(gpu->constant_l15[gpu_cluster_of(model, i)]);
    }
    return rc;
}

void gpu_constants_destroy(struct gpu *gpu)
{
    for (uint32_t i = 0; gpu->constant_l15 && i < gpu->model->clusters; i++) {
        mem_cache_destroy(gpu->constant_l15[i]);
    }
    free(gpu->constant_l15);
    free(gpu->constant_way);
}
