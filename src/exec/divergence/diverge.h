/*
 * How a warp whose lanes disagree goes on: one interface, so that the rest of exec does not know
 * whether lanes wait for each other (the SIMT stack, stack.c) or are scheduled independently.
 *
 * An implementation owns warp->pc, warp->active, warp->live, warp->done and state->reconverge. It
 * is called when control flow splits, joins or ends; straight-line code only advances the pc and
 * calls arrive() when the pc equals state->reconverge.
 */
#ifndef SONDE_EXEC_DIVERGE_H
#define SONDE_EXEC_DIVERGE_H

#include <stdbool.h>
#include <stdint.h>

struct exec_warp;
struct diverge_state;

/* What a path does at a barrier of the block: the warp has come; others of the warp run first, and
 * it comes up again; the warp has been there for these lanes too, they go on. */
enum diverge_barrier { AT_BARRIER_ARRIVES, AT_BARRIER_LATER, AT_BARRIER_PASSED };

/* What becomes of a path at nanosleep: whether the warp sleeps, and whether others of it run first,
 * so that the instruction comes up again. */
struct diverge_sleep {
    bool sleeps, comes_again;
};

struct diverge_ops {
    /* All `lanes` start at `pc`; storage of an earlier run is reused. */
    int (*reset)(struct exec_warp *warp, uint32_t lanes, uint32_t pc);
    void (*free)(struct exec_warp *warp);

    /* The pc is state->reconverge: wait for, or join, the lanes of the other paths. */
    void (*arrive)(struct exec_warp *warp);

    /*
     * `taken` (a subset of active, neither empty nor whole) goes to `target`, the others to
     * `fallthrough`; they meet at `reconverge` (PTX_NO_PC: only at their exit). The taken side
     * runs first.
     */
    int (*branch)(struct exec_warp *warp, uint32_t taken, uint32_t target, uint32_t fallthrough,
                  uint32_t reconverge);

    /* The instruction at pc is a call of all active lanes. False: others run first; it comes up
     * again. NULL: they enter. */
    bool (*call)(struct exec_warp *warp);

    /* The active lanes enter a function at `entry`; after leave() they go on at `return_pc`. */
    int (*enter)(struct exec_warp *warp, uint32_t entry, uint32_t return_pc);
    void (*leave)(struct exec_warp *warp);

    /* The active lanes have branched backwards, all of them: others may run instead. NULL: never.
     */
    void (*back)(struct exec_warp *warp);

    /*
     * The instruction at pc acts on `lanes` together (of those that live; some are not active).
     * True: go on with those that are active now. False: others run first; it comes up again. NULL:
     * lanes that are elsewhere are not waited for.
     */
    bool (*sync)(struct exec_warp *warp, uint32_t lanes);

    /* The instruction at pc is the barrier of that number, for which a warp counts once. NULL:
     * lanes that are elsewhere are not waited for. */
    enum diverge_barrier (*barrier)(struct exec_warp *warp, uint32_t barrier);

    /* The active lanes have found that what they wait for, outside of the warp, is not there. True:
     * others of the warp, but for `held`, can go on meanwhile, and do at the next branch backwards.
     * NULL: nobody can. */
    bool (*wait)(struct exec_warp *warp, uint32_t held);

    /* The instruction at pc is nanosleep. NULL: the warp sleeps. */
    struct diverge_sleep (*sleep)(struct exec_warp *warp);

    /* `lanes` (a subset of active) are done; the rest of the warp goes on somewhere. */
    void (*exit)(struct exec_warp *warp, uint32_t lanes);
};

extern const struct diverge_ops diverge_stack, diverge_independent;

#endif
