/* Queues and waiting senders: what happens rarely. */
#include "mem/queue.h"

#include <stdlib.h>

#include "util/error.h"

void waiters_init(struct waiters *waiters, struct engine *engine, uint32_t source)
{
    *waiters = (struct waiters){.engine = engine, .source = source};
}

void waiters_free(struct waiters *waiters)
{
    free(waiters->list);
    waiters->list = NULL;
}

void waiters_add(struct waiters *waiters, engine_handler *handler, void *ctx, uint64_t arg)
{
    if (waiters->count == waiters->capacity) {
        uint32_t capacity = waiters->capacity ? waiters->capacity * 2 : 4;
        struct waiter *list = realloc(waiters->list, capacity * sizeof *list);
        if (!list) {
            engine_fail(waiters->engine, error_memory());
            return;
        }
        waiters->list = list;
        waiters->capacity = capacity;
    }
    waiters->list[waiters->count++] = (struct waiter){handler, ctx, arg};
}

static bool is_same(const struct waiter *a, const struct waiter *b)
{
    return a->handler == b->handler && a->ctx == b->ctx && a->arg == b->arg;
}

/* Who was called first had the first choice of the space: where it stands first again, it was
 * refused after it had been served, and the others go before it. */
void waiters_wake_at(struct waiters *waiters, uint64_t time_ps)
{
    uint32_t count = waiters->count;
    uint32_t first = count > 1 && is_same(&waiters->list[0], &waiters->first);
    for (uint32_t i = 0; i < count; i++) {
        const struct waiter *w = &waiters->list[first + i < count ? first + i : 0];
        engine_at(waiters->engine, time_ps, waiters->source, w->handler, w->ctx, w->arg);
    }
    if (count) {
        waiters->first = waiters->list[first];
    }
    waiters->count = 0;
}

void waiters_wake(struct waiters *waiters)
{
    waiters_wake_at(waiters, engine_now_ps(waiters->engine));
}

int request_queue_init(struct request_queue *queue, uint32_t capacity)
{
    *queue = (struct request_queue){.capacity = capacity};
    queue->ring = calloc(capacity, sizeof(struct mem_request *));
    return queue->ring ? 0 : error_memory();
}

void request_queue_free(struct request_queue *queue)
{
    free(queue->ring);
    queue->ring = NULL;
}
