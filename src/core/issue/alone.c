/*
 * Cycles in which one warp alone is ready: most cycles, where warps wait for results of their own.
 * There is nothing to choose, and nothing to skip: the warp issues if its scheduler and its unit
 * are free, and what comes next is the same warp's next instruction or another warp on the wheel.
 * So the SM goes from one such cycle to the next here, with the warp in no list, until something
 * else is due: a second warp, an instruction that is more than its unit's, a request, an event.
 * All of that is issue.c's, to which the state is handed over as if it had been there all the time.
 */
#include "core/issue/issue.h"

/* The warp, and what it issues next: from `ready` on, CYCLE_NEVER: it is blocked. */
struct lone {
    struct sm_warp *warp;
    const struct exec_uop_info *next;
    uint64_t ready;
};

/* What the warp has issued in a cycle. */
enum burst {
    BURST_NONE,  /* nothing: it is no simple instruction, or the unit is not free */
    BURST_OVER,  /* all that it can now */
    BURST_OTHER, /* simple ones; the next one is not */
    BURST_ENDED  /* one that issue_ended() has been called for, so that the warp is in its place */
};

static ALWAYS_INLINE void look(struct sm *sm, struct lone *lone)
{
    lone->ready = warp_look(sm, lone->warp) ? lone->warp->ready_cycle : CYCLE_NEVER;
    lone->next = lone->warp->next;
}

/* At most *left instructions; *rc of the last one. */
static ALWAYS_INLINE enum burst issue_burst(struct sm *sm, struct lone *lone, uint32_t *left,
                                            int *rc)
{
    struct sm_warp *warp = lone->warp;
    struct sched_state *state = &sm->scheduler[warp->scheduler];
    const uint64_t cycle = sm->cycle;
    bool issued = false;
    do {
        const struct exec_uop_info *info = lone->next;
        struct sm_unit *unit = &sm->unit[warp->units[info->issue_unit]];
        uint64_t start = cycle * unit->lanes_per_cycle;
        if (unit->busy_lanes >= start + unit->lanes_per_cycle || unit_waits_for_lsu(sm, unit)) {
            return issued ? BURST_OVER : BURST_NONE;
        }
        if (!info->is_simple) {
            return issued ? BURST_OTHER : BURST_NONE;
        }
        if (!issued) {
            state->last = warp->slot;
            state->next_cycle = cycle + issue_cycles(sm, info);
            issued = true;
        }
        unit->busy_lanes = (unit->busy_lanes > start ? unit->busy_lanes : start) + unit->warp_lanes;
        --*left;
        if (!issue_simple(sm, warp, info, unit, rc)) {
            return BURST_ENDED;
        }
        look(sm, lone);
    } while (lone->ready <= cycle && *left > 0);
    return BURST_OVER;
}

/* The engine's clock stands at sm->cycle again, and the warp is in its place. */
static void put_back(struct sm *sm, const struct lone *lone)
{
    engine_advance(sm->engine, sm->cycle * sm->period_ps);
    if (!lone->warp->blocked) {
        warp_place(sm, lone->warp);
    }
}

uint64_t issue_rest(struct sm *sm, const struct sm_warp *warp, uint32_t left, int rc)
{
    const struct sched_state *state = &sm->scheduler[warp->scheduler];
    rc = rc == 0 && left > 0 ? issue_more(sm, &sm->warp[warp->slot], left) : rc;
    if (rc < 0) {
        sm_fault(sm, rc);
        return CYCLE_NEVER;
    }
    uint64_t turn = wheel_next_cycle(sm);
    return sm->ready & state->warps && state->next_cycle < turn ? state->next_cycle : turn;
}

/*
 * On to the next cycle, in which another warp may be the one that is alone. `turn`: the wheel comes
 * upon this one then; 0: it is ready already. False: more than one is due, or none that is ready,
 * and the state is as issue_now() expects it.
 */
static ALWAYS_INLINE bool turn_wheel(struct sm *sm, struct lone *lone, uint64_t turn)
{
    uint32_t spoke = (uint32_t)(sm->cycle % WHEEL_CYCLES);
    uint64_t due = sm->wheel[spoke], self = 1ull << lone->warp->slot;
    uint64_t all = turn <= sm->cycle ? due | self : due;
    struct sm_warp *warp = &sm->warp[__builtin_ctzll(all)];
    bool alone = (all & (all - 1)) == 0 && warp->ready_cycle <= sm->cycle;
    if (alone && all == self) {
        return true;
    }
    if (turn > 0 && turn != CYCLE_NEVER) {
        sm->wheel[turn % WHEEL_CYCLES] |= self;
        sm->wheel_used |= 1ull << turn % WHEEL_CYCLES;
    } else if (turn == 0) {
        warp_place(sm, lone->warp);
    }
    if (!alone) {
        engine_advance(sm->engine, sm->cycle * sm->period_ps);
        wheel_turn(sm);
        return false;
    }
    sm->wheel[spoke] = 0;
    sm->wheel_used &= ~(1ull << spoke);
    *lone = (struct lone){warp, warp->next, warp->ready_cycle};
    return true;
}

uint64_t issue_alone(struct sm *sm)
{
    struct sm_warp *first = &sm->warp[__builtin_ctzll(sm->ready)];
    struct lone lone = {first, first->next, first->ready_cycle};
    if (!lone.next->is_simple) {
        return issue_now(sm);
    }
    const uint64_t next_ps = engine_next_ps(sm->engine), period_ps = sm->period_ps;
    sm->ready = 0;
    first->unit->ready_warps = 0;
    for (;;) {
        const struct sched_state *state = &sm->scheduler[lone.warp->scheduler];
        uint32_t left = sm->spec->issue_per_scheduler;
        int rc = 0;
        enum burst burst =
            sm->cycle < state->next_cycle ? BURST_NONE : issue_burst(sm, &lone, &left, &rc);
        if (burst == BURST_NONE) {
            put_back(sm, &lone);
            return issue_now(sm);
        }
        if (burst != BURST_OVER) {
            if (burst == BURST_OTHER) {
                put_back(sm, &lone);
            }
            return issue_rest(sm, lone.warp, left, rc);
        }
        bool is_ready = lone.ready <= sm->cycle;
        uint64_t last = sm->cycle + WHEEL_CYCLES - 1; /* as far as the wheel reaches */
        uint64_t own = is_ready                    ? state->next_cycle
                       : lone.ready == CYCLE_NEVER ? CYCLE_NEVER
                       : lone.ready < last         ? lone.ready
                                                   : last;
        uint64_t turn = wheel_next_cycle(sm), next = turn < own ? turn : own;
        if (next >= sm->lsu.next_cycle || sm->ahead == 0 || next * period_ps >= next_ps) {
            put_back(sm, &lone);
            return issue_rest(sm, lone.warp, 0, 0);
        }
        sm->ahead--;
        sm->wait = is_ready ? SM_WAIT_UNIT : SM_WAIT_RESULT;
        sm->cycle = next;
        bool itself = own < turn && lone.ready <= own;
        if (!itself && !turn_wheel(sm, &lone, is_ready ? 0 : own)) {
            return issue_now(sm);
        }
    }
}
