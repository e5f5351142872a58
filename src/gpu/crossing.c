/*
 * Where two groups of the machine meet that may run apart from each other (windows.c): requests go
 * down to the one, replies come back up to the other. While they are apart both are noted with
 * their time and handed over between two windows, so that neither touches what the other is working
 * on.
 *
 * A request that goes down takes one of a number of places, which the upper group gets back a
 * window after the lower one has let go of the request: credits, as many as a port that is never
 * held up uses in the time that a credit takes to come back. While the groups are one, requests are
 * handed on at once and there are no places.
 */
#include <stdlib.h>

#include "gpu/state.h"
#include "util/error.h"

void gpu_mail_add(struct gpu_mail_list *list, uint64_t at_ps, struct mem_request *request,
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

void gpu_mail_forget(struct gpu_mail_list *list)
{
    list->count = 0;
    list->earliest_ps = ENGINE_NEVER;
}

/* ---- requests ---- */

static bool crossing_send(void *self, struct mem_request *request)
{
    struct gpu_crossing *crossing = self;
    if (!crossing->parted) {
        return crossing->below.send(crossing->below.self, request);
    }
    if (crossing->used >= crossing->places) { /* more when some came to nothing below */
        return false;
    }
    crossing->used++;
    gpu_mail_add(&crossing->down, engine_now_ps(crossing->upper), request, crossing->upper);
    return true;
}

static void crossing_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct gpu_crossing *crossing = self;
    if (!crossing->parted) {
        crossing->below.when_space(crossing->below.self, handler, ctx, arg);
        return;
    }
    waiters_add(&crossing->space, handler, ctx, arg);
    if (crossing->used < crossing->places) {
        waiters_wake(&crossing->space);
    }
}

static bool hand_on(struct gpu_crossing *crossing, struct mem_request *request)
{
    if (crossing->told.reply) {
        request->outlet = &crossing->told;
    }
    if (!crossing->below.send(crossing->below.self, request)) {
        return false;
    }
    crossing->taken++;
    return true;
}

static void hand_on_refused(void *ctx, uint64_t arg)
{
    struct gpu_crossing *crossing = ctx;
    struct mem_request *head;
    (void)arg;
    while ((head = crossing->refused.head)) {
        struct mem_request *next = head->next; /* belongs to whoever accepts it */
        if (!hand_on(crossing, head)) {
            crossing->below.when_space(crossing->below.self, hand_on_refused, crossing, 0);
            return;
        }
        crossing->refused.head = next;
    }
}

static void on_down(void *ctx, uint64_t arg)
{
    struct gpu_crossing *crossing = ctx;
    struct mem_request *request = (struct mem_request *)(uintptr_t)arg;
    bool others_wait = crossing->refused.head != NULL;
    if (!others_wait && hand_on(crossing, request)) {
        return;
    }
    request_list_push(&crossing->refused, request);
    if (!others_wait) {
        crossing->below.when_space(crossing->below.self, hand_on_refused, crossing, 0);
    }
}

/* ---- replies ---- */

static void reply_comes(struct gpu_crossing *crossing, struct mem_request *request, uint64_t at_ps)
{
    engine_at(crossing->upper, at_ps, crossing->reply_source, crossing->out, crossing->out_ctx,
              (uintptr_t)request);
}

void gpu_crossing_reply(struct gpu_crossing *crossing, struct mem_request *request, uint64_t at_ps)
{
    if (crossing->parted) {
        gpu_mail_add(&crossing->up, at_ps, request, crossing->lower);
    } else {
        reply_comes(crossing, request, at_ps);
    }
}

/* ---- between two windows ---- */

void gpu_crossing_read_inbox(struct gpu_crossing *crossing)
{
    for (uint32_t i = 0; i < crossing->inbox.count; i++) {
        reply_comes(crossing, crossing->inbox.mail[i].request, crossing->inbox.mail[i].at_ps);
    }
    gpu_mail_forget(&crossing->inbox);
}

void gpu_crossing_read_outbox(struct gpu_crossing *crossing)
{
    for (uint32_t i = 0; i < crossing->outbox.count; i++) {
        const struct gpu_mail *mail = &crossing->outbox.mail[i];
        engine_at(crossing->lower, mail->at_ps, crossing->source, on_down, crossing,
                  (uintptr_t)mail->request);
    }
    gpu_mail_forget(&crossing->outbox);
}

static void swap(struct gpu_mail_list *a, struct gpu_mail_list *b)
{
    struct gpu_mail_list kept = *a;
    *a = *b;
    *b = kept;
}

void gpu_crossing_exchange(struct gpu_crossing *crossing, uint32_t held, uint64_t now_ps)
{
    if (crossing->up.count > 0) {
        gpu_crossing_read_inbox(crossing); /* of a group that had nothing to do in the window */
        swap(&crossing->up, &crossing->inbox);
    }
    if (crossing->down.count > 0) {
        swap(&crossing->down, &crossing->outbox); /* the lower group has read the last ones */
    }
    crossing->used = crossing->used - crossing->taken + held - crossing->held;
    crossing->taken = 0;
    crossing->held = held;
    if (crossing->space.count > 0 && crossing->used < crossing->places) {
        waiters_wake_at(&crossing->space, now_ps);
    }
}

void gpu_crossing_part(struct gpu_crossing *crossing, uint32_t places)
{
    crossing->places = places;
    crossing->used = crossing->taken = crossing->held = 0;
    crossing->parted = true;
}

void gpu_crossing_join(struct gpu_crossing *crossing, uint64_t now_ps)
{
    gpu_crossing_read_outbox(crossing);
    gpu_crossing_read_inbox(crossing);
    waiters_wake_at(&crossing->space, now_ps);
    crossing->parted = false;
}

/* ---- construction ---- */

void gpu_crossing_attach(struct gpu_crossing *crossing, struct mem_port *port, uint32_t source)
{
    crossing->below = *port;
    crossing->source = source;
    crossing->inbox.earliest_ps = crossing->outbox.earliest_ps = ENGINE_NEVER;
    waiters_init(&crossing->space, crossing->upper, source);
    *port = (struct mem_port){
        .send = crossing_send, .when_space = crossing_when_space, .self = crossing};
}

void gpu_crossing_free(struct gpu_crossing *crossing)
{
    waiters_free(&crossing->space);
    free(crossing->down.mail);
    free(crossing->outbox.mail);
    free(crossing->up.mail);
    free(crossing->inbox.mail);
}
