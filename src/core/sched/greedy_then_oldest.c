/*
 * Greedy then oldest: keep issuing from one warp until it stalls, then take the warp that started
 * first. Keeps the working set of few warps in the caches. Rogers, O'Connor, Aamodt,
 * "Cache-Conscious Wavefront Scheduling", MICRO 2012, compare it with round robin.
 */
#include "core/sched/sched.h"

extern const struct sched_ops sched_ops_GREEDY_THEN_OLDEST;

static uint32_t pick(const struct sched_state *state, uint64_t ready, const uint64_t *start)
{
    if (ready >> state->last & 1) {
        return state->last;
    }
    uint32_t oldest = (uint32_t)__builtin_ctzll(ready);
    for (uint64_t rest = ready & (ready - 1); rest; rest &= rest - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(rest);
        if (start[slot] < start[oldest]) {
            oldest = slot;
        }
    }
    return oldest;
}

const struct sched_ops sched_ops_GREEDY_THEN_OLDEST = {.pick = pick};
