/*
 * A launch without timing on its way, from inside. For the files of this folder: flight.c, which
 * runs CTAs, share.c, which shares them out to host threads, and run.c. Everybody else uses
 * exec/exec.h.
 */
#ifndef SONDE_EXEC_RUN_H
#define SONDE_EXEC_RUN_H

#include <stdatomic.h>

#include "exec/barrier.h"
#include "exec/exec.h"
#include "exec/memory/direct.h"

struct exec_cluster;
struct exec_counts;
struct exec_observer;
struct flight;
struct shares;
struct team;

/* What runs one CTA at a time. */
struct runner {
    struct flight *flight;
    const struct exec_launch *launch;
    struct exec_cta cta;
    struct exec_env env;
    struct cta_barriers barriers;
    struct exec_access access;
    struct exec_warp warp[CTA_WARPS_MAX];
    struct exec_warp *warps[CTA_WARPS_MAX];
    uint32_t warp_count;
    uint64_t ready;                          /* warps that can issue */
    uint64_t turn;                           /* warps that still have their slice of this turn */
    uint64_t begun;                          /* warps whose state is their own */
    struct exec_state *spare[CTA_WARPS_MAX]; /* of those that have ended: the last is used first */
    uint32_t spares;
    direct_fn *direct;
    direct_reach_fn *reach;
    struct direct_ways ways; /* for the kinds of uops that are only there where it has them */
    const struct exec_observer *observer; /* NULL: nobody observes */
    const uint8_t *watch;                 /* what it wants to see, by pc */
    const struct exec_counts *counts;     /* NULL: it is told of all */
};

/* When a launch is looked at next, whether it will never end. */
struct endless {
    uint64_t next, wait; /* warp instructions: then; after the next look */
    uint32_t visits;     /* branches of a warp in it */
};

/* CTAs that run together, since they may wait for each other: one, those of a cluster, of a
 * cooperative launch all, or as many as the GPU holds (crowd.c). When those of a cluster have all
 * ended the next ones begin. */
struct flight {
    struct exec_run *run;
    struct exec_run_options *options; /* limits and counts */
    struct runner **runner;           /* of `places` */
    uint64_t places, first;           /* first: the number of the first of the CTAs */
    struct exec_cluster **clusters;   /* NULL: the program has no use for them */
    uint64_t cluster_count;
    const atomic_bool *pauses; /* soon, where it becomes true; NULL: never */
    struct crowd *crowd;       /* NULL: no more CTAs may come in flight */
    struct endless endless;
};

struct exec_run {
    const struct exec_launch *launch;
    struct exec_run_options *options;
    uint64_t ctas, rounds;
    atomic_uint_fast64_t begun; /* CTAs, in the order of clusters; may go beyond `ctas` */
    uint32_t cluster_size;
    struct flight *flight; /* the one of a launch that is not shared out, else the first */
    struct team *team;     /* NULL: it is not to be shared out */
    struct shares *shares; /* NULL: it is not shared out yet */
    void *observed;        /* the observer's, of the launch */
};

static inline bool flight_pauses(const struct flight *flight)
{
    return flight->pauses && atomic_load_explicit(flight->pauses, memory_order_relaxed);
}

/* flight.c. SONDE_ENOMEM; `*out` is then to be destroyed as well. */
int flight_create(struct flight **out, struct exec_run *run, struct exec_run_options *options);
void flight_destroy(struct flight *flight); /* NULL is allowed */
/* A turn of each CTA in flight, or the next ones when all have ended; !*alive: there are none. It
 * may pause in a CTA's turn, which goes on the next time. */
int flight_round(struct flight *flight, bool *alive);
/* Forgets its CTAs, which have not ended, and runs others alone, counted there. */
void flight_give_up(struct flight *flight, struct exec_run_options *options);

/* What %clock and %globaltimer count an instruction of a warp as: about what one takes that waits
 * for the last, so that programs that wait by a clock wait no longer than on a GPU. */
enum { INSN_CYCLES = 16, INSN_NS = 8 };

/* Counts of bits without the processor's instruction, which not every build has. */
static inline uint32_t count_lanes(uint32_t mask)
{
    if (mask == UINT32_MAX)
        return WARP_LANES;
    mask -= mask >> 1 & 0x55555555;
    mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
    return ((mask + (mask >> 4)) & 0x0f0f0f0f) * 0x01010101u >> 24;
}

/* quick.c: instructions in a row, until there are `most` or the next one is for flight.c. */
struct executed {
    uint64_t insns, lanes; /* of a warp; of threads */
};
void quick_run(struct runner *r, struct exec_warp *warp, uint64_t most, struct executed *executed);
/* The same for an observer that has r->counts: what it is told of is for flight.c, too. */
void quick_run_counted(struct runner *r, struct exec_warp *warp, uint64_t most,
                       struct executed *executed);

/* account.c. A warp begins with its first slice, where nobody looks at it before: those of a CTA
 * without barriers then have their registers in one place, one after the other. */
int runner_begin_warp(struct runner *r, uint32_t index);
int runner_begin_warps(struct runner *r); /* all that have not begun */
/* Account for what a warp has executed; an error when a limit is reached. */
int flight_account(struct runner *r, struct exec_warp *warp, uint64_t insns, uint64_t lanes);
/* The observer learns that the instruction at warp->pc is issued next. */
void runner_tell_issue(const struct runner *r, struct exec_warp *warp, uint32_t mask);
/* Where the warps of the CTAs in flight are, behind this thread's error; `code`. */
int flights_tell_positions(struct flight *const *flights, uint32_t count, int code);

/*
 * crowd.c: whether CTAs in flight seem to wait for CTAs that have not begun. The kernels that may
 * have such programs: see exec_program_ctas_are_apart().
 */
struct crowd_limits {
    uint64_t patience_warp_insns; /* since a CTA began, before anything is looked at */
    uint64_t look_warp_insns;     /* between two looks at a warp */
};
extern const struct crowd_limits crowding;

bool crowd_may_come(const struct exec_run *run);
int crowd_create(struct crowd **out); /* SONDE_ENOMEM */
void crowd_destroy(struct crowd *crowd);
void crowd_begins(struct flight *flight); /* a CTA has begun; there may be no crowd */
/* After each round, while there is a crowd: have all warps that may issue been seen to do the same
 * again? */
bool crowd_is_wanted(struct flight *flight);
/* How many CTAs are to be in flight then. */
uint64_t crowd_places(const struct flight *flight);

/* endless.c. After each round; SONDE_EFAULT: the launch will never end. */
void endless_begin(struct flight *flight);
int endless_check(struct flight *flight);

/*
 * share.c: a run's CTAs on the threads of its team. A launch first runs alone for a while, so that
 * short ones do not pay for waking threads; rounds of all threads are as long as progress, and the
 * caller, want to hear of it.
 */
struct sharing_limits {
    uint64_t alone_warp_insns, round_warp_insns;
};
extern const struct sharing_limits sharing;

int shares_create(struct exec_run *run);    /* into run->shares; SONDE_ENOMEM */
void shares_destroy(struct shares *shares); /* NULL is allowed */
/*
 * About so many warp instructions of all threads together; !*alive: all CTAs have ended. The error
 * is that of the lowest CTA that has one, as on one thread; CTAs behind it may have run, too. Where
 * CTAs have met, run->team and run->shares are NULL then, and they are to run alone.
 */
int shares_run(struct exec_run *run, uint64_t warp_insns, bool *alive);

#endif
