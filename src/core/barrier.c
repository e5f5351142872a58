/*
 * Warps at barriers: exec/barrier.h counts and says who may go on; here they stop and go. A
 * released warp issues again after the barrier unit's latency.
 */
#include "core/state.h"

static void release(struct sm *sm, struct sm_cta *cta, uint64_t indices)
{
    for (; indices; indices &= indices - 1) {
        struct sm_warp *warp = &sm->warp[cta->slot_of[__builtin_ctzll(indices)]];
        if (warp->state == WARP_AT_BARRIER) {
            warp->state = WARP_RUNNING;
            warp->next_issue = sm->cycle + sm->unit[UNIT_BARRIER].latency_cycles;
            warp_refresh(sm, warp);
        }
    }
}

void barrier_arrive(struct sm *sm, struct sm_warp *warp)
{
    struct sm_cta *cta = warp->cta;
    uint64_t self = 1ull << warp->index;
    uint64_t go = cta_barriers_arrive(&cta->barriers, cta->by_index, warp->index);
    if (warp->exec.barrier_kind == BARRIER_ARRIVE) {
        warp_refresh(sm, warp);
        go &= ~self;
    } else {
        warp->state = WARP_AT_BARRIER;
    }
    release(sm, cta, go);
}

void barrier_exit(struct sm *sm, struct sm_warp *warp)
{
    struct sm_cta *cta = warp->cta;
    release(sm, cta, cta_barriers_exit(&cta->barriers, cta->by_index, warp->index));
}
