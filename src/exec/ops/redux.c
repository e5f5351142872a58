/*
 * redux.sync: a reduction over the lanes that a member mask names, of those that execute it now.
 * Source: PTX ISA 9.0, 9.7.13.14.
 */
#include "exec/ops/decoders.h"
#include "util/error.h"

static uint32_t reduce(const struct uop *uop, uint32_t a, uint32_t b)
{
    bool is_signed = uop->target == TYPE_s32;
    bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    switch (uop->option) {
    case MOD_ATOM_add:
        return a + b;
    case MOD_ATOM_min:
        return less ? a : b;
    case MOD_ATOM_max:
        return less ? b : a;
    case MOD_ATOM_and:
        return a & b;
    case MOD_ATOM_or:
        return a | b;
    default:
        return a ^ b;
    }
}

/* uop->option: the operation; uop->target: the type. */
enum exec_event run_redux(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                          struct exec_access *access)
{
    (void)access;
    const struct exec_state *state = warp->state;
    const lane_word *value = lanes_at(state, uop->source[0]);
    const lane_word *members = lanes_at(state, uop->source[1]);
    if (!warp_together(warp, members, &mask, uop))
        return EXEC_DONE;
    uint32_t result[WARP_LANES] = {0};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), among = members[lane] & mask;
        if (!among)
            continue;
        result[lane] = value[lowest_lane(among)];
        for (among &= among - 1; among; among &= among - 1)
            result[lane] = reduce(uop, result[lane], value[lowest_lane(among)]);
    }
    lane_word *to = lanes_at(state, uop->dst);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        to[lowest_lane(rest)] = result[lowest_lane(rest)];
    return advance(warp);
}

int decode_redux(struct decoder *d)
{
    const struct ptx_operand *operands = d->insn->operands;
    d->uop->run = run_redux;
    d->uop->option = (uint16_t)d->insn->mods[MODC_ATOM];
    d->uop->target = d->insn->types[0];
    int rc = decode_dest(d, &d->uop->dst, &operands[0], 4);
    for (int i = 0; rc == SONDE_OK && i < 2; i++)
        rc = decode_source(d, i, &operands[1 + i], 4);
    return rc;
}
