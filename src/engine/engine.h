/*
 * The event engine: time in integer picoseconds, events ordered by (time, source, sequence),
 * where the sequence is the order of scheduling. It knows nothing about GPUs. One engine serves
 * one group of components; groups that run in parallel own one engine each and exchange events
 * only at horizons (gpu decides), so nothing here is global and every component holds a pointer
 * to the engine of its group. Groups that do not run in parallel for a while join: their engines
 * then are one, with one clock and one order of events.
 *
 * Components sleep: an event is scheduled only when something is to happen. A handler may schedule
 * further events at or after the current time. After construction the engine allocates only
 * when the high-water mark of pending events rises.
 */
#ifndef SONDE_ENGINE_ENGINE_H
#define SONDE_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENGINE_NEVER UINT64_MAX
#define ENGINE_SOURCE_MAX ((1u << 20) - 1)

struct engine;

typedef void engine_handler(void *ctx, uint64_t arg);

/* SONDE_ENOMEM. */
int engine_create(struct engine **out);
void engine_destroy(struct engine *engine);

uint64_t engine_now_ps(const struct engine *engine);

/*
 * Call handler(ctx, arg) at `time_ps`, which is not in the past. `source`: the id of the
 * scheduling component; breaks ties in time deterministically. Memory running out is
 * engine_fail(), so that none of the many callers needs a way back.
 */
void engine_at(struct engine *engine, uint64_t time_ps, uint32_t source, engine_handler *handler,
               void *ctx, uint64_t arg);

/*
 * Time of the earliest pending event, ENGINE_NEVER if none; inside engine_run_before() its limit if
 * that is earlier. Lets a lone component run ahead inline.
 */
uint64_t engine_next_ps(const struct engine *engine);

/* A component that ran ahead inline moves the clock itself; never past engine_next_ps(). */
void engine_advance(struct engine *engine, uint64_t time_ps);
/* The same where nothing is pending up to `time_ps`; false: something is, and the clock stays. */
bool engine_try_advance(struct engine *engine, uint64_t time_ps);

/*
 * Run one event / all events up to and including `until_ps`. False when nothing was pending or the
 * engine has failed. The clock stands at the last event run, never past it.
 */
bool engine_step(struct engine *engine);
void engine_run(struct engine *engine, uint64_t until_ps);
/* One event; no component runs ahead past `limit_ps`. */
bool engine_step_before(struct engine *engine, uint64_t limit_ps);
/* Run all events earlier than `limit_ps`, past which no component runs ahead. */
void engine_run_before(struct engine *engine, uint64_t limit_ps);

/*
 * From here on `engine` is another name of `into`: its events go there, which keep their order, and
 * none of them may be earlier than the clock of `into`. engine_part() undoes it, with the clock as
 * it then stands and no events. An engine joined to another cannot itself be joined to.
 */
void engine_join(struct engine *engine, struct engine *into);
void engine_part(struct engine *engine);

/*
 * A component that cannot go on (memory is out) stops the engine for good: nothing runs any more,
 * and who runs it finds the first code given here, a negative SONDE_E..., or 0.
 */
void engine_fail(struct engine *engine, int code);
int engine_error(const struct engine *engine);

/*
 * A component that has to wait for somebody outside stops the engine behind the event that runs:
 * nothing runs any more until engine_go_on(). The clock stays.
 */
void engine_pause(struct engine *engine);
void engine_go_on(struct engine *engine);

size_t engine_pending(const struct engine *engine);

/* Clock domains: integer picoseconds a cycle. */
struct engine_clock {
    uint64_t period_ps;
};
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
