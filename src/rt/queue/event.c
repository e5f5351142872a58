/*
 * Events: the simulated time at which a stream reached them. An event knows its last record only;
 * who waits for an earlier one keeps waiting for that.
 */
#include <stdlib.h>

#include "rt/queue/state.h"
#include "util/error.h"

int rt_event_create(struct rt *rt, struct rt_event **out, unsigned flags)
{
    *out = NULL;
    struct rt_event *event = calloc(1, sizeof *event);
    if (!event) {
        return error_memory();
    }
    *event = (struct rt_event){.rt = rt, .flags = flags, .users = 1};
    *out = event;
    return 0;
}

int rt_event_destroy(struct rt_event *event)
{
    struct rt *rt = event->rt;
    int rc = queue_enter(rt);
    if (rc == 0) {
        event_release(event);
        queue_leave(rt);
    }
    return rc;
}

int rt_event_record(struct rt_event *event, struct rt_stream *stream)
{
    int rc = stream_enter(stream);
    if (rc < 0) {
        return rc;
    }
    if (stream->capture) {
        rc = capture_record(stream, event);
        queue_leave(stream->rt);
        return rc;
    }
    event->capture_id = 0;
    struct rt_op *op = op_create(stream, OP_RECORD);
    rc = op ? 0 : SONDE_ENOMEM;
    if (op) {
        op->event = event;
        event->users++;
        rc = stream_put(stream, op);
    }
    if (op && op->kind == OP_RECORD) {
        event->op = op;
        event->record_seq = op->seq;
    }
    queue_leave(stream->rt);
    return rc;
}

static bool event_reached(const void *ctx, uint64_t seq)
{
    const struct rt_event *event = ctx;
    return event->done_seq >= seq;
}

int rt_event_sync(struct rt_event *event)
{
    struct rt *rt = event->rt;
    int rc = queue_enter(rt);
    if (rc < 0) {
        return rc;
    }
    event->users++;
    rc = queue_wait(rt->queue, event_reached, event, event->record_seq);
    struct queue *queue = rt->queue;
    queue->host_ps = event->at_ps > queue->host_ps ? event->at_ps : queue->host_ps;
    event_release(event);
    queue_leave(rt);
    return rc;
}

int rt_event_query(struct rt_event *event)
{
    struct rt *rt = event->rt;
    int rc = queue_enter(rt);
    if (rc < 0) {
        return rc;
    }
    rc = event->op ? queue_poll(rt->queue) : context_check(rt);
    if (rc == 0 && event->op) {
        rc = RT_BUSY;
    }
    queue_leave(rt);
    return rc;
}

int rt_event_elapsed(int64_t *ps, struct rt_event *begin, struct rt_event *end)
{
    *ps = 0;
    int rc = queue_enter(begin->rt);
    if (rc < 0) {
        return rc;
    }
    rc = context_check(begin->rt);
    if (rc == 0 && ((begin->flags | end->flags) & RT_EVENT_NO_TIMING)) {
        rc = error_set(SONDE_EUSAGE, "an event without timing has no time");
    } else if (rc == 0 && (begin->record_seq == 0 || end->record_seq == 0)) {
        rc = error_set(SONDE_EUSAGE, "an event that was never recorded has no time");
    } else if (rc == 0 && (begin->op || end->op)) {
        rc = RT_BUSY;
    } else if (rc == 0) {
        *ps = (int64_t)(end->at_ps - begin->at_ps);
    }
    queue_leave(begin->rt);
    return rc;
}

int rt_stream_wait(struct rt_stream *stream, struct rt_event *event)
{
    int rc = stream_enter(stream);
    if (rc < 0) {
        return rc;
    }
    if (stream->capture || event->capture_id) {
        rc = capture_wait(stream, event);
    } else if (event->op) {
        struct rt_op *op = op_create(stream, OP_EMPTY);
        rc = op ? op_wait_for(op, event->op) : SONDE_ENOMEM;
        if (rc == 0) {
            rc = stream_put(stream, op);
        } else {
            op_destroy(op);
        }
    }
    queue_leave(stream->rt);
    return rc;
}
