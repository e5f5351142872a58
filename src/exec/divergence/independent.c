/*
 * Independent thread scheduling: forward progress between the lanes of a warp, as GPUs since Volta
 * promise it, on top of the divergence stack. Paths still meet where the stack makes them meet, so
 * that code that does not wait for its own warp converges as before; but a path that has branched
 * backwards yield_after times in loops that may wait for others (exec/decode/waits.c), as one does
 * that spins, gives way to
 *
 *   - another path of the same branch, which waits below it on the stack: their blocks change
 *     places;
 *   - lanes that have arrived at the meeting point and wait for it: they go on without it, as a
 *     path of their own beside it, and meet at the next point further out.
 *
 *     [J: lanes 0-31] [spins: lanes 1-31]   ->   [J: 1-31] [spins: 1-31] [J's pc: lane 0]
 *
 * whoever waits longest, inner ones first where that is equal, so that everybody runs again and
 * again. Volta's own order is not published.
 *
 * At an instruction that acts on named lanes of the warp (bar.warp.sync, shfl.sync, vote.sync, ...)
 * a path waits until they are all at it, and becomes one with those that have waited there.
 *
 * A barrier of the block counts warps: the warp has come when all its lanes have, at this
 * instruction or at others with the same barrier.
 *
 * A path that finds an mbarrier's phase not over gives way at once to lanes that can go on: on an
 * H200 these run until they need its lanes, and it waits no shorter (docs/asynchronous.md).
 *
 * A path at nanosleep gives way to lanes that are not asleep: whom it waits for may be among them,
 * and PTX lets a sleep take any time from 0 to twice the one asked for. When all are asleep the
 * warp is.
 *
 * A warp on the stack becomes one of these when it would hang otherwise (patient_back()).
 *
 * Lanes that have left a meeting point without those that spin wait at their next call, for a
 * while: in a function they could not wait for them (see below), and libraries compiled for a
 * debugger have barriers and shuffles in functions, behind a loop in which one lane waits for
 * another block.
 *
 * Left out: paths in different calls of functions share frames, so that a path that spins inside a
 * function only gives way to lanes that are in the same call; the sum of a barrier that reduces
 * (bar.red) knows only the lanes of the path that came last.
 */
#include <string.h>

#include "exec/exec.h"
#include "exec/divergence/stack.h"
#include "exec/program.h"
#include "exec/state.h"

/* Someone who could run instead: a block of entries, or lanes that wait in a join. */
struct candidate {
    uint32_t join, block; /* entries: who waits for the level, and where its top block begins */
    bool waiting_lanes;   /* those in `join` */
    uint32_t since;       /* the turn in which who would run began to wait */
};

#define CANDIDATES_MAX 128

/* In a loop that does not ask what others have done: so many times as many branches. */
#define PATIENCE 64

/* The lanes that have arrived at a join: its own less those above it. */
static uint32_t arrived_lanes(const struct diverge_state *stack, uint32_t join)
{
    uint32_t lanes = stack->entries[join].lanes;
    for (uint32_t i = join + 1; i < stack->count; i++)
        if (stack->entries[i].level == stack->entries[join].level + 1)
            lanes &= ~stack->entries[i].lanes;
    return lanes;
}

/* From the top down to where the call in progress began: at each level its other paths, and those
 * waiting in its join. */
static uint32_t find_candidates(struct candidate *list, const struct diverge_state *stack)
{
    uint32_t found = 0, i = stack->count - 1;
    while (found + 2 <= CANDIDATES_MAX) {
        uint32_t block = i, level = stack->entries[i].level;
        bool others = false;
        while (i > 0 && stack->entries[i - 1].level >= level) {
            i--;
            others = true;
        }
        if (others)
            list[found++] = (struct candidate){
                .join = i, .block = block, .since = stack->entries[block - 1].since};
        if (i == 0 || stack->entries[i].is_call)
            break; /* below it are the callers */
        i--;       /* the join */
        if (arrived_lanes(stack, i))
            list[found++] = (struct candidate){
                .join = i, .waiting_lanes = true, .since = stack->entries[i].since};
    }
    return found;
}

/* Moves the entries from `block` on below those from `first` on. */
static void rotate(struct diverge_state *stack, uint32_t first, uint32_t block)
{
    for (; block < stack->count; first++, block++) {
        struct entry moved = stack->entries[block];
        memmove(&stack->entries[first + 1], &stack->entries[first], (block - first) * sizeof moved);
        stack->entries[first] = moved;
    }
}

static int release_waiting(struct diverge_state *stack, uint32_t join)
{
    struct entry path = stack->entries[join];
    path.lanes = arrived_lanes(stack, join);
    path.early = true;
    int rc = stack_push(stack, path);
    if (rc == 0) {
        stack->entries[join].lanes &= ~path.lanes;
        stack->entries[join].since = stack->turn;
    }
    return rc;
}

static const struct candidate *waits_longest(const struct candidate *list, uint32_t count,
                                             uint32_t turn)
{
    const struct candidate *best = list;
    for (uint32_t i = 1; i < count; i++)
        if (turn - list[i].since > turn - best->since)
            best = &list[i];
    return best;
}

/* Lets whoever waits longest run. False: nobody else can. */
static bool give_way(struct exec_warp *warp)
{
    struct diverge_state *stack = warp->state->diverge;
    struct candidate list[CANDIDATES_MAX];
    stack->backwards = stack->spins = 0;
    uint32_t count = find_candidates(list, stack);
    if (count == 0)
        return false;
    const struct candidate *chosen = waits_longest(list, count, stack->turn);
    struct entry *top = &stack->entries[stack->count - 1];
    top->pc = warp->pc;
    top->since = ++stack->turn;
    if (!chosen->waiting_lanes)
        rotate(stack, chosen->join, chosen->block);
    else if (release_waiting(stack, chosen->join) != 0)
        return true; /* without memory for it the warp stays with what it does */
    stack_resume(warp);
    return true;
}

/* A loop that cannot wait for others ends by itself: nobody gives way in it, as compilers see to
 * it, but in one that was not seen to wait. Where all lanes are together there is nobody to give
 * way to, and what was counted does not keep a warp from coming to a state in which it was. */
static bool has_patience(struct exec_warp *warp)
{
    struct diverge_state *stack = warp->state->diverge;
    if (stack->spin_depth != stack->count) {
        stack->spin_depth = stack->count;
        stack->spins = 0;
    }
    if (stack->count == 1) {
        stack->backwards = stack->spins = 0;
        return true;
    }
    return ++stack->spins < (uint64_t)PATIENCE * warp->cta->launch->yield_after;
}

static void independent_back(struct exec_warp *warp)
{
    struct diverge_state *stack = warp->state->diverge;
    bool waits = warp->state->program->waits[warp->pc];
    stack->backwards += waits;
    if (stack->backwards >= warp->cta->launch->yield_after || (!waits && !has_patience(warp)))
        (void)give_way(warp);
}

#define NO_ENTRY UINT32_MAX

/* The join in which an entry's lanes will meet others, within the call in progress. */
static uint32_t join_of(const struct diverge_state *stack, uint32_t entry)
{
    uint32_t level = stack->entries[entry].level;
    if (level == 0 || stack->entries[entry].is_call)
        return NO_ENTRY;
    while (stack->entries[entry].level != level - 1)
        entry--;
    return entry;
}

static bool is_join_of(const struct diverge_state *stack, uint32_t join, uint32_t entry)
{
    while (entry != join && entry != NO_ENTRY)
        entry = join_of(stack, entry);
    return entry == join;
}

/*
 * The lanes of a waiting path go on with the running one: joins that wait for only one of the two
 * learn of it.
 */
static void merge_into_top(struct diverge_state *stack, uint32_t path)
{
    uint32_t top = stack->count - 1, lanes = stack->entries[path].lanes;
    for (uint32_t j = join_of(stack, top); j != NO_ENTRY; j = join_of(stack, j))
        if (!is_join_of(stack, j, path))
            stack->entries[j].lanes |= lanes;
    for (uint32_t j = join_of(stack, path); j != NO_ENTRY; j = join_of(stack, j))
        if (!is_join_of(stack, j, top))
            stack->entries[j].lanes &= ~lanes;
    stack->entries[path].lanes = 0;
    stack->entries[top].lanes |= lanes;
}

/* Paths with any of `lanes` that wait at this instruction become one with the running path. */
static void meet(struct exec_warp *warp, uint32_t lanes)
{
    struct diverge_state *stack = warp->state->diverge;
    struct entry *top = &stack->entries[stack->count - 1];
    for (uint32_t i = 0; i + 1 < stack->count; i++) {
        const struct entry *path = &stack->entries[i];
        bool is_join = path[1].level > path->level;
        if (!is_join && path->pc == warp->pc && path->depth == top->depth && path->lanes & lanes)
            merge_into_top(stack, i);
    }
    warp->active = top->lanes;
}

static bool independent_sync(struct exec_warp *warp, uint32_t lanes)
{
    struct diverge_state *stack = warp->state->diverge;
    meet(warp, lanes);
    uint32_t here = warp->active;
    bool stand = !(warp->live & ~here & ~stack->at_sync & ~stack->at_barrier); /* all others */
    bool goes_on = !(lanes & ~here) || stand || !give_way(warp);
    stack->at_sync &= ~here;
    stack->at_sync |= goes_on ? 0 : here & lanes;
    return goes_on;
}

/*
 * Until all lanes are at a barrier, others run. They need not be at the same instruction: when the
 * last path has come the warp has, once, and the others find that it has. (Where lanes are at
 * barriers of different numbers each path counts as a warp, as on the stack.)
 */
static enum diverge_barrier independent_barrier(struct exec_warp *warp, uint32_t barrier)
{
    struct diverge_state *stack = warp->state->diverge;
    uint32_t passed = warp->active & stack->come;
    stack->come &= ~warp->active;
    if (passed)
        return AT_BARRIER_PASSED;
    meet(warp, warp->live & ~stack->come);
    bool same = !stack->at_barrier || stack->barrier == barrier;
    stack->barrier = barrier;
    stack->at_barrier |= warp->active;
    uint32_t missing = warp->live & ~stack->at_barrier;
    if (same && missing && give_way(warp))
        return AT_BARRIER_LATER;
    stack->come = same && !missing ? stack->at_barrier & warp->live & ~warp->active : 0;
    stack->at_barrier = 0;
    return AT_BARRIER_ARRIVES;
}

#define HELD_MAX 4096 /* turns of a warp */

static bool independent_call(struct exec_warp *warp)
{
    struct diverge_state *stack = warp->state->diverge;
    struct entry *top = &stack->entries[stack->count - 1];
    if (!top->early && !stack->held)
        return true;
    meet(warp, warp->live);
    if (warp->active == warp->live)
        top->early = false;
    else if (top->early && stack->held < HELD_MAX && give_way(warp)) {
        stack->held++;
        return false;
    }
    return true;
}

static bool independent_wait(struct exec_warp *warp, uint32_t held)
{
    struct diverge_state *stack = warp->state->diverge;
    uint32_t stand = held | warp->active | stack->at_barrier | stack->at_sync;
    struct candidate list[CANDIDATES_MAX];
    if (!(warp->live & ~stand) || find_candidates(list, stack) == 0)
        return false;
    stack->backwards = warp->cta->launch->yield_after;
    return true;
}

static struct diverge_sleep independent_sleep(struct exec_warp *warp)
{
    struct diverge_state *stack = warp->state->diverge;
    if (stack->resting & warp->active) {
        stack->resting &= ~warp->active;
        return (struct diverge_sleep){0};
    }
    stack->resting |= warp->active;
    bool all = !(warp->live & ~stack->resting & ~stack->at_barrier);
    bool others = give_way(warp);
    if (!others)
        stack->resting = 0;
    return (struct diverge_sleep){.sleeps = all || !others, .comes_again = others};
}

/*
 * Lanes on the stack that wait for others of their warp. A path that has branched backwards so
 * often while others wait for it, to one place or to several, either is in a very long loop or
 * waits for one of them; a GPU before Volta would hang. The program is to end: from here on the
 * warp's lanes are independent, each giving way at every branch backwards.
 */
static void patient_back(struct exec_warp *warp)
{
    struct diverge_state *stack = warp->state->diverge;
    if (stack->spin_depth != stack->count) {
        stack->spin_depth = stack->count;
        stack->backwards = stack->spins = 0;
    }
    stack->spins = stack->spin_pc == warp->pc ? stack->spins + 1 : 0;
    stack->spin_pc = warp->pc;
    bool long_enough =
        ++stack->backwards >= DIVERGE_PATIENCE_WITH_LOOPS || stack->spins >= DIVERGE_PATIENCE;
    if (long_enough && stack->count > 1 && give_way(warp))
        warp->state->diverge_ops = &diverge_independent;
}

const struct diverge_ops diverge_stack = {DIVERGE_STACK_OPS, .back = patient_back};

const struct diverge_ops diverge_independent = {
    DIVERGE_STACK_OPS,          .back = independent_back,
    .sync = independent_sync,   .barrier = independent_barrier,
    .sleep = independent_sleep, .call = independent_call,
    .wait = independent_wait};
