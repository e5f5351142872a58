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

#include "core/async/async.h"
#include "core/memory/lsu.h"
#include "core/profile.h"
#include "core/repeat.h"
#include "core/sched/sched.h"
#include "core/sm.h"
#include "exec/cluster.h"

#define WHEEL_CYCLES 64
#define SUB_CORES_MAX 8

enum warp_state { WARP_FREE, WARP_RUNNING, WARP_AT_BARRIER, WARP_EXITED };

struct sm_cta {
    struct exec_cta exec;
    const struct sm_grid *grid;
    struct sm_cta_counts counts;
    bool used;
    uint64_t warps;               /* its warp slots */
    uint32_t live_warps;          /* not exited */
    uint32_t outstanding;         /* accesses of all its warps that are not complete */
    struct cta_barriers barriers; /* know warps by their index in the CTA */
    uint64_t phase_cycle;         /* nobody passes its cluster's barrier before */
    struct exec_warp *by_index[CTA_WARPS_MAX];
    uint8_t slot_of[CTA_WARPS_MAX];
};

/* wait_group leaves up to 7; another warp may be as many ahead, and one. */
#define PRODUCT_GROUPS 16

struct sm_warp {
    const struct exec_uop_info *next; /* the instruction at exec.pc */
    const struct exec_uop_info *program;
    uint64_t ready_cycle;
    uint64_t next_issue;    /* the instruction before allows the next from here on */
    uint64_t fence_cycle;   /* when a fence or release began that acts at the next issue; 0: none */
    uint64_t fence_queued;  /* sm->lsu.queued at that time */
    uint64_t *slot_ready;   /* cycle at which a result is ready, by exec_uop_info.place */
    uint64_t latest_result; /* none of those that are known is ready later */
    struct sm_cta *cta;
    uint32_t slot, index; /* in the SM; in the CTA */
    uint32_t scheduler;   /* that the slot is dealt to */
    const uint8_t *units; /* of its sub-core: by class, the place in sm->unit */
    struct sm_unit *unit; /* of a ready one: that `next` waits for */
    uint16_t part;        /* of an issue slot, in LOWER_ONE-ths: what lowered instructions left */
    uint16_t held;        /* of a cycle in which the scheduler is held, likewise */
    enum warp_state state;
    bool blocked;
    uint32_t outstanding;       /* accesses that are not complete */
    uint32_t loads_out;         /* those among them with a result */
    uint32_t atomics_out;       /* atomics issued and not yet performed */
    uint32_t acquires_out;      /* accesses with acquire that are not complete */
    uint32_t holds;             /* accesses that are not complete and keep the warp from issuing */
    struct lsu_access *atomics; /* those that have left the LSU's queue, oldest first */
    struct exec_warp exec;
    struct exec_env env;
    uint64_t products_ready;              /* end of all asynchronous products so far */
    uint64_t group_ready[PRODUCT_GROUPS]; /* end of each of the last groups of them: a ring, whose
                                             head cta->barriers.products knows */
    struct async_groups copies, bulk;     /* of cp.async, of bulk copies to device memory */
    struct copies_arrivals arrivals;
};

/* How far schedulers have come in a cycle. */
struct sm_pass {
    uint32_t scheduler, left; /* the next one; so many, it among them */
    uint64_t next_cycle;      /* worth a look, by those that have issued */
    bool waits;               /* one of these found all units taken */
};

/*
 * Where SMs run apart, an instruction that others would see at once waits for its SM's turn
 * (issue/turn.c): the cycle stands in front of it, and the engine with it.
 */
struct sm_turn {
    bool needed;  /* SMs run apart, and it is not this one's turn */
    bool awaited; /* the cycle stands */
    bool resumes; /* the schedulers are to go on with `pass` */
    struct sm_pass pass;
};

#define UNIT_NO_SHIFT UINT8_MAX

struct sm_unit {
    uint32_t latency_cycles, lanes_per_cycle;
    uint16_t warp_lanes;  /* that a warp takes: 32; of a sub-core's unit 32 times the sub-cores */
    uint8_t lanes_shift;  /* lanes_per_cycle is 1 << lanes_shift; UNIT_NO_SHIFT: no power of two */
    bool feeds_lsu;       /* issues into the LSU's queues: UNIT_LSU, UNIT_TEX */
    uint64_t busy_lanes;  /* when it is free again, in units of a cycle / lanes_per_cycle */
    uint64_t ready_warps; /* ready warps whose next instruction goes here */
};

struct sm {
    /* What every cycle touches. */
    uint64_t ready;
    uint64_t ready_beside; /* ready warps whose next instruction takes less than an issue slot: it
                              may issue although its unit is taken */
    uint64_t cycle;        /* all cycles up to this one are over */
    uint64_t wheel_used;
    uint64_t wheel[WHEEL_CYCLES];
    uint64_t scheduled_cycle; /* of the pending event, CYCLE_NEVER: none */
    engine_handler *run;      /* its handler */
    bool running;             /* inside sm_run: no event needed */
    uint32_t ahead;           /* cycles that it may still run inline */
    bool aborted; /* nothing goes on; until sm_abort(), queues still hold what they held */
    bool reset;   /* sm_abort() has emptied them */
    const struct sched_ops *sched;
    struct sched_state scheduler[SM_MAX_WARPS];
    uint32_t first_scheduler;             /* in this cycle */
    uint64_t shared_free[SM_MAX_WARPS];   /* a scheduler's way to shared memory is free */
    uint64_t barrier_free;                /* barriers let another warp go */
    uint64_t products_free[SM_MAX_WARPS]; /* a scheduler's tensor core takes another product */
    uint32_t loads_per_warp;
    uint32_t issue_interval;
    /* When device memory was last accessed, when far from here since the last fence for others that
     * is over, and when that began; 0: never. See memory/fence.c. */
    uint64_t accessed_cycle, far_cycle, fenced_cycle;
    uint64_t
        issued_cycle;  /* the last in which an instruction issued, or CTAs came to an empty SM */
    enum sm_wait wait; /* since then */
    struct sm_profile *profile; /* NULL: it is not profiled */
    struct sm_repeats *repeats; /* NULL: nobody asks whether warps repeat themselves */
    bool looked_at;             /* one of the two is not NULL */
    struct rote *rote;          /* issue/rote.h; NULL: nothing has been learned */
    uint32_t rote_entries;      /* that its books have; 0: nor is anything to be */
    const struct sm_spec *spec;
    struct engine *engine;
    uint64_t period_ps;
    uint32_t source;
    struct lsu lsu;
    struct sm_async async;
    struct texture_fifo texture;
    struct sm_unit unit[SUB_CORES_MAX * ISA_UNIT_COUNT]; /* the SM's own, then other sub-cores' */
    uint8_t unit_place[SUB_CORES_MAX][ISA_UNIT_COUNT];
    struct sm_warp warp[SM_MAX_WARPS];
    uint64_t warp_start[SM_MAX_WARPS]; /* order of starting, for the scheduler */
    struct sm_stats stats;

    /* Set-up. */
    uint32_t id, sm_count;
    struct mem_port l1, network, texture_port, constant_port;
    bool has_l1, has_texture, has_constant;
    struct sm_stores_wait stores_wait; /* zero: stores hold no warp */
    struct sm_gathers gathers;
    struct shared_spec banks; /* in the mode that was chosen */
    struct sm_host host;
    struct translation translation;

    /* Local memory of this SM's warp slots, one after the other; local_words 0: not placed. */
    uint64_t local_address, local_words;
    uint32_t local_slots;

    /* What is resident. */
    uint32_t max_warps;
    uint64_t shared_bytes; /* of the SM */
    uint64_t warps_used;   /* slots */
    uint64_t warps_started;
    uint32_t cta_count;
    struct sm_cta *cta; /* max_ctas of them */
    uint8_t *shared;    /* shared memory of the CTA slots, one after the other */
    uint64_t shared_stride, shared_capacity;
    VEC(uint8_t *) shared_before; /* what it was for CTAs that may still be resident */
    uint64_t *scoreboard;         /* all warps' ready cycles */
    uint64_t scoreboard_capacity;
    struct exec_stores *stores; /* NULL: none are kept back */
    bool keeps_stores;
    struct sm_turn turn;
    uint64_t slots;                  /* of a warp in the scoreboard: registers, then predicates */
    struct sm_repeats *repeats_room; /* NULL: not made yet */
};

void shared_before_free(struct sm *sm); /* cta.c: no CTA is resident */

/* What every ready warp needs of its unit. */
static inline bool unit_waits_for_lsu(const struct sm *sm, const struct sm_unit *unit)
{
    return unit->feeds_lsu && lsu_full(&sm->lsu);
}

static inline bool unit_is_free(const struct sm *sm, const struct sm_unit *unit)
{
    return unit->busy_lanes < (sm->cycle + 1) * unit->lanes_per_cycle &&
           !unit_waits_for_lsu(sm, unit);
}

/* The two common cases first: without a machine instruction for it, counting bits is a call. */
static inline uint32_t bit_count(uint32_t bits)
{
    if (bits == UINT32_MAX) {
        return WARP_LANES;
    }
    return (bits & (bits - 1)) == 0 ? bits != 0 : (uint32_t)__builtin_popcount(bits);
}

/* What an instruction writes is there at `cycle`; CYCLE_NEVER: nobody knows when. */
static inline void put_results(struct sm_warp *warp, const struct exec_uop_info *info,
                               uint64_t cycle)
{
    for (uint32_t i = info->place_count - info->result_count; i < info->place_count; i++) {
        warp->slot_ready[info->place[i]] = cycle;
    }
}

/* The same of a cycle that is known, and at which the unit has them. */
static inline void set_results(struct sm_warp *warp, const struct exec_uop_info *info,
                               uint64_t cycle)
{
    put_results(warp, info, cycle + info->late_cycles);
    warp->latest_result = cycle > warp->latest_result ? cycle : warp->latest_result;
}

/* Registers, then predicates: what an instruction's places count. */
static inline uint64_t program_slots(const struct exec_program *program)
{
    return (uint64_t)exec_program_slot_count(program) + exec_program_pred_count(program);
}

/* sm->profile or sm->repeats has changed. */
static inline void note_looked_at(struct sm *sm)
{
    sm->looked_at = sm->profile || sm->repeats;
}

/* Every access of an SM takes effect here. */
static inline int access_commit(struct sm *sm, struct sm_warp *warp,
                                const struct exec_access *access)
{
    if (sm->repeats) {
        repeat_commits(sm, warp, access);
    }
    return exec_commit(&warp->exec, access);
}

/* wake.c */
/* Returns the first edge at or after the engine's now; `cycle` becomes at least the one before. */
uint64_t sm_sync(struct sm *sm);
void sm_schedule(struct sm *sm, uint64_t cycle); /* the pending event is the one at `cycle` */
void sm_wake(struct sm *sm, uint64_t cycle);     /* run at `cycle` or as soon as possible after */
void sm_fault(struct sm *sm, int code);
/* All schedulers have issued, and `next` is worth a look; what the SM waits for until then is
 * noted. Returns the next cycle worth a look, the LSU's too. */
uint64_t sm_cycle_ends(struct sm *sm, uint64_t next);

/* cta.c */
void cta_try_retire(struct sm *sm, struct sm_cta *cta);

/* ready.c */
/* When what an instruction reads and writes is there, CYCLE_NEVER: not known yet. */
uint64_t warp_operands_ready(const struct sm_warp *warp, const struct exec_uop_info *info);
void warp_refresh(struct sm *sm, struct sm_warp *warp); /* look at the next instruction again */
/* memory/fence.c. A request for device memory leaves, for L1 or past it. */
void fence_sees(struct sm *sm, uint64_t paddr);
/* Whether this issue of a fence or release is the first of two, which only begins
 * it. */
bool fence_begins(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info);
/* Whether what comes next waits until all accesses of the warp are over. */
bool fence_drains(const struct sm *sm, const struct sm_warp *warp,
                  const struct exec_uop_info *info);
void wheel_turn(struct sm *sm); /* what is due at sm->cycle is ready */

/* The next cycle in which something is due. */
static inline uint64_t wheel_next_cycle(const struct sm *sm)
{
    if (!sm->wheel_used) {
        return CYCLE_NEVER;
    }
    /* Rotate so that the spoke of the next cycle is bit 0. */
    uint32_t next = (uint32_t)((sm->cycle + 1) % WHEEL_CYCLES);
    uint64_t used = sm->wheel_used;
    uint64_t rotated = next ? used >> next | used << (WHEEL_CYCLES - next) : used;
    return sm->cycle + 1 + (uint64_t)__builtin_ctzll(rotated);
}

/* issue/turn.c: SMs run apart from now on, or no longer. */
void turn_set_needed(struct sm *sm, bool needed);

/* issue.c */
/* Issue what can in sm->cycle, and in the cycles behind it as long as nothing but issues happens.
 * Returns the next cycle worth a look. */
uint64_t issue_cycle(struct sm *sm);

/* issue/books.c */
void rote_close(struct sm *sm); /* what is launched now may be another program */
void rote_free(struct rote *rote);
void rote_tell(struct sm *sm); /* what has been repeated is counted */

/* barrier.c */
void barrier_arrive(struct sm *sm, struct sm_warp *warp);
void barrier_exit(struct sm *sm, struct sm_warp *warp);
void barrier_leave(struct sm *sm, struct sm_cta *cta); /* the CTA has ended */

/* profile.c: of an SM that is profiled */
int profile_warp_starts(struct sm *sm, const struct sm_warp *warp);
void profile_cycle_begins(struct sm *sm); /* requests are out, nothing has issued */
void profile_cycle_ends(struct sm *sm);
void profile_issues(struct sm *sm, const struct sm_warp *warp, uint32_t lanes);
void profile_served(struct sm *sm, const struct lsu_access *access,
                    const struct mem_request *request);
void profile_cta_ends(struct sm *sm, const struct sm_cta *cta, uint64_t now);
void profile_stops(struct sm *sm); /* nothing goes on: who is resident leaves as it is */
void profile_free(struct sm *sm);  /* of any SM */

#endif
