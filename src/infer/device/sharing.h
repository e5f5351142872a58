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

/*
 * The share of lines that miss (take longer than `threshold`) on a level's path after `other` has
 * read so many bytes; NULL: after nothing.
 */
int sharing_look(struct lab *lab, double *missing, const struct level_info *info, double threshold,
                 const struct walk_shape *shape, const struct path_info *other, uint64_t bytes);

#endif
