/*
 * How work ends that nobody waits for. A process that exits takes its context with it, whatever
 * runs there: a kernel that never ends must not keep it. How much of it a GPU would still have done
 * depends on the host's speed; here it is a fixed amount of work, so that short kernels are
 * complete and the same every time.
 */
#include "rt/queue/state.h"
#include "util/error.h"

#define FINISH_CYCLES 10000000 /* of the core clock */
#define FINISH_WARP_INSNS 20000000

static bool finished(const void *ctx, uint64_t seq)
{
    const struct queue *queue = ctx;
    return queue->calling_host > 0 || !queue->first || queue->first->seq > seq;
}

int rt_finish(struct rt *rt)
{
    int rc = queue_enter(rt);
    if (rc < 0) {
        return rc;
    }
    struct queue *queue = rt->queue;
    if (!queue->finishes) {
        queue->finishes = true;
        queue->finish_cycles = FINISH_CYCLES;
        queue->finish_insns = FINISH_WARP_INSNS;
    }
    rc = queue_wait(queue, finished, queue, queue->next_seq - 1);
    queue_leave(rt);
    return rc;
}

void rt_close(struct rt *rt)
{
    rt_lock(rt);
    queue_give_up(rt->queue, error_set(SONDE_EDEVICE, "the context was destroyed"));
    rt_unlock(rt);
}
