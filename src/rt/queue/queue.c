/* The queue as an object. */
#include <stdlib.h>

#include "rt/queue/state.h"
#include "util/error.h"

#define WATCH_MS 10

int queue_create(struct rt *rt)
{
    struct queue *queue = rt->queue = calloc(1, sizeof *queue);
    if (!queue) {
        return error_memory();
    }
    queue->rt = rt;
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->progressed, NULL);
    pthread_cond_init(&queue->watch_end, NULL);
    queue->end = &queue->first;
    queue->next_seq = queue->next_stream_id = queue->next_capture_id = 1;
    queue->null_stream.rt = rt;
    queue->watch_ms = WATCH_MS;
    queue->stats_version = UINT64_MAX;
    return 0;
}

bool queue_has_freed(const struct queue *queue, uint64_t address)
{
    for (size_t i = 0; i < queue->frees.count; i++) {
        if (queue->frees.data[i] == address) {
            return true;
        }
    }
    for (size_t i = 0; i < queue->leaving.count; i++) {
        if (queue->leaving.data[i] == address) {
            return true;
        }
    }
    return pool_keeps(queue, address);
}

bool queue_runs(const struct queue *queue)
{
    return queue->grids > 0 || queue->functional > 0;
}

int queue_give_later(struct rt *rt, uint64_t address)
{
    const struct vmem_range *range = vmem_find(&rt->vmem, address);
    if (!range || !exec_memory_valid(rt->memory, address, range->bytes)) {
        return error_set(SONDE_EINPUT, "no allocation begins at address 0x%llx",
                         (unsigned long long)address);
    }
    return vec_push(&rt->queue->frees, address) < 0 ? error_memory() : 0;
}

static void end_watchdog(struct queue *queue)
{
    if (!queue->watched) {
        return;
    }
    pthread_mutex_lock(&queue->mutex);
    queue->watch_ends = true;
    atomic_fetch_add(&queue->wanting, 1); /* it leaves the GPU alone */
    pthread_cond_signal(&queue->watch_end);
    pthread_mutex_unlock(&queue->mutex);
    pthread_join(queue->watchdog, NULL);
}

void queue_destroy(struct rt *rt)
{
    struct queue *queue = rt->queue;
    if (!queue) {
        return;
    }
    end_watchdog(queue);
    for (size_t i = 0; i < queue->running.count; i++) {
        struct rt_op *op = queue->running.data[i];
        if (op->kind == OP_LAUNCH && op->launch.grid) {
            gpu_abandon(rt->gpu); /* borrows what the operations own */
            gpu_grid_end(op->launch.grid, &op->launch.result);
        } else if (op->kind == OP_LAUNCH) {
            exec_run_end(op->launch.functional);
        }
    }
    for (struct rt_op *next, *op = queue->first; op; op = next) {
        next = op->next;
        op_destroy(op);
    }
    while (queue->streams) {
        stream_free(queue->streams);
    }
    for (struct rt_pool *next, *pool = queue->pools; pool; pool = next) {
        next = pool->next;
        pool_free(pool);
    }
    vec_free(&queue->running);
    vec_free(&queue->frees);
    vec_free(&queue->leaving);
    vec_free(&queue->conditions);
    vec_free(&queue->null_stream.latest);
    pthread_cond_destroy(&queue->progressed);
    pthread_cond_destroy(&queue->watch_end);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
    rt->queue = NULL;
}
