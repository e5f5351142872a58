/* A lone warp repeats a passage: see rote.h. */
#include <assert.h>

#include "core/issue/rote.h"

/* Nothing that a passage of the book asks of is still to come. */
static bool is_quiet(const struct sm *sm, const struct sm_warp *warp, const struct rote_book *book)
{
    const uint64_t cycle = sm->cycle;
    for (uint32_t i = 0; i < book->unit_count; i++) {
        const struct sm_unit *unit = &sm->unit[warp->units[book->unit[i]]];
        if (unit->busy_lanes > cycle * unit->lanes_per_cycle) {
            return false;
        }
    }
    return warp->latest_result <= cycle && warp->next_issue <= cycle && warp->part == 0 &&
           warp->held == 0 && sm->scheduler[warp->scheduler].next_cycle <= cycle &&
           sm->shared_free[warp->scheduler] <= cycle;
}

static void make_change(struct sm *sm, struct sm_warp *warp, const struct rote_passage *passage,
                        struct rote_change *change)
{
    const uint64_t start = sm->cycle;
    for (uint32_t i = 0; i < change->result_count; i++) {
        warp->slot_ready[change->result[i].place] = start + change->result[i].cycle;
    }
    for (uint32_t i = 0; i < change->unit_count; i++) {
        struct sm_unit *unit = &sm->unit[warp->units[change->unit[i].unit]];
        unit->busy_lanes = start * unit->lanes_per_cycle + change->unit[i].lanes;
    }
    if (change->times++ == 0) {
        change->next_made = sm->rote->made;
        sm->rote->made = change;
    }
    warp->cta->counts.warp_insns += change->warp_insns;
    warp->cta->counts.thread_insns += (uint64_t)change->warp_insns * passage->lanes;
    warp->latest_result = start + change->latest_result;
    warp->next_issue = start + change->next_issue;
    warp->part = change->part;
    warp->held = change->held;
    if (change->scheduler_issued) {
        sm->scheduler[warp->scheduler].next_cycle = start + change->scheduler_next;
    }
    if (change->first_scheduler) {
        sm->first_scheduler = warp->scheduler;
    }
    sm->issued_cycle = start + change->issued;
    sm->wait = change->wait;
    sm->ahead -= change->steps;
    sm->cycle = start + change->cycle;
}

/* The engine's clock stands at sm->cycle, and the warp, which was ready, is in no list. */
static void take_out(struct sm *sm, struct sm_warp *warp)
{
    engine_advance(sm->engine, sm->cycle * sm->period_ps);
    sm->ready = 0;
    warp->unit->ready_warps = 0;
}

/* The same, and the warp is in its place. */
static void settle(struct sm *sm, struct sm_warp *warp)
{
    take_out(sm, warp);
    warp_refresh(sm, warp);
}

/* The branch at the end of a passage. */
struct turn {
    bool loads; /* there is none, but a load */
    struct rote_way *way;
    uint64_t branch_cycle;
    enum sm_wait wait; /* before its cycle */
};

/* The branch has let other lanes of the warp go on: what comes next is not the passage's, whose
 * changes have been made. */
static enum rote_end end_elsewhere(struct sm *sm, struct sm_warp *warp, const struct turn *turn,
                                   uint64_t *next)
{
    sm->ahead++;
    sm->cycle = turn->branch_cycle;
    sm->wait = turn->wait;
    settle(sm, warp);
    *next = issue_rest(sm, warp, 0, 0);
    return ROTE_STEP_OVER;
}

/* Nothing happens until the passage is over. */
static bool has_time(const struct sm *sm, const struct rote_passage *passage, uint64_t next_ps)
{
    uint64_t last = sm->cycle + passage->longest;
    return last < sm->lsu.next_cycle && last * sm->period_ps < next_ps &&
           passage->steps <= sm->ahead;
}

/* Shared memory has no place for the item: as far as the step before it. */
static void stop_before(struct sm *sm, struct sm_warp *warp, const struct rote_passage *passage,
                        uint32_t item)
{
    struct rote_stop *stop = passage->stop;
    if (item == 0) {
        return;
    }
    while (stop->items != item) {
        stop++;
    }
    note_waited(sm);
    make_change(sm, warp, passage, &stop->change);
}

/* The load at the end of a passage, of which all else has been repeated, is issued. */
static enum rote_end end_with_load(struct sm *sm, struct sm_warp *warp, uint64_t *next)
{
    const struct exec_uop_info *info = &warp->program[warp->exec.pc];
    const uint32_t lanes = bit_count(warp->exec.active);
    take_out(sm, warp);
    enum exec_event event = exec_issue(&warp->exec, &sm->lsu.spare->detail->access);
    *next = issue_rest(sm, warp, 0, issue_ended(sm, warp, info, event, lanes, 0));
    return ROTE_STEP_OVER;
}

/* Behind the branch, to which the warp has come, other lanes wait: then it has not fallen through,
 * which takes another time. */
static bool meets_others(const struct sm_warp *warp, const struct rote_passage *passage,
                         const struct rote_way *way)
{
    uint32_t behind = warp->exec.pc + passage->branch_count;
    return way->known && way->pc == behind &&
           !exec_row_is_straight(&warp->exec, passage->branch_count);
}

/* What can be repeated of a passage. False: not all of it; turn->way: the branch is next, and has
 * not been seen to go so. */
static bool repeat_one(struct sm *sm, struct sm_warp *warp, struct rote_passage *p,
                       struct turn *turn)
{
    const uint32_t step = p->branch_count + p->load_count; /* one of the two is 0 */
    const uint32_t straight = p->count + step - (step > 0);
    const uint64_t start = sm->cycle, period_ps = sm->period_ps;
    assert(p->pc == warp->exec.pc);
    turn->way = NULL;
    turn->loads = false;
    if (!exec_row_is_straight(&warp->exec, straight)) {
        return false;
    }
    uint32_t done = exec_row_run(&warp->exec, p->item, p->count, &warp->env, start, period_ps);
    if (done < p->count) {
        stop_before(sm, warp, p, done);
        return false;
    }
    if (p->load_count > 0) {
        exec_row_run(&warp->exec, p->item + p->count, p->load_count - 1, &warp->env, start,
                     period_ps);
        note_waited(sm);
        make_change(sm, warp, p, &p->load);
        turn->loads = true;
        return false;
    }
    enum exec_row_way goes =
        p->branch_count ? exec_row_way(&warp->exec, p->pc + straight) : ROW_SPLIT;
    bool meets = goes != ROW_SPLIT && meets_others(warp, p, &p->way[goes]);
    bool known = goes != ROW_SPLIT && p->way[goes].known && !meets &&
                 exec_row_run(&warp->exec, p->item + p->count, p->branch_count, &warp->env, start,
                              period_ps) == p->branch_count;
    turn->way = goes != ROW_SPLIT && !meets ? &p->way[goes] : NULL;
    if (p->count > 0 || known) {
        note_waited(sm);
    }
    if (!known) {
        if (p->count > 0) {
            make_change(sm, warp, p, &p->whole);
        }
        return false;
    }
    turn->branch_cycle = start + (p->count > 0 ? p->whole.cycle : 0);
    turn->wait = p->count > 0 ? p->whole.wait : sm->wait;
    make_change(sm, warp, p, &turn->way->change);
    return true;
}

static enum rote_end repeat(struct sm *sm, struct sm_warp *warp, struct rote_passage *passage,
                            uint64_t *next)
{
    const uint64_t next_ps = engine_next_ps(sm->engine);
    const uint32_t active = warp->exec.active;
    while (passage && passage->learned && has_time(sm, passage, next_ps)) {
        struct turn turn;
        if (!repeat_one(sm, warp, passage, &turn)) {
            if (turn.loads) {
                return end_with_load(sm, warp, next);
            }
            settle(sm, warp);
            return turn.way ? rote_learn(sm, passage, next) : ROTE_AT_STEP;
        }
        if (warp->exec.pc != turn.way->pc || warp->exec.active != active) {
            return end_elsewhere(sm, warp, &turn, next);
        }
        passage = turn.way->next;
    }
    settle(sm, warp);
    return passage && !passage->learned ? rote_learn(sm, passage, next) : ROTE_AT_STEP;
}

enum rote_end rote_go(struct sm *sm, uint64_t *next)
{
    struct sm_warp *warp = &sm->warp[__builtin_ctzll(sm->ready)];
    struct rote_book *book = sm->rote && sm->rote->is_open ? sm->rote->open : rote_open(sm, warp);
    if (!book || book->program != warp->program || warp->outstanding > 0) {
        return ROTE_AT_STEP;
    }
    struct rote_passage **entry = &book->entry[warp->exec.pc % sm->rote_entries];
    struct rote_passage *passage = *entry;
    if (!passage || passage->pc != warp->exec.pc) {
        rote_enter(sm, entry, warp);
        return ROTE_AT_STEP;
    }
    if (passage->is_short || passage->lanes != bit_count(warp->exec.active) ||
        sm->scheduler[warp->scheduler].last != warp->slot || sm->cycle == sm->issued_cycle ||
        lsu_full(&sm->lsu) || !is_quiet(sm, warp, book)) {
        return ROTE_AT_STEP;
    }
    return passage->learned ? repeat(sm, warp, passage, next) : rote_learn(sm, passage, next);
}
