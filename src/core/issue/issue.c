/*
 * The issue stage: each cycle every scheduler picks a ready warp whose unit is free and executes
 * its next instruction (exec_issue), up to issue_per_scheduler instructions of that warp. A unit
 * with n lanes a cycle is taken for 32/n cycles; units with more than 32 lanes take several warps
 * in one cycle. Fetch and decode are not modelled: instructions are always there.
 *
 * Where the model lowers (ptx/lower.h), an instruction holds its scheduler for as many issues as
 * the machine's instructions that it stands for, and their units. One that stands for none executes
 * beside another, and its result is there with its operands.
 */
#include "core/memory/banks.h"
#include "core/issue/issue.h"
#include "util/error.h"

/* The first cycle in which a busy unit can start another warp. A full LSU says so itself. */
static uint64_t unit_free_cycle(const struct sm *sm, const struct sm_unit *unit)
{
    uint64_t cycle = unit->lanes_shift == UNIT_NO_SHIFT ? unit->busy_lanes / unit->lanes_per_cycle
                                                        : unit->busy_lanes >> unit->lanes_shift;
    return cycle > sm->cycle ? cycle : CYCLE_NEVER;
}

/* Of all accesses that a fragment is. */
static uint32_t pieces_passes(const struct sm *sm, const struct exec_access *access,
                              uint32_t *count)
{
    struct exec_access piece;
    uint32_t passes = 0;
    for (uint32_t k = 0; k < access->pieces; k++) {
        exec_access_piece(&piece, access, k);
        passes += banks_passes(&sm->banks, &piece);
    }
    *count = access->pieces;
    return passes;
}

/*
 * A scheduler's way to shared memory: rows of matrices take it for some cycles each time the banks
 * are asked, longer than the banks take, and what comes behind them waits. Returns the first cycle
 * in which an access is on its way.
 */
static uint64_t shared_way(struct sm *sm, uint32_t scheduler, const struct exec_access *access,
                           uint32_t passes)
{
    const struct shared_spec *spec = &sm->spec->shared;
    uint64_t *free = &sm->shared_free[scheduler];
    uint64_t start = *free > sm->cycle ? *free : sm->cycle;
    if (access->kind == ACCESS_MATRIX_LOAD) {
        *free = start + (uint64_t)passes * spec->matrix_load_cycles;
    } else if (access->kind == ACCESS_MATRIX_STORE) {
        *free = start + (uint64_t)passes * spec->matrix_store_cycles;
    }
    return start;
}

/* Shared memory is in order and on the spot, so its accesses take effect at issue. */
static uint64_t shared_result_cycle(struct sm *sm, uint32_t scheduler,
                                    const struct exec_access *access)
{
    const struct shared_spec *spec = &sm->spec->shared;
    bool alone = (access->mask & (access->mask - 1)) == 0; /* there is a lane */
    bool matrix = access->kind == ACCESS_MATRIX_LOAD || access->kind == ACCESS_MATRIX_STORE;
    uint32_t count = 1;
    uint32_t passes = is_fragment(access) ? pieces_passes(sm, access, &count)
                      : alone             ? 1
                                          : banks_passes(&sm->banks, access);
    uint64_t further = passes > count ? passes - count : 0, extra = further * spec->conflict_cycles;
    uint64_t busy =
        spec->conflict_interval_cycles ? further * spec->conflict_interval_cycles : extra;
    struct sm_unit *unit = &sm->unit[UNIT_LSU];
    unit_occupy(unit, sm->cycle, busy * unit->lanes_per_cycle);
    sm->stats.shared_accesses += count;
    sm->stats.shared_conflicts += passes - count;
    uint64_t start = shared_way(sm, scheduler, access, passes);
    return start + (matrix ? spec->matrix_cycles : spec->latency_cycles) + extra;
}

/*
 * Shared memory of other CTAs of the cluster: it takes effect at issue too, so that it is in order
 * with the barrier. The lanes are sent one after the other, by the bytes a cycle that the network
 * takes. Left out: conflicts of banks over there, and with accesses of other SMs.
 */
static uint64_t cluster_result_cycle(struct sm *sm, const struct exec_access *access)
{
    const struct cluster_spec *spec = &sm->spec->cluster;
    uint64_t bytes = (uint64_t)bit_count(access->mask) * access->bytes * access->vec;
    uint64_t cycles =
        spec->bytes_per_cycle ? (bytes + spec->bytes_per_cycle - 1) / spec->bytes_per_cycle : 1;
    struct sm_unit *unit = &sm->unit[UNIT_LSU];
    unit_occupy(unit, sm->cycle, (cycles - 1) * unit->lanes_per_cycle);
    return sm->cycle + spec->latency_cycles + cycles - 1;
}

/* Has taken effect, and asks nothing but the banks. */
static bool is_shared_done(const struct exec_access *access)
{
    return access->done && access->space == SPACE_SHARED &&
           (access->kind == ACCESS_LOAD || access->kind == ACCESS_STORE);
}

static void issue_shared(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info,
                         const struct exec_access *access, uint32_t lanes)
{
    sm->stats.space[SPACE_SHARED]++;
    sm->stats.space_lanes[SPACE_SHARED] += lanes;
    set_results(warp, info, shared_result_cycle(sm, warp->scheduler, access));
}

/* False: the access waits for memory in `pipe`. Else *cycle is when its result is there. */
static bool access_cycles_known(struct sm *sm, const struct sm_warp *warp,
                                const struct exec_access *access, uint64_t *cycle, enum pipe *pipe)
{
    *cycle = sm->cycle + 1;
    if (access->mask == 0 || access->kind == ACCESS_FENCE) {
        return true;
    }
    if (access->space == SPACE_SHARED) {
        *cycle = shared_result_cycle(sm, warp->scheduler, access);
        return true;
    }
    if (access->space == SPACE_SHARED_CLUSTER) {
        *cycle = cluster_result_cycle(sm, access);
        return true;
    }
    *cycle = sm->cycle + (access->space == SPACE_LOCAL ? sm->spec->local_hit_cycles
                                                       : sm->spec->const_hit_cycles);
    return !path_choose(sm, access, pipe);
}

/* What the model gives no time: it is over when it issues, like arithmetic of its unit. */
static bool is_over_at_issue(const struct sm *sm, const struct exec_access *access)
{
    switch (access->kind) {
    case ACCESS_COPY:
        return sm->spec->copies.latency_cycles == 0;
    case ACCESS_WAIT:
        return sm->spec->mbarrier.latency_cycles == 0;
    case ACCESS_MATRIX_LOAD:
    case ACCESS_MATRIX_STORE:
        return sm->spec->shared.matrix_cycles == 0;
    default:
        return false;
    }
}

/* `latency`: of the unit. */
static int issue_access(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info,
                        uint32_t lanes, uint64_t latency)
{
    struct lsu_access *spare = sm->lsu.spare;
    const struct exec_access *access = &spare->detail->access;
    uint64_t cycle;
    enum pipe pipe;
    if (is_over_at_issue(sm, access)) {
        set_results(warp, info, sm->cycle + latency);
        return access_commit(sm, warp, access);
    }
    if (access->kind == ACCESS_WAIT) {
        return wait_begin(sm, warp, info);
    }
    if (is_fragment(access) && !info->is_lowered) {
        struct sm_unit *unit = &sm->unit[UNIT_LSU];
        unit_occupy(unit, sm->cycle, (uint64_t)unit->warp_lanes * (access->pieces - 1u));
    }
    enum isa_space space = access->kind == ACCESS_TEXTURE ? SPACE_TEX : access->space;
    sm->stats.space[space]++;
    sm->stats.space_lanes[space] += lanes;
    if (access_cycles_known(sm, warp, access, &cycle, &pipe)) {
        set_results(warp, info, cycle);
        return access_commit(sm, warp, access);
    }
    put_results(warp, info, CYCLE_NEVER);
    spare->warp = warp;
    spare->info = info;
    spare->completion = &access_completion;
    return lsu_enqueue_spare(sm, pipe);
}

static bool has_live_warps(const struct sm *sm)
{
    for (uint32_t i = 0; i < sm->spec->max_ctas; i++) {
        if (sm->cta[i].used && sm->cta[i].live_warps > 0) {
            return true;
        }
    }
    return false;
}

static void warp_exit(struct sm *sm, struct sm_warp *warp)
{
    warp->state = WARP_EXITED;
    warp->cta->live_warps--;
    warp->cta->counts.exited_cycle = sm->cycle;
    barrier_exit(sm, warp);
    if (sm->gathers.send && !has_live_warps(sm)) {
        sm->gathers.send(sm->gathers.l1);
    }
    cta_try_retire(sm, warp->cta);
}

static uint32_t slots_now(const struct sm_warp *warp, const struct exec_uop_info *info)
{
    return (warp->part + info->lowered.slots) / LOWER_ONE;
}

/*
 * Takes the unit; returns its latency. A product is so many of the tensor unit's machine
 * instructions, one behind the other.
 */
static uint64_t take_unit(struct sm *sm, struct sm_unit *unit, const struct exec_uop_info *info)
{
    const struct step_spec *step = &sm->spec->step[info->product];
    uint64_t lanes = unit->warp_lanes, latency = unit->latency_cycles;
    if (info->product_steps) {
        lanes =
            step->lanes_per_cycle ? lanes * unit->lanes_per_cycle / step->lanes_per_cycle : lanes;
        latency = step->latency_cycles ? step->latency_cycles : latency;
        /* Steps of f64 follow each other along k or beside; others beside. */
        if (info->product == STEP_DOUBLE) {
            latency += (info->product_steps - 1u) * lanes / unit->lanes_per_cycle;
        }
        lanes *= info->product_steps;
    }
    unit_occupy(unit, sm->cycle, lanes);
    return latency;
}

/*
 * Takes the scheduler and the units for what an instruction stands for. Returns the cycles from now
 * to its last machine instruction, or, if it is none, to its last operand.
 */
static uint64_t issue_lowered(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info)
{
    const struct lowered *lowered = &info->lowered;
    uint32_t slots = slots_now(warp, info);
    uint32_t held = warp->held + lowered->held;
    warp->part = (uint16_t)((warp->part + lowered->slots) % LOWER_ONE);
    warp->held = (uint16_t)(held % LOWER_ONE);
    for (uint32_t i = 0; i < lowered->part_count; i++) {
        struct sm_unit *unit = &sm->unit[warp->units[lowered->part[i].unit]];
        if (info->product_steps == 0) {
            unit_occupy(unit, sm->cycle,
                        (uint64_t)unit->warp_lanes * lowered->part[i].slots / LOWER_ONE);
        }
        sm->stats.unit_parts[lowered->part[i].unit] += lowered->part[i].slots;
    }
    sm->stats.lowered_insns++;
    sm->stats.machine_insns += slots;
    sm->scheduler[warp->scheduler].next_cycle += (uint64_t)(held / LOWER_ONE) * sm->issue_interval;
    if (slots > 1) {
        sm->scheduler[warp->scheduler].next_cycle += (uint64_t)(slots - 1) * sm->issue_interval;
        return (uint64_t)(slots - 1) * sm->issue_interval;
    }
    if (slots == 1) {
        return 0;
    }
    uint64_t operands = operands_ready(warp, info);
    return operands != CYCLE_NEVER && operands > sm->cycle ? operands - sm->cycle : 0;
}

/*
 * An instruction whose warp issues nothing beside it (APART in isa/lowering.def): its unit's
 * latency is that of all its machine instructions. For rare operands it calls a subroutine, during
 * which other warps issue. Returns the cycles from now to its results.
 */
static uint64_t issue_apart(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info,
                            uint64_t issued, uint64_t latency)
{
    const struct lowered_rare *rare = &info->lowered.rare[exec_operands(&warp->exec)];
    uint64_t cycles = issued > latency ? issued : latency;
    sm->stats.machine_insns += rare->slots;
    sm->scheduler[warp->scheduler].next_cycle += (uint64_t)rare->slots * sm->issue_interval;
    return cycles + info->lowered.stall_cycles + rare->stalls +
           (uint64_t)rare->jumps * sm->unit[UNIT_BRANCH].latency_cycles;
}

/* How often it takes the branch unit, in LOWER_ONE-ths. 0: a short body was predicated instead, or
 * the jump leads to the next instruction. */
static uint32_t branch_slots(const struct exec_uop_info *info)
{
    if (!info->is_lowered) {
        return LOWER_ONE;
    }
    for (uint32_t i = 0; i < info->lowered.part_count; i++) {
        if (info->lowered.part[i].unit == UNIT_BRANCH) {
            return info->lowered.part[i].slots;
        }
    }
    return 0;
}

/*
 * Asynchronous matrix products take the tensor core of the warp's scheduler one after the other,
 * beside the warp. What waits for them: core/barrier.c.
 */
static void note_product(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info)
{
    const struct product_spec *spec = &sm->spec->products;
    uint64_t *free = &sm->products_free[warp->scheduler];
    uint64_t start = *free > sm->cycle ? *free : sm->cycle;
    uint32_t columns = info->product_columns / spec->columns_per_cycle;
    uint32_t least = spec->least_cycles + columns / 2;
    *free = start + (columns > least ? columns : least);
    warp->products_ready = start + spec->latency_cycles + columns;
    warp->next_issue = start > warp->next_issue ? start : warp->next_issue;
}

/*
 * What an asynchronous instruction takes besides. Returns the cycles from its issue to its results,
 * of which it knows better than its unit, 0: it does not.
 */
static uint64_t note_async(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info)
{
    const struct mbarrier_spec *mbarrier = &sm->spec->mbarrier;
    if (sm->spec->products.latency_cycles && info->product_columns) {
        note_product(sm, warp, info);
    }
    warp->copies.committed += info->copies == GROUPS_COMMIT;
    warp->bulk.committed += info->bulk == GROUPS_COMMIT;
    if (!info->is_mbarrier || mbarrier->latency_cycles == 0) {
        return 0;
    }
    if (mbarrier->interval_cycles > 1) {
        struct sm_unit *unit = &sm->unit[UNIT_LSU];
        unit_occupy(unit, sm->cycle,
                    (uint64_t)(mbarrier->interval_cycles - 1) * unit->lanes_per_cycle);
    }
    bool tells_state = info->dst_count > 0 && mbarrier->arrive_cycles > 0;
    return tells_state ? mbarrier->arrive_cycles : mbarrier->latency_cycles;
}

/* After the issue: copies have begun, barriers may have changed. */
static int async_issued(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info)
{
    if (info->is_bulk && sm->async.bulk.issued.list.count > 0) {
        return bulk_issue(sm, warp);
    }
    if (info->is_mbarrier) {
        int rc = info->copies == GROUPS_ARRIVE && sm->spec->copies.latency_cycles
                     ? copies_arrive(sm, warp)
                     : 0;
        if (rc < 0) {
            return rc;
        }
        wait_look(sm);
        if (info->is_remote) {
            wait_look_elsewhere(sm, warp, sm->spec->cluster.arrive_cycles);
        }
    }
    return 0;
}

/* For an instruction that may read it. Returns the cycles to its results. */
static uint64_t read_clock(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info,
                           uint64_t latency)
{
    warp->env.clock = sm->cycle;
    warp->env.globaltimer_ns = sm->cycle * sm->period_ps / 1000;
    return info->reads_clock ? sm->spec->clock_read_cycles : latency;
}

/* A branch has executed, from `pc` on for `active` lanes: where none takes it, the unit is free but
 * for what marks where lanes meet. */
static void note_fall_through(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info,
                              uint32_t pc, uint32_t active)
{
    uint32_t slots = branch_slots(info);
    if (warp->exec.pc == pc + 1 && warp->exec.active == active && sm->spec->fall_through_cycles &&
        slots > 0) {
        struct sm_unit *unit = &sm->unit[warp->units[info->unit]];
        slots = slots < LOWER_ONE ? slots : LOWER_ONE;
        unit->busy_lanes -= (uint64_t)unit->warp_lanes * slots / LOWER_ONE;
        warp->next_issue = sm->cycle + sm->spec->fall_through_cycles + info->lowered.stall_cycles;
    }
}

/* It has executed, from `pc` on for `active` lanes, and has its results after `latency`. */
static int issue_done(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info,
                      uint64_t latency, uint32_t pc, uint32_t active)
{
    set_results(warp, info, sm->cycle + latency);
    if (info->is_branch) {
        note_fall_through(sm, warp, info, pc, active);
    }
    return info->is_async ? async_issued(sm, warp, info) : 0;
}

int issue_ended(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info,
                enum exec_event event, uint32_t lanes, uint64_t latency)
{
    int rc = 0;
    switch (event) {
    case EXEC_DONE:
        break;
    case EXEC_ACCESS:
        rc = issue_access(sm, warp, info, lanes, latency);
        break;
    case EXEC_BARRIER:
        set_results(warp, info, sm->cycle + latency);
        barrier_arrive(sm, warp);
        return 0;
    case EXEC_EXIT:
        warp_exit(sm, warp);
        return 0;
    case EXEC_FAULT:
        return SONDE_EFAULT;
    }
    if (warp->exec.slept_ns) {
        warp->next_issue = sm->cycle + warp->exec.slept_ns * UINT64_C(1000) / sm->period_ps;
        warp->exec.slept_ns = 0;
    }
    if (rc == 0) {
        warp_refresh(sm, warp);
    }
    return rc;
}

/* Its clock stands at sm->cycle, where somebody may look at it. */
static void engine_follows(struct sm *sm)
{
    engine_advance(sm->engine, sm->cycle * sm->period_ps);
}

bool issue_not_lanes(struct sm *sm, struct sm_warp *warp, const struct exec_uop_info *info,
                     uint32_t lanes, uint64_t latency, int *rc)
{
    struct exec_access *access = &sm->lsu.spare->detail->access;
    if (info->is_branch) {
        warp->next_issue = sm->cycle + latency;
    }
    if (info->unit == UNIT_SPECIAL || info->reads_clock) {
        latency = read_clock(sm, warp, info, latency);
    }
    if (info->is_outward) {
        engine_follows(sm);
    }
    uint32_t pc = warp->exec.pc, active = warp->exec.active;
    enum exec_event event = exec_issue(&warp->exec, access);
    if (event == EXEC_ACCESS && is_shared_done(access)) {
        issue_shared(sm, warp, info, access, lanes);
        return true;
    }
    if (event == EXEC_DONE) {
        set_results(warp, info, sm->cycle + latency);
        if (info->is_branch) {
            note_fall_through(sm, warp, info, pc, active);
        }
        if (!warp->exec.slept_ns) {
            return true;
        }
    }
    engine_follows(sm);
    *rc = issue_ended(sm, warp, info, event, lanes, latency);
    return false;
}

__attribute__((noinline)) static int issue_other(struct sm *sm, struct sm_warp *warp,
                                                 const struct exec_uop_info *info)
{
    struct sm_unit *unit = &sm->unit[warp->units[info->unit]];
    uint64_t ready = 0; /* when what has vanished has its result */
    if (sm->profile) {
        profile_issues(sm, warp, bit_count(warp->exec.active));
    }
    uint64_t latency = unit->latency_cycles;
    if (info->is_lowered) {
        ready = issue_lowered(sm, warp, info);
    }
    if (!info->is_lowered || info->product_steps) {
        latency = take_unit(sm, unit, info);
    }
    uint32_t lanes = bit_count(warp->exec.active);
    count_issue(sm, warp, info, lanes);
    if (info->is_lowered) {
        latency = info->lowered.folded ? ready : ready + latency;
    }
    if (info->is_lowered && info->lowered.apart) {
        latency = issue_apart(sm, warp, info, ready, unit->latency_cycles);
    }
    bool alone = info->lowered.apart || (info->is_branch && branch_slots(info) > 0);
    uint64_t stall = info->lowered.apart ? 0 : info->lowered.stall_cycles;
    warp->next_issue = sm->cycle + stall + (alone ? latency : 0);
    if (info->unit == UNIT_SPECIAL || info->reads_clock) {
        latency = read_clock(sm, warp, info, latency);
    }
    uint32_t pc = warp->exec.pc, active = warp->exec.active;
    if (info->is_async) {
        uint64_t known = note_async(sm, warp, info);
        latency = known ? known : latency;
    }
    struct exec_access *access = &sm->lsu.spare->detail->access;
    enum exec_event event =
        sm->repeats ? exec_issue_apart(&warp->exec, access) : exec_issue(&warp->exec, access);
    if (sm->repeats) {
        repeat_issued(sm, warp, info, event);
    }
    int rc = event == EXEC_DONE ? issue_done(sm, warp, info, latency, pc, active) : 0;
    return rc < 0 ? rc : issue_ended(sm, warp, info, event, lanes, latency);
}

/* A simple instruction in its warp's turn, of an SM at which nobody looks. */
static inline int issue_in_turn(struct sm *sm, struct sm_warp *warp,
                                const struct exec_uop_info *info, struct sm_unit *unit)
{
    int rc = 0;
    unit_occupy(unit, sm->cycle, unit->warp_lanes);
    if (issue_simple(sm, warp, info, unit, &rc) && warp_look(sm, warp)) {
        warp_place(sm, warp);
    }
    return rc;
}

/* A lane loop that is none or several of the machine's instructions, of such an SM. */
__attribute__((noinline)) static int issue_plain(struct sm *sm, struct sm_warp *warp,
                                                 const struct exec_uop_info *info)
{
    uint64_t latency = issue_lowered(sm, warp, info);
    latency += info->lowered.folded ? 0 : sm->unit[warp->units[info->unit]].latency_cycles;
    count_issue(sm, warp, info, bit_count(warp->exec.active));
    warp->next_issue = sm->cycle + info->lowered.stall_cycles;
    exec_issue_lanes(&warp->exec);
    set_results(warp, info, sm->cycle + latency);
    if (warp_look(sm, warp)) {
        warp_place(sm, warp);
    }
    return 0;
}

static inline int issue_warp(struct sm *sm, struct sm_warp *warp)
{
    const struct exec_uop_info *info = warp->next;
    struct sm_unit *unit = warp->unit; /* its own, where it is simple */
    uint64_t bit = 1ull << warp->slot;
    sm->ready &= ~bit;
    unit->ready_warps &= ~bit;
    if (info->reach != REACH_NOBODY && fence_begins(sm, warp, info)) {
        warp_refresh(sm, warp);
        return 0;
    }
    if (sm->looked_at) {
        return issue_other(sm, warp, info);
    }
    return info->is_simple  ? issue_in_turn(sm, warp, info, unit)
           : info->is_plain ? issue_plain(sm, warp, info)
                            : issue_other(sm, warp, info);
}

/* What is no instruction of the machine's issues beside another. */
__attribute__((noinline)) static int issue_beside(struct sm *sm, struct sm_warp *warp)
{
    return issue_warp(sm, warp);
}

int issue_more(struct sm *sm, struct sm_warp *warp, uint32_t left)
{
    int rc = 0;
    for (; rc == 0 && left > 0 && sm->ready & 1ull << warp->slot && unit_is_free(sm, warp->unit) &&
           !warp->next->takes_turn;
         left--) {
        rc = issue_warp(sm, warp);
    }
    return rc;
}

/* What a scheduler's cycle comes to, if it is no error. */
enum {
    ISSUE_WENT_ON,
    ISSUE_UNITS_TAKEN, /* all units that its ready warps need are taken */
    ISSUE_AWAITS_TURN  /* it would issue what waits for the SM's turn, and has not */
};

/* A cycle's look at the schedulers. */
struct look {
    uint64_t next_cycle;         /* when a busy unit lets a ready warp go on */
    const struct sm_unit *taken; /* what was found so last, and is so to the end of the cycle */
};

/* Of one scheduler's ready warps the one to issue; NULL: there is none. *rc as of
 * scheduler_cycle().
 */
static struct sm_warp *choose_warp(struct sm *sm, const struct sched_state *state,
                                   struct look *look, uint64_t candidates, int *rc)
{
    while (candidates) {
        bool alone = (candidates & (candidates - 1)) == 0;
        uint32_t slot = alone ? (uint32_t)__builtin_ctzll(candidates)
                              : sm->sched->pick(state, candidates, sm->warp_start);
        struct sm_warp *warp = &sm->warp[slot];
        const struct sm_unit *unit = warp->unit;
        if (warp->next->is_lowered && slots_now(warp, warp->next) == 0 &&
            !unit_waits_for_lsu(sm, unit) && !warp->next->takes_turn) {
            int issued = issue_beside(sm, warp);
            if (issued < 0) {
                *rc = issued;
                return NULL;
            }
            candidates = (candidates & ~(1ull << slot)) | (sm->ready & 1ull << slot);
            continue;
        }
        if (unit_is_free(sm, unit)) {
            return warp;
        }
        uint64_t free_cycle = unit_free_cycle(sm, unit);
        candidates &= ~unit->ready_warps;
        look->taken = unit;
        look->next_cycle = free_cycle < look->next_cycle ? free_cycle : look->next_cycle;
        *rc = ISSUE_UNITS_TAKEN;
    }
    return NULL;
}

/* Lets one scheduler issue. */
static int scheduler_cycle(struct sm *sm, uint32_t index, struct look *look)
{
    struct sched_state *state = &sm->scheduler[index];
    uint64_t candidates = sm->ready & state->warps;
    if (!candidates) {
        return ISSUE_WENT_ON;
    }
    if (sm->cycle < state->next_cycle) {
        look->next_cycle =
            state->next_cycle < look->next_cycle ? state->next_cycle : look->next_cycle;
        return ISSUE_WENT_ON;
    }
    if (look->taken && !(candidates & (~look->taken->ready_warps | sm->ready_beside))) {
        return ISSUE_UNITS_TAKEN;
    }
    int rc = ISSUE_WENT_ON;
    struct sm_warp *warp = choose_warp(sm, state, look, candidates, &rc);
    if (!warp) {
        return rc;
    }
    if (warp->next->takes_turn && sm->turn.needed) {
        return ISSUE_AWAITS_TURN;
    }
    state->last = warp->slot;
    state->next_cycle = sm->cycle + issue_cycles(sm, warp->next);
    rc = issue_warp(sm, warp);
    if (rc == 0 && sm->ready & 1ull << warp->slot && sm->spec->issue_per_scheduler > 1 &&
        unit_is_free(sm, warp->unit)) {
        rc = issue_more(sm, warp, sm->spec->issue_per_scheduler - 1);
    }
    if (rc < 0) {
        return rc;
    }
    if ((sm->ready & state->warps) && state->next_cycle < look->next_cycle) {
        look->next_cycle = state->next_cycle;
    }
    return ISSUE_WENT_ON;
}

/* issue_now() where all ready warps wait for the same unit, which does not take one. */
static uint64_t issue_none(struct sm *sm, const struct sm_unit *unit)
{
    const uint64_t free_cycle = unit_free_cycle(sm, unit);
    uint64_t next = wheel_next_cycle(sm);
    uint32_t index = sm->first_scheduler, first = UINT32_MAX;
    for (uint32_t count = sm->spec->schedulers; count > 0; count--) {
        const struct sched_state *state = &sm->scheduler[index];
        if (sm->ready & state->warps) {
            bool waits = sm->cycle >= state->next_cycle;
            uint64_t cycle = waits ? free_cycle : state->next_cycle;
            next = cycle < next ? cycle : next;
            first = waits && first == UINT32_MAX ? index : first;
        }
        index = index + 1 == sm->spec->schedulers ? 0 : index + 1;
    }
    sm->first_scheduler = first == UINT32_MAX ? sm->first_scheduler : first;
    return next;
}

/* The cycle stands in front of what the pass's next scheduler would issue (issue/turn.c). */
static uint64_t stand_before_turn(struct sm *sm, const struct sm_pass *pass)
{
    sm->turn.awaited = true;
    sm->turn.pass = *pass;
    engine_pause(sm->engine);
    return CYCLE_NEVER;
}

/*
 * Schedulers compete for the units. One that finds them all taken chooses first from then on, until
 * it has issued: where units take fewer warps than there are schedulers, none starves, however
 * often they are asked while a unit is busy.
 */
uint64_t issue_now(struct sm *sm)
{
    const struct sm_unit *lsu = &sm->unit[UNIT_LSU];
    struct sm_pass pass = {
        .scheduler = sm->first_scheduler, .left = sm->spec->schedulers, .next_cycle = CYCLE_NEVER};
    if (sm->turn.resumes) {
        pass = sm->turn.pass;
    } else if (sm->ready && !(sm->ready & ~lsu->ready_warps) && lsu_full(&sm->lsu)) {
        return issue_none(sm, lsu);
    } else if ((sm->ready & (sm->ready - 1)) == 0 && sm->ready) {
        /* One warp is ready, as in a pointer chase: nobody to compete with. */
        pass.scheduler = sm->warp[__builtin_ctzll(sm->ready)].scheduler;
        pass.left = 1;
    }
    struct look look = {.next_cycle = pass.next_cycle};
    for (; sm->ready && pass.left > 0; pass.left--) {
        int rc = scheduler_cycle(sm, pass.scheduler, &look);
        if (rc == ISSUE_AWAITS_TURN) {
            pass.next_cycle = look.next_cycle;
            return stand_before_turn(sm, &pass);
        }
        if (rc == ISSUE_UNITS_TAKEN && !pass.waits) {
            sm->first_scheduler = pass.scheduler;
            pass.waits = true;
        }
        pass.scheduler = pass.scheduler + 1 == sm->spec->schedulers ? 0 : pass.scheduler + 1;
        if (rc < 0) {
            sm_fault(sm, rc);
            return CYCLE_NEVER;
        }
    }
    uint64_t turn = wheel_next_cycle(sm);
    return turn < look.next_cycle ? turn : look.next_cycle;
}
