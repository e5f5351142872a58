/*
 * The barriers of one CTA: sixteen, each of which waits for a number of warps. Barriers count
 * warps, as hardware does: a warp arrives whole, whatever lanes executed the instruction, and a
 * warp whose last lane has exited counts as arrived at every barrier that waits for all.
 */
#ifndef SONDE_EXEC_BARRIER_H
#define SONDE_EXEC_BARRIER_H

#include "exec/exec.h"

#define CTA_BARRIERS 16
#define CTA_WARPS_MAX 64

struct cta_barrier {
    uint64_t waiting;  /* warps that wait, by their index in the CTA */
    uint32_t arrived;  /* warps that have come, waiting or not */
    uint32_t expected; /* warps to wait for; 0: all that live */
    uint32_t count;    /* of lanes with a true predicate */
    uint32_t lanes;    /* of lanes that have come */
};

struct cta_barriers {
    struct cta_barrier barrier[CTA_BARRIERS];
    uint64_t alive; /* warps of the CTA that have not exited */
};

void cta_barriers_init(struct cta_barriers *barriers, uint32_t warps);

/*
 * Warp `index` of the CTA has returned EXEC_BARRIER. Returns the warps that may go on now, as a
 * mask: it alone (arrive), nobody, or all that waited; their reductions have been delivered.
 * `warps` are the CTA's warps by index.
 */
uint64_t cta_barriers_arrive(struct cta_barriers *barriers, struct exec_warp *const *warps,
                             uint32_t index);

/* Warp `index` has exited; returns the warps that this lets go on. */
uint64_t cta_barriers_exit(struct cta_barriers *barriers, struct exec_warp *const *warps,
                           uint32_t index);

#endif
