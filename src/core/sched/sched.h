/*
 * Warp schedulers: which of the ready warps issues next. A scheduler sees one bit a warp slot and
 * keeps a few words of state; whether a warp is ready is the scoreboard's business, not its own.
 * Each policy is one file here and one row in sched.def.
 */
#ifndef SONDE_CORE_SCHED_SCHED_H
#define SONDE_CORE_SCHED_SCHED_H

#include <stdint.h>

#include "core/spec.h"

#define SM_MAX_WARPS 64 /* one bit each in a word */

/* One scheduler's state: plain data, all zero at the start. */
struct sched_state {
    uint64_t warps;       /* the warp slots dealt to this scheduler */
    uint32_t last;        /* slot that issued last */
    uint32_t group_slots; /* of a fetch group, at least 1 */
    uint64_t next_cycle;  /* it issues again from here on */
};

struct sched_ops {
    /*
     * Choose one of `ready`, which is not empty. `start[slot]` is the order in which the warps
     * started (smaller: older). The choice is final only after `issued`: the caller may ask again
     * with fewer candidates when the chosen warp's unit is busy.
     */
    uint32_t (*pick)(const struct sched_state *state, uint64_t ready, const uint64_t *start);
};

const struct sched_ops *sched_ops(enum sched_kind kind);
const char *sched_name(enum sched_kind kind);

#endif
