/*
 * cvta, cvta.to, isspacep: between addresses of a state space and generic ones. Shared, local and
 * parameter memory appear in windows (exec.h); global and constant addresses are generic already.
 * Source: PTX ISA 9.0, 9.7.9.19 and 9.7.9.20.
 */
#include "exec/cluster.h"
#include "exec/ops/decoders.h"
#include "util/error.h"

static uint64_t window_of(enum isa_space space)
{
    switch (isa_space_base(space)) {
    case SPACE_SHARED:
        return EXEC_SHARED_WINDOW;
    case SPACE_LOCAL:
        return EXEC_LOCAL_WINDOW;
    case SPACE_PARAM:
        return EXEC_PARAM_WINDOW;
    default:
        return 0;
    }
}

enum exec_event run_isspacep(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                             struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    const lane_dword *from = lanes_at(state, uop->source[0]);
    uint32_t lanes = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t address = from[lowest_lane(rest)];
        enum isa_space space = generic_space(address);
        if (space == SPACE_SHARED_CLUSTER &&
            (uop->option == SPACE_SHARED_CLUSTER ||
             cluster_is_own(warp->cta, address - EXEC_SHARED_WINDOW)))
            space = SPACE_SHARED;
        bool inside = space == isa_space_base((enum isa_space)uop->option);
        lanes |= (uint32_t)inside << lowest_lane(rest);
    }
    pred_write(state, uop->pred_dst[0], lanes, mask);
    return advance(warp);
}

static enum exec_event run_narrow_cvta(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                       struct exec_access *access)
{
    (void)access;
    const lane_word *from = lanes_at(warp->state, uop->source[0]);
    lane_word *to = lanes_at(warp->state, uop->dst);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        to[lowest_lane(rest)] = from[lowest_lane(rest)];
    return advance(warp);
}

/* The windows lie above what 32 bits reach; global and constant addresses are the same. */
static int decode_narrow_cvta(struct decoder *d, uint64_t window)
{
    if (window != 0)
        return decode_refuse(d, "a generic address of .%s memory in 32 bits is not implemented",
                             isa_space_text(d->insn->space[0]));
    d->uop->run = run_narrow_cvta;
    int rc = decode_dest(d, &d->uop->dst, &d->insn->operands[0], 4);
    return rc == SONDE_OK ? decode_source(d, 0, &d->insn->operands[1], 4) : rc;
}

int decode_cvta(struct decoder *d)
{
    uint64_t window = window_of(d->insn->space[0]);
    if (isa_type_info(d->insn->types[0])->bytes != 8)
        return decode_narrow_cvta(d, window);
    /* An addition modulo 2^64. */
    uint64_t number = d->insn->op == OP_CVTA_TO ? 0 - window : window;
    d->uop->run = run_lanes;
    d->uop->dst_bytes = 8;
    int rc = decode_lane_loop(d, OP_ADD, TYPE_s64, TYPE_s64, NULL);
    if (rc == SONDE_OK)
        rc = decode_dest(d, &d->uop->dst, &d->insn->operands[0], 8);
    if (rc == SONDE_OK)
        rc = decode_source(d, 0, &d->insn->operands[1], 8);
    return rc == SONDE_OK ? decode_constant(d, &d->uop->source[1], number, 8) : rc;
}

/* No address is recognised as constant memory: it is global memory with another name. */
int decode_isspacep(struct decoder *d)
{
    enum isa_space space = isa_space_base(d->insn->space[0]);
    if (space == SPACE_CONST)
        return decode_refuse(d, "isspacep.const is not implemented");
    d->uop->run = run_isspacep;
    d->uop->option = (uint16_t)d->insn->space[0];
    int rc = decode_pred_dest(d, 0, &d->insn->operands[0]);
    return rc == SONDE_OK ? decode_source(d, 0, &d->insn->operands[1], 8) : rc;
}
