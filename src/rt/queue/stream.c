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
    if (rc < 0 || !stream) {
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
    if (stream->capture) {
        capture_spoil(stream, "destroyed");
        stream->capture = NULL;
    }
    stream->gone = true;
    if (stream->pending == 0) {
        stream_free(stream);
    }
    queue_leave(rt);
    return 0;
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

/* The default stream would wait for streams that are captured. */
static int check_captures(struct rt_stream *stream)
{
    struct queue *queue = stream->rt->queue;
    if (stream != &queue->null_stream || queue->captures == 0) {
        return 0;
    }
    for (struct rt_stream *other = queue->streams; other; other = other->next) {
        if (other->capture && !(other->flags & RT_STREAM_NONBLOCKING)) {
            return capture_spoil(other, "used with the default stream");
        }
    }
    return 0;
}

int stream_enter(struct rt_stream *stream)
{
    struct rt *rt = stream->rt;
    int rc = queue_enter(rt);
    if (rc < 0) {
        return rc;
    }
    rc = context_check(rt);
    if (rc == 0) {
        rc = check_captures(stream);
    }
    if (rc == 0) {
        rc = watch_start(rt->queue);
    }
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
    struct queue *queue = stream->rt->queue;
    int rc = queue_wait(queue, stream_reached, stream, stream->tail_seq);
    queue->host_ps = stream->done_ps > queue->host_ps ? stream->done_ps : queue->host_ps;
    return rc;
}

int rt_stream_sync(struct rt_stream *stream)
{
    int rc = queue_enter(stream->rt);
    if (rc < 0) {
        return rc;
    }
    struct rt *rt = stream->rt;
    rc = stream->capture ? capture_spoil(stream, "waited for") : stream_wait_all(stream);
    queue_leave(rt);
    return rc;
}

int rt_stream_query(struct rt_stream *stream)
{
    int rc = queue_enter(stream->rt);
    if (rc < 0) {
        return rc;
    }
    struct queue *queue = stream->rt->queue;
    rc = stream->capture ? capture_spoil(stream, "asked for its state") : context_check(stream->rt);
    if (rc == 0 && stream->done_seq < stream->tail_seq) {
        rc = queue_poll(queue);
    }
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

/* The host waits, of what is in the queue by now. */
static int host_waits(struct queue *queue, queue_met *met)
{
    int rc = queue_wait(queue, met, queue, queue->next_seq - 1);
    queue->host_ps = queue->now_ps > queue->host_ps ? queue->now_ps : queue->host_ps;
    return rc;
}

static bool frees_wait(const struct queue *queue, uint64_t seq)
{
    for (const struct rt_op *op = queue->first; op && op->seq <= seq; op = op->next) {
        if (op->kind == OP_FREE) {
            return true;
        }
    }
    return false;
}

/* Nothing up to there is still to free memory, and what is freed goes back at once. */
static bool all_freed(const void *ctx, uint64_t seq)
{
    const struct queue *queue = ctx;
    bool held = queue->frees.count > 0 && queue_runs(queue);
    return all_reached(queue, seq) || (!held && !frees_wait(queue, seq));
}

static bool free_some(struct queue *queue)
{
    bool some = queue->frees.count > 0 || frees_wait(queue, queue->next_seq - 1);
    if (some && host_waits(queue, all_freed) < 0) {
        return false;
    }
    some |= pools_trim(queue);
    return some && host_waits(queue, all_freed) == 0;
}

bool queue_make_room(struct rt *rt, uint64_t bytes, int rc)
{
    const struct vmem *vmem = &rt->vmem;
    bool could_fit = bytes <= vmem->frame_count * vmem->page_bytes;
    if (rc != SONDE_ENOMEM || !vmem->full || !could_fit || rt_in_host_function()) {
        return false;
    }
    char *site = checking_site_aside(rt);
    bool freed = free_some(rt->queue);
    checking_site_back(rt, site);
    return freed;
}

int rt_sync(struct rt *rt)
{
    int rc = queue_enter(rt);
    if (rc < 0) {
        return rc;
    }
    rc = host_waits(rt->queue, all_reached);
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

void rt_set_timed_limit(struct rt *rt, uint64_t cycles)
{
    rt->queue->timed_limit = cycles;
}

void rt_set_copied(struct rt *rt, void (*copied)(void *ctx, const struct rt_copied *copy),
                   void *ctx)
{
    rt->queue->copied = copied;
    rt->queue->copied_ctx = ctx;
}
