/*
 * What the files of this folder share. Private to ptx/schedule/.
 *
 * A window is a run of instructions of one block, none of which nothing passes; what depends on
 * what in it is a graph (depend.c), how many registers are live is counted as it is put into order
 * (pressure.c).
 */
#ifndef SONDE_PTX_SCHEDULE_SCHEDULE_H
#define SONDE_PTX_SCHEDULE_SCHEDULE_H

#include "ptx/analyse/liveness.h"
#include "ptx/lower.h"
#include "ptx/schedule.h"

#define NO_NODE UINT32_MAX

struct edge {
    uint32_t to, next; /* next: of the same node, NO_NODE ends */
    uint32_t cycles;   /* from the issue of the one to that of the other */
};

struct node {
    uint32_t edges;   /* the first */
    uint32_t blocked; /* nodes before it that have not been issued */
    uint32_t ready;   /* the cycle from which its operands are there */
    uint32_t path;    /* cycles from its issue to the end of the window, the longest way */
    bool issued;
};

struct window {
    const struct ptx_func *func;
    const struct lowered *lowered; /* by pc */
    const struct liveness *live;
    enum lowering generation;
    uint32_t first, count;
    struct node *nodes; /* by pc - first */
    struct edge *edges;
    size_t edge_count, edge_room;
    uint32_t *last_write, *reads; /* by register: see depend.c */
    uint8_t *weight;              /* by register: 32-bit words that it takes, see pressure.c */
    uint32_t *uses;               /* by register: reads in the window that have not been issued */
    uint8_t *is_live;             /* by register */
    uint32_t pressure, limit;
    uint32_t needed; /* words that the function has for another place */
};

/* depend.c */
bool schedule_is_wall(const struct ptx_insn *insn); /* nothing passes it */
bool schedule_uses_carry(enum isa_op op);
uint32_t schedule_latency(const struct window *w, uint32_t pc);
int schedule_depend(struct window *w);

/* unroll.c: before windows are made. `lowered` of the function as it is; blocks are built anew. */
struct arena;
int schedule_unroll(struct ptx_func *func, struct arena *arena, const struct lowered *lowered);

/* predicate.c: after that, likewise. */
int schedule_predicate(struct ptx_func *func, struct arena *arena, const struct lowered *lowered);

/* pressure.c */
int schedule_weigh(struct window *w); /* once a function; SONDE_ENOMEM */
/* Words that a thread needs in the order in which the instructions are, or SONDE_ENOMEM. */
int schedule_registers(struct window *w);
void schedule_enter(struct window *w);
/* Words by which the pressure grows (shrinks, if negative) when a node issues. */
int schedule_growth(struct window *w, uint32_t node);
void schedule_issue(struct window *w, uint32_t node);

#endif
