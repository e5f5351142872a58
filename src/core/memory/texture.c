/*
 * The texture unit's pipeline. A fetch looks its texels up in the texture cache when it enters, and
 * then travels through a FIFO that is as long as the cache's hit takes, while what missed is
 * fetched (Igehy et al., Prefetching in a Texture Cache Architecture, 1998). At its end it waits
 * for its data, if they are not there, and those behind it wait with it: results leave in the order
 * of issue, one warp a cycle, through the filter.
 *
 *     issue -- address_cycles -- lookup -- the cache's hit_cycles -- filter_cycles -- usable
 *                                  |                            |
 *                                  +------- miss, network ------+
 *
 * The FIFO holds queue_entries accesses, those that wait for their lookup included. Leaves out:
 * filtering that takes more than one texel, and its rates.
 */
#include "core/state.h"

void texture_reset(struct sm *sm)
{
    struct texture_fifo *fifo = &sm->texture;
    while (fifo->head) {
        struct lsu_access *access = fifo->head;
        fifo->head = access->next;
        if (access->answered) {
            access_release(&sm->lsu.pool, access);
        }
    }
    fifo->end = &fifo->head;
    fifo->last_cycle = 0;
}

/* What is ready at the FIFO's end leaves it, and makes place for what a warp could not issue. */
static void texture_drain(struct sm *sm)
{
    struct texture_fifo *fifo = &sm->texture;
    if (sm->ready && fifo->head && fifo->head->answered) {
        sm_wake(sm, sm->cycle + 1);
    }
    while (fifo->head && fifo->head->answered) {
        struct lsu_access *access = fifo->head;
        uint64_t cycle = access->done_cycle + sm->spec->texture.filter_cycles;
        fifo->last_cycle = cycle > fifo->last_cycle ? cycle : fifo->last_cycle + 1;
        fifo->head = access->next;
        if (!fifo->head) {
            fifo->end = &fifo->head;
        }
        sm->lsu.queue[PIPE_TEXTURE].count--;
        access->completion->complete(sm, access, fifo->last_cycle);
    }
}

void texture_answered(struct sm *sm, struct lsu_access *access, uint64_t cycle)
{
    access->answered = true;
    access->done_cycle = cycle;
    texture_drain(sm);
}

/* Replies are later than the last request, with which an access leaves the queue. */
void texture_enter(struct sm *sm, struct lsu_access *access)
{
    access->next = NULL;
    *sm->texture.end = access;
    sm->texture.end = &access->next;
    if (access->count == 0) {
        texture_answered(sm, access, sm->cycle + sm->spec->texture.empty_cycles);
    }
}
