/* An index that is a list: the residue of the line's number says which set (index_map.c). */
#ifndef SONDE_INFER_INDEX_MAP_H
#define SONDE_INFER_INDEX_MAP_H

#include "infer/geometry/members.h"

/* Fills level->map when such a list is found and predicts drawn lines. */
int index_find_map(const struct eviction_set *eviction, bool *found, struct rng *rng);

#endif
