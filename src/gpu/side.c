/*
 * Where an SM meets memory: a crossing (crossing.c) whose lower end is the network's port. A place
 * is free again when its request has left that port, which has no bound of its own while SMs and
 * memory run apart, so that nobody waits for it request by request.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu/state.h"
#include "util/error.h"

static void on_out(void *ctx, uint64_t arg)
{
    const struct gpu_side *side = ctx;
    mem_noc_deliver(side->gpu->noc, side->sm, (struct mem_request *)(uintptr_t)arg);
}

static void side_reply(void *self, struct mem_request *request, uint64_t at_ps)
{
    struct gpu_side *side = self;
    struct gpu *gpu = side->gpu;
    if (request->kind == MEM_ATOMIC) {
        gpu_mail_add(&gpu->atomics, at_ps, request, gpu->engine);
    }
    if (!gpu->parted) {
        gpu_sides_do_atomics(gpu);
    }
    gpu_crossing_reply(&side->crossing, request, at_ps);
}

void gpu_sides_do_atomics(struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->atomics.count; i++) {
        struct mem_request *request = gpu->atomics.mail[i].request;
        sm_atomic_served(gpu->sm[request->sm], request);
    }
    gpu_mail_forget(&gpu->atomics);
}

void gpu_side_exchange(struct gpu_side *side, uint64_t now_ps)
{
    gpu_crossing_exchange(&side->crossing, mem_noc_held(side->gpu->noc, side->sm, now_ps), now_ps);
}

int gpu_sides_create(struct gpu *gpu)
{
    size_t bytes = gpu->model->sms * sizeof *gpu->side;
    /* A side begins a line of the host's cache, which calloc() does not promise. */
    gpu->side = aligned_alloc(_Alignof(struct gpu_side), bytes);
    if (!gpu->side) {
        return error_memory();
    }
    memset(gpu->side, 0, bytes); /* it may be destroyed half made */
    gpu->busy = calloc(gpu->model->sms, sizeof *gpu->busy);
    if (!gpu->busy) {
        return error_memory();
    }
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        struct gpu_side *side = &gpu->side[i];
        *side = (struct gpu_side){.gpu = gpu, .sm = i};
        int rc = engine_create(&side->engine);
        if (rc < 0) {
            return rc;
        }
        engine_join(side->engine, gpu->engine);
    }
    return 0;
}

/* From here on requests to *port go through the side. */
void gpu_side_attach(struct gpu_side *side, struct mem_port *port)
{
    struct gpu *gpu = side->gpu;
    side->crossing = (struct gpu_crossing){.upper = side->engine,
                                           .lower = gpu->engine,
                                           .reply_source = gpu->noc_source,
                                           .out = on_out,
                                           .out_ctx = side};
    gpu_crossing_attach(&side->crossing, port, gpu->next_source++);
}

struct mem_outlet gpu_side_outlet(struct gpu_side *side)
{
    return (struct mem_outlet){.reply = side_reply, .self = side, .engine = side->engine};
}

void gpu_sides_destroy(struct gpu *gpu)
{
    for (uint32_t i = 0; gpu->side && i < gpu->model->sms; i++) {
        gpu_crossing_free(&gpu->side[i].crossing);
        engine_destroy(gpu->side[i].engine);
        free(gpu->side[i].end);
    }
    free(gpu->side);
    free(gpu->busy);
    free(gpu->atomics.mail);
}
