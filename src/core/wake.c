/*
 * When the SM runs. It sleeps between two events; whatever can make a warp ready, or lets a queue
 * go on, wakes it. A fault ends the run and is reported to the GPU.
 */
#include "core/state.h"

/* An SM that slept has nothing to do before now: nothing on its wheel is due earlier. */
uint64_t sm_sync(struct sm *sm)
{
    uint64_t now = (engine_now_ps(sm->engine) + sm->period_ps - 1) / sm->period_ps;
    if (!sm->running && sm->cycle + 1 < now) {
        sm->cycle = now - 1;
    }
    return now;
}

void sm_schedule(struct sm *sm, uint64_t cycle)
{
    sm->scheduled_cycle = cycle;
    engine_at(sm->engine, cycle * sm->period_ps, sm->source, sm->run, sm, cycle);
}

/* What is due later than the wheel reaches waits on its last spoke, and is looked at there. */
void sm_wake(struct sm *sm, uint64_t cycle)
{
    uint64_t target = cycle > sm->cycle ? cycle : sm->cycle + 1;
    uint64_t wheel = sm->running ? CYCLE_NEVER : wheel_next_cycle(sm);
    target = wheel < target ? wheel : target;
    if (!sm->running && target < sm->scheduled_cycle) {
        sm_schedule(sm, target);
    }
}

void sm_fault(struct sm *sm, int code)
{
    sm->aborted = true;
    sm->host.fault(sm->host.ctx, sm->id, code);
}

/* What holds the SM up, should nothing issue until the next cycle that is worth a look: wait.def.
 */
static enum sm_wait what_it_waits_for(const struct sm *sm)
{
    if (sm->ready) {
        return SM_WAIT_UNIT;
    }
    if (sm->wheel_used) {
        return SM_WAIT_RESULT;
    }
    return sm->lsu.requests_out ? SM_WAIT_MEMORY : SM_WAIT_BARRIER;
}

uint64_t sm_cycle_ends(struct sm *sm, uint64_t next)
{
    sm->wait = what_it_waits_for(sm);
    return sm->lsu.next_cycle < next ? sm->lsu.next_cycle : next;
}
