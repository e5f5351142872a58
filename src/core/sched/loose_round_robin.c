/*
 * Loose round robin: the first ready warp after the one that issued last, in the order of warp
 * slots; "loose" because warps that are not ready lose their turn. The baseline scheduler of
 * Bakhoda et al. 2009, section 2.
 */
#include "core/sched/sched.h"

extern const struct sched_ops sched_ops_LOOSE_ROUND_ROBIN;

static uint32_t pick(const struct sched_state *state, uint64_t ready, const uint64_t *start)
{
    (void)start;
    /* Two shifts, since a shift by 64 (last == 63) would be undefined. */
    uint64_t after = ready >> state->last >> 1 << state->last << 1;
    return (uint32_t)__builtin_ctzll(after ? after : ready);
}

const struct sched_ops sched_ops_LOOSE_ROUND_ROBIN = {.pick = pick};
