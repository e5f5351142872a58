/*
 * Turns. While SMs run apart, each sees the image of device memory and its own stores, and nobody
 * may change the image or call the driver. An instruction that does (printf, malloc, reductions in
 * bulk, what changes a tensor map) waits until nobody else executes: the SM stops in the middle of
 * its cycle, in front of the scheduler that would issue it, and its engine behind the SM's event.
 * When it is its turn the SM does the rest of that cycle, as if it had not stopped, and has its
 * engine go on. So nothing of the SM's own depends on the stop.
 */
#include "core/issue/issue.h"

#include <assert.h>

static void rest_of_cycle(struct sm *sm)
{
    sm->running = sm->turn.resumes = true;
    uint64_t next = issue_now(sm);
    sm->turn.resumes = false;
    if (sm->profile) {
        profile_cycle_ends(sm);
    }
    next = sm_cycle_ends(sm, next);
    sm->running = false;
    if (next < sm->scheduled_cycle && !sm->aborted) { /* else another one is to come before */
        sm_schedule(sm, next);
    }
}

/* The turn of an SM that no longer runs apart. */
static void on_turn(void *ctx, uint64_t arg)
{
    struct sm *sm = ctx;
    (void)arg;
    if (sm->turn.awaited) {
        sm->turn.awaited = false;
        rest_of_cycle(sm);
    }
}

bool sm_awaits_turn(const struct sm *sm)
{
    return sm->turn.awaited;
}

void sm_take_turn(struct sm *sm)
{
    assert(sm->turn.awaited && sm->turn.needed);
    sm->turn.awaited = sm->turn.needed = false;
    engine_go_on(sm->engine);
    rest_of_cycle(sm);
    sm->turn.needed = true;
}

void turn_set_needed(struct sm *sm, bool needed)
{
    sm->turn.needed = needed;
    if (sm->turn.awaited && !needed) {
        engine_at(sm->engine, sm->cycle * sm->period_ps, sm->source, on_turn, sm, 0);
    }
}
