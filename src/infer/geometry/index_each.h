/* An index that nothing predicts: the set of each line of a window (index_each.c). */
#ifndef SONDE_INFER_INDEX_EACH_H
#define SONDE_INFER_INDEX_EACH_H

#include "infer/geometry/members.h"

/* Fills level->map for the first lines, up to its limit, when each of them was put into a set and
 * drawn ones bear that out. `ways`: those of the conflicting set. */
int index_find_each(struct level *level, bool *found, size_t ways, struct rng *rng);

#endif
