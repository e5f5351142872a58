/*
 * Operations: what waits for what, and what an end sets free. Those that are ready stand in the
 * order in which they may begin: by the priority of their streams, then as they were put in.
 */
#include <stdlib.h>

#include "rt/queue/state.h"
#include "util/error.h"

void stream_free(struct rt_stream *stream)
{
    *stream->link = stream->next;
    if (stream->next) {
        stream->next->link = stream->link;
    }
    vec_free(&stream->latest);
    free(stream);
}

static void stream_op_done(struct rt_stream *stream, const struct rt_op *op, uint64_t end_ps)
{
    if (op->last) {
        stream->done_seq = op->seq;
        stream->done_ps = end_ps;
    }
    if (stream->tail == op) {
        stream->tail = NULL;
    }
    if (--stream->pending == 0 && stream->gone) {
        stream_free(stream);
    }
}

void event_release(struct rt_event *event)
{
    if (--event->users == 0) {
        vec_free(&event->latest);
        free(event);
    }
}

static void event_op_done(struct rt_event *event, const struct rt_op *op, uint64_t at_ps)
{
    event->at_ps = at_ps;
    event->done_seq = op->seq;
    if (event->op == op) {
        event->op = NULL;
    }
}

struct rt_op *op_create(struct rt_stream *stream, enum op_kind kind)
{
    struct rt_op *op = calloc(1, sizeof *op);
    if (!op) {
        error_memory();
        return NULL;
    }
    op->kind = kind;
    op->stream = stream;
    op->last = true;
    return op;
}

void graph_exec_release(struct rt_graph_exec *exec)
{
    if (--exec->users == 0) {
        rt_graph_destroy(exec->graph);
        free(exec);
    }
}

static void payload_free(struct rt_op *op)
{
    if (op->kind == OP_LAUNCH) {
        free(op->launch.params);
        free(op->launch.before);
        sampling_forget(&op->launch.sampling);
        if (op->launch.device) {
            op->launch.device_free(op->launch.device);
        }
    } else if (op->kind == OP_COPY) {
        free(op->copy.staged);
    } else if (op->kind == OP_RECORD) {
        event_release(op->event);
    } else if (op->kind == OP_GRAPH_END) {
        graph_exec_release(op->exec);
    }
}

void op_forget(struct rt_op *op)
{
    payload_free(op);
    op->kind = OP_EMPTY;
}

void op_destroy(struct rt_op *op)
{
    if (!op) {
        return;
    }
    payload_free(op);
    vec_free(&op->followers);
    free(op);
}

int op_wait_for(struct rt_op *op, struct rt_op *other)
{
    if (!other || other == op) {
        return 0;
    }
    if (vec_push(&other->followers, op) < 0) {
        return error_memory();
    }
    op->waits++;
    return 0;
}

static void make_ready(struct queue *queue, struct rt_op *op)
{
    struct rt_op **at = &queue->ready;
    int priority = op->stream->priority;
    while (*at && ((*at)->stream->priority < priority ||
                   ((*at)->stream->priority == priority && (*at)->seq < op->seq))) {
        at = &(*at)->ready_next;
    }
    op->ready_next = *at;
    op->ready_link = at;
    if (*at) {
        (*at)->ready_link = &op->ready_next;
    }
    *at = op;
}

void op_unready(struct rt_op *op)
{
    *op->ready_link = op->ready_next;
    if (op->ready_next) {
        op->ready_next->ready_link = op->ready_link;
    }
}

void op_submit(struct rt_op *op)
{
    struct queue *queue = op->stream->rt->queue;
    op->seq = queue->next_seq++;
    op->begin_ps = op->begin_ps > queue->host_ps ? op->begin_ps : queue->host_ps;
    op->end_ps = ENGINE_NEVER;
    op->link = queue->end;
    *queue->end = op;
    queue->end = &op->next;
    queue->pending++;
    op->stream->pending++;
    if (op->waits == 0) {
        make_ready(queue, op);
    }
}

void op_done(struct rt_op *op, uint64_t end_ps)
{
    struct queue *queue = op->stream->rt->queue;
    for (size_t i = 0; i < op->followers.count; i++) {
        struct rt_op *follower = op->followers.data[i];
        follower->begin_ps = follower->begin_ps > end_ps ? follower->begin_ps : end_ps;
        if (--follower->waits == 0) {
            make_ready(queue, follower);
        }
    }
    *op->link = op->next;
    if (op->next) {
        op->next->link = op->link;
    } else {
        queue->end = op->link;
    }
    queue->pending--;
    queue->progress++;
    if (op->kind == OP_RECORD) {
        event_op_done(op->event, op, end_ps);
    } else if (op->kind == OP_GRAPH_END && op->exec->last == op) {
        op->exec->last = NULL;
    }
    stream_op_done(op->stream, op, end_ps);
    op_destroy(op);
}
