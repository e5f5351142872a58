/*
 * Which paths go through the same cache.
 *
 *   path     the loads of one operator
 *   shared   two paths share a cache if either evicts the other's lines from it
 *   missing  the share of lines that are no longer there
 */
#ifndef SONDE_INFER_SHARING_H
#define SONDE_INFER_SHARING_H

#include "infer/level.h"

/* A path whose lines are looked for, and what tells its hits from its misses, as in the level. */
struct sharing_path {
    const struct level_info *info;
    const struct level_timing *timing;
    uint32_t repeats;
};

/* The share of lines that miss on a path after `other` has read so many bytes; NULL: after nothing.
 */
int sharing_look(struct lab *lab, double *missing, const struct sharing_path *own,
                 const struct walk_shape *shape, const struct path_info *other, uint64_t bytes);

#endif
