/* Counting at barriers; see barrier.h. */
#include "exec/barrier.h"

#include <string.h>

void cta_barriers_init(struct cta_barriers *barriers, uint32_t warps)
{
    memset(barriers, 0, sizeof *barriers);
    barriers->alive = warps >= 64 ? UINT64_MAX : (UINT64_C(1) << warps) - 1;
}

static uint32_t result_of(const struct cta_barrier *barrier, enum exec_barrier_kind kind)
{
    switch (kind) {
    case BARRIER_POPC:
        return barrier->count;
    case BARRIER_AND:
        return barrier->count == barrier->lanes;
    case BARRIER_OR:
        return barrier->count > 0;
    default:
        return 0;
    }
}

/* Let all go if enough have come. */
static uint64_t release(struct cta_barriers *barriers, uint32_t id, struct exec_warp *const *warps)
{
    struct cta_barrier *barrier = &barriers->barrier[id];
    uint32_t expected =
        barrier->expected ? barrier->expected : (uint32_t)__builtin_popcountll(barriers->alive);
    if (barrier->arrived == 0 || barrier->arrived < expected)
        return 0;
    uint64_t waiting = barrier->waiting;
    for (uint64_t rest = waiting; rest; rest &= rest - 1) {
        struct exec_warp *warp = warps[__builtin_ctzll(rest)];
        exec_barrier_result(warp, result_of(barrier, warp->barrier_kind));
    }
    memset(barrier, 0, sizeof *barrier);
    return waiting;
}

uint64_t cta_barriers_arrive(struct cta_barriers *barriers, struct exec_warp *const *warps,
                             uint32_t index)
{
    const struct exec_warp *warp = warps[index];
    struct cta_barrier *barrier = &barriers->barrier[warp->barrier_id % CTA_BARRIERS];
    uint64_t self = UINT64_C(1) << index;
    barrier->arrived++;
    barrier->count += (uint32_t)__builtin_popcount(warp->barrier_value);
    barrier->lanes += (uint32_t)__builtin_popcount(warp->barrier_lanes);
    if (warp->barrier_threads)
        barrier->expected = warp->barrier_threads / WARP_LANES;
    if (warp->barrier_kind != BARRIER_ARRIVE)
        barrier->waiting |= self;
    uint64_t released = release(barriers, warp->barrier_id % CTA_BARRIERS, warps);
    return warp->barrier_kind == BARRIER_ARRIVE ? released | self : released;
}

uint64_t cta_barriers_exit(struct cta_barriers *barriers, struct exec_warp *const *warps,
                           uint32_t index)
{
    uint64_t released = 0;
    barriers->alive &= ~(UINT64_C(1) << index);
    for (uint32_t id = 0; id < CTA_BARRIERS; id++)
        if (barriers->barrier[id].arrived && !barriers->barrier[id].expected)
            released |= release(barriers, id, warps);
    return released;
}
