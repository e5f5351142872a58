/*
 * The question of fit.c, asked of several groups of addresses in one walk.
 *
 *   group     addresses of one set, one after the other in the ring; each group gets a verdict
 *   watched   a group at the ring's beginning, past which other lines are walked
 *   round     walks with the same warm-up
 *
 * A walk must hold all the addresses that fall into a group's set, or watch one group.
 */
#ifndef SONDE_INFER_GROUPS_H
#define SONDE_INFER_GROUPS_H

#include "infer/fit/fit.h"

#define GROUP_NONE UINT32_MAX /* walked, not judged */

struct group_walk {
    const uint32_t *ring;  /* offsets, the members of a group one after the other */
    const uint32_t *group; /* of each element: 0 .. groups - 1, ascending, then GROUP_NONE */
    size_t count, groups;
};

/* One verdict a group. FIT_UNKNOWN: noise, or the loads that it may cost, left it open. */
int groups_test(struct level *level, enum fit_verdict *verdicts, const struct group_walk *walk);

/* The verdict on one ring: as a group where it is short, else by fit.c. */
enum { GROUP_MOST = 640 };
int groups_verdict(struct level *level, enum fit_verdict *out, const uint32_t *ring, size_t count);

#endif
