/*
 * The SM's memory pipeline: from an access that the issue stage has described to its requests at L1
 * or the network, and back. The files, each of which uses only those below it:
 *
 *     complete.c                        replies, results, which warps go on
 *     lsu.c                             the queues
 *     lanes.c                           several accesses at a time, bounds on what is outstanding
 *     send.c                            an access takes effect, its requests go out
 *     texture.c, merge.c                the texture unit's FIFO; reads that join others
 *     path.c                            which way an access takes, which requests it becomes
 *     footprint.c, coalesce.c, banks.c  the rules for requests and for passes of shared memory
 *     pool.c, translate.c               memory for accesses; physical addresses
 */
#ifndef SONDE_CORE_MEMORY_LSU_H
#define SONDE_CORE_MEMORY_LSU_H

#include "core/memory/access.h"
#include "core/memory/merge.h"
#include "core/pending/pending.h"
#include "core/sched/sched.h"
#include "core/sm.h"

#define CYCLE_NEVER UINT64_MAX
#define TRANSLATION_ENTRIES 64

struct lsu_queue {
    struct lsu_access *head, **end; /* in order of issue */
    uint32_t count, entries;
    uint32_t lookup_cycles;   /* issue to the first lookup */
    uint32_t interval_cycles; /* between two requests of an access */
    uint64_t free_cycle;      /* the load before has the banks of L1's data until then */
    uint64_t next_cycle;      /* the head may go on; CYCLE_NEVER: nothing to do, or refused */
};

/* A place from which an access sends its requests. */
struct lsu_lane {
    struct lsu_access *access; /* NULL: it has sent all, and the place is not free yet */
    uint64_t start_cycle;
    uint64_t next_cycle; /* it may send again, or is free, from here on */
};

struct lsu_lanes {
    uint32_t most, busy;
    uint32_t request_cycles, instruction_cycles;
    bool refused; /* a port has no space, space_again() will be called */
    bool waits;   /* an access waits for a place among what may be outstanding */
    struct lsu_lane lane[SM_MAX_WARPS]; /* in order of their start */
};

struct lsu {
    uint64_t next_cycle; /* the earliest of the queues' */
    struct lsu_queue queue[PIPE_COUNT];
    struct lsu_access *spare; /* what the next instruction is issued into */
    struct access_pool pool;
    uint64_t queued, begun; /* accesses of PIPE_LSU so far, and those that have taken effect, or
                               been sent, of atomics */
    uint32_t requests_out;
    bool simple; /* one lane that is not slowed, no bound on what is outstanding */
    struct lsu_lanes lanes;
    struct pending pending;
    struct merge_table merge;
};

/* What has left the texture unit's queue, in order of issue: see texture.c. */
struct texture_fifo {
    struct lsu_access *head, **end;
    uint64_t last_cycle; /* the newest result's */
};

/* Pages whose frame is known, by the low bits of their number. */
struct translation {
    struct {
        uint64_t page, frame;
    } entry[TRANSLATION_ENTRIES];
    uint32_t page_shift;
};

/* lsu.c */
int lsu_init(struct sm *sm);
void lsu_reset(struct sm *sm);
void lsu_free(struct sm *sm);
int lsu_replace_spare(struct sm *sm);                 /* lsu.spare is somebody's: provide another */
int lsu_enqueue_spare(struct sm *sm, enum pipe pipe); /* queue lsu.spare and provide another */
void lsu_cycle(struct sm *sm); /* at most one transaction of each queue; of a load by L1's banks one
                                  for each */

/* send.c. The head takes effect and becomes transactions; false: it waits. */
bool lsu_start(struct sm *sm, struct lsu_access *head, int *rc);
/* The next transaction of an access. 0: sent; 1: refused, there will be another try. */
int lsu_send(struct sm *sm, struct lsu_access *access);
void lsu_nudge(struct sm *sm, uint64_t cycle); /* what the head waited for has come */

/* translate.c */
void translate_reset(struct sm *sm);
bool translate(struct sm *sm, uint64_t vaddr, uint64_t *paddr); /* false: no page is mapped */

/* lanes.c */
void lanes_init(struct sm *sm);
void lanes_cycle(struct sm *sm);
void lanes_reset(struct sm *sm);
void lanes_answered(struct sm *sm, uint64_t cycle);                             /* a request */
void lanes_end(struct sm *sm, const struct lsu_access *access, uint64_t cycle); /* all of one */

/* A memory instruction cannot issue while any queue is full: its queue is known at issue only. */
static inline bool lsu_full(const struct lsu *lsu)
{
    return lsu->queue[PIPE_LSU].count >= lsu->queue[PIPE_LSU].entries ||
           lsu->queue[PIPE_TEXTURE].count >= lsu->queue[PIPE_TEXTURE].entries ||
           lsu->queue[PIPE_CONSTANT].count >= lsu->queue[PIPE_CONSTANT].entries;
}

static inline void lsu_set_next(struct lsu *lsu, struct lsu_queue *queue, uint64_t cycle)
{
    queue->next_cycle = cycle;
    lsu->next_cycle = CYCLE_NEVER;
    for (uint32_t i = 0; i < PIPE_COUNT; i++) {
        uint64_t next = lsu->queue[i].next_cycle;
        lsu->next_cycle = next < lsu->next_cycle ? next : lsu->next_cycle;
    }
}

/* path.c: where an access goes; false: its time is fixed, nothing is asked of memory. */
bool path_choose(const struct sm *sm, const struct exec_access *access, enum pipe *pipe);
/* Of an L1 whose stores hold their warps: whether this access is one. */
bool path_store_waits(const struct sm *sm, enum pipe pipe, const struct exec_access *access);
void path_prepare(struct sm *sm, struct lsu_access *access); /* port and transactions */

/* footprint.c: the sectors that a fetch reads; `blocks`: as spec->texture.blocks_linear */
uint32_t texture_transactions(struct lsu_access *access, bool blocks);

/* texture.c */
void texture_enter(struct sm *sm, struct lsu_access *access); /* has left the queue */
void texture_answered(struct sm *sm, struct lsu_access *access, uint64_t cycle);
void texture_reset(struct sm *sm);

#endif
