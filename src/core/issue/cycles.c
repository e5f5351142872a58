/*
 * From one cycle of the issue stage to the next, as long as nothing else happens in between: by the
 * loop of the warp that is alone, or by all schedulers.
 */
#include "core/issue/issue.h"

/* Whether the cycle `next` is here, because nothing else happens until then: no request leaves, no
 * event is due. */
static inline bool goes_on(struct sm *sm, uint64_t next)
{
    if (next >= sm->lsu.next_cycle || sm->aborted || sm->looked_at ||
        !(sm->ready | sm->wheel_used) || sm->ahead == 0 ||
        !engine_try_advance(sm->engine, next * sm->period_ps)) {
        return false;
    }
    sm->ahead--;
    sm->wait = sm->ready ? SM_WAIT_UNIT : SM_WAIT_RESULT;
    sm->cycle = next;
    if (sm->wheel[next % WHEEL_CYCLES]) {
        wheel_turn(sm);
    }
    return true;
}

uint64_t issue_cycle(struct sm *sm)
{
    uint64_t next;
    do {
        bool alone = sm->ready && (sm->ready & (sm->ready - 1)) == 0 && !sm->looked_at;
        next = alone ? issue_alone(sm) : issue_now(sm);
    } while (goes_on(sm, next));
    return next;
}
