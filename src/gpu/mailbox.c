/*
 * The mailbox between two groups of components that may run apart from each other (windows.c). The
 * upper group posts requests, the lower group posts replies; each message carries its time. Between
 * two windows the posted messages are delivered, so that neither group touches what the other one
 * works on. While the groups run together, a message passes at once.
 *
 * Requests take credits. A request takes one when it is posted, and the upper group gets it back a
 * window after the lower group has let go of the request. There are twice as many as a port that is
 * never held up uses in the time that a credit takes to come back. While the groups run together no
 * credit is needed.
 */
#include <stdlib.h>

#include "gpu/state.h"
#include "util/error.h"

void gpu_message_add(struct gpu_message_list *list, uint64_t at_ps, struct mem_request *request,
                     struct engine *engine)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 64;
        struct gpu_message *larger = realloc(list->message, capacity * sizeof *larger);
        if (!larger) {
            engine_fail(engine, error_memory());
            return;
        }
        list->message = larger;
        list->capacity = capacity;
    }
    list->earliest_ps = list->count == 0 || at_ps < list->earliest_ps ? at_ps : list->earliest_ps;
    list->message[list->count++] = (struct gpu_message){at_ps, request};
}

void gpu_messages_clear(struct gpu_message_list *list)
{
    list->count = 0;
    list->earliest_ps = ENGINE_NEVER;
}

/* ---- requests ---- */

static bool mailbox_send(void *self, struct mem_request *request)
{
    struct gpu_mailbox *mailbox = self;
    if (!mailbox->parted) {
        return mailbox->below.send(mailbox->below.self, request);
    }
    if (mailbox->used >= mailbox->credits) { /* above: the port below holds some again */
        return false;
    }
    mailbox->used++;
    if (mailbox->asked && mailbox->posted_requests.count == 0) {
        gpu_set_add(mailbox->asked, mailbox->number);
    }
    gpu_message_add(&mailbox->posted_requests, engine_now_ps(mailbox->upper), request,
                    mailbox->upper);
    return true;
}

static void mailbox_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct gpu_mailbox *mailbox = self;
    if (!mailbox->parted) {
        mailbox->below.when_space(mailbox->below.self, handler, ctx, arg);
        return;
    }
    waiters_add(&mailbox->space, handler, ctx, arg);
    if (mailbox->used < mailbox->credits) {
        waiters_wake(&mailbox->space);
    }
}

static bool hand_on(struct gpu_mailbox *mailbox, struct mem_request *request)
{
    if (mailbox->outlet.reply) {
        request->outlet = &mailbox->outlet;
    }
    if (!mailbox->below.send(mailbox->below.self, request)) {
        return false;
    }
    mailbox->taken++;
    return true;
}

static void hand_on_refused(void *ctx, uint64_t arg)
{
    struct gpu_mailbox *mailbox = ctx;
    struct mem_request *head;
    (void)arg;
    while ((head = mailbox->refused.head)) {
        struct mem_request *next = head->next; /* belongs to whoever accepts it */
        if (!hand_on(mailbox, head)) {
            mailbox->below.when_space(mailbox->below.self, hand_on_refused, mailbox, 0);
            return;
        }
        mailbox->refused.head = next;
    }
}

static void on_down(void *ctx, uint64_t arg)
{
    struct gpu_mailbox *mailbox = ctx;
    struct mem_request *request = (struct mem_request *)(uintptr_t)arg;
    bool others_wait = mailbox->refused.head != NULL;
    if (!others_wait && hand_on(mailbox, request)) {
        return;
    }
    request_list_push(&mailbox->refused, request);
    if (!others_wait) {
        mailbox->below.when_space(mailbox->below.self, hand_on_refused, mailbox, 0);
    }
}

/* ---- replies ---- */

static void reply_comes(struct gpu_mailbox *mailbox, struct mem_request *request, uint64_t at_ps)
{
    engine_at(mailbox->upper, at_ps, mailbox->reply_source, mailbox->out, mailbox->out_ctx,
              (uintptr_t)request);
}

void gpu_mailbox_reply(struct gpu_mailbox *mailbox, struct mem_request *request, uint64_t at_ps)
{
    if (!mailbox->parted) {
        reply_comes(mailbox, request, at_ps);
        return;
    }
    if (mailbox->answered && mailbox->posted_replies.count == 0) {
        gpu_set_add(mailbox->answered, mailbox->number);
    }
    gpu_message_add(&mailbox->posted_replies, at_ps, request, mailbox->lower);
}

/* ---- between two windows ---- */

/* It was last touched some windows ago, or by another thread, and is worked on in the coming one.
 */
static inline void expect(const struct mem_request *request)
{
    enum { HOST_LINE_BYTES = 64 };
    for (size_t i = 0; i < sizeof *request; i += HOST_LINE_BYTES) {
        __builtin_prefetch((const char *)request + i, 1);
    }
}

void gpu_mailbox_read_replies(struct gpu_mailbox *mailbox)
{
    for (uint32_t i = 0; i < mailbox->delivered_replies.count; i++) {
        expect(mailbox->delivered_replies.message[i].request);
        reply_comes(mailbox, mailbox->delivered_replies.message[i].request,
                    mailbox->delivered_replies.message[i].at_ps);
    }
    gpu_messages_clear(&mailbox->delivered_replies);
}

void gpu_mailbox_read_requests(struct gpu_mailbox *mailbox)
{
    for (uint32_t i = 0; i < mailbox->delivered_requests.count; i++) {
        const struct gpu_message *message = &mailbox->delivered_requests.message[i];
        expect(message->request);
        engine_at(mailbox->lower, message->at_ps, mailbox->source, on_down, mailbox,
                  (uintptr_t)message->request);
    }
    gpu_messages_clear(&mailbox->delivered_requests);
}

static void swap(struct gpu_message_list *a, struct gpu_message_list *b)
{
    struct gpu_message_list kept = *a;
    *a = *b;
    *b = kept;
}

void gpu_mailbox_exchange(struct gpu_mailbox *mailbox, uint32_t held, uint64_t now_ps)
{
    if (mailbox->posted_replies.count > 0) {
        gpu_mailbox_read_replies(mailbox); /* of a group that had nothing to do in the window */
        swap(&mailbox->posted_replies, &mailbox->delivered_replies);
    }
    if (mailbox->posted_requests.count > 0) {
        gpu_mailbox_read_requests(mailbox); /* likewise */
        swap(&mailbox->posted_requests, &mailbox->delivered_requests);
    }
    mailbox->used = mailbox->used - mailbox->taken + held - mailbox->held;
    mailbox->taken = 0;
    mailbox->held = held;
    if (mailbox->space.count > 0 && mailbox->used < mailbox->credits) {
        waiters_wake_at(&mailbox->space, now_ps);
    }
}

void gpu_mailbox_part(struct gpu_mailbox *mailbox, uint32_t credits)
{
    mailbox->credits = credits;
    mailbox->used = mailbox->taken = mailbox->held = 0;
    mailbox->parted = true;
}

void gpu_mailbox_join(struct gpu_mailbox *mailbox, uint64_t now_ps)
{
    gpu_mailbox_read_requests(mailbox);
    gpu_mailbox_read_replies(mailbox);
    waiters_wake_at(&mailbox->space, now_ps);
    mailbox->parted = false;
}

/* ---- construction ---- */

void gpu_mailbox_attach(struct gpu_mailbox *mailbox, struct mem_port *port, uint32_t source)
{
    mailbox->below = *port;
    mailbox->source = source;
    mailbox->delivered_replies.earliest_ps = mailbox->delivered_requests.earliest_ps = ENGINE_NEVER;
    waiters_init(&mailbox->space, mailbox->upper, source);
    *port =
        (struct mem_port){.send = mailbox_send, .when_space = mailbox_when_space, .self = mailbox};
}

void gpu_mailbox_free(struct gpu_mailbox *mailbox)
{
    waiters_free(&mailbox->space);
    free(mailbox->posted_requests.message);
    free(mailbox->delivered_requests.message);
    free(mailbox->posted_replies.message);
    free(mailbox->delivered_replies.message);
}
