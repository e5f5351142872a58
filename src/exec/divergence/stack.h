/*
 * The divergence stack, shared by stack.c, which describes it, and independent.c, which also
 * changes its order.
 */
#ifndef SONDE_EXEC_STACK_H
#define SONDE_EXEC_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/divergence/diverge.h"

struct exec_warp;

struct entry {
    uint32_t pc, reconverge, lanes;
    uint32_t depth; /* call frames in use when it runs */
    uint32_t level; /* of entries that wait for each other in one below, one more than it has */
    uint32_t
        since;    /* the turn in which it was made, or in which it last gave way or let lanes go */
    bool is_call; /* began a call; the entry below its level waits for their return */
};

struct diverge_state {
    uint32_t count, capacity;
    struct entry *entries;
    /* independent.c: the lanes that wait at a barrier of the block, at which, and those of them for
     * which the warp has come to it already */
    uint32_t backwards, turn, at_barrier, barrier, come;
};

int stack_push(struct diverge_state *stack, struct entry entry);
/* Make the top entry the running one. Entries without lanes are gone, their calls with them. */
void stack_resume(struct exec_warp *warp);

/* independent.c */
void independent_back(struct exec_warp *warp);
bool independent_sync(struct exec_warp *warp, uint32_t lanes);
enum diverge_barrier independent_barrier(struct exec_warp *warp, uint32_t barrier);

#endif
