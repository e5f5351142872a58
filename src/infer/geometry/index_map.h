/* An index that is a list: the residue of the line's number says which set (index_map.c). */
#ifndef SONDE_INFER_INDEX_MAP_H
#define SONDE_INFER_INDEX_MAP_H

#include "infer/geometry/members.h"

/* Fills level->map when such a list is found and predicts drawn lines. */
int index_find_map(const struct eviction_set *eviction, bool *found, struct rng *rng);

/* index.c: does a map predict drawn lines, of the set and of others? */
int index_check(const struct eviction_set *eviction, bool *holds, struct set_map *map,
                struct rng *rng);

#endif
