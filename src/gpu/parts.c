/*
 * L2's slices, and the parts that they form. With one part a slice is its cache. With several, each
 * line has a home in one of them:
 *
 *     SM -- network -- slice of the SM's part --+-- its cache --+-- channel        lines at home
 *                                               |               |
 *                                               |               +-- crossing       copies that miss
 *                                               +-- crossing                       writes, atomics
 *                                                      |
 *                                          slice of the line's home
 *
 * Reads look in the SM's own part, which keeps copies of other parts' lines. Writes and atomics are
 * done at home and end the copies, at once, for bytes do not lie here. A line has the same place in
 * each part: the slice of the same number there. Found on an NVIDIA H200 (docs/h200.md). Leaves
 * out: that copies get fewer places than lines at home where much else is read, whose rule is not
 * known; what it takes to tell other parts of a write.
 */
#include <stdlib.h>

#include "gpu/state.h"
#include "util/error.h"

uint32_t gpu_cluster_of(const struct model *model, uint32_t sm)
{
    return model->cluster_of.count ? model->cluster_of.number[sm]
                                   : (uint32_t)((uint64_t)sm * model->clusters / model->sms);
}

/* The part that is near to an SM. */
static uint32_t part_of_sm(const struct model *model, uint32_t sm)
{
    const struct l2_parts_spec *parts = &model->l2_parts;
    uint32_t cluster = gpu_cluster_of(model, sm);
    return parts->of_cluster.count ? parts->of_cluster.number[cluster]
                                   : cluster * parts->count / model->clusters;
}

static uint32_t home_part(const struct gpu *gpu, uint64_t paddr)
{
    const struct l2_parts_spec *parts = &gpu->model->l2_parts;
    return parts->count == 1
               ? 0
               : mem_index_set(&parts->index, parts->count, gpu->model->l2.line_bytes, paddr);
}

static uint32_t place_of(const struct gpu *gpu, uint64_t paddr)
{
    return mem_index_set(&gpu->model->l2_slice_index, gpu->part_slices, gpu->model->l2.line_bytes,
                         paddr);
}

uint32_t gpu_home_slice(const struct gpu *gpu, uint64_t paddr)
{
    return home_part(gpu, paddr) * gpu->part_slices + place_of(gpu, paddr);
}

uint32_t gpu_near_slice(void *ctx, const struct mem_request *request)
{
    const struct gpu *gpu = ctx;
    return gpu->near_part[request->sm] * gpu->part_slices + place_of(gpu, request->paddr);
}

bool gpu_is_far(void *ctx, uint32_t sm, uint64_t paddr)
{
    const struct gpu *gpu = ctx;
    return home_part(gpu, paddr) != gpu->near_part[sm];
}

static uint32_t home_route(void *ctx, const struct mem_request *request)
{
    return gpu_home_slice(ctx, request->paddr);
}

void gpu_drop_copies(struct gpu *gpu, uint64_t vaddr, uint64_t paddr)
{
    uint32_t home = gpu_home_slice(gpu, paddr), slices = gpu->part_slices;
    uint64_t key = gpu->model->l2.address == ADDRESS_VIRTUAL ? vaddr : paddr;
    for (uint32_t i = home % slices; i < gpu->model->l2_slices; i += slices) {
        if (i != home) {
            mem_cache_drop(gpu->l2[i], key);
        }
    }
}

/* ---- reads of copies ---- */

/*
 * A copy that misses waits for another part, whose slices may wait for copies from this one. So
 * that nobody waits in a circle, no more reads of copies are in a slice's cache than leave entries
 * of its miss structure for lines at home, which wait for DRAM alone, and than may wait for one
 * line. A read of several lines takes as many entries. Others stand beside the slice's queue.
 */
struct copy_read {
    struct gpu_slice *slice;
    const struct mem_outlet *outlet;
    void *ctx;
};

static uint32_t most_copies(const struct model *model)
{
    const struct cache_spec *l2 = &model->l2;
    uint32_t segment = model->sm.coalesce.segment_bytes;
    uint32_t lines = segment > l2->line_bytes ? segment / l2->line_bytes : 1;
    uint32_t most = l2->mshr_entries / (2 * lines);
    most = most < l2->mshr_mergers ? most : l2->mshr_mergers;
    return most ? most : 1;
}

static void admit_copies(struct gpu_slice *slice);

static void on_copies(void *ctx, uint64_t arg)
{
    struct gpu_slice *slice = ctx;
    (void)arg;
    slice->copies_wait = false;
    admit_copies(slice);
}

static void copy_told(void *self, struct mem_request *request, uint64_t at_ps)
{
    (void)self;
    struct copy_read *read = request->ctx;
    struct gpu_slice *slice = read->slice;
    struct engine *engine = slice->gpu->engine;
    request->outlet = read->outlet;
    request->ctx = read->ctx;
    pool_put(&slice->copies, read);
    slice->copies_in--;
    if (slice->waiting.head && !slice->copies_wait) {
        slice->copies_wait = true;
        engine_at(engine, engine_now_ps(engine), slice->source, on_copies, slice, 0);
    }
    if (request->outlet) {
        request->outlet->reply(request->outlet->self, request, at_ps);
    } else {
        engine_at(engine, at_ps, slice->source, request->reply, request->ctx, (uintptr_t)request);
    }
}

static const struct mem_outlet copy_outlet = {.reply = copy_told};

/* False: the cache takes no more. */
static bool admit_copy(struct gpu_slice *slice, struct mem_request *request)
{
    struct copy_read *read = pool_take(&slice->copies);
    if (!read) {
        engine_fail(slice->gpu->engine, error_memory());
        return false;
    }
    *read = (struct copy_read){.slice = slice, .outlet = request->outlet, .ctx = request->ctx};
    request->outlet = &copy_outlet;
    request->ctx = read;
    slice->copies_in++;
    if (slice->cache.send(slice->cache.self, request)) {
        return true;
    }
    request->outlet = read->outlet;
    request->ctx = read->ctx;
    pool_put(&slice->copies, read);
    slice->copies_in--;
    return false;
}

static void admit_copies(struct gpu_slice *slice)
{
    while (slice->waiting.head && slice->copies_in < slice->copies_most) {
        struct mem_request *request = slice->waiting.head, *next = request->next;
        if (!admit_copy(slice, request)) {
            slice->copies_wait = true;
            slice->cache.when_space(slice->cache.self, on_copies, slice, 0);
            return;
        }
        slice->waiting.head = next;
    }
}

/* ---- a slice's ways in and out ---- */

static void look_later(struct gpu_slice *slice, struct mem_request *request, uint32_t cycles)
{
    uint64_t now_ps = engine_now_ps(slice->gpu->engine);
    uint64_t from_ps = request->arrive_ps > now_ps ? request->arrive_ps : now_ps;
    request->arrive_ps = from_ps + clock_cycles_to_ps(&slice->gpu->clock, cycles);
}

/* From another part: the line's home is here. */
static bool home_send(void *self, struct mem_request *request)
{
    struct gpu_slice *slice = self;
    if (!slice->cache.send(slice->cache.self, request)) {
        return false;
    }
    if (request->kind == MEM_WRITE || request->kind == MEM_ATOMIC) {
        gpu_drop_copies(slice->gpu, request->vaddr, request->paddr);
    }
    return true;
}

/* From an SM that this part is near to. */
static bool slice_send(void *self, struct mem_request *request)
{
    struct gpu_slice *slice = self;
    struct gpu *gpu = slice->gpu;
    uint64_t arrive_ps = request->arrive_ps;
    if (home_part(gpu, request->paddr) == slice->part) {
        look_later(slice, request, slice->away_cycles);
        bool taken = home_send(self, request);
        request->arrive_ps = taken ? request->arrive_ps : arrive_ps;
        return taken;
    }
    const struct l2_parts_spec *parts = &gpu->model->l2_parts;
    look_later(slice, request,
               slice->away_cycles + parts->copy_cycles +
                   (request->kind == MEM_ATOMIC ? parts->atomic_cycles : 0));
    if (request->kind == MEM_WRITE || request->kind == MEM_ATOMIC) {
        return slice->crossing.send(slice->crossing.self, request);
    }
    request_list_push(&slice->waiting, request);
    if (!slice->copies_wait) {
        admit_copies(slice);
    }
    return true;
}

/* Only the cache refuses: what waits for other parts has no bound here, and SMs have one. */
static void slice_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct gpu_slice *slice = self;
    slice->cache.when_space(slice->cache.self, handler, ctx, arg);
}

/* What the cache misses. */
static bool below_send(void *self, struct mem_request *request)
{
    struct gpu_slice *slice = self;
    bool is_home = home_part(slice->gpu, request->paddr) == slice->part;
    const struct mem_port *port = is_home ? &slice->channel : &slice->crossing;
    return port->send(port->self, request);
}

static void below_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct gpu_slice *slice = self;
    slice->channel.when_space(slice->channel.self, handler, ctx, arg);
}

/* ---- construction ---- */

static int slice_create(struct gpu *gpu, uint32_t i)
{
    const struct model *model = gpu->model;
    const struct number_list *away = &model->l2_parts.slice_cycles;
    struct gpu_slice *slice = &gpu->slice[i];
    struct mem_port channel = gpu->channel[i % model->dram.channels].port;
    *slice = (struct gpu_slice){.gpu = gpu,
                                .part = i / gpu->part_slices,
                                .copies_most = most_copies(model),
                                .away_cycles = away->count ? away->number[i % gpu->part_slices] : 0,
                                .channel = channel};
    pool_init(&slice->copies, sizeof(struct copy_read));
    struct mem_port below = channel;
    if (model->l2_parts.count > 1) {
        below =
            (struct mem_port){.send = below_send, .when_space = below_when_space, .self = slice};
    }
    slice->source = gpu->next_source++;
    int rc = mem_cache_create(&gpu->l2[i], &model->l2, MEM_AT_L2, gpu->engine, &gpu->clock,
                              slice->source, below);
    if (rc == 0) {
        slice->cache = mem_cache_port(gpu->l2[i]);
    }
    return rc;
}

/* The crossing takes whatever is sent: who sends has bounds. */
static int crossing_create(struct gpu *gpu)
{
    const struct l2_parts_spec *parts = &gpu->model->l2_parts;
    gpu->crossing_spec =
        (struct noc_spec){.kind = NOC_LINKS,
                          .request_cycles = parts->crossing_cycles,
                          .reply_cycles = parts->crossing_cycles,
                          .request_bytes_per_cycle = parts->crossing_bytes_per_cycle,
                          .reply_bytes_per_cycle = parts->crossing_bytes_per_cycle,
                          .header_bytes = gpu->model->noc.header_bytes,
                          .queue_entries = 1};
    int rc = mem_noc_create(&gpu->crossing, &gpu->crossing_spec, gpu->engine, &gpu->clock,
                            gpu->next_source++, parts->count, gpu->model->l2_slices);
    if (rc < 0) {
        return rc;
    }
    mem_noc_set_bounded(gpu->crossing, false);
    for (uint32_t i = 0; i < gpu->model->l2_slices; i++) {
        struct gpu_slice *slice = &gpu->slice[i];
        mem_noc_connect(
            gpu->crossing, i,
            (struct mem_port){.send = home_send, .when_space = slice_when_space, .self = slice});
    }
    for (uint32_t part = 0; part < parts->count; part++) {
        struct mem_port port = mem_noc_port(gpu->crossing, part, home_route, gpu);
        for (uint32_t i = 0; i < gpu->part_slices; i++) {
            gpu->slice[part * gpu->part_slices + i].crossing = port;
        }
    }
    return 0;
}

int gpu_l2_create(struct gpu *gpu)
{
    const struct model *model = gpu->model;
    gpu->part_slices = model->l2_slices / model->l2_parts.count;
    gpu->near_part = calloc(model->sms, sizeof *gpu->near_part);
    gpu->slice = calloc(model->l2_slices, sizeof *gpu->slice);
    if (!gpu->near_part || !gpu->slice) {
        return error_memory();
    }
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < model->sms; i++) {
        gpu->near_part[i] = part_of_sm(model, i);
    }
    for (uint32_t i = 0; rc == 0 && i < model->l2_slices; i++) {
        rc = slice_create(gpu, i);
    }
    return rc == 0 && model->l2_parts.count > 1 ? crossing_create(gpu) : rc;
}

/* Where the network ends. */
struct mem_port gpu_slice_port(struct gpu *gpu, uint32_t i)
{
    bool plain = gpu->model->l2_parts.count == 1 && gpu->model->l2_parts.slice_cycles.count == 0;
    return plain ? gpu->slice[i].cache
                 : (struct mem_port){
                       .send = slice_send, .when_space = slice_when_space, .self = &gpu->slice[i]};
}

void gpu_l2_destroy(struct gpu *gpu)
{
    mem_noc_destroy(gpu->crossing);
    for (uint32_t i = 0; gpu->l2 && i < gpu->model->l2_slices; i++) {
        mem_cache_destroy(gpu->l2[i]);
    }
    for (uint32_t i = 0; gpu->slice && i < gpu->model->l2_slices; i++) {
        pool_free_all(&gpu->slice[i].copies);
    }
    free(gpu->l2);
    free(gpu->slice);
    free(gpu->near_part);
}
