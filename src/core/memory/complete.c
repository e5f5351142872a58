/*
 * How a global access ends: its transactions have been answered, its results are usable, whoever
 * waited for it goes on. Atomics take effect here (see lsu.c), those of a warp in program order:
 * when all requests of one have been served by L2, and those before it too. Their results are in
 * the registers from then on, where nobody looks before the scoreboard says so.
 */
#include "core/state.h"

static void access_complete(struct sm *sm, struct lsu_access *access, uint64_t cycle)
{
    struct sm_warp *warp = access->warp;
    const struct exec_uop_info *info = access->info;
    sm->stats.latency[sm_latency_place(cycle - access->issue_cycle)]++;
    set_results(warp, info, cycle);
    warp->outstanding--;
    if (access->kind == ACCESS_COPY) {
        warp->copies.out[access->copy_group]--;
        copies_over(sm, warp, access->copy_epoch);
    }
    warp->loads_out -= has_result(info);
    warp->acquires_out -= info->acquires;
    warp->holds -= access->holds_warp;
    warp->cta->outstanding--;
    access_release(&sm->lsu.pool, access);
    if (warp->blocked && warp->state == WARP_RUNNING) {
        warp_refresh(sm, warp);
        sm_wake(sm, cycle);
    }
    if (warp->cta->outstanding == 0) {
        cta_try_retire(sm, warp->cta);
    }
}

/* Perform the warp's served atomics, oldest first. */
static void atomics_perform(struct sm *sm, struct sm_warp *warp)
{
    for (struct lsu_access *access = warp->atomics; access && access->unserved_left == 0;
         access = access->next_atomic) {
        int rc = access->performed ? 0 : access_commit(sm, warp, &access->detail->access);
        access->performed = true;
        if (rc < 0) {
            sm_fault(sm, rc);
            return;
        }
    }
}

void sm_atomic_served(struct sm *sm, struct mem_request *mem)
{
    struct lsu_request *request = (struct lsu_request *)mem;
    if (request->served || sm->aborted) {
        return;
    }
    request->served = true;
    if (--request->owner->unserved_left == 0) {
        atomics_perform(sm, request->owner->warp);
    }
}

/* The warp's atomics that are performed and answered are complete, oldest first. */
static void atomics_complete(struct sm *sm, struct sm_warp *warp, uint64_t cycle)
{
    atomics_perform(sm, warp);
    while (warp->atomics && warp->atomics->answered && warp->atomics->performed && !sm->aborted) {
        struct lsu_access *access = warp->atomics;
        warp->atomics = access->next_atomic;
        warp->atomics_out--;
        access_complete(sm, access, cycle);
    }
    const struct lsu_access *head = sm->lsu.queue[PIPE_LSU].head;
    if (head && !head->started) {
        lsu_nudge(sm, cycle);
    }
}

/* A copy's bytes are in shared memory. */
static void copy_written(void *ctx, uint64_t arg)
{
    struct sm *sm = ctx;
    struct lsu_access *access = (struct lsu_access *)(uintptr_t)arg;
    if (sm->aborted) {
        access_release(&sm->lsu.pool, access);
    } else {
        access_complete(sm, access, sm_sync(sm));
    }
}

static uint32_t copy_cycles(const struct copy_spec *spec, const struct lsu_access *access)
{
    return access->bypass || spec->l1_cycles == 0 ? spec->latency_cycles : spec->l1_cycles;
}

static void lsu_answered(struct sm *sm, struct lsu_access *access, uint64_t cycle)
{
    if (access->pipe == PIPE_TEXTURE) {
        texture_answered(sm, access, cycle);
        return;
    }
    access->answered = true;
    if (is_atomic(access)) {
        atomics_complete(sm, access->warp, cycle);
    } else if (access->kind == ACCESS_COPY) {
        engine_at(sm->engine, (cycle + copy_cycles(&sm->spec->copies, access)) * sm->period_ps,
                  sm->source ? sm->source - 1 : 0, copy_written, sm, (uintptr_t)access);
    } else {
        access_complete(sm, access, cycle);
    }
}

/* An answer's data are in the registers. */
static void lsu_written(void *ctx, uint64_t arg)
{
    struct lsu_access *access = ctx;
    struct lsu_request *request = (struct lsu_request *)(uintptr_t)arg;
    struct sm *sm = access->sm;
    bool counted = access->pipe == PIPE_LSU && sm->lsu.pending.ops && !sm->aborted;
    if (request->mem.kind == MEM_ATOMIC) {
        sm_atomic_served(sm, &request->mem);
    }
    if (sm->profile && !sm->aborted) {
        profile_served(sm, access, &request->mem);
    }
    request_release(&sm->lsu.pool, request);
    sm->lsu.requests_out--;
    if (counted) {
        lanes_answered(sm, sm_sync(sm));
    }
    if (--access->replies_left > 0 || access->sent < access->count) {
        return;
    }
    if (sm->aborted) {
        if (access->pipe == PIPE_TEXTURE && !sm->reset) {
            access->answered = true; /* the FIFO has it */
        } else {
            access_release(&sm->lsu.pool, access);
        }
        return;
    }
    uint64_t cycle = sm_sync(sm);
    if (counted) {
        lanes_end(sm, access, cycle);
    }
    lsu_answered(sm, access, cycle);
}

/*
 * Answers of one warp instruction are written back one after the other, those of different ones
 * at the same time. One that must wait comes back as an event of the source below the SM's own, so
 * that it is in before the instructions of its cycle issue, as replies are.
 */
static void lsu_reply(void *ctx, uint64_t arg)
{
    struct lsu_access *access = ctx;
    struct sm *sm = access->sm;
    uint64_t interval_ps = sm->spec->lanes.writeback_cycles * sm->period_ps;
    if (interval_ps == 0 || access->pipe != PIPE_LSU || !has_result(access->info)) {
        lsu_written(ctx, arg);
        return;
    }
    uint64_t now_ps = engine_now_ps(sm->engine);
    uint64_t start_ps = access->written_ps > now_ps ? access->written_ps : now_ps;
    access->written_ps = start_ps + interval_ps;
    if (start_ps == now_ps) {
        lsu_written(ctx, arg);
    } else {
        engine_at(sm->engine, start_ps, sm->source ? sm->source - 1 : 0, lsu_written, ctx, arg);
    }
}

const struct access_completion access_completion = {
    .reply = lsu_reply, .answered = lsu_answered, .complete = access_complete};
