/*
 * elect.sync and createpolicy. The elected lane is the lowest of the member mask. A cache policy is
 * a value of 64 bits that only cache hints read, and these have no effect here; it is what an H200
 * makes of the same operands:
 *
 *     63    60 59      57 56     55      52 51          0
 *     |   1   | primary  | others | sixteenths | 0       |     others: 0 unchanged, 1 evict_first
 *
 * primary is 0 unchanged, 1 first, 2 last, 3 normal; sixteenths is the fraction of accesses that it
 * is for, rounded up, less one. A policy of a range of addresses has bit 59 set and packs base and
 * sizes in a way that is not known: its low bits are 0 here. Source: PTX ISA 9.0, 9.7.9.18,
 * 9.7.13.10; the layout measured.
 */
#include <math.h>

#include "exec/ops/decoders.h"
#include "isa/lane_math.h"
#include "util/error.h"

static enum exec_event run_elect(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                 struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    const lane_word *members = lanes_at(state, uop->source[0]);
    if (!warp_together(warp, members, &mask, uop))
        return EXEC_DONE;
    lane_word *to = lanes_at(state, uop->dst);
    uint32_t chosen = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), named = members[lane] & mask;
        uint32_t leader = named ? lowest_lane(named) : lane;
        to[lane] = leader;
        chosen |= (uint32_t)(lane == leader) << lane;
    }
    pred_write(state, uop->pred_dst[0], chosen, mask);
    return advance(warp);
}

/* d|p, mask */
int decode_elect(struct decoder *d)
{
    const struct ptx_operand *o = d->insn->operands;
    bool pair = o[0].kind == OPERAND_PAIR;
    d->uop->run = run_elect;
    d->uop->pred_dst[0] = PRED_SINK;
    int rc = decode_dest(d, &d->uop->dst, pair ? &o[0].elems[0] : &o[0], 4);
    if (rc == SONDE_OK && pair)
        rc = decode_pred_dest(d, 0, &o[0].elems[1]);
    return rc == SONDE_OK ? decode_source(d, 0, &o[1], 4) : rc;
}

/* What of a policy its instruction alone says. */
static uint64_t fixed_part(const struct ptx_insn *insn)
{
    static const uint8_t codes[] = {2, 3, 1, 0}; /* in the order of mods.def */
    uint64_t primary = codes[insn->mods[MODC_POLICY] - MOD_POLICY_last];
    uint64_t others = insn->mods[MODC_OTHERS] == MOD_OTHERS_first;
    return UINT64_C(1) << 60 | primary << 57 | others << 56;
}

static enum exec_event run_policy(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                  struct exec_access *access)
{
    (void)access;
    const lane_word *fraction = lanes_at(warp->state, uop->source[0]);
    lane_dword *to = lanes_at(warp->state, uop->dst);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        double sixteenths = ceil((double)lane_float(fraction[lane]) * 16) - 1;
        uint64_t code = sixteenths > 0 ? sixteenths < 15 ? (uint64_t)sixteenths : 15 : 0;
        to[lane] = uop->number | code << 52;
    }
    return advance(warp);
}

int decode_policy(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct ptx_operand *o = insn->operands;
    d->uop->run = run_policy;
    d->uop->number = fixed_part(insn);
    int rc = decode_dest(d, &d->uop->dst, &o[0], 8);
    if (rc != SONDE_OK)
        return rc;
    return insn->operand_count > 1 ? decode_source(d, 0, &o[1], 4)
                                   : decode_constant(d, &d->uop->source[0], lane_bits_f32(1), 4);
}

static enum exec_event run_range(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                                 struct exec_access *access)
{
    (void)access;
    lane_dword *to = lanes_at(warp->state, uop->dst);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        to[lowest_lane(rest)] = uop->number;
    return advance(warp);
}

int decode_policy_range(struct decoder *d)
{
    d->uop->run = run_range;
    d->uop->number = fixed_part(d->insn) | UINT64_C(1) << 59;
    return decode_dest(d, &d->uop->dst, &d->insn->operands[0], 8);
}
