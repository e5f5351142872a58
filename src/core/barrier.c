/*
 * Barriers of a CTA: who waits, when all have come, and with which result (barrier.red). A warp counts as 32
 * threads whatever its active lanes are; a barrier without a count waits for all warps that have not
 * exited. A released warp issues again after the barrier unit's latency. PTX ISA 9.0, 9.7.13.1.
 */
#include "core/state.h"
#include "util/error.h"

static void release(struct sm *sm, struct sm_barrier *barrier, uint64_t warps)
{
    enum exec_barrier_kind kind = barrier->kind;
    uint32_t value = kind == BARRIER_POPC ? barrier->true_lanes
                     : kind == BARRIER_AND ? barrier->true_lanes == barrier->lanes
                                           : barrier->true_lanes > 0;
    *barrier = (struct sm_barrier){0};
    for (; warps; warps &= warps - 1) {
        struct sm_warp *warp = &sm->warp[__builtin_ctzll(warps)];
        if (kind != BARRIER_SYNC && kind != BARRIER_ARRIVE) {
            exec_barrier_result(&warp->exec, value);
        }
        warp->state = WARP_RUNNING;
        warp->next_issue = sm->cycle + sm->unit[UNIT_BARRIER].latency_cycles;
        warp_refresh(sm, warp);
    }
}

static void check(struct sm *sm, struct sm_cta *cta, struct sm_barrier *barrier)
{
    uint32_t expected = barrier->threads ? barrier->threads : cta->live_warps * WARP_LANES;
    if (barrier->arrived > 0 && barrier->arrived >= expected) {
        release(sm, barrier, barrier->waiting);
    }
}

int barrier_arrive(struct sm *sm, struct sm_warp *warp)
{
    const struct exec_warp *exec = &warp->exec;
    if (exec->barrier_id >= SM_MAX_BARRIERS || exec->barrier_threads % WARP_LANES) {
        return error_set(SONDE_EFAULT, "barrier %u for %u threads: there are %d barriers, and they "
                         "count whole warps", exec->barrier_id, exec->barrier_threads,
                         SM_MAX_BARRIERS);
    }
    struct sm_barrier *barrier = &warp->cta->barrier[exec->barrier_id];
    if (barrier->arrived > 0 && barrier->threads != exec->barrier_threads) {
        return error_set(SONDE_EFAULT, "barrier %u: a warp waits for %u threads, another for %u",
                         exec->barrier_id, barrier->threads, exec->barrier_threads);
    }
    barrier->threads = exec->barrier_threads;
    barrier->arrived += WARP_LANES;
    if (exec->barrier_kind != BARRIER_ARRIVE) {
        barrier->kind = exec->barrier_kind;
        barrier->waiting |= 1ull << warp->slot;
        warp->state = WARP_AT_BARRIER;
    }
    barrier->lanes += (uint32_t)__builtin_popcount(exec->barrier_lanes);
    barrier->true_lanes += (uint32_t)__builtin_popcount(exec->barrier_value);
    check(sm, warp->cta, barrier);
    return 0;
}

void barrier_check_all(struct sm *sm, struct sm_cta *cta)
{
    for (uint32_t i = 0; i < SM_MAX_BARRIERS; i++) {
        check(sm, cta, &cta->barrier[i]);
    }
}
