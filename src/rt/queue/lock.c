/*
 * The lock of a device. It is recursive, and whoever waits for work gives it back whole, so that
 * other threads can put work in meanwhile.
 */
#include "rt/queue/state.h"
#include "util/error.h"

static _Thread_local bool in_host_function;

bool rt_in_host_function(void)
{
    return in_host_function;
}

static bool is_owner(const struct queue *queue)
{
    return queue->depth > 0 && pthread_equal(queue->owner, pthread_self());
}

void rt_lock(struct rt *rt)
{
    struct queue *queue = rt->queue;
    pthread_mutex_lock(&queue->mutex);
    if (!is_owner(queue)) {
        queue->wanting++;
        while (queue->depth > 0) {
            pthread_cond_wait(&queue->changed, &queue->mutex);
        }
        queue->wanting--;
        queue->owner = pthread_self();
    }
    queue->depth++;
    pthread_mutex_unlock(&queue->mutex);
}

void rt_unlock(struct rt *rt)
{
    struct queue *queue = rt->queue;
    pthread_mutex_lock(&queue->mutex);
    if (--queue->depth == 0) {
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
}

uint32_t queue_release(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    uint32_t depth = queue->depth;
    queue->depth = 0;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
    return depth;
}

void queue_retake(struct queue *queue, uint32_t depth)
{
    rt_lock(queue->rt);
    queue->depth = depth;
}

void queue_wait_change(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    uint32_t depth = queue->depth;
    queue->depth = 0;
    pthread_cond_broadcast(&queue->changed);
    pthread_cond_wait(&queue->changed, &queue->mutex);
    pthread_mutex_unlock(&queue->mutex);
    queue_retake(queue, depth);
}

int queue_enter(struct rt *rt)
{
    if (in_host_function) {
        return error_set(SONDE_EUSAGE, "a host function may not call the device");
    }
    rt_lock(rt);
    return 0;
}

void queue_leave(struct rt *rt)
{
    rt_unlock(rt);
}

void queue_call_host(struct queue *queue, const struct rt_op *op, int status)
{
    uint32_t depth = queue_release(queue);
    in_host_function = true;
    if (op->kind == OP_HOST) {
        op->host.fn(op->host.ctx);
    } else {
        op->host.told(op->host.ctx, status);
    }
    in_host_function = false;
    queue_retake(queue, depth);
}
