/*
 * What is put into streams: an operation behind what is there, or, while the stream is captured, a
 * node of a graph. Everything that can be told to be wrong is told here.
 */
#include <string.h>

#include "rt/queue/state.h"
#include "util/error.h"

static int put(struct rt_stream *stream, const struct rt_node_params *params)
{
    struct rt_op *op;
    int rc = op_load(&op, stream, params, NULL);
    return rc == 0 ? stream_put(stream, op) : rc;
}

static int enqueue(struct rt_stream *stream, struct rt_node_params *params)
{
    int rc = stream_enter(stream);
    if (rc < 0) {
        return rc;
    }
    rc = params_check(stream->rt, params);
    if (rc == 0) {
        rc = stream->capture ? capture_add(stream, params, NULL) : put(stream, params);
    }
    queue_leave(stream->rt);
    return rc;
}

int rt_enqueue_launch(struct rt_stream *stream, struct rt_kernel *kernel,
                      const struct rt_launch *launch)
{
    struct rt_node_params params = {.kind = RT_NODE_LAUNCH, .kernel = kernel, .launch = *launch};
    return enqueue(stream, &params);
}

/* Behind what is in the stream; waits until it is done, or reads what would have to stay. */
static int put_copy(struct rt_stream *stream, const struct rt_node_params *params, bool waits)
{
    struct rt_op *op;
    int rc = op_load(&op, stream, params, NULL);
    if (rc < 0) {
        return rc;
    }
    const struct rt_end *src = &params->copy.src;
    if (!waits && src->kind == RT_END_HOST && !src->pinned) {
        rc = copy_stage(&op->copy);
    }
    if (rc < 0) {
        op_destroy(op);
        return rc;
    }
    rc = stream_put(stream, op);
    return rc == 0 && waits ? stream_wait_all(stream) : rc;
}

int rt_enqueue_copy(struct rt_stream *stream, const struct rt_copy *copy)
{
    struct rt_node_params params = {.kind = RT_NODE_COPY, .copy = *copy};
    int rc = stream_enter(stream);
    if (rc < 0) {
        return rc;
    }
    rc = params_check(stream->rt, &params);
    if (rc == 0 && stream->capture) {
        rc = copy->waits ? capture_spoil(stream, "waited for") : capture_add(stream, &params, NULL);
    } else if (rc == 0) {
        rc = put_copy(stream, &params,
                      copy->waits || (copy->dst.kind == RT_END_HOST && !copy->dst.pinned));
    }
    queue_leave(stream->rt);
    return rc;
}

int rt_copy_check(struct rt *rt, const struct rt_copy *copy)
{
    rt_lock(rt);
    int rc = copy_check(rt, copy);
    rt_unlock(rt);
    return rc;
}

int rt_memset_check(struct rt *rt, const struct rt_memset *set)
{
    rt_lock(rt);
    int rc = memset_check(rt, set);
    rt_unlock(rt);
    return rc;
}

int rt_enqueue_memset(struct rt_stream *stream, const struct rt_memset *set)
{
    struct rt_node_params params = {.kind = RT_NODE_MEMSET, .memset = *set};
    return enqueue(stream, &params);
}

int rt_enqueue_host(struct rt_stream *stream, void (*fn)(void *ctx), void *ctx)
{
    struct rt_node_params params = {.kind = RT_NODE_HOST, .host = fn, .ctx = ctx};
    return enqueue(stream, &params);
}

int rt_enqueue_callback(struct rt_stream *stream, void (*fn)(void *ctx, int status), void *ctx)
{
    int rc = stream_enter(stream);
    if (rc < 0) {
        return rc;
    }
    struct rt_op *op = NULL;
    if (stream->capture) {
        rc = capture_spoil(stream, "given a callback");
    } else if (!(op = op_create(stream, OP_CALLBACK))) {
        rc = SONDE_ENOMEM;
    } else {
        op->host = (struct op_host){.told = fn, .ctx = ctx};
        rc = stream_put(stream, op);
    }
    queue_leave(stream->rt);
    return rc;
}

int rt_enqueue_value(struct rt_stream *stream, const struct rt_value *value)
{
    struct rt_op *op = NULL;
    int rc = stream_enter(stream);
    if (rc < 0) {
        return rc;
    }
    rc = value_check(stream->rt, value);
    if (rc == 0 && stream->capture) {
        rc = capture_spoil(stream, "told to write a value, or to wait for one");
    }
    if (rc == 0 && !(op = op_create(stream, OP_VALUE))) {
        rc = SONDE_ENOMEM;
    }
    if (rc == 0) {
        op->value = *value;
        rc = stream_put(stream, op);
    }
    queue_leave(stream->rt);
    return rc;
}

int rt_enqueue_alloc(struct rt_stream *stream, struct rt_pool *pool, uint64_t *address,
                     uint64_t bytes)
{
    *address = 0;
    int rc = stream_enter(stream);
    if (rc < 0) {
        return rc;
    }
    if (stream->capture) {
        struct rt_node_params params = {.kind = RT_NODE_ALLOC, .bytes = bytes};
        rc = capture_add(stream, &params, NULL);
        *address = params.address;
    } else {
        rc = pool_take(pool, address, bytes);
        if (queue_make_room(stream->rt, bytes, rc)) {
            rc = pool_take(pool, address, bytes);
        }
    }
    queue_leave(stream->rt);
    return rc;
}

int rt_enqueue_free(struct rt_stream *stream, uint64_t address)
{
    struct rt_node_params params = {.kind = RT_NODE_FREE, .address = address};
    int rc = stream_enter(stream);
    if (rc < 0) {
        return rc;
    }
    struct rt_op *op;
    bool known = vmem_find(&stream->rt->vmem, address) != NULL;
    if (!known) {
        checking_freed(stream->rt, address, SONDE_EINPUT);
    } else if (!stream->capture && queue_has_freed(stream->rt->queue, address)) {
        checking_freed_twice(stream->rt, address);
    }
    if (!known) {
        rc = error_set(SONDE_EINPUT, "no allocation begins at address 0x%llx",
                       (unsigned long long)address);
    } else if (stream->capture) {
        rc = capture_add(stream, &params, NULL);
    } else if (queue_has_freed(stream->rt->queue, address)) {
        rc = error_set(SONDE_EINPUT, "the allocation at 0x%llx is freed already",
                       (unsigned long long)address);
    } else {
        rc = vec_push(&stream->rt->queue->leaving, address) < 0 ? error_memory() : 0;
        rc = rc == 0 ? op_load(&op, stream, &params, NULL) : rc;
        rc = rc == 0 ? stream_put(stream, op) : rc;
    }
    queue_leave(stream->rt);
    return rc;
}
