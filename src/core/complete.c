/*
 * How a global access ends: its transactions have been answered, its results are usable, whoever
 * waited for it goes on. Atomics take effect here (see lsu.c), those of a warp in program order.
 */
#include "core/state.h"

void access_complete(struct sm *sm, struct lsu_access *access, uint64_t cycle)
{
    struct sm_warp *warp = access->warp;
    const struct exec_uop_info *info = access->info;
    for (uint32_t i = 0; i < info->dst_count; i++) {
        warp->slot_ready[info->dst[i]] = cycle;
    }
    for (uint32_t i = 0; i < info->dst_pred_count; i++) {
        warp->pred_ready[info->dst_pred[i]] = cycle;
    }
    warp->outstanding--;
    warp->acquires_out -= info->acquires;
    warp->cta->outstanding--;
    lsu_release(sm, access);
    if (warp->blocked && warp->state == WARP_RUNNING) {
        warp_refresh(sm, warp);
        sm_wake(sm, cycle);
    }
    if (warp->cta->outstanding == 0) {
        cta_try_retire(sm, warp->cta);
    }
}

/* Perform the warp's answered atomics, oldest first. */
static void atomics_perform(struct sm *sm, struct sm_warp *warp, uint64_t cycle)
{
    while (warp->atomics && warp->atomics->answered) {
        struct lsu_access *access = warp->atomics;
        int rc = exec_commit(&warp->exec, &access->access);
        if (rc < 0) {
            sm_fault(sm, rc);
            return;
        }
        warp->atomics = access->next_atomic;
        warp->atomics_out--;
        access_complete(sm, access, cycle);
    }
    struct lsu_queue *queue = &sm->lsu.queue[PIPE_LSU];
    if (queue->head && !queue->head->started && queue->next_cycle == CYCLE_NEVER) {
        lsu_set_next(&sm->lsu, queue, cycle > sm->cycle ? cycle : sm->cycle + 1);
        sm_wake(sm, queue->next_cycle);
    }
}

void lsu_answered(struct sm *sm, struct lsu_access *access, uint64_t cycle)
{
    if (access->pipe == PIPE_TEXTURE) {
        texture_answered(sm, access, cycle);
        return;
    }
    access->answered = true;
    if (is_atomic(access)) {
        atomics_perform(sm, access->warp, cycle);
    } else {
        access_complete(sm, access, cycle);
    }
}

void lsu_reply(void *ctx, uint64_t arg)
{
    struct sm *sm = ctx;
    struct lsu_request *request = (struct lsu_request *)(uintptr_t)arg;
    struct lsu_access *access = request->owner;
    request->next_free = sm->lsu.free_requests;
    sm->lsu.free_requests = request;
    sm->lsu.requests_out--;
    if (--access->replies_left > 0 || access->sent < access->count) {
        return;
    }
    if (sm->aborted) {
        lsu_release(sm, access);
        return;
    }
    lsu_answered(sm, access, sm_sync(sm));
}
