/*
 * The SM boundary: where an SM with its caches ends and memory begins. It is a mailbox (mailbox.c)
 * whose lower end is the network's port. A credit is free again when its request has left that
 * port. The port has no bound of its own while SMs and memory run apart, so that no request waits
 * for it alone.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu/state.h"
#include "util/error.h"

static void on_out(void *ctx, uint64_t arg)
{
    const struct gpu_boundary *boundary = ctx;
    struct mem_request *request = (struct mem_request *)(uintptr_t)arg;
    if (request->constant) {
        request->reply(request->ctx, (uintptr_t)request); /* it did not come through the network */
    } else {
        mem_noc_deliver(boundary->gpu->noc, boundary->sm, request);
    }
}

static void boundary_reply(void *self, struct mem_request *request, uint64_t at_ps)
{
    struct gpu_boundary *boundary = self;
    struct gpu *gpu = boundary->gpu;
    if (request->inner) {
        engine_at(gpu->engine, at_ps, gpu->noc_source, request->reply, request->ctx,
                  (uintptr_t)request);
        return;
    }
    if (request->kind == MEM_ATOMIC) {
        gpu_message_add(&gpu->atomics, at_ps, request, gpu->engine);
    }
    if (!gpu->parted) {
        gpu_boundaries_do_atomics(gpu);
    }
    gpu_mailbox_reply(&boundary->mailbox, request, at_ps);
}

void gpu_boundaries_do_atomics(struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->atomics.count; i++) {
        struct mem_request *request = gpu->atomics.message[i].request;
        sm_atomic_served(gpu->sm[request->sm], request);
    }
    gpu_messages_clear(&gpu->atomics);
}

void gpu_boundary_exchange(struct gpu_boundary *boundary, uint64_t now_ps)
{
    gpu_mailbox_exchange(&boundary->mailbox, mem_noc_held(boundary->gpu->noc, boundary->sm, now_ps),
                         now_ps);
}

int gpu_boundaries_create(struct gpu *gpu)
{
    size_t bytes = gpu->model->sms * sizeof *gpu->boundary;
    /* A boundary begins a line of the host's cache, which calloc() does not promise. */
    gpu->boundary = aligned_alloc(_Alignof(struct gpu_boundary), bytes);
    if (!gpu->boundary) {
        return error_memory();
    }
    memset(gpu->boundary, 0, bytes); /* it may be destroyed half made */
    gpu->busy = calloc(gpu->model->sms, sizeof *gpu->busy);
    gpu->asking = calloc(gpu->model->sms, sizeof *gpu->asking);
    gpu->sm_next_ps = calloc(gpu->model->sms, sizeof *gpu->sm_next_ps);
    gpu->notes = aligned_alloc(_Alignof(struct gpu_notes), sizeof *gpu->notes);
    if (!gpu->busy || !gpu->asking || !gpu->sm_next_ps || !gpu->notes) {
        return error_memory();
    }
    memset(gpu->notes, 0, sizeof *gpu->notes);
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        struct gpu_boundary *boundary = &gpu->boundary[i];
        *boundary = (struct gpu_boundary){.gpu = gpu, .sm = i};
        int rc = engine_create(&boundary->engine);
        if (rc < 0) {
            return rc;
        }
        engine_join(boundary->engine, gpu->engine);
    }
    return 0;
}

/* From here on requests to *port go through the boundary. */
void gpu_boundary_attach(struct gpu_boundary *boundary, struct mem_port *port)
{
    struct gpu *gpu = boundary->gpu;
    boundary->mailbox = (struct gpu_mailbox){.upper = boundary->engine,
                                             .lower = gpu->engine,
                                             .reply_source = gpu->noc_source,
                                             .out = on_out,
                                             .out_ctx = boundary,
                                             .answered = &gpu->notes->answered_sms,
                                             .number = boundary->sm};
    gpu_mailbox_attach(&boundary->mailbox, port, gpu->next_source++);
}

struct mem_outlet gpu_boundary_outlet(struct gpu_boundary *boundary)
{
    return (struct mem_outlet){
        .reply = boundary_reply, .self = boundary, .engine = boundary->engine};
}

void gpu_boundaries_destroy(struct gpu *gpu)
{
    for (uint32_t i = 0; gpu->boundary && i < gpu->model->sms; i++) {
        gpu_mailbox_free(&gpu->boundary[i].mailbox);
        engine_destroy(gpu->boundary[i].engine);
        free(gpu->boundary[i].end);
    }
    free(gpu->boundary);
    free(gpu->busy);
    free(gpu->asking);
    free(gpu->sm_next_ps);
    free(gpu->notes);
    free(gpu->atomics.message);
}
