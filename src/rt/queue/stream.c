/*
 * Streams, and the order between them that the default stream makes: it waits for what is in all
 * blocking streams, and what is put into these later waits for it. (CUDA C++ Programming Guide,
 * "Implicit Synchronization", "Default Stream".)
 */
#include <stdlib.h>

#include "rt/queue/state.h"
#include "util/error.h"

#define PRIORITY_LEAST 0
#define PRIORITY_GREATEST (-5)

/* So many operations may be left before the host waits for the oldest, as a driver's channel is
 * bounded. */
#define QUEUE_PLACES 1024

int queue_create(struct rt *rt)
{
    struct queue *queue = rt->queue = calloc(1, sizeof *queue);
    if (!queue) {
        return error_memory();
    }
    queue->rt = rt;
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->changed, NULL);
    queue->end = &queue->first;
    queue->next_seq = 1;
    queue->next_stream_id = 1;
    queue->null_stream.rt = rt;
    return 0;
}

void queue_destroy(struct rt *rt)
{
    struct queue *queue = rt->queue;
    if (!queue) {
        return;
    }
    for (struct rt_op *next, *op = queue->first; op; op = next) {
        next = op->next;
        op_destroy(op);
    }
    for (struct rt_stream *next, *stream = queue->streams; stream; stream = next) {
        next = stream->next;
        free(stream);
    }
    vec_free(&queue->running);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
    rt->queue = NULL;
}

int rt_stream_create(struct rt *rt, struct rt_stream **out, unsigned flags, int priority)
{
    *out = NULL;
    int rc = queue_enter(rt);
    if (rc < 0) {
        return rc;
    }
    struct queue *queue = rt->queue;
    struct rt_stream *stream = calloc(1, sizeof *stream);
    rc = context_check(rt);
    if (rc == 0 && !stream) {
        rc = error_memory();
    }
    if (rc < 0) {
        free(stream);
        queue_leave(rt);
        return rc;
    }
    priority = priority < PRIORITY_GREATEST ? PRIORITY_GREATEST : priority;
    *stream = (struct rt_stream){.rt = rt,
                                 .next = queue->streams,
                                 .link = &queue->streams,
                                 .flags = flags,
                                 .priority = priority > PRIORITY_LEAST ? PRIORITY_LEAST : priority,
                                 .id = queue->next_stream_id++};
    if (stream->next) {
        stream->next->link = &stream->next;
    }
    queue->streams = stream;
    *out = stream;
    queue_leave(rt);
    return 0;
}

static void stream_free(struct rt_stream *stream)
{
    *stream->link = stream->next;
    if (stream->next) {
        stream->next->link = stream->link;
    }
    free(stream);
}

int rt_stream_destroy(struct rt_stream *stream)
{
    struct rt *rt = stream->rt;
    if (stream == &rt->queue->null_stream) {
        return error_set(SONDE_EUSAGE, "the default stream is not destroyed");
    }
    int rc = queue_enter(rt);
    if (rc < 0) {
        return rc;
    }
    stream->gone = true;
    if (stream->pending == 0) {
        stream_free(stream);
    }
    queue_leave(rt);
    return 0;
}

void stream_op_done(struct rt_stream *stream, const struct rt_op *op)
{
    if (op->last) {
        stream->done_seq = op->seq;
    }
    if (stream->tail == op) {
        stream->tail = NULL;
    }
    if (--stream->pending == 0 && stream->gone) {
        stream_free(stream);
    }
}

struct rt_stream *rt_stream_default(struct rt *rt)
{
    return &rt->queue->null_stream;
}

void rt_stream_priorities(const struct rt *rt, int *least, int *greatest)
{
    (void)rt;
    *least = PRIORITY_LEAST;
    *greatest = PRIORITY_GREATEST;
}

struct rt *rt_stream_rt(const struct rt_stream *stream)
{
    return stream->rt;
}

unsigned rt_stream_flags(const struct rt_stream *stream)
{
    return stream->flags;
}

int rt_stream_priority(const struct rt_stream *stream)
{
    return stream->priority;
}

uint64_t rt_stream_id(const struct rt_stream *stream)
{
    return stream->id;
}

/* What the stream waits for besides its own last operation. */
static int wait_for_others(struct rt_stream *stream, struct rt_op *op)
{
    struct queue *queue = stream->rt->queue;
    if (stream != &queue->null_stream) {
        bool blocking = !(stream->flags & RT_STREAM_NONBLOCKING);
        return blocking ? op_wait_for(op, queue->null_stream.tail) : 0;
    }
    int rc = 0;
    for (struct rt_stream *other = queue->streams; rc == 0 && other; other = other->next) {
        if (!(other->flags & RT_STREAM_NONBLOCKING)) {
            rc = op_wait_for(op, other->tail);
        }
    }
    return rc;
}

static bool has_places(const void *ctx, uint64_t places)
{
    const struct queue *queue = ctx;
    return queue->pending < places;
}

int stream_enter(struct rt_stream *stream)
{
    struct rt *rt = stream->rt;
    int rc = queue_enter(rt);
    if (rc < 0) {
        return rc;
    }
    rc = context_check(rt);
    if (rc == 0 && rt->queue->pending >= QUEUE_PLACES) {
        rc = queue_wait(rt->queue, has_places, rt->queue, QUEUE_PLACES);
    }
    if (rc < 0) {
        queue_leave(rt);
    }
    return rc;
}

int stream_put(struct rt_stream *stream, struct rt_op *op)
{
    int rc = op_wait_for(op, stream->tail);
    if (rc == 0) {
        rc = wait_for_others(stream, op);
    }
    if (rc < 0) {
        op_forget(op); /* what it waits for may know it already */
    }
    op_submit(op);
    stream->tail = op;
    stream->tail_seq = op->seq;
    return rc;
}

static bool stream_reached(const void *ctx, uint64_t seq)
{
    const struct rt_stream *stream = ctx;
    return stream->done_seq >= seq;
}

int stream_wait_all(struct rt_stream *stream)
{
    return queue_wait(stream->rt->queue, stream_reached, stream, stream->tail_seq);
}

int rt_stream_sync(struct rt_stream *stream)
{
    int rc = queue_enter(stream->rt);
    if (rc < 0) {
        return rc;
    }
    struct rt *rt = stream->rt;
    rc = stream_wait_all(stream);
    queue_leave(rt);
    return rc;
}

int rt_stream_query(struct rt_stream *stream)
{
    int rc = queue_enter(stream->rt);
    if (rc < 0) {
        return rc;
    }
    rc = queue_poll(stream->rt->queue);
    if (rc == 0 && stream->done_seq < stream->tail_seq) {
        rc = RT_BUSY;
    }
    queue_leave(stream->rt);
    return rc;
}

static bool all_reached(const void *ctx, uint64_t seq)
{
    const struct queue *queue = ctx;
    return !queue->first || queue->first->seq > seq;
}

int rt_sync(struct rt *rt)
{
    int rc = queue_enter(rt);
    if (rc < 0) {
        return rc;
    }
    rc = queue_wait(rt->queue, all_reached, rt->queue, rt->queue->next_seq - 1);
    queue_leave(rt);
    return rc;
}

uint64_t rt_now_ps(struct rt *rt)
{
    rt_lock(rt);
    uint64_t now_ps = rt->queue->now_ps;
    rt_unlock(rt);
    return now_ps;
}

bool rt_owns(const struct rt *rt, uint64_t address)
{
    return exec_memory_in_range(rt->memory, address, 1);
}

void rt_set_done(struct rt *rt, void (*done)(void *ctx, const struct rt_done *launch), void *ctx)
{
    rt->queue->done = done;
    rt->queue->done_ctx = ctx;
}
