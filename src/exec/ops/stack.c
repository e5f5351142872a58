/*
 * alloca, stacksave, stackrestore: local memory that a function takes while it runs. Each lane has
 * a stack pointer of its own, counted in the call frame from the end of the function's local
 * variables; the functions that it calls begin above the highest of them. What was taken is free
 * again when the function returns, or a pointer saved earlier is restored. Source: PTX ISA 9.0,
 * 9.7.17. Where the manual leaves the behaviour undefined, a stack that overflows and a pointer
 * that was not saved in this call are faults.
 */
#include <inttypes.h>

#include "exec/fault.h"
#include "exec/ops/decoders.h"
#include "util/error.h"

#define ALIGN_DEFAULT 8
#define ALIGN_MAX (1u << 23)

/* Bytes of each lane above the function's own local memory. */
static uint32_t *lane_bytes(const struct exec_state *state)
{
    const struct exec_function *function = state->frames[state->depth].function;
    return (uint32_t *)(frame_start(state, state->depth) + function->stack_offset);
}

/* Where they begin. */
static uint64_t bottom(const struct exec_state *state)
{
    const struct exec_frame *frame = &state->frames[state->depth];
    return (uint64_t)frame->local_base + frame->function->local_bytes;
}

static int update_frame(struct exec_state *state, const uint32_t *bytes)
{
    uint32_t most = 0;
    for (int i = 0; i < WARP_LANES; i++)
        most = bytes[i] > most ? bytes[i] : most;
    return frame_set_dynamic(state, (most + LANE_STRIPE_BYTES - 1) / LANE_STRIPE_BYTES *
                                        LANE_STRIPE_BYTES);
}

enum exec_event run_alloca(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                           struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    uint32_t *bytes = lane_bytes(state);
    uint64_t base = bottom(state), align = uop->number;
    uint64_t limit = state->program->local_limit_bytes;
    const struct element size = {uop->source[0], uop->dst_bytes}, to = {uop->dst, uop->dst_bytes};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t wanted = element_get(state, &size, lane);
        uint64_t start = (base + bytes[lane] + align - 1) / align * align;
        if (start > limit || wanted > limit - start) {
            fault_set(warp, warp->pc, lane, start,
                      "the stack overflows: alloca of %" PRIu64 " bytes, %" PRIu64 " of %" PRIu64
                      " are taken",
                      wanted, base + bytes[lane], limit);
            return EXEC_FAULT;
        }
        bytes[lane] = (uint32_t)(start + wanted - base);
        element_set(state, &to, lane, start);
    }
    uint32_t pc = warp->pc;
    int rc = update_frame(state, bytes);
    if (rc == SONDE_OK)
        return advance(warp);
    fault_wrap(warp, pc, rc);
    return EXEC_FAULT;
}

enum exec_event run_stacksave(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                              struct exec_access *access)
{
    (void)access;
    const struct exec_state *state = warp->state;
    const struct element to = {uop->dst, uop->dst_bytes};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        element_set(state, &to, lane, bottom(state) + lane_bytes(state)[lane]);
    }
    return advance(warp);
}

enum exec_event run_stackrestore(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                 struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    uint32_t *bytes = lane_bytes(state);
    uint64_t base = bottom(state);
    const struct element from = {uop->source[0], uop->dst_bytes};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t pointer = element_get(state, &from, lane);
        if (pointer < base || pointer - base > bytes[lane]) {
            fault_set(warp, warp->pc, lane, pointer,
                      "stackrestore of 0x%" PRIx64 ", which is not on this function's stack",
                      pointer);
            return EXEC_FAULT;
        }
        bytes[lane] = (uint32_t)(pointer - base);
    }
    update_frame(state, bytes); /* it only shrinks */
    return advance(warp);
}

int decode_stack(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    uint32_t bytes = isa_type_info(insn->types[0])->bytes;
    int rc = SONDE_OK;
    d->uop->dst_bytes = (uint8_t)bytes;
    switch (insn->op) {
    case OP_ALLOCA:
        d->uop->run = run_alloca;
        d->uop->number = insn->operand_count > 2 ? insn->operands[2].imm : ALIGN_DEFAULT;
        if (d->uop->number == 0 || d->uop->number > ALIGN_MAX ||
            (d->uop->number & (d->uop->number - 1)))
            return decode_refuse(
                d, "alloca with alignment %" PRIu64 ": a power of two up to %u is needed",
                d->uop->number, ALIGN_MAX);
        if (d->uop->number < ALIGN_DEFAULT)
            d->uop->number = ALIGN_DEFAULT;
        rc = decode_source(d, 0, &insn->operands[1], bytes);
        return rc == SONDE_OK ? decode_dest(d, &d->uop->dst, &insn->operands[0], bytes) : rc;
    case OP_STACKSAVE:
        d->uop->run = run_stacksave;
        return decode_dest(d, &d->uop->dst, &insn->operands[0], bytes);
    default:
        d->uop->run = run_stackrestore;
        return decode_source(d, 0, &insn->operands[0], bytes);
    }
}
