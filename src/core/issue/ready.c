/*
 * The scoreboard: when may a warp's next instruction issue? Instructions of a warp issue in order.
 * One may issue when its sources are ready and its destinations are not pending, so that no result
 * overtakes another. Each register slot has a ready cycle; CYCLE_NEVER marks one that waits for
 * memory. Fixed-latency results need no event: their cycle is known at issue.
 */
#include <assert.h>

#include "core/issue/issue.h"

uint64_t warp_operands_ready(const struct sm_warp *warp, const struct exec_uop_info *info)
{
    return operands_ready(warp, info);
}

/* An access has one of the sums of an asynchronous product as its result. */
static bool sums_are_awaited(const struct sm_warp *warp, const struct exec_uop_info *info)
{
    for (uint32_t i = 0; i < info->sum_count; i++) {
        if (warp->slot_ready[info->sums[i]] == CYCLE_NEVER) {
            return true;
        }
    }
    return false;
}

/*
 * What accesses of the warp an instruction waits for. Any: those that hold it. An asynchronous
 * product: those whose results are its sums, which the scoreboard does not know. A fence or
 * a release: all, since they order everything before them. A barrier, or a fence, a release or an
 * arrival for the CTA, makes the warp's accesses visible to the CTA: loads and stores take effect
 * in the order of the LSU's queue, so only atomics, which do at their reply, are waited for. Any
 * access: those with acquire before it. A load: one of those before it, when the scoreboard has no
 * place for another. Which memory a generic one reads is known at issue only, so it waits too. A
 * return from a function: all, since the next call takes the same frame, and what comes late would
 * be written into its registers and local memory.
 */
bool warp_must_drain(const struct sm *sm, const struct sm_warp *warp,
                     const struct exec_uop_info *info)
{
    if (info->is_async && (async_groups_wait(&warp->copies, info->copies, info->copies_left) ||
                           async_groups_wait(&warp->bulk, info->bulk, info->bulk_left))) {
        return true;
    }
    if (warp->outstanding == 0) {
        return false;
    }
    if (warp->holds || (info->sum_count && sums_are_awaited(warp, info))) {
        return true;
    }
    bool accesses = info->is_load || info->is_store || info->is_atomic;
    if (accesses &&
        (warp->acquires_out || (warp->loads_out >= sm->loads_per_warp && has_result(info) &&
                                info->space != SPACE_SHARED && info->space != SPACE_PARAM))) {
        return true;
    }
    return ((info->is_fence || info->releases) && fence_drains(sm, warp, info)) ||
           info->is_return || (info->orders_cta && warp->atomics_out);
}

static void make_ready(struct sm *sm, struct sm_warp *warp)
{
    __builtin_prefetch(warp->exec.state);
    sm->ready |= 1ull << warp->slot;
    warp->unit = &sm->unit[warp->units[warp->next->issue_unit]];
    warp->unit->ready_warps |= 1ull << warp->slot;
    if (warp->next->is_lowered) {
        uint64_t beside = warp->next->lowered.slots < LOWER_ONE;
        sm->ready_beside = (sm->ready_beside & ~(1ull << warp->slot)) | beside << warp->slot;
    }
}

static void wheel_insert(struct sm *sm, uint32_t slot, uint64_t cycle)
{
    assert(cycle > sm->cycle);
    uint64_t limit = sm->cycle + WHEEL_CYCLES - 1;
    uint32_t spoke = (uint32_t)((cycle < limit ? cycle : limit) % WHEEL_CYCLES);
    sm->wheel[spoke] |= 1ull << slot;
    sm->wheel_used |= 1ull << spoke;
}

/* It is no instruction of the machine's, so that nothing waits for it: its users do for its
 * operands. */
bool warp_vanishes_early(const struct exec_uop_info *info)
{
    return info->lowered.slots == 0 && info->unit != UNIT_LSU && info->unit != UNIT_TEX;
}

void warp_place(struct sm *sm, struct sm_warp *warp)
{
    if (warp->ready_cycle <= sm->cycle) {
        make_ready(sm, warp);
    } else {
        wheel_insert(sm, warp->slot, warp->ready_cycle);
    }
}

void warp_refresh(struct sm *sm, struct sm_warp *warp)
{
    if (warp_look(sm, warp)) {
        warp_place(sm, warp);
    }
}

void wheel_turn(struct sm *sm)
{
    uint32_t spoke = (uint32_t)(sm->cycle % WHEEL_CYCLES);
    uint64_t due = sm->wheel[spoke];
    if (!due) {
        return;
    }
    sm->wheel[spoke] = 0;
    sm->wheel_used &= ~(1ull << spoke);
    for (; due; due &= due - 1) {
        struct sm_warp *warp = &sm->warp[__builtin_ctzll(due)];
        warp_place(sm, warp);
    }
}
