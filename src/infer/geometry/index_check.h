/* The test of an index against drawn lines (index_check.c). */
#ifndef SONDE_INFER_INDEX_CHECK_H
#define SONDE_INFER_INDEX_CHECK_H

#include "infer/geometry/members.h"

enum { INDEX_CLASSES = 5 }; /* sets that must follow the rule */

/* Does a map predict drawn lines, of the eviction set and of other classes? */
int index_check(const struct eviction_set *eviction, bool *holds, struct set_map *map,
                struct rng *rng);

#endif
