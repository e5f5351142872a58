/*
 * What makes work go on. It is done by whoever waits or polls, in steps: everything that may begin
 * at the present simulated time begins, then time goes on to the next end.
 */
#include <string.h>

#include "rt/queue/state.h"
#include "util/error.h"

void queue_spoil(struct queue *queue)
{
    if (!queue->rt->fault) {
        queue->rt->fault = strdup(error_text());
    }
}

static int perform(struct rt_op *op, uint64_t *end_ps)
{
    struct rt *rt = op->stream->rt;
    struct queue *queue = rt->queue;
    *end_ps = queue->now_ps;
    switch (op->kind) {
    case OP_COPY:
        return copy_perform(rt, &op->copy.copy);
    case OP_MEMSET:
        return memset_perform(rt, &op->memset);
    case OP_HOST:
    case OP_CALLBACK:
        queue_call_host(queue, op, 0);
        return 0;
    case OP_LAUNCH: {
        int rc = launch_prepare(rt, &op->launch.run, op->launch.kernel, &op->launch.launch,
                                op->launch.params);
        if (rc == 0) {
            rc = op->launch.launch.functional
                     ? launch_functional(rt, &op->launch.run)
                     : gpu_launch(rt->gpu, &op->launch.run, &op->launch.cycles);
        }
        *end_ps += op->launch.cycles * rt->model->core_period_ps;
        return launch_ended(rt, op->launch.kernel, rc);
    }
    default:
        return 0;
    }
}

/* One operation from begin to end; false: nothing is ready. */
static bool step(struct queue *queue)
{
    struct rt_op *op = queue->ready;
    if (!op) {
        return false;
    }
    op_unready(op);
    uint64_t end_ps = queue->now_ps;
    int rc = 0;
    if (!queue->rt->fault) {
        rc = perform(op, &end_ps);
        queue->now_ps = end_ps;
    } else if (op->kind == OP_CALLBACK) {
        queue_call_host(queue, op, SONDE_EFAULT);
    }
    if (rc < 0 && !queue->rt->fault) {
        queue_spoil(queue);
    }
    op_done(op, end_ps);
    return true;
}

int queue_wait(struct queue *queue, queue_met *met, const void *ctx, uint64_t seq)
{
    while (!met(ctx, seq)) {
        if (queue->pumping) {
            queue_wait_change(queue);
            continue;
        }
        queue->pumping = true;
        bool stepped = step(queue);
        queue->pumping = false;
        if (!stepped) {
            return error_set(SONDE_EINTERNAL, "the queue waits for nothing");
        }
    }
    return context_check(queue->rt);
}

int queue_poll(struct queue *queue)
{
    if (!queue->pumping) {
        queue->pumping = true;
        step(queue);
        queue->pumping = false;
    }
    return context_check(queue->rt);
}
