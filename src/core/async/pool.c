/* The bulk engine's memory, and how all that it has is forgotten. */
#include <stdlib.h>

#include "core/async/bulk.h"
#include "core/state.h"

struct bulk_copy *bulk_copy_take(struct bulk_engine *bulk)
{
    struct bulk_copy *copy = bulk->pool;
    if (copy) {
        bulk->pool = copy->next;
        vec_clear(&copy->pieces);
        vec_clear(&copy->arrivals);
        return copy;
    }
    return calloc(1, sizeof *copy);
}

void bulk_copy_release(struct bulk_engine *bulk, struct bulk_copy *copy)
{
    copy->next = bulk->pool;
    bulk->pool = copy;
}

void bulk_init(struct sm *sm)
{
    sm->async.bulk.end = &sm->async.bulk.head;
}

void bulk_reset(struct sm *sm)
{
    struct bulk_engine *bulk = &sm->async.bulk;
    while (bulk->head) {
        struct bulk_copy *copy = bulk->head;
        bulk->head = copy->next;
        copy->dropped = true;
        if (--copy->replies_left == 0) { /* else what it has sent is still to be answered */
            bulk_copy_release(bulk, copy);
        }
    }
    bulk->end = &bulk->head;
    bulk->full = false;
    transfers_clear(&bulk->issued);
}

void bulk_free(struct sm *sm)
{
    struct bulk_engine *bulk = &sm->async.bulk;
    bulk_reset(sm);
    while (bulk->pool) {
        struct bulk_copy *next = bulk->pool->next;
        vec_free(&bulk->pool->pieces);
        vec_free(&bulk->pool->arrivals);
        free(bulk->pool);
        bulk->pool = next;
    }
    while (bulk->requests) {
        struct bulk_request *next = bulk->requests->next;
        free(bulk->requests);
        bulk->requests = next;
    }
    transfers_free(&bulk->issued);
}
