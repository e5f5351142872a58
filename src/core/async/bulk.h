/* The engine's copies and requests, for bulk.c and pool.c alone. */
#ifndef SONDE_CORE_ASYNC_BULK_H
#define SONDE_CORE_ASYNC_BULK_H

#include "core/async/async.h"
#include "mem/mem.h"

struct bulk_request {
    struct mem_request mem; /* first: what travels */
    struct bulk_copy *copy;
    struct bulk_request *next;
};

struct bulk_copy {
    struct bulk_copy *next; /* in the queue, or in the pool */
    struct sm_warp *warp;
    enum transfer_kind kind;
    uint32_t group;         /* OUT: its place in warp->bulk */
    uint32_t epoch;         /* of arrivals alone (arrive.c), which wait for it and those before */
    uint64_t start_cycle;   /* of the first request */
    uint32_t piece, offset; /* what is sent next */
    uint32_t replies_left;  /* of those sent, and one while not all are sent */
    bool dropped;           /* by a reset: nobody waits for it */
    VEC(struct transfer_piece) pieces;
    VEC(struct transfer_arrival) arrivals;
};

/* pool.c: memory is taken up to the high-water mark and kept. NULL: there is none. */
struct bulk_copy *bulk_copy_take(struct bulk_engine *bulk);
void bulk_copy_release(struct bulk_engine *bulk, struct bulk_copy *copy);

#endif
