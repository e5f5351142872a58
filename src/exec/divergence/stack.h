/*
 * The divergence stack, shared by stack.c, which describes it, and independent.c, which also
 * changes its order.
 */
#ifndef SONDE_EXEC_STACK_H
#define SONDE_EXEC_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/divergence/diverge.h"
#include "util/error.h"

struct exec_warp;

struct entry {
    uint32_t pc, reconverge, lanes;
    uint32_t depth; /* call frames in use when it runs */
    uint32_t level; /* of entries that wait for each other in one below, one more than it has */
    uint32_t
        since;    /* the turn in which it was made, or in which it last gave way or let lanes go */
    bool is_call; /* began a call; the entry below its level waits for their return */
    bool early;   /* has left a join before all lanes had come (independent.c) */
};

struct diverge_state {
    uint32_t count, capacity;
    struct entry *entries;
    /* independent.c: the lanes that wait at a barrier of the block, at which, and those of them for
     * which the warp has come to it already */
    uint32_t backwards, turn, at_barrier, barrier, come;
    uint32_t held;    /* how often lanes that had left a join early were kept from a call */
    uint32_t resting; /* lanes that gave way at nanosleep and have not come up again */
    uint32_t at_sync; /* lanes that wait for others of the warp at an instruction that names both */
    /* the last branch backwards: where to, the stack's depth, and how often in a row */
    uint32_t spin_pc, spin_depth, spins;
};

/* Branches backwards in a row, and in all, after which lanes of the stack that keep others of their
 * warp waiting become independent: see independent.c. */
#define DIVERGE_PATIENCE 65536
#define DIVERGE_PATIENCE_WITH_LOOPS (1u << 20)

bool stack_grow(struct diverge_state *stack); /* false: there is no memory, the error is written */

/* Inline so that an entry comes out of registers: one that was just put together in memory is slow
 * to copy from there. */
static inline int stack_push(struct diverge_state *stack, struct entry entry)
{
    if (stack->count == stack->capacity && !stack_grow(stack))
        return SONDE_ENOMEM;
    stack->entries[stack->count++] = entry;
    return SONDE_OK;
}

/* Make the top entry the running one. Entries without lanes are gone, their calls with them. */
void stack_resume(struct exec_warp *warp);

/* The stack's part of struct diverge_ops; both kinds of divergence have it. */
#define DIVERGE_STACK_OPS                                                                          \
    .reset = stack_reset, .free = stack_free, .arrive = stack_arrive, .branch = stack_branch,      \
    .enter = stack_enter, .leave = stack_leave, .exit = stack_exit

int stack_reset(struct exec_warp *warp, uint32_t lanes, uint32_t pc);
void stack_free(struct exec_warp *warp);
void stack_arrive(struct exec_warp *warp);
int stack_branch(struct exec_warp *warp, uint32_t taken, uint32_t target, uint32_t fallthrough,
                 uint32_t reconverge);
int stack_enter(struct exec_warp *warp, uint32_t entry, uint32_t return_pc);
void stack_leave(struct exec_warp *warp);
void stack_exit(struct exec_warp *warp, uint32_t lanes);

#endif
