/*
 * Tells launches without timing that will never end. Now and then, when they have taken long, all
 * warps in flight that can issue are run one after the other until each has come back to a state in
 * which it was (exec/repeat.h). Where none has changed memory meanwhile, read a clock, come to a
 * barrier or ended, all do for ever what they did. It is the rule by which gpu/endless.c tells
 * launches with timing.
 *
 * Asked only where nobody else could change memory: where the options say so. Left out: blocks on
 * several host threads, and kernels of which blocks that have not begun may still come in flight.
 */
#include <inttypes.h>

#include "exec/ops.h"
#include "exec/observe.h"
#include "exec/program.h"
#include "exec/repeat.h"
#include "exec/run/run.h"
#include "util/error.h"

static const struct {
    uint64_t first_warp_insns; /* to the first look: about a second of the host's time */
    uint32_t first_visits;     /* branches of a warp in it */
    uint64_t branch_insns;     /* of a warp for each of them, at most */
} limits = {.first_warp_insns = UINT64_C(1) << 24, .first_visits = 64, .branch_insns = 256};

void endless_begin(struct flight *flight)
{
    flight->endless = (struct endless){.next = limits.first_warp_insns,
                                       .wait = limits.first_warp_insns,
                                       .visits = limits.first_visits};
}

/* No block that has not begun could let those go on that have. */
static bool all_are_there(const struct flight *flight)
{
    const struct exec_run *run = flight->run;
    return !flight->crowd &&
           (run->launch->program->ctas_are_apart ||
            atomic_load_explicit(&run->begun, memory_order_relaxed) >= run->ctas ||
            (run->launch->resident_ctas > 0 && flight->places >= crowd_places(flight)));
}

/* Whether the instruction at warp->pc, executed for these lanes, may be something new to others, or
 * to a clock. */
static bool may_move(const struct exec_warp *warp, uint32_t mask)
{
    const struct exec_uop_info *info = exec_uop_info(warp->state->program, warp->pc);
    bool acts = (info->is_async || info->is_outward) && !info->is_test;
    bool leaves = info->is_exit && mask && (!info->is_return || warp->state->depth == 0);
    return info->is_barrier || leaves || info->reads_clock || acts;
}

/* Executes one instruction; false: it may have changed memory. Barriers and exits do not come
 * here. */
static bool step(struct runner *r, struct exec_warp *warp, uint32_t mask, int *rc)
{
    const struct uop *uop = &warp->state->uops[warp->pc];
    if (r->observer)
        runner_tell_issue(r, warp, mask);
    enum exec_event event = uop->run(warp, uop, mask, &r->access);
    if (event == EXEC_FAULT)
        *rc = SONDE_EFAULT;
    if (event != EXEC_ACCESS)
        return event == EXEC_DONE;
    if (r->observer)
        r->observer->accesses(warp, &r->access);
    bool changes = exec_access_changes(warp, &r->access);
    *rc = exec_commit(warp, &r->access);
    return !changes;
}

/* Runs a warp until it is where it was, with nothing changed; false: it does something new, or has
 * not come back yet. */
static bool comes_back(struct runner *r, uint32_t index, uint32_t visits, int *rc)
{
    struct exec_warp *warp = &r->warp[index];
    uint64_t before = 0, insns = 0, lanes = 0, most = visits * limits.branch_insns;
    uint32_t visit = 0, next = 0;
    bool back = false, same = true;
    r->env.warpid = index;
    while (same && !back && *rc == SONDE_OK && visit < visits && insns < most) {
        const struct uop *uop = &warp->state->uops[warp->pc];
        uint32_t mask = guarded_lanes(warp, uop);
        bool branches = exec_uop_info(warp->state->program, warp->pc)->is_branch;
        if (may_move(warp, mask))
            break;
        lanes += (uint32_t)__builtin_popcount(warp->active);
        insns++;
        same = step(r, warp, mask, rc);
        if (!same || !branches || !exec_warp_is_comparable(warp))
            continue;
        uint64_t now = exec_warp_fingerprint(warp);
        back = visit > 0 && now == before;
        if (visit >= next) {
            before = now;
            next = 2 * visit + 1;
        }
        visit++;
    }
    int spent = flight_account(r, warp, insns, lanes);
    *rc = *rc == SONDE_OK ? spent : *rc;
    return back && *rc == SONDE_OK;
}

/* False, too, where no warp is left: blocks have just ended, and the next ones begin. */
static bool all_come_back(struct flight *flight, int *rc)
{
    bool back = true, any = false;
    for (uint64_t i = 0; back && i < flight->places; i++) {
        struct runner *r = flight->runner[i];
        for (uint64_t rest = r->barriers.alive & r->ready; back && rest; rest &= rest - 1) {
            uint32_t index = (uint32_t)__builtin_ctzll(rest);
            back = r->begun >> index & 1 && comes_back(r, index, flight->endless.visits, rc);
            any = true;
        }
    }
    return back && any;
}

static int tell(struct flight *flight)
{
    const struct exec_run *run = flight->run;
    uint64_t begun = atomic_load_explicit(&run->begun, memory_order_relaxed);
    if (begun < run->ctas && !run->launch->program->ctas_are_apart)
        error_set(SONDE_EFAULT, REPEAT_NO_PROGRESS REPEAT_NO_ROOM, run->ctas - begun, run->ctas);
    else
        error_set(SONDE_EFAULT, REPEAT_NO_PROGRESS);
    return flights_tell_positions(&flight, 1, SONDE_EFAULT);
}

int endless_check(struct flight *flight)
{
    const struct exec_run_options *options = flight->options;
    struct endless *e = &flight->endless;
    int rc = SONDE_OK;
    if (!options->alone || options->warp_insns < e->next)
        return SONDE_OK;
    if (all_are_there(flight) && options->alone(options->alone_ctx) && all_come_back(flight, &rc) &&
        options->alone(options->alone_ctx))
        return tell(flight);
    e->wait *= 2;
    e->visits = e->visits < UINT32_MAX / 4 ? e->visits * 2 : e->visits;
    e->next = options->warp_insns + e->wait;
    return rc;
}
