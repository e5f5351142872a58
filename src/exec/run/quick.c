/*
 * What a launch without timing does most: instructions of one warp in a row, whose lanes stay
 * together and which nothing outside of the warp has to do with. Lane loops, loads and stores by
 * the direct way, changes of registers, branches that all lanes take or none. The first that is
 * none of these, or that the direct way leaves alone, is left to flight.c.
 */
#include "exec/memory/direct.h"
#include "exec/ops.h"
#include "exec/run/run.h"

/* What comes after an instruction: the next, or a look at the lanes, which may be others, or an
 * instruction that is not for this file. */
enum next { NEXT_INSN, NEXT_LANES, NEXT_OTHER };

/* All active lanes go to the target, or none. */
static inline enum next quick_branch(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                     uint32_t *pc)
{
    const struct exec_state *state = warp->state;
    uint32_t from = *pc;
    if (mask && mask != warp->active)
        return NEXT_OTHER;
    *pc = warp->pc = mask ? uop->target : from + 1;
    if (*pc == state->reconverge) {
        state->diverge_ops->arrive(warp);
        return NEXT_LANES;
    }
    if (*pc > from || !state->diverge_ops->back)
        return NEXT_INSN;
    state->diverge_ops->back(warp);
    return NEXT_LANES;
}

/* The uop at *pc. */
static inline enum next quick_one(struct runner *r, struct exec_warp *warp, const struct uop *uop,
                                  uint32_t mask, uint32_t *pc)
{
    const uint32_t reconverge = warp->state->reconverge; /* where the others are met */
    if (uop->quick == QUICK_LANES) {
        if (mask)
            lanes_run(warp->state, uop, mask);
        if (++*pc != reconverge)
            return NEXT_INSN;
        warp->pc = *pc;
        warp->state->diverge_ops->arrive(warp);
        return NEXT_LANES;
    }
    warp->pc = *pc;
    if (uop->quick == QUICK_BRANCH)
        return quick_branch(warp, uop, mask, pc);
    if (uop->quick == QUICK_NO || (uop->quick == QUICK_ACCESS && !r->direct(warp, uop, mask)))
        return NEXT_OTHER;
    if (uop->quick == QUICK_REGISTERS)
        uop->run(warp, uop, mask, &r->access);
    return ++*pc == reconverge ? NEXT_LANES : NEXT_INSN;
}

void quick_run(struct runner *r, struct exec_warp *warp, uint64_t most, struct executed *executed)
{
    const struct exec_state *state = warp->state;
    enum next next = NEXT_LANES;
    while (next == NEXT_LANES && executed->insns < most) {
        const uint32_t active = warp->active;
        const uint64_t left = most - executed->insns;
        uint32_t pc = warp->pc;
        uint64_t done = 0;
        do {
            const struct uop *uop = &state->uops[pc];
            next =
                quick_one(r, warp, uop, active & (state->preds[uop->guard] ^ uop->guard_flip), &pc);
            done += next != NEXT_OTHER;
        } while (next == NEXT_INSN && done < left);
        if (next == NEXT_INSN)
            warp->pc = pc;
        executed->insns += done;
        executed->lanes += done * count_lanes(active);
    }
}
