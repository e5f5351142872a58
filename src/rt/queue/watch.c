/*
 * The watchdog. Work runs when the host waits or polls; a host that does neither, but watches
 * memory that a kernel or a copy writes, would wait for ever. So a thread looks every few
 * milliseconds: when work is left and no call has come since, it makes the work go on, until there
 * is a call. Which milliseconds these are is the only thing that the host's clock decides; what may
 * depend on it stands in docs/adr/0010.
 */
#include <errno.h>
#include <time.h>

#include "rt/queue/state.h"
#include "util/error.h"
#include "util/hostthread.h"

/* With the mutex; false: it has to end. */
static bool sleep_a_while(struct queue *queue)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)queue->watch_ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!queue->watch_ends &&
           pthread_cond_timedwait(&queue->watch_end, &queue->mutex, &until) != ETIMEDOUT) {
    }
    return !queue->watch_ends;
}

static bool is_forgotten(const struct queue *queue, uint64_t calls)
{
    return queue->depth == 0 && queue->calls == calls && !queue->pumping && queue->first;
}

static void *watch(void *ctx)
{
    struct queue *queue = ctx;
    hostthread_is_ours();
    pthread_mutex_lock(&queue->mutex);
    for (uint64_t calls = queue->calls; sleep_a_while(queue); calls = queue->calls) {
        if (!is_forgotten(queue, calls)) {
            continue;
        }
        pthread_mutex_unlock(&queue->mutex);
        rt_lock(queue->rt);
        while (queue->first && atomic_load(&queue->wanting) == 0 && queue_push(queue)) {
        }
        rt_unlock(queue->rt);
        pthread_mutex_lock(&queue->mutex);
    }
    pthread_mutex_unlock(&queue->mutex);
    return NULL;
}

int watch_start(struct queue *queue)
{
    if (queue->watched || queue->watch_ms == 0) {
        return 0;
    }
    if (pthread_create(&queue->watchdog, NULL, watch, queue) != 0) {
        return error_set(SONDE_EIO, "the queue's thread cannot be started");
    }
    queue->watched = true;
    return 0;
}

void rt_set_watchdog(struct rt *rt, uint32_t milliseconds)
{
    rt_lock(rt);
    rt->queue->watch_ms = milliseconds;
    rt_unlock(rt);
}
