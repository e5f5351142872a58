/*
 * When a resource that serves one thing at a time (a data port, a link) is taken. Components
 * compute times ahead of the clock, and not in order: a hit takes the data port 20 cycles from
 * now, a fill that comes later takes it before that. So a timeline keeps the busy intervals that
 * are still ahead, and a reservation goes into the first gap that holds it. Adjoining intervals
 * are one; a saturated resource has one interval, an idle one none.
 */
#ifndef SONDE_MEM_TIMELINE_H
#define SONDE_MEM_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct interval {
    uint64_t start_ps, end_ps;
};

struct timeline {
    struct engine *engine; /* whose clock says what is past; told when memory runs out */
    uint32_t count, capacity;
    struct interval *busy; /* ascending, disjoint */
};

void timeline_init(struct timeline *timeline, struct engine *engine);
void timeline_free(struct timeline *timeline);

/*
 * Takes the resource for `duration_ps` from `earliest_ps` or as soon after as it is free; returns
 * the start.
 */
uint64_t timeline_reserve(struct timeline *timeline, uint64_t earliest_ps, uint64_t duration_ps);

#endif
