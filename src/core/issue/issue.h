/*
 * What the files of the issue stage share: issue.c lets schedulers choose and instructions issue,
 * alone.c does the same for cycles in which there is nothing to choose, ready.c is the scoreboard.
 *
 * cycles.c goes from one cycle to the next; rote.c, learn.c and books.c repeat what a lone warp
 * issued before.
 */
#ifndef SONDE_CORE_ISSUE_ISSUE_H
#define SONDE_CORE_ISSUE_ISSUE_H

#include "core/state.h"

/* What every issue passes, in loops that keep what they know in registers. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

static inline void unit_occupy(struct sm_unit *unit, uint64_t cycle, uint64_t lanes)
{
    uint64_t start = cycle * unit->lanes_per_cycle;
    unit->busy_lanes = (unit->busy_lanes > start ? unit->busy_lanes : start) + lanes;
}

/* An instruction issues: the cycles since the last one were waiting. */
static inline void note_waited(struct sm *sm)
{
    sm->stats.wait_cycles[sm->wait] += sm->cycle - sm->issued_cycle - 1;
}

/* The first issue of a cycle. */
static inline void note_issue_cycle(struct sm *sm)
{
    note_waited(sm);
    sm->stats.issue_cycles++;
    sm->issued_cycle = sm->cycle;
}

static inline void count_issue(struct sm *sm, struct sm_warp *warp,
                               const struct exec_uop_info *info, uint32_t lanes)
{
    if (sm->cycle != sm->issued_cycle) {
        note_issue_cycle(sm);
    }
    sm->stats.unit_insns[info->unit]++;
    sm->stats.unit_lanes[info->unit] += lanes;
    sm->stats.division_lanes += info->is_division ? lanes : 0;
    sm->stats.lanes[lanes]++;
    warp->cta->counts.warp_insns++;
    warp->cta->counts.thread_insns += lanes;
}

/* Of an instruction that is_simple, where the model lowers. */
static inline void count_one_slot(struct sm *sm, const struct exec_uop_info *info)
{
    sm->stats.unit_parts[info->unit] += LOWER_ONE;
    sm->stats.lowered_insns++;
    sm->stats.machine_insns++;
}

/* How long one issue holds its scheduler: the interval, or until all its registers are read. */
static inline uint64_t issue_cycles(const struct sm *sm, const struct exec_uop_info *info)
{
    uint32_t ports = sm->spec->register_ports;
    uint64_t reads = ports && info->src_count > ports ? (info->src_count + ports - 1) / ports : 1;
    return reads > sm->issue_interval ? reads : sm->issue_interval;
}

/* ready.c */
bool warp_must_drain(const struct sm *sm, const struct sm_warp *warp,
                     const struct exec_uop_info *info);
bool warp_vanishes_early(const struct exec_uop_info *info);
/* Into `ready` or onto the wheel, by its ready_cycle. */
void warp_place(struct sm *sm, struct sm_warp *warp);

static inline uint64_t operands_ready(const struct sm_warp *warp, const struct exec_uop_info *info)
{
    const uint64_t *slot = warp->slot_ready;
    uint64_t cycle = warp->next_issue;
    for (uint32_t i = 0; i < info->place_count; i++) {
        cycle = slot[info->place[i]] > cycle ? slot[info->place[i]] : cycle;
    }
    return cycle;
}

/* Looks at the next instruction: the warp is blocked, or its ready_cycle is known and it belongs to
 * a place. */
static ALWAYS_INLINE bool warp_look(struct sm *sm, struct sm_warp *warp)
{
    const struct exec_uop_info *info = &warp->program[warp->exec.pc];
    warp->next = info;
    warp->ready_cycle = operands_ready(warp, info);
    warp->blocked =
        warp->ready_cycle == CYCLE_NEVER ||
        ((warp->outstanding > 0 || !info->is_simple) && warp_must_drain(sm, warp, info));
    if (!info->is_simple && !warp->blocked && info->is_lowered && warp_vanishes_early(info)) {
        warp->ready_cycle = warp->next_issue;
    }
    return !warp->blocked;
}

/* issue.c */
/* Lets schedulers issue what can in sm->cycle. Returns the next cycle worth a look. */
uint64_t issue_now(struct sm *sm);
/* Further instructions of the warp that its scheduler has chosen, at most so many. */
int issue_more(struct sm *sm, struct sm_warp *warp, uint32_t left);
/* What an instruction was whose results are not simply there after its unit's latency. */
int issue_ended(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info,
                enum exec_event event, uint32_t lanes, uint64_t latency);
/* A simple instruction executes that is_lanes says nothing of; it has been counted. True: its
 * results are in the scoreboard, and the warp's next one has not been looked at. False: *rc as of
 * issue_ended(), which has been called. */
bool issue_not_lanes(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info,
                     uint32_t lanes, uint64_t latency, int *rc);

/* Any simple instruction, of an SM at which nobody looks, likewise. */
static ALWAYS_INLINE bool issue_simple(struct sm *sm, struct sm_warp *warp,
                                       const struct exec_uop_info *info, const struct sm_unit *unit,
                                       int *rc)
{
    uint32_t lanes = bit_count(warp->exec.active);
    count_issue(sm, warp, info, lanes);
    if (info->is_lowered) {
        count_one_slot(sm, info);
    }
    warp->next_issue = sm->cycle;
    if (!info->is_lanes) {
        return issue_not_lanes(sm, warp, info, lanes, unit->latency_cycles, rc);
    }
    exec_issue_lanes(&warp->exec);
    set_results(warp, info, sm->cycle + unit->latency_cycles);
    return true;
}

/* Whether the cycle `next` is here, because nothing else happens until then: no request leaves, no
 * event is due. */
static inline bool issue_goes_on(struct sm *sm, uint64_t next)
{
    if (next >= sm->lsu.next_cycle || sm->aborted || sm->looked_at ||
        !(sm->ready | sm->wheel_used) || sm->ahead == 0 ||
        !engine_try_advance(sm->engine, next * sm->period_ps)) {
        return false;
    }
    sm->ahead--;
    sm->wait = sm->ready ? SM_WAIT_UNIT : SM_WAIT_RESULT;
    sm->cycle = next;
    if (sm->wheel[next % WHEEL_CYCLES]) {
        wheel_turn(sm);
    }
    return true;
}

/* alone.c */
/* issue_now() where one warp alone is ready, and the cycles behind it in which that is so, as long
 * as nothing but issues happens. */
uint64_t issue_alone(struct sm *sm);
/* The rest of a cycle in which the warp has issued with `rc`, and may issue so many more. Returns
 * the next cycle worth a look. */
uint64_t issue_rest(struct sm *sm, const struct sm_warp *warp, uint32_t left, int rc);

#endif
