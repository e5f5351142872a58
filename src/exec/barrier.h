/*
 * The barriers of one CTA: sixteen, each of which waits for a number of warps. Barriers count
 * warps, as hardware does: a warp arrives whole, whatever lanes executed the instruction, and a
 * warp whose last lane has exited counts as arrived at every barrier that waits for all.
 *
 * Beside them, groups of products (wgmma) of a warpgroup, four warps in a row: a group is one of
 * all four, so that none passes a wait for it before all have committed it. Then a warp that has
 * waited may tell others that what the four have read may be overwritten. Warps that have exited,
 * or that the CTA does not have, keep nobody waiting. Source: PTX ISA 9.0, 9.7.15.7.
 */
#ifndef SONDE_EXEC_BARRIER_H
#define SONDE_EXEC_BARRIER_H

#include "exec/exec.h"

#define CTA_BARRIERS 16
#define CTA_WARPS_MAX 64
#define WARPGROUP_WARPS 4

struct cta_barrier {
    uint64_t waiting;  /* warps that wait, by their index in the CTA */
    uint32_t arrived;  /* warps that have come, waiting or not */
    uint32_t expected; /* warps to wait for; 0: all that live */
    uint32_t count;    /* of lanes with a true predicate */
    uint32_t lanes;    /* of lanes that have come */
};

/* Groups of products, by the warp's index in the CTA. */
struct cta_products {
    uint64_t waiting;             /* warps that wait */
    uint32_t made[CTA_WARPS_MAX]; /* groups that the warp has committed */
    uint32_t
        wanted[CTA_WARPS_MAX]; /* those of them that it has last waited for: the first so many */
};

struct cta_barriers {
    struct cta_barrier barrier[CTA_BARRIERS];
    struct cta_products products;
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

static inline bool exec_barrier_is_of_products(enum exec_barrier_kind kind)
{
    return kind == BARRIER_PRODUCTS_ARRIVE || kind == BARRIER_PRODUCTS_WAIT;
}

/* What a warp that stands at a barrier waits for, as messages say it: "at barrier 3". */
void exec_barrier_text(char *out, size_t size, const struct exec_warp *warp);

/* The warps of the warpgroup that warp `index` belongs to, whether the CTA has them or not. */
static inline uint64_t cta_warpgroup(uint32_t index)
{
    return UINT64_C(0xf) << index / WARPGROUP_WARPS * WARPGROUP_WARPS;
}

#endif
