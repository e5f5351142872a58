/*
 * Where an SM meets memory. Requests go down and replies come back through here; while SMs and
 * memory run apart (windows.c), both are noted with their time and handed over between two windows,
 * so that neither side touches what the other is working on.
 *
 * A request that goes down takes one of a number of places, which the SM gets back when it is known
 * that the request has left the network's port: credits, as many as a port that is never held up
 * uses in the time that a credit takes to come back. The port itself has no bound then, so that
 * nobody waits for it request by request. While SMs and memory are one group, requests are handed
 * on at once and there are no places.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu/state.h"
#include "util/error.h"

static void mail_add(struct gpu_mail_list *list, uint64_t at_ps, struct mem_request *request,
                     struct engine *engine)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 64;
        struct gpu_mail *mail = realloc(list->mail, capacity * sizeof *mail);
        if (!mail) {
            engine_fail(engine, error_memory());
            return;
        }
        list->mail = mail;
        list->capacity = capacity;
    }
    list->earliest_ps = list->count == 0 || at_ps < list->earliest_ps ? at_ps : list->earliest_ps;
    list->mail[list->count++] = (struct gpu_mail){at_ps, request};
}

/* ---- requests ---- */

static bool side_send(void *self, struct mem_request *request)
{
    struct gpu_side *side = self;
    if (!side->gpu->parted) {
        return side->below.send(side->below.self, request);
    }
    if (side->used == side->places) {
        return false;
    }
    side->used++;
    mail_add(&side->down, engine_now_ps(side->engine), request, side->engine);
    return true;
}

static void side_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct gpu_side *side = self;
    if (!side->gpu->parted) {
        side->below.when_space(side->below.self, handler, ctx, arg);
        return;
    }
    waiters_add(&side->space, handler, ctx, arg);
    if (side->used < side->places) {
        waiters_wake(&side->space);
    }
}

static void hand_on_refused(void *ctx, uint64_t arg)
{
    struct gpu_side *side = ctx;
    struct mem_request *head;
    (void)arg;
    while ((head = side->refused.head)) {
        struct mem_request *next = head->next; /* belongs to whoever accepts it */
        if (!side->below.send(side->below.self, head)) {
            side->below.when_space(side->below.self, hand_on_refused, side, 0);
            return;
        }
        side->refused.head = next;
        side->taken++;
    }
}

static void on_down(void *ctx, uint64_t arg)
{
    struct gpu_side *side = ctx;
    struct mem_request *request = (struct mem_request *)(uintptr_t)arg;
    bool others_wait = side->refused.head != NULL;
    if (!others_wait && side->below.send(side->below.self, request)) {
        side->taken++;
        return;
    }
    request_list_push(&side->refused, request);
    if (!others_wait) {
        side->below.when_space(side->below.self, hand_on_refused, side, 0);
    }
}

/* ---- replies ---- */

static void on_out(void *ctx, uint64_t arg)
{
    const struct gpu_side *side = ctx;
    mem_noc_deliver(side->gpu->noc, side->sm, (struct mem_request *)(uintptr_t)arg);
}

static void reply_comes(struct gpu_side *side, struct mem_request *request, uint64_t at_ps)
{
    engine_at(side->engine, at_ps, side->gpu->noc_source, on_out, side, (uintptr_t)request);
}

static void side_reply(void *self, struct mem_request *request, uint64_t at_ps)
{
    struct gpu_side *side = self;
    struct gpu *gpu = side->gpu;
    if (request->kind == MEM_ATOMIC) {
        mail_add(&gpu->atomics, at_ps, request, gpu->engine);
    }
    if (gpu->parted) {
        mail_add(&side->up, at_ps, request, gpu->engine);
    } else {
        gpu_sides_do_atomics(gpu);
        reply_comes(side, request, at_ps);
    }
}

/* ---- between two windows ---- */

static void forget(struct gpu_mail_list *list)
{
    list->count = 0;
    list->earliest_ps = ENGINE_NEVER;
}

void gpu_side_read_inbox(struct gpu_side *side)
{
    for (uint32_t i = 0; i < side->inbox.count; i++) {
        reply_comes(side, side->inbox.mail[i].request, side->inbox.mail[i].at_ps);
    }
    forget(&side->inbox);
}

void gpu_side_read_outbox(struct gpu_side *side)
{
    for (uint32_t i = 0; i < side->outbox.count; i++) {
        const struct gpu_mail *mail = &side->outbox.mail[i];
        engine_at(side->gpu->engine, mail->at_ps, side->source, on_down, side,
                  (uintptr_t)mail->request);
    }
    forget(&side->outbox);
}

static void swap(struct gpu_mail_list *a, struct gpu_mail_list *b)
{
    struct gpu_mail_list kept = *a;
    *a = *b;
    *b = kept;
}

void gpu_sides_do_atomics(struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->atomics.count; i++) {
        struct mem_request *request = gpu->atomics.mail[i].request;
        sm_atomic_served(gpu->sm[request->sm], request);
    }
    forget(&gpu->atomics);
}

void gpu_side_exchange(struct gpu_side *side, uint64_t now_ps)
{
    if (side->up.count > 0) {
        gpu_side_read_inbox(side); /* of an SM that had nothing to do in the window */
        swap(&side->up, &side->inbox);
    }
    if (side->down.count > 0) {
        swap(&side->down, &side->outbox); /* memory has read the last ones */
    }
    uint32_t held = mem_noc_held(side->gpu->noc, side->sm, now_ps);
    side->used = side->used - side->taken + held - side->held;
    side->taken = 0;
    side->held = held;
    if (side->space.count > 0 && side->used < side->places) {
        waiters_wake_at(&side->space, now_ps);
    }
}

/* ---- construction ---- */

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
        side->inbox.earliest_ps = side->outbox.earliest_ps = ENGINE_NEVER;
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
    side->below = *port;
    side->source = side->gpu->next_source++;
    waiters_init(&side->space, side->engine, side->source);
    *port = (struct mem_port){.send = side_send, .when_space = side_when_space, .self = side};
}

struct mem_outlet gpu_side_outlet(struct gpu_side *side)
{
    return (struct mem_outlet){.reply = side_reply, .self = side, .engine = side->engine};
}

void gpu_sides_destroy(struct gpu *gpu)
{
    for (uint32_t i = 0; gpu->side && i < gpu->model->sms; i++) {
        struct gpu_side *side = &gpu->side[i];
        waiters_free(&side->space);
        engine_destroy(side->engine);
        free(side->down.mail);
        free(side->outbox.mail);
        free(side->up.mail);
        free(side->inbox.mail);
        free(side->end);
    }
    free(gpu->side);
    free(gpu->busy);
    free(gpu->atomics.mail);
}
