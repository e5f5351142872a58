/*
 * The SM's state, shared by the files of this room and by nobody else.
 *
 * A warp slot is one bit in a 64-bit word. A running warp is in exactly one place:
 *   - `ready`: its next instruction may issue as far as the scoreboard is concerned;
 *   - the wheel: it becomes ready at warp->ready_cycle, which is known;
 *   - nowhere (`blocked`): it waits for a reply, a barrier or a fence, and whoever ends that calls
 *     warp_refresh().
 *
 * The wheel has one word of warps for each of the 64 cycles after `cycle`; wheel_used has a bit for
 * each of its words. Later cycles are clamped to the last word and put back when they come up.
 */
#ifndef SONDE_CORE_STATE_H
#define SONDE_CORE_STATE_H

#include "core/coalesce.h"
#include "core/merge.h"
#include "core/pending/pending.h"
#include "core/sched/sched.h"
#include "core/sm.h"
#include "exec/barrier.h"

#define CYCLE_NEVER UINT64_MAX
#define WHEEL_CYCLES 64
#define TRANSLATION_ENTRIES 64

enum warp_state { WARP_FREE, WARP_RUNNING, WARP_AT_BARRIER, WARP_EXITED };

struct sm_cta {
    struct exec_cta exec;
    bool used;
    uint64_t warps;               /* its warp slots */
    uint32_t live_warps;          /* not exited */
    uint32_t outstanding;         /* accesses of all its warps that are not complete */
    struct cta_barriers barriers; /* know warps by their index in the CTA */
    struct exec_warp *by_index[CTA_WARPS_MAX];
    uint8_t slot_of[CTA_WARPS_MAX];
};

struct sm_warp {
    const struct exec_uop_info *next; /* the instruction at exec.pc */
    uint64_t ready_cycle;
    uint64_t next_issue;  /* the instruction before allows the next from here on */
    uint64_t *slot_ready; /* by register slot, then by predicate slot */
    uint64_t *pred_ready;
    struct sm_cta *cta;
    uint32_t slot, index; /* in the SM; in the CTA */
    uint32_t scheduler;   /* that the slot is dealt to */
    enum warp_state state;
    bool blocked;
    uint32_t outstanding;       /* accesses that are not complete */
    uint32_t loads_out;         /* those among them with a result */
    uint32_t atomics_out;       /* atomics issued and not yet performed */
    uint32_t acquires_out;      /* accesses with acquire that are not complete */
    struct lsu_access *atomics; /* those that have left the LSU's queue, oldest first */
    struct exec_warp exec;
    struct exec_env env;
};

/*
 * The ways of accesses that wait for memory, each with a queue of its own: the load/store unit's
 * (global and local memory), the texture unit's (fetches, and read-only loads where the model sends
 * them there), the constant caches'.
 */
enum pipe { PIPE_LSU, PIPE_TEXTURE, PIPE_CONSTANT, PIPE_COUNT };

/* A warp memory instruction on its way through one of them. */
struct lsu_access {
    struct lsu_access *next; /* in the queue, in the texture unit, or in the list of free ones */
    struct lsu_access *next_atomic;
    struct sm_warp *warp;
    const struct exec_uop_info *info;
    uint64_t lookup_cycle; /* not sent before */
    uint32_t count, sent;  /* transactions */
    uint32_t replies_left; /* of those sent */
    uint64_t done_cycle;   /* texture: its data are there, but for the filter */
    uint64_t written_ps;   /* the next answer may be written back from here on */
    const struct mem_port *port;
    enum pipe pipe;
    bool started, bypass, answered;
    bool performed;         /* an atomic: on the memory image */
    uint32_t unserved_left; /* an atomic: requests that L2 has not performed */
    bool stalled;           /* has found no place among what may be outstanding */
    struct exec_access access;
    struct transaction transaction[COALESCE_MAX]; /* last: mostly few of many */
};

struct lsu_request {
    struct mem_request mem; /* first: what travels */
    struct lsu_access *owner;
    struct lsu_request *next_free;
    bool served; /* of an atomic: L2 has performed it */
};

struct lsu_queue {
    struct lsu_access *head, **end; /* in order of issue */
    uint32_t count, entries;
    uint32_t lookup_cycles; /* issue to the first lookup */
    uint64_t next_cycle;    /* the head may go on; CYCLE_NEVER: nothing to do, or refused */
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
    bool waits;   /* somebody does for a place among what may be outstanding */
    struct lsu_lane lane[SM_MAX_WARPS]; /* in order of their start */
};

struct lsu {
    uint64_t next_cycle; /* the earliest of the queues' */
    struct lsu_queue queue[PIPE_COUNT];
    struct lsu_access *spare; /* what the next instruction is issued into */
    struct lsu_access *free_accesses;
    struct lsu_request *free_requests;
    uint32_t requests_out;
    bool simple; /* one lane, a request a cycle, no bound on what is outstanding */
    struct lsu_lanes lanes;
    struct pending pending;
    struct merge_table merge;
};

/* What has left the texture unit's queue, in order of issue: see texture.c. */
struct texture_fifo {
    struct lsu_access *head, **end;
    uint64_t last_cycle; /* the newest result's */
};

struct sm_unit {
    uint32_t latency_cycles, lanes_per_cycle;
    uint64_t busy_lanes;  /* free again at this time, counted in lanes_per_cycle-ths of a cycle */
    uint64_t ready_warps; /* of `ready`: those whose next instruction goes here */
};

struct sm {
    /* What every cycle touches. */
    uint64_t ready;
    uint64_t cycle; /* all cycles up to this one are over */
    uint64_t wheel_used;
    uint64_t wheel[WHEEL_CYCLES];
    uint64_t scheduled_cycle; /* of the pending event, CYCLE_NEVER: none */
    bool running;             /* inside sm_run: no event needed */
    bool aborted; /* nothing goes on; until sm_abort(), queues still hold what they held */
    bool reset;   /* sm_abort() has emptied them */
    const struct sched_ops *sched;
    struct sched_state scheduler[SM_MAX_WARPS];
    uint32_t first_scheduler; /* in this cycle */
    uint32_t loads_per_warp;
    uint32_t issue_interval;
    uint64_t
        issued_cycle;  /* the last in which an instruction issued, or CTAs came to an empty SM */
    enum sm_wait wait; /* since then */
    const struct exec_uop_info *program;
    const struct sm_spec *spec;
    struct engine *engine;
    uint64_t period_ps;
    uint32_t source;
    struct lsu lsu;
    struct texture_fifo texture;
    struct sm_unit unit[ISA_UNIT_COUNT];
    struct sm_warp warp[SM_MAX_WARPS];
    uint64_t warp_start[SM_MAX_WARPS]; /* order of starting, for the scheduler */
    struct sm_stats stats;

    /* Set-up. */
    uint32_t id, sm_count;
    struct mem_port l1, network, texture_port, constant_port;
    bool has_l1, has_texture, has_constant;
    struct shared_spec banks; /* in the mode that was chosen */
    struct sm_host host;
    struct {
        uint64_t page, frame;
    } translation[TRANSLATION_ENTRIES];
    uint32_t page_shift;

    /* Local memory of this SM's warp slots, one after the other; local_words 0: not placed. */
    uint64_t local_address, local_words;

    /* The launch. */
    const struct exec_launch *launch;
    struct cta_needs needs;
    uint32_t max_warps;
    uint64_t shared_bytes; /* of the SM */
    uint64_t warps_used;   /* slots */
    uint64_t warps_started;
    uint64_t registers_used, shared_used;
    uint32_t threads_used, cta_count;
    struct sm_cta *cta; /* max_ctas of them */
    uint8_t *shared;    /* shared memory of the CTA slots, one after the other */
    uint64_t shared_capacity;
    uint64_t *scoreboard; /* all warps' ready cycles */
    uint64_t scoreboard_capacity;
    struct exec_stores *stores; /* NULL: none are kept back */
    bool keeps_stores;
    uint64_t slots; /* of a warp in it: registers, then predicates */
};

/* sm.c */
/* Returns the first edge at or after the engine's now; `cycle` becomes at least the one before. */
uint64_t sm_sync(struct sm *sm);
void sm_wake(struct sm *sm, uint64_t cycle); /* run at `cycle` or as soon as possible after */
void sm_fault(struct sm *sm, int code);

/* cta.c */
void cta_try_retire(struct sm *sm, struct sm_cta *cta);

/* ready.c */
void warp_refresh(struct sm *sm, struct sm_warp *warp); /* look at the next instruction again */
void wheel_turn(struct sm *sm);                         /* what is due at sm->cycle is ready */
uint64_t wheel_next_cycle(const struct sm *sm);

/* issue.c */
uint64_t issue_cycle(struct sm *sm); /* issue what can in sm->cycle; the next cycle worth a look */

/* barrier.c */
void barrier_arrive(struct sm *sm, struct sm_warp *warp);
void barrier_exit(struct sm *sm, struct sm_warp *warp);

/* lsu.c */
int lsu_enqueue_spare(struct sm *sm, enum pipe pipe); /* queue lsu.spare and provide another */
void lsu_cycle(struct sm *sm);                        /* at most one transaction of each queue */
int lsu_init(struct sm *sm);
void lsu_release(struct sm *sm, struct lsu_access *access);
void lsu_reset(struct sm *sm);
void lsu_free(struct sm *sm);
bool lsu_translate(struct sm *sm, uint64_t vaddr, uint64_t *paddr);
/* What lanes.c shares with it. The head takes effect and becomes transactions; false: it waits. */
bool lsu_start(struct sm *sm, struct lsu_access *head, int *rc);
/* The next transaction of an access. 0: sent; 1: refused, there will be another try. */
int lsu_send(struct sm *sm, struct lsu_access *access);
void lsu_nudge(struct sm *sm, uint64_t cycle); /* what the head waited for has come */

/* lanes.c */
void lanes_init(struct sm *sm);
void lanes_cycle(struct sm *sm);
void lanes_reset(struct sm *sm);
void lanes_answered(struct sm *sm, uint64_t cycle);                             /* a request */
void lanes_end(struct sm *sm, const struct lsu_access *access, uint64_t cycle); /* all of one */

/* No unit of the SM can take what might go into a full queue: whose it is shows at issue only. */
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
void path_prepare(struct sm *sm, struct lsu_access *access); /* port and transactions */

/* footprint.c: the sectors that a fetch reads; `blocks`: as spec->texture.blocks_linear */
uint32_t texture_transactions(struct lsu_access *access, bool blocks);

/* texture.c */
void texture_enter(struct sm *sm, struct lsu_access *access); /* has left the queue */
void texture_answered(struct sm *sm, struct lsu_access *access, uint64_t cycle);
void texture_reset(struct sm *sm);

static inline bool is_atomic(const struct lsu_access *access)
{
    return access->access.kind == ACCESS_ATOMIC || access->access.kind == ACCESS_REDUCTION;
}

/* An access that waits for memory leaves something in a register: it counts among a warp's loads.
 */
static inline bool has_result(const struct exec_uop_info *info)
{
    return (info->dst_count | info->dst_pred_count) != 0;
}

/* complete.c */
void lsu_reply(void *ctx, uint64_t arg); /* to a struct lsu_request, of the SM ctx */
void lsu_answered(struct sm *sm, struct lsu_access *access, uint64_t cycle);
void access_complete(struct sm *sm, struct lsu_access *access, uint64_t cycle);

#endif
