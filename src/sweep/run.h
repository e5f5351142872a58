/* What the ranks of a sweep share: rank 0 deals points out (run.c), the others work (worker.c). */
#ifndef SONDE_SWEEP_RUN_H
#define SONDE_SWEEP_RUN_H

#include "sweep/point/pool.h"
#include "sweep/ranks.h"
#include "sweep/sweep.h"

/*
 * Between ranks go texts:
 *   "want"             to rank 0: a place is free, send a point
 *   "point N"          from rank 0: run it
 *   "stop"             from rank 0, instead of a point: there are no more
 *   "done N\n{...}"    to rank 0: the journal line of a point
 */
#define RUN_WANT "want"
#define RUN_STOP "stop"

/* Waits a little where nothing has happened, until a point ends; longer, up to some ms, the longer
 * nothing does. */
void sweep_pause(unsigned *idle, bool happened, const struct sweep_pool *pool);

/* A rank that works until rank 0 has no more points. */
int sweep_worker(const struct sweep_spec *spec, const struct sweep_points *points,
                 const struct sweep_request *request, struct sweep_ranks *ranks);

#endif
