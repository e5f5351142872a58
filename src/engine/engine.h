/*
 * The event engine: time in integer picoseconds, events ordered by (time, source, sequence). It knows
 * nothing about GPUs. One engine serves one group of components; groups that run in parallel own
 * one engine each and exchange events only at horizons (gpu decides), so nothing here is global and
 * every component holds a pointer to the engine of its group.
 *
 * Components sleep: an event is scheduled only when something is to happen. A handler may schedule
 * further events at or after the current time. After construction the engine allocates only
 * when the high-water mark of pending events rises.
 */
#ifndef SONDE_ENGINE_ENGINE_H
#define SONDE_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#define ENGINE_NEVER UINT64_MAX

struct engine;

typedef void engine_handler(void *ctx, uint64_t arg);

int engine_create(struct engine **out);
void engine_destroy(struct engine *engine);

uint64_t engine_now_ps(const struct engine *engine);

/* `source`: the id of the scheduling component; breaks ties in time deterministically. */
void engine_at(struct engine *engine, uint64_t time_ps, uint32_t source, engine_handler *handler,
               void *ctx, uint64_t arg);

/* Time of the earliest pending event, ENGINE_NEVER if none. Lets a lone component run ahead inline. */
uint64_t engine_next_ps(const struct engine *engine);

/* A component that ran ahead inline moves the clock itself; never past engine_next_ps(). */
void engine_advance(struct engine *engine, uint64_t time_ps);

/* Run one event / all events up to and including `until_ps`. False when nothing was pending. */
bool engine_step(struct engine *engine);
void engine_run(struct engine *engine, uint64_t until_ps);

/* Clock domains: integer picoseconds a cycle. */
struct engine_clock { uint64_t period_ps; };
static inline uint64_t clock_cycles_to_ps(const struct engine_clock *c, uint64_t cycles)
{
    return cycles * c->period_ps;
}
/* The first edge at or after `time_ps`. */
static inline uint64_t clock_align(const struct engine_clock *c, uint64_t time_ps)
{
    return (time_ps + c->period_ps - 1) / c->period_ps * c->period_ps;
}

#endif
