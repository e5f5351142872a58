/*
 * Barriers of a CTA as a warp sees them: it says which barrier it has come to and stops; who keeps
 * the CTA (exec/barrier.c, or a timing core) lets it go on. Source: PTX ISA 9.0, 9.7.13.1.
 */
#include "exec/fault.h"
#include "exec/ops/decoders.h"
#include "util/error.h"

#define BARRIER_COUNT 16

/* uop->option is the kind; sources 0 and 1 the barrier and its count of threads. */
enum exec_event run_barrier(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                            struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    if (!mask)
        return advance(warp);
    uint32_t lane = lowest_lane(mask);
    uint32_t id = ((const lane_word *)lanes_at(state, uop->source[0]))[lane];
    if (state->diverge_ops->barrier) {
        enum diverge_barrier next = state->diverge_ops->barrier(warp, id);
        if (next != AT_BARRIER_ARRIVES)
            return next == AT_BARRIER_PASSED ? advance(warp) : EXEC_DONE;
        mask = guarded_lanes(warp, uop);
    }
    warp->barrier_id = id;
    warp->barrier_threads = ((const lane_word *)lanes_at(state, uop->source[1]))[lane];
    warp->barrier_kind = (enum exec_barrier_kind)uop->option;
    warp->barrier_lanes = mask;
    warp->barrier_value = pred_lanes(state, uop, 0) & mask;
    state->barrier_uop = uop;
    if (warp->barrier_id >= BARRIER_COUNT) {
        fault_set(warp, warp->pc, lane, 0, "barrier %u does not exist: there are %u",
                  warp->barrier_id, BARRIER_COUNT);
        return EXEC_FAULT;
    }
    if (warp->barrier_threads % WARP_LANES != 0) {
        fault_set(warp, warp->pc, lane, 0, "barrier for %u threads: not a multiple of %u",
                  warp->barrier_threads, WARP_LANES);
        return EXEC_FAULT;
    }
    advance(warp);
    return EXEC_BARRIER;
}

void exec_barrier_result(struct exec_warp *warp, uint32_t value)
{
    struct exec_state *state = warp->state;
    const struct uop *uop = state->barrier_uop;
    uint32_t mask = warp->barrier_lanes;
    if (uop->option == BARRIER_AND || uop->option == BARRIER_OR) {
        pred_write(state, uop->pred_dst[0], value ? mask : 0, mask);
        return;
    }
    if (uop->option != BARRIER_POPC)
        return;
    lane_word *to = lanes_at(state, uop->dst);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        to[lowest_lane(rest)] = value;
}

static enum exec_barrier_kind reduction(const struct ptx_insn *insn)
{
    switch (insn->mods[MODC_BARRED]) {
    case MOD_BARRED_and:
        return BARRIER_AND;
    case MOD_BARRED_or:
        return BARRIER_OR;
    case MOD_BARRED_popc:
        return BARRIER_POPC;
    default:
        return BARRIER_SYNC;
    }
}

int decode_barrier(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand none = {.kind = OPERAND_IMM, .type = TYPE_u32};
    const struct ptx_operand *operands = insn->operands;
    enum exec_barrier_kind kind = reduction(insn);
    uint32_t at = 0, count = insn->operand_count;
    int rc = SONDE_OK;
    switch (insn->op) {
    case OP_BAR_ARRIVE:
    case OP_BAR_CTA_ARRIVE:
    case OP_BARRIER_ARRIVE:
    case OP_BARRIER_CTA_ARRIVE:
        kind = BARRIER_ARRIVE;
        break;
    default:
        break;
    }
    d->uop->run = run_barrier;
    d->uop->option = (uint16_t)kind;
    if (kind == BARRIER_POPC)
        rc = decode_dest(d, &d->uop->dst, &operands[0], 4);
    else if (kind == BARRIER_AND || kind == BARRIER_OR)
        rc = decode_pred_dest(d, 0, &operands[0]);
    if (kind >= BARRIER_POPC) {
        at = 1;
        count--;
        if (rc == SONDE_OK)
            rc = decode_pred_source(d, 0, &operands[insn->operand_count - 1]);
    }
    if (rc == SONDE_OK)
        rc = decode_source(d, 0, &operands[at], 4);
    if (rc == SONDE_OK)
        rc = decode_source(d, 1, count > at + 1 ? &operands[at + 1] : &none, 4);
    return rc;
}
