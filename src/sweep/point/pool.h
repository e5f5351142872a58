/*
 * Points under way on this host: each a process of its own, in a scratch folder of its own, which
 * is gone when the point has ended. So a point that crashes or hangs harms no other.
 */
#ifndef SONDE_SWEEP_POOL_H
#define SONDE_SWEEP_POOL_H

#include <jansson.h>
#include <stdbool.h>

#include "sweep/spec/spec.h"

struct sweep_pool;

/* `program`: the sonde command. At most `jobs` points at a time. Scratch folders are made in
 * $TMPDIR, or /tmp. `cancel`: set when the sweep is to end; NULL: never. */
int sweep_pool_create(struct sweep_pool **out, const struct sweep_spec *spec,
                      const struct sweep_points *points, const char *program, unsigned jobs,
                      const volatile int *cancel);
bool sweep_pool_has_room(const struct sweep_pool *pool);
size_t sweep_pool_running(const struct sweep_pool *pool);
/* Begins a point. A point that cannot begin (no such machine) ends at once, as any other. */
int sweep_pool_begin(struct sweep_pool *pool, size_t point);
/* Waits until a process of a point has ended, or so long. */
void sweep_pool_wait(const struct sweep_pool *pool, unsigned microseconds);
/* A point that has ended: its index, and its journal line (the caller's). False: none has. Looks at
 * limits too. Negative: the work cannot go on. SONDE_EINTERRUPTED: a point was ended by a signal
 * while the sweep was told to end. The signal went to the whole process group, which a process
 * leaves only after its start, so it says nothing about the point. */
int sweep_pool_end(struct sweep_pool *pool, bool *ended, size_t *point, json_t **line);
/* Ends what still runs, and removes all scratch. */
void sweep_pool_destroy(struct sweep_pool *pool);

#endif
