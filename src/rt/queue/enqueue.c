/*
 * What is put into streams. Everything that can be told to be wrong is told here, and all that the
 * caller passes is copied, so that it may go when the call returns.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/queue/state.h"
#include "util/error.h"

int op_set_launch(struct rt_op *op, struct rt_kernel *kernel, const struct rt_launch *launch)
{
    int rc = launch_check(op->stream->rt, kernel, launch);
    if (rc == 0) {
        rc = launch_pack(&op->launch.params, kernel->func, launch);
    }
    if (rc < 0) {
        return error_prefix(rc, "%s", kernel->func->name);
    }
    op->launch.kernel = kernel;
    op->launch.launch = *launch;
    op->launch.launch.args = NULL;
    return 0;
}

static int put(struct rt_op *op, int rc)
{
    struct rt *rt = op->stream->rt;
    if (rc < 0) {
        op_destroy(op);
    } else {
        rc = stream_put(op->stream, op);
    }
    queue_leave(rt);
    return rc;
}

/* A new operation in an entered stream; NULL: left again. */
static int begin(struct rt_op **op, struct rt_stream *stream, enum op_kind kind)
{
    int rc = stream_enter(stream);
    if (rc < 0) {
        return rc;
    }
    *op = op_create(stream, kind);
    if (!*op) {
        queue_leave(stream->rt);
        return SONDE_ENOMEM;
    }
    return 0;
}

int rt_enqueue_launch(struct rt_stream *stream, struct rt_kernel *kernel,
                      const struct rt_launch *launch)
{
    struct rt_op *op;
    int rc = begin(&op, stream, OP_LAUNCH);
    return rc < 0 ? rc : put(op, op_set_launch(op, kernel, launch));
}

int rt_enqueue_copy(struct rt_stream *stream, const struct rt_copy *copy)
{
    struct rt_op *op;
    int rc = begin(&op, stream, OP_COPY);
    if (rc < 0) {
        return rc;
    }
    bool to_pageable = copy->dst.kind == RT_END_HOST && !copy->dst.pinned;
    bool waits = copy->waits || to_pageable;
    op->copy.copy = *copy;
    rc = copy_check(stream->rt, copy);
    if (rc == 0 && !waits && copy->src.kind == RT_END_HOST && !copy->src.pinned) {
        rc = copy_stage(op);
    }
    if (rc < 0 || !waits) {
        return put(op, rc);
    }
    rt_lock(stream->rt);
    rc = put(op, 0);
    if (rc == 0) {
        rc = stream_wait_all(stream);
    }
    queue_leave(stream->rt);
    return rc;
}

int rt_enqueue_memset(struct rt_stream *stream, const struct rt_memset *set)
{
    struct rt_op *op;
    int rc = begin(&op, stream, OP_MEMSET);
    if (rc < 0) {
        return rc;
    }
    op->memset = *set;
    return put(op, memset_check(stream->rt, set));
}

int rt_enqueue_host(struct rt_stream *stream, void (*fn)(void *ctx), void *ctx)
{
    struct rt_op *op;
    int rc = begin(&op, stream, OP_HOST);
    if (rc < 0) {
        return rc;
    }
    op->host.fn = fn;
    op->host.ctx = ctx;
    return put(op, 0);
}

int rt_enqueue_callback(struct rt_stream *stream, void (*fn)(void *ctx, int status), void *ctx)
{
    struct rt_op *op;
    int rc = begin(&op, stream, OP_CALLBACK);
    if (rc < 0) {
        return rc;
    }
    op->host.told = fn;
    op->host.ctx = ctx;
    return put(op, 0);
}
