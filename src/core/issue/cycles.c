/*
 * From one cycle of the issue stage to the next, as long as nothing else happens in between: by
 * rote, by the loop of the warp that is alone, or by all schedulers.
 */
#include "core/issue/rote.h"

static inline bool is_alone(const struct sm *sm)
{
    return sm->ready && (sm->ready & (sm->ready - 1)) == 0 && !sm->looked_at;
}

uint64_t issue_cycle(struct sm *sm)
{
    uint64_t next;
    do {
        if (is_alone(sm) && !sm->wheel_used && sm->rote_entries > 0 &&
            rote_go(sm, &next) == ROTE_STEP_OVER) {
            continue;
        }
        next = is_alone(sm) ? issue_alone(sm) : issue_now(sm);
    } while (issue_goes_on(sm, next));
    return next;
}
