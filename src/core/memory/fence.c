/*
 * What fences and releases take. One is two instructions of the machine: the first waits until all
 * that the warp did can be seen by those whom it is for, the second is the arrival, the store, the
 * atomic; of a fence alone there is nothing behind it. What the first takes beside the warp's
 * accesses, which are under way meanwhile, depends on what the SM has done since the last one that
 * reached as far: next to nothing, accesses of device memory, some of them of lines that L2 keeps
 * in a part far from the SM (docs/asynchronous.md). Fences of the CTA and of shared memory do not
 * wait for accesses.
 *
 * Copies in bulk pass by the queue of the load/store unit. So a fence before which other warps have
 * stored what a copy behind it is to read waits until what stood in that queue has taken effect.
 */
#include "core/state.h"

/* From one look at the queue to the next. Chosen: a fence ends so much late at most. */
#define LOOK_CYCLES 8

static uint32_t cycles_of(const struct sm *sm, enum exec_reach reach)
{
    const struct fence_spec *spec = &sm->spec->fence;
    switch (reach) {
    case REACH_INIT:
        return spec->init_cycles;
    case REACH_SHARED_COPIES:
        return spec->shared_copies_cycles;
    case REACH_CTA:
        return spec->cta_cycles;
    case REACH_COPIES:
        return spec->copies_cycles;
    case REACH_OTHERS:
        return spec->others_cycles;
    case REACH_SYSTEM:
        return spec->system_cycles;
    case REACH_NOBODY:
        break;
    }
    return 0;
}

bool fence_drains(const struct sm *sm, const struct sm_warp *warp, const struct exec_uop_info *info)
{
    bool takes_time = info->reach != REACH_NOBODY && cycles_of(sm, info->reach) > 0;
    return !takes_time || (warp->fence_cycle && info->reach > REACH_CTA);
}

void fence_sees(struct sm *sm, uint64_t paddr)
{
    sm->accessed_cycle = sm->cycle;
    if (sm->spec->fence.far_cycles && sm->far_cycle <= sm->fenced_cycle && sm->host.is_far &&
        sm->host.is_far(sm->host.ctx, sm->id, paddr)) {
        sm->far_cycle = sm->cycle;
    }
}

/* What it takes longer for what came behind the last fence that is over. */
static uint32_t longer(const struct sm *sm, enum exec_reach reach)
{
    if (reach != REACH_COPIES && reach != REACH_OTHERS) {
        return 0;
    }
    return sm->far_cycle > sm->fenced_cycle        ? sm->spec->fence.far_cycles
           : sm->accessed_cycle > sm->fenced_cycle ? sm->spec->fence.access_cycles
                                                   : 0;
}

/* Accesses of before a fence for copies are still queued. */
static bool has_not_begun(const struct sm *sm, const struct sm_warp *warp,
                          const struct exec_uop_info *info)
{
    return info->reach == REACH_COPIES && sm->lsu.begun < warp->fence_queued;
}

bool fence_begins(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info)
{
    uint32_t cycles = cycles_of(sm, info->reach);
    if (warp->fence_cycle == 0) {
        warp->fence_queued = sm->lsu.queued;
    }
    if ((cycles == 0 && !has_not_begun(sm, warp, info)) || exec_is_guarded_off(&warp->exec)) {
        warp->fence_cycle = 0;
        return false;
    }
    if (warp->fence_cycle == 0) {
        warp->fence_cycle = sm->cycle;
        warp->next_issue = sm->cycle + cycles + longer(sm, info->reach);
        if (sm->gathers.send && info->reach > REACH_CTA) {
            sm->gathers.send(sm->gathers.l1);
        }
        return true;
    }
    if (has_not_begun(sm, warp, info)) {
        warp->next_issue = sm->cycle + LOOK_CYCLES;
        return true;
    }
    if (info->reach >= REACH_OTHERS && warp->fence_cycle > sm->fenced_cycle) {
        sm->fenced_cycle = warp->fence_cycle;
    }
    warp->fence_cycle = 0;
    return false;
}
