/*
 * The lock of a device. It is recursive, goes to threads in the order in which they ask, and
 * whoever waits for work gives it back whole, so that other threads can put work in meanwhile.
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

/* A thread that waits for the lock; woken alone, when it is the first. */
struct lock_taker {
    struct lock_taker *next;
    pthread_cond_t first;
};

static void wait_in_line(struct queue *queue)
{
    struct lock_taker self = {.next = NULL}, **end = &queue->takers;
    pthread_cond_init(&self.first, NULL);
    while (*end) {
        end = &(*end)->next;
    }
    *end = &self;
    atomic_fetch_add(&queue->wanting, 1);
    while (queue->depth > 0 || queue->takers != &self) {
        pthread_cond_wait(&self.first, &queue->mutex);
    }
    atomic_fetch_sub(&queue->wanting, 1);
    queue->takers = self.next;
    pthread_cond_destroy(&self.first);
}

/* With the mutex. */
static void take(struct queue *queue, uint32_t depth)
{
    if (queue->depth > 0 || queue->takers) {
        wait_in_line(queue);
    }
    queue->owner = pthread_self();
    queue->depth = depth;
}

/* Threads that wait for work are woken when some is done, or nobody makes it go on any more. They
 * see what is told here, with the mutex: the rest belongs to whoever has the lock. */
static uint32_t give(struct queue *queue)
{
    uint32_t depth = queue->depth;
    queue->depth = 0;
    if (queue->takers) {
        pthread_cond_signal(&queue->takers->first);
    }
    if (queue->progress != queue->progress_told || !queue->pumping) {
        pthread_cond_broadcast(&queue->progressed);
    }
    queue->progress_told = queue->progress;
    queue->pumping_told = queue->pumping;
    return depth;
}

void rt_lock(struct rt *rt)
{
    struct queue *queue = rt->queue;
    pthread_mutex_lock(&queue->mutex);
    if (is_owner(queue)) {
        queue->depth++;
    } else {
        take(queue, 1);
    }
    pthread_mutex_unlock(&queue->mutex);
}

void rt_unlock(struct rt *rt)
{
    struct queue *queue = rt->queue;
    pthread_mutex_lock(&queue->mutex);
    queue->calls++;
    if (queue->depth == 1) {
        give(queue);
    } else {
        queue->depth--;
    }
    pthread_mutex_unlock(&queue->mutex);
}

void queue_yield(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    take(queue, give(queue));
    pthread_mutex_unlock(&queue->mutex);
}

void queue_pause(struct queue *queue, const struct timespec *pause)
{
    pthread_mutex_lock(&queue->mutex);
    uint32_t depth = give(queue);
    pthread_mutex_unlock(&queue->mutex);
    nanosleep(pause, NULL);
    pthread_mutex_lock(&queue->mutex);
    take(queue, depth);
    pthread_mutex_unlock(&queue->mutex);
}

void queue_wait_change(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    uint64_t progress = queue->progress;
    uint32_t depth = give(queue);
    while (queue->pumping_told && queue->progress_told == progress) {
        pthread_cond_wait(&queue->progressed, &queue->mutex);
    }
    take(queue, depth);
    pthread_mutex_unlock(&queue->mutex);
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

void queue_call_host(struct queue *queue, const struct op_host *host, int status)
{
    pthread_mutex_lock(&queue->mutex);
    queue->progress++; /* what waits for the end of all work need not wait for this */
    uint32_t depth = give(queue);
    queue->calling_host++;
    pthread_mutex_unlock(&queue->mutex);
    in_host_function = true;
    if (host->fn) {
        host->fn(host->ctx);
    } else {
        host->told(host->ctx, status);
    }
    in_host_function = false;
    pthread_mutex_lock(&queue->mutex);
    take(queue, depth);
    queue->calling_host--;
    pthread_mutex_unlock(&queue->mutex);
}
