/*
 * The two halves of a port.
 *
 *   request queue  a bounded first-in first-out queue of requests
 *   waiter         a sender whose request was refused, and the function that tells it of space
 *
 * When there is space, all waiters are called, each as an event of the present time, so that none
 * runs in the middle of another component's work. They are called in the order in which they asked.
 * A waiter that is refused again asks again. The one that was called first is called last the next
 * time, if it still stands first: so all senders get their turn.
 */
#ifndef SONDE_MEM_QUEUE_H
#define SONDE_MEM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "mem/mem.h"

struct waiter {
    engine_handler *handler;
    void *ctx;
    uint64_t arg;
};

struct waiters {
    struct engine *engine;
    uint32_t source;
    uint32_t count, capacity;
    struct waiter *list;
    struct waiter first; /* that was called first the last time */
};

void waiters_init(struct waiters *waiters, struct engine *engine, uint32_t source);
void waiters_free(struct waiters *waiters);
void waiters_add(struct waiters *waiters, engine_handler *handler, void *ctx, uint64_t arg);
void waiters_wake(struct waiters *waiters);
void waiters_wake_at(struct waiters *waiters, uint64_t time_ps);

struct request_queue {
    uint32_t count, capacity, head;
    struct mem_request **ring;
};

/* SONDE_ENOMEM. */
int request_queue_init(struct request_queue *queue, uint32_t capacity);
void request_queue_free(struct request_queue *queue);

static inline bool request_queue_full(const struct request_queue *queue)
{
    return queue->count == queue->capacity;
}

static inline struct mem_request *request_queue_head(const struct request_queue *queue)
{
    return queue->count ? queue->ring[queue->head] : NULL;
}

/* The queue must not be full. */
static inline void request_queue_push(struct request_queue *queue, struct mem_request *request)
{
    uint32_t i = queue->head + queue->count++;
    queue->ring[i >= queue->capacity ? i - queue->capacity : i] = request;
}

/* The queue must not be empty. */
static inline void request_queue_pop(struct request_queue *queue)
{
    queue->head = queue->head + 1 == queue->capacity ? 0 : queue->head + 1;
    queue->count--;
}

/* Requests without a bound, linked through `next`. */
struct request_list {
    struct mem_request *head, *tail;
};

static inline void request_list_push(struct request_list *list, struct mem_request *request)
{
    request->next = NULL;
    if (list->head) {
        list->tail->next = request;
    } else {
        list->head = request;
    }
    list->tail = request;
}

/* The list must not be empty. */
static inline struct mem_request *request_list_pop(struct request_list *list)
{
    struct mem_request *request = list->head;
    list->head = request->next;
    return request;
}

#endif
