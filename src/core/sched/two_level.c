/*
 * Two levels: warps form fetch groups of neighbouring slots. Round robin inside the group that
 * issued last as long as one of its warps is ready, then the next group with one. So groups reach
 * their long waits one after the other instead of all at once. Narasiman et al., "Improving GPU
 * Performance via Large Warps and Two-Level Warp Scheduling", MICRO 2011.
 */
#include "core/sched/sched.h"

extern const struct sched_ops sched_ops_TWO_LEVEL;

/* Bits from `first` on, none from 64 on. */
static uint64_t from(uint32_t first)
{
    return first < SM_MAX_WARPS ? UINT64_MAX << first : 0;
}

static uint32_t pick(const struct sched_state *state, uint64_t ready, const uint64_t *start)
{
    (void)start;
    uint32_t group = state->last / state->group_slots * state->group_slots;
    uint64_t beyond = from(group + state->group_slots);
    uint64_t inside = ready & from(group) & ~beyond;
    uint64_t behind = inside & from(state->last + 1);
    if (inside) {
        return (uint32_t)__builtin_ctzll(behind ? behind : inside);
    }
    return (uint32_t)__builtin_ctzll(ready & beyond ? ready & beyond : ready);
}

const struct sched_ops sched_ops_TWO_LEVEL = {.pick = pick};
