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
 * There is no forward progress between lanes of one warp: a spin lock that one lane holds while
 * another lane of its warp waits for it never ends on GPUs before Volta. independent.c adds it, and
 * comes to the aid of a warp that has waited for very long.
 * Source: W. Fung et al., Dynamic Warp Formation and Scheduling for Efficient GPU Control Flow,
 * MICRO 2007, section 2.
 */
#include "exec/divergence/stack.h"

#include <stdlib.h>

#include "exec/divergence/diverge.h"
#include "exec/exec.h"
#include "exec/state.h"
#include "util/error.h"

bool stack_grow(struct diverge_state *stack)
{
    uint32_t capacity = stack->capacity ? stack->capacity * 2 : 8;
    struct entry *grown = realloc(stack->entries, capacity * sizeof *grown);
    if (!grown) {
        error_set(SONDE_ENOMEM, "out of memory for a warp's divergence stack");
        return false;
    }
    stack->entries = grown;
    stack->capacity = capacity;
    return true;
}

void stack_resume(struct exec_warp *warp)
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

int stack_reset(struct exec_warp *warp, uint32_t lanes, uint32_t pc)
{
    struct exec_state *state = warp->state;
    if (!state->diverge) {
        state->diverge = calloc(1, sizeof *state->diverge);
        if (!state->diverge)
            return error_set(SONDE_ENOMEM, "out of memory for a warp's divergence stack");
    }
    if (state->diverge->capacity == 0 && !stack_grow(state->diverge))
        return SONDE_ENOMEM;
    state->diverge->count = 1;
    state->diverge->entries[0] = (struct entry){.pc = pc, .reconverge = PTX_NO_PC, .lanes = lanes};
    state->reconverge = PTX_NO_PC;
    warp->pc = pc;
    warp->live = warp->active = lanes;
    warp->done = false;
    state->diverge->backwards = state->diverge->turn = state->diverge->spin_depth = 0;
    state->diverge->at_barrier = state->diverge->come = state->diverge->resting = 0;
    state->diverge->at_sync = 0;
    state->diverge->held = 0;
    return SONDE_OK;
}

void stack_free(struct exec_warp *warp)
{
    struct diverge_state *stack = warp->state->diverge;
    if (stack)
        free(stack->entries);
    free(stack);
    warp->state->diverge = NULL;
}

void stack_arrive(struct exec_warp *warp)
{
    warp->state->diverge->count--;
    stack_resume(warp);
}

int stack_branch(struct exec_warp *warp, uint32_t taken, uint32_t target, uint32_t fallthrough,
                 uint32_t reconverge)
{
    struct diverge_state *stack = warp->state->diverge;
    struct entry *top = &stack->entries[stack->count - 1];
    struct entry side = *top; /* before anything of it is written */
    top->pc = reconverge;
    top->lanes = warp->active;
    top->since = side.since = stack->turn;
    side.reconverge = reconverge;
    if (reconverge == top->reconverge) {
        stack->count--; /* the entry below already waits there */
    } else {
        side.level++;
        side.is_call = false;
    }
    int rc = SONDE_OK;
    side.pc = fallthrough;
    side.lanes = warp->active & ~taken;
    if (fallthrough != reconverge)
        rc = stack_push(stack, side);
    side.pc = target;
    side.lanes = taken;
    if (rc == SONDE_OK && target != reconverge)
        rc = stack_push(stack, side);
    stack_resume(warp);
    return rc;
}

int stack_enter(struct exec_warp *warp, uint32_t entry, uint32_t return_pc)
{
    struct diverge_state *stack = warp->state->diverge;
    struct entry *top = &stack->entries[stack->count - 1];
    top->pc = return_pc;
    top->lanes = warp->active;
    struct entry callee = {.pc = entry,
                           .reconverge = PTX_NO_PC,
                           .lanes = warp->active,
                           .depth = warp->state->depth,
                           .level = top->level + 1,
                           .since = stack->turn,
                           .is_call = true};
    int rc = stack_push(stack, callee);
    stack_resume(warp);
    return rc;
}

void stack_leave(struct exec_warp *warp)
{
    warp->state->diverge->count--;
    stack_resume(warp);
}

void stack_exit(struct exec_warp *warp, uint32_t lanes)
{
    struct diverge_state *stack = warp->state->diverge;
    struct entry *top = &stack->entries[stack->count - 1];
    top->pc = warp->pc;
    for (uint32_t i = 0; i < stack->count; i++)
        stack->entries[i].lanes &= ~lanes;
    top->lanes = warp->active & ~lanes;
    warp->live &= ~lanes;
    stack->at_sync = 0; /* who waited for these may go on */
    stack_resume(warp);
}
