/* Co-miss groups: lines that miss together share a set (co_miss.c). */
#ifndef SONDE_INFER_CO_MISS_H
#define SONDE_INFER_CO_MISS_H

#include "infer/level.h"

/*
 * Offsets of lines of one set, one more than fit together, among those at level->fit_stride;
 * `offsets` has room for level->fit_count + 1. None, *count 0, where none show.
 */
int co_miss_find(struct level *level, uint32_t *offsets, size_t *count);

#endif
