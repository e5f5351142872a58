/*
 * The SIMT stack: divergent paths run one after the other and meet at the branch's immediate
 * post-dominator. An entry is a set of lanes with the pc at which they go on and the pc at which
 * they hand over to the entry below.
 *
 *     top ->  { pc: else side, reconverge: J, lanes 16-31 }     runs now
 *             { pc: then side, reconverge: J, lanes 0-15 }      waits
 *             { pc: J,         reconverge: .., lanes 0-31 }     goes on when both have arrived
 *
 * The running entry's pc and lanes live in the warp; the entry is brought up to date when another
 * one is pushed. The stack stays shallow in loops: a side that starts at its own reconvergence
 * point is not pushed, and a split inside an entry that ends at the same point does not add a
 * second waiting entry. So every push halves some set of lanes, and depth is bounded by the
 * lanes and by the calls in progress.
 *
 * Left out: forward progress between lanes of one warp. A spin lock that one lane holds while
 * another lane of its warp waits for it never ends, as on GPUs before Volta.
 * Source: W. Fung et al., Dynamic Warp Formation and Scheduling for Efficient GPU Control Flow,
 * MICRO 2007, section 2.
 */
#include "exec/diverge.h"

#include <stdlib.h>

#include "exec/exec.h"
#include "exec/state.h"
#include "util/error.h"

struct entry {
    uint32_t pc, reconverge, lanes;
    uint32_t depth; /* call frames in use when it runs */
};

struct diverge_state {
    uint32_t count, capacity;
    struct entry *entries;
};

static int push(struct diverge_state *stack, struct entry entry)
{
    if (stack->count == stack->capacity) {
        uint32_t capacity = stack->capacity ? stack->capacity * 2 : 8;
        struct entry *grown = realloc(stack->entries, capacity * sizeof *grown);
        if (!grown)
            return error_set(SONDE_ENOMEM, "out of memory for a warp's divergence stack");
        stack->entries = grown;
        stack->capacity = capacity;
    }
    stack->entries[stack->count++] = entry;
    return SONDE_OK;
}

/* Make the top entry the running one. Entries without lanes are gone, their calls with them. */
static void resume_top(struct exec_warp *warp)
{
    struct diverge_state *stack = warp->state->diverge;
    while (stack->count > 0) {
        struct entry *top = &stack->entries[stack->count - 1];
        if (top->lanes != 0 && top->pc != top->reconverge)
            break;
        stack->count--;
    }
    if (stack->count == 0) {
        warp->active = 0;
        warp->done = true;
        warp->state->reconverge = PTX_NO_PC;
        return;
    }
    const struct entry *top = &stack->entries[stack->count - 1];
    warp->pc = top->pc;
    warp->active = top->lanes;
    warp->state->reconverge = top->reconverge;
    if (warp->state->depth != top->depth)
        frame_unwind(warp->state, top->depth);
}

static int stack_reset(struct exec_warp *warp, uint32_t lanes, uint32_t pc)
{
    struct exec_state *state = warp->state;
    if (!state->diverge) {
        state->diverge = calloc(1, sizeof *state->diverge);
        if (!state->diverge)
            return error_set(SONDE_ENOMEM, "out of memory for a warp's divergence stack");
    }
    state->diverge->count = 0;
    warp->live = lanes;
    warp->done = false;
    int rc = push(state->diverge, (struct entry){pc, PTX_NO_PC, lanes, 0});
    if (rc == SONDE_OK)
        resume_top(warp);
    return rc;
}

static void stack_free(struct exec_warp *warp)
{
    struct diverge_state *stack = warp->state->diverge;
    if (stack)
        free(stack->entries);
    free(stack);
    warp->state->diverge = NULL;
}

static void stack_arrive(struct exec_warp *warp)
{
    warp->state->diverge->count--;
    resume_top(warp);
}

static int stack_branch(struct exec_warp *warp, uint32_t taken, uint32_t target,
                        uint32_t fallthrough, uint32_t reconverge)
{
    struct diverge_state *stack = warp->state->diverge;
    struct entry *top = &stack->entries[stack->count - 1];
    uint32_t others = warp->active & ~taken, depth = top->depth;
    top->pc = reconverge;
    top->lanes = warp->active;
    if (reconverge == top->reconverge)
        stack->count--; /* the entry below already waits there */
    int rc = SONDE_OK;
    if (fallthrough != reconverge)
        rc = push(stack, (struct entry){fallthrough, reconverge, others, depth});
    if (rc == SONDE_OK && target != reconverge)
        rc = push(stack, (struct entry){target, reconverge, taken, depth});
    resume_top(warp);
    return rc;
}

static int stack_enter(struct exec_warp *warp, uint32_t entry, uint32_t return_pc)
{
    struct diverge_state *stack = warp->state->diverge;
    struct entry *top = &stack->entries[stack->count - 1];
    top->pc = return_pc;
    top->lanes = warp->active;
    int rc = push(stack, (struct entry){entry, PTX_NO_PC, warp->active, warp->state->depth});
    resume_top(warp);
    return rc;
}

static void stack_leave(struct exec_warp *warp)
{
    warp->state->diverge->count--;
    resume_top(warp);
}

static void stack_exit(struct exec_warp *warp, uint32_t lanes)
{
    struct diverge_state *stack = warp->state->diverge;
    struct entry *top = &stack->entries[stack->count - 1];
    top->pc = warp->pc;
    for (uint32_t i = 0; i < stack->count; i++)
        stack->entries[i].lanes &= ~lanes;
    top->lanes = warp->active & ~lanes;
    warp->live &= ~lanes;
    resume_top(warp);
}

const struct diverge_ops diverge_stack = {
    .reset = stack_reset,
    .free = stack_free,
    .arrive = stack_arrive,
    .branch = stack_branch,
    .enter = stack_enter,
    .leave = stack_leave,
    .exit = stack_exit,
};
