/*
 * Warps that wait at barriers in shared memory (mbarrier.try_wait). The wait is an access whose
 * result comes when the phase is over or the time limit has passed; the warp sleeps until then,
 * and costs nothing. Where other lanes of the warp can go on, its result comes at once. Whatever
 * changes barriers calls wait_look(). Limits of all warps share one event, which comes near to the
 * first one in steps: what is still to come when nobody waits any longer is soon over, and holds up
 * no launch after this one.
 */
#include "core/state.h"

#define STEP_CYCLES 128

static void result_is_there(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info,
                            uint64_t cycle)
{
    set_results(warp, info, cycle);
    warp->next_issue = sm->cycle;
}

static void wake(struct sm *sm, uint32_t slot)
{
    struct sm_warp *warp = &sm->warp[slot];
    struct lsu_access *access = sm->async.waits.access[slot];
    sm->async.waits.slots &= ~(1ull << slot);
    int rc = access_commit(sm, warp, &access->detail->access);
    uint64_t cycle = sm_sync(sm) + sm->spec->mbarrier.latency_cycles;
    result_is_there(sm, warp, access->info, cycle);
    access_release(&sm->lsu.pool, access);
    if (rc < 0) {
        sm_fault(sm, rc);
        return;
    }
    warp_refresh(sm, warp);
    sm_wake(sm, cycle);
}

static void limit_passed(void *ctx, uint64_t arg);

/* The event for the first deadline, or a step towards it, is on its way. */
static void note_limit(struct sm *sm, uint64_t cycle)
{
    struct async_waits *waits = &sm->async.waits;
    uint64_t first = CYCLE_NEVER;
    for (uint64_t slots = waits->slots; slots; slots &= slots - 1) {
        uint64_t deadline = waits->deadline[__builtin_ctzll(slots)];
        first = deadline < first ? deadline : first;
    }
    if (first != CYCLE_NEVER && waits->limit_cycle == 0) {
        first = first < cycle + STEP_CYCLES ? first : cycle + STEP_CYCLES;
        waits->limit_cycle = first;
        engine_at(sm->engine, first * sm->period_ps, sm->source ? sm->source - 1 : 0, limit_passed,
                  sm, first);
    }
}

static void limit_passed(void *ctx, uint64_t arg)
{
    struct sm *sm = ctx;
    struct async_waits *waits = &sm->async.waits;
    if (arg != waits->limit_cycle) {
        return; /* of a launch that was stopped */
    }
    waits->limit_cycle = 0;
    for (uint64_t slots = waits->slots; slots; slots &= slots - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(slots);
        if (waits->deadline[slot] <= arg) {
            wake(sm, slot);
        }
    }
    note_limit(sm, arg);
}

int wait_begin(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info)
{
    struct async_waits *waits = &sm->async.waits;
    struct lsu_access *access = sm->lsu.spare;
    if (exec_wait_is_over(&access->detail->access) || exec_others_go_on(&warp->exec)) {
        result_is_there(sm, warp, info, sm->cycle + sm->spec->mbarrier.latency_cycles);
        return access_commit(sm, warp, &access->detail->access);
    }
    int rc = lsu_replace_spare(sm);
    if (rc < 0) {
        return rc;
    }
    access->info = info;
    waits->slots |= 1ull << warp->slot;
    waits->access[warp->slot] = access;
    waits->deadline[warp->slot] = sm->cycle + sm->spec->mbarrier.limit_cycles;
    warp->next_issue = CYCLE_NEVER;
    note_limit(sm, sm->cycle);
    return 0;
}

void wait_look(struct sm *sm)
{
    for (uint64_t slots = sm->async.waits.slots; slots; slots &= slots - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(slots);
        if (exec_wait_is_over(&sm->async.waits.access[slot]->detail->access)) {
            wake(sm, slot);
        }
    }
}

void wait_others_go(struct sm *sm, const struct sm_cta *cta)
{
    for (uint64_t slots = sm->async.waits.slots; slots; slots &= slots - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(slots);
        if (sm->warp[slot].cta == cta && exec_others_go_on(&sm->warp[slot].exec)) {
            wake(sm, slot);
        }
    }
}

static void look_later(void *ctx, uint64_t arg)
{
    struct sm *sm = ctx;
    (void)arg;
    if (!sm->aborted) {
        wait_look(sm);
    }
}

void sm_barriers_changed(struct sm *sm, uint32_t cycles)
{
    engine_at(sm->engine, (sm_sync(sm) + cycles) * sm->period_ps, sm->source ? sm->source - 1 : 0,
              look_later, sm, 0);
}

void wait_look_elsewhere(struct sm *sm, const struct sm_warp *warp, uint32_t cycles)
{
    struct exec_cluster *cluster = warp->cta->exec.cluster;
    if (cluster && cluster->size > 1 && sm->host.cluster_barriers) {
        sm->host.cluster_barriers(sm->host.ctx, cluster, sm->id, cycles);
    }
}

void wait_reset(struct sm *sm)
{
    struct async_waits *waits = &sm->async.waits;
    for (; waits->slots; waits->slots &= waits->slots - 1) {
        access_release(&sm->lsu.pool, waits->access[__builtin_ctzll(waits->slots)]);
    }
    waits->limit_cycle = 0;
}
