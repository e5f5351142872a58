/*
 * Asynchronous work of an SM: bulk copies (bulk.c), and warps that wait at barriers in shared
 * memory (wait.c).
 */
#ifndef SONDE_CORE_ASYNC_ASYNC_H
#define SONDE_CORE_ASYNC_ASYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory/access.h"
#include "core/sched/sched.h"
#include "exec/ops/async/transfer.h"

#define ASYNC_GROUPS 16 /* that may have copies under way, the one not committed too */

struct sm_cta;

/* A warp's groups of copies, in a ring; the one that is not committed has place `committed`. */
struct async_groups {
    uint32_t committed;
    uint32_t out[ASYNC_GROUPS]; /* copies under way */
};

/* Arrivals of a warp at barriers that come when its copies up to then are over, oldest first. */
struct copies_arrivals {
    uint32_t epoch;         /* of copies that issue now: arrivals have ended the earlier ones */
    struct bulk_copy *head; /* those that have not come */
};

/*
 * Does an instruction wait for copies? A wait leaves the group that is not committed and some
 * before it alone, and a commit waits until the next group's place is free.
 */
static inline bool async_groups_wait(const struct async_groups *groups, enum exec_groups what,
                                     uint32_t left)
{
    uint32_t first = what == GROUPS_WAIT_ALL ? 0 : left + 1u;
    if (what == GROUPS_ARRIVE) {
        return false;
    }
    if (what == GROUPS_COMMIT) {
        first = ASYNC_GROUPS - 1;
    }
    for (uint32_t i = first; what != GROUPS_NOTHING && i < ASYNC_GROUPS; i++) {
        if (groups->out[(groups->committed - i) % ASYNC_GROUPS]) {
            return true;
        }
    }
    return false;
}

/* bulk.h */
struct bulk_copy;
struct bulk_request;

struct bulk_engine {
    struct exec_transfers issued;  /* by the instruction that issues now */
    struct bulk_copy *head, **end; /* that have requests to send, in order of issue */
    struct bulk_copy *pool;        /* that are not in use */
    struct bulk_request *requests; /* likewise */
    uint32_t requests_out;
    bool scheduled, refused, full; /* an event will go on; a port, or a reply will tell */
};

struct async_waits {
    uint64_t slots; /* of warps that wait at a barrier */
    uint64_t deadline[SM_MAX_WARPS];
    struct lsu_access *access[SM_MAX_WARPS];
    uint64_t limit_cycle; /* of the event for the first deadline; 0: there is none */
};

struct sm_async {
    struct bulk_engine bulk;
    struct async_waits waits;
};

/* pool.c */
void bulk_init(struct sm *sm);
void bulk_reset(struct sm *sm); /* forget all; replies may still come */
void bulk_free(struct sm *sm);

/* bulk.c */
int bulk_issue(struct sm *sm, struct sm_warp *warp); /* what the warp's instruction has noted */

/* arrive.c */
/* What the warp's cp.async.mbarrier.arrive has noted: it comes when the copies are over.
 * SONDE_ENOMEM. */
int copies_arrive(struct sm *sm, struct sm_warp *warp);
void copies_over(struct sm *sm, struct sm_warp *warp, uint32_t epoch); /* one copy of that epoch */
void copies_forget(struct sm *sm, struct sm_warp *warp);

/* wait.c */
/* The access that the spare describes: its result is there, or the warp sleeps. SONDE_ENOMEM. */
int wait_begin(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info);
void wait_look(struct sm *sm); /* barriers may have changed: who goes on? */
/* A phase of the cluster's barrier is over: lanes that wait in warps of the CTA give way to those
 * that waited for it. */
void wait_others_go(struct sm *sm, const struct sm_cta *cta);
/* wait_look() on all SMs of the warp's cluster but this one, `cycles` from now. */
void wait_look_elsewhere(struct sm *sm, const struct sm_warp *warp, uint32_t cycles);
void wait_reset(struct sm *sm);

#endif
