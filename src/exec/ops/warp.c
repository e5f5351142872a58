/*
 * Exchange among the lanes of a warp: votes, shuffles, matches. A member mask names the lanes that
 * take part; of those, the ones that execute the instruction now do. (Lanes that the SIMT stack
 * runs later cannot be waited for: the manual leaves a mask that names them undefined before
 * Volta. Independently scheduled ones are.) The forms without .sync, which have no mask, are among
 * the lanes that execute them together. Source: PTX ISA 9.0, 9.7.9.5 and 9.7.9.6 (shfl), 9.7.13.8
 * to 9.7.13.12.
 */
#include "exec/ops/decoders.h"
#include "util/error.h"

static bool are_here(struct exec_warp *warp, uint32_t lanes, uint32_t *mask, const struct uop *uop)
{
    const struct diverge_ops *ops = warp->state->diverge_ops;
    if (!(lanes & ~warp->active) || !ops->sync)
        return true;
    bool here = ops->sync(warp, lanes);
    *mask = guarded_lanes(warp, uop);
    return here;
}

bool warp_together(struct exec_warp *warp, const lane_word *members, uint32_t *mask,
                   const struct uop *uop)
{
    return !*mask || are_here(warp, members[lowest_lane(*mask)] & warp->live, mask, uop);
}

/* uop->whole. Lanes of which none executes it, by its guard, wait for nobody. */
enum exec_event run_whole(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                          struct exec_access *access)
{
    if (mask && !are_here(warp, warp->live, &mask, uop))
        return EXEC_DONE;
    return uop->specials ? run_special(warp, uop, mask, access)
                         : uop->inner(warp, uop, mask, access);
}

enum exec_event run_warp_sync(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                              struct exec_access *access)
{
    (void)access;
    if (!warp_together(warp, lanes_at(warp->state, uop->source[0]), &mask, uop))
        return EXEC_DONE;
    return advance(warp);
}

int decode_warp_sync(struct decoder *d)
{
    d->uop->run = run_warp_sync;
    return decode_source(d, 0, &d->insn->operands[0], 4);
}

enum exec_event run_activemask(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                               struct exec_access *access)
{
    (void)access;
    lane_word *to = lanes_at(warp->state, uop->dst);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        to[lowest_lane(rest)] = mask;
    return advance(warp);
}

int decode_activemask(struct decoder *d)
{
    d->uop->run = run_activemask;
    return decode_dest(d, &d->uop->dst, &d->insn->operands[0], 4);
}

/* Lanes of each member's mask may differ only in error; each lane votes among those it names. */
enum exec_event run_vote(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                         struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    const lane_word *members = lanes_at(state, uop->source[0]);
    if (uop->target != WITH_ACTIVE_LANES && !warp_together(warp, members, &mask, uop))
        return EXEC_DONE;
    lane_word *ballot = lanes_at(state, uop->dst);
    uint32_t yes = pred_lanes(state, uop, 0) & mask, result = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), among = members[lane] & mask;
        bool holds = false;
        switch (uop->option) {
        case MOD_VOTE_all:
            holds = (yes & among) == among;
            break;
        case MOD_VOTE_any:
            holds = (yes & among) != 0;
            break;
        case MOD_VOTE_uni:
            holds = (yes & among) == 0 || (yes & among) == among;
            break;
        default:
            ballot[lane] = yes & among;
            break;
        }
        result |= (uint32_t)holds << lane;
    }
    if (uop->option != MOD_VOTE_ballot)
        pred_write(state, uop->pred_dst[0], result, mask);
    return advance(warp);
}

/* Source `index`, the member mask: operand `at`, or all lanes in the forms that have none. */
static int decode_members(struct decoder *d, int index, uint32_t at)
{
    if (d->insn->operand_count > at)
        return decode_source(d, index, &d->insn->operands[at], 4);
    d->uop->target = WITH_ACTIVE_LANES;
    return decode_constant(d, &d->uop->source[index], UINT32_MAX, 4);
}

int decode_vote(struct decoder *d)
{
    const struct ptx_operand *operands = d->insn->operands;
    d->uop->run = run_vote;
    d->uop->option = (uint16_t)d->insn->mods[MODC_VOTE];
    int rc = d->uop->option == MOD_VOTE_ballot ? decode_dest(d, &d->uop->dst, &operands[0], 4)
                                               : decode_pred_dest(d, 0, &operands[0]);
    if (rc == SONDE_OK)
        rc = decode_pred_source(d, 0, &operands[1]);
    return rc == SONDE_OK ? decode_members(d, 0, 2) : rc;
}

/* The lane to read; `*inside` is whether it lies in the segment. */
static uint32_t shuffle_source(unsigned mode, uint32_t lane, uint32_t b, uint32_t c, bool *inside)
{
    uint32_t delta = b & 31, clamp = c & 31, segment = c >> 8 & 31;
    int32_t last = (int32_t)((lane & segment) | (clamp & ~segment & 31)), from;
    uint32_t first = lane & segment;
    switch (mode) {
    case MOD_SHFL_up:
        from = (int32_t)lane - (int32_t)delta;
        break;
    case MOD_SHFL_down:
        from = (int32_t)(lane + delta);
        break;
    case MOD_SHFL_bfly:
        from = (int32_t)(lane ^ delta);
        break;
    default:
        from = (int32_t)(first | (delta & ~segment));
        break;
    }
    *inside = mode == MOD_SHFL_up ? from >= last : from <= last;
    return *inside ? (uint32_t)from & 31 : lane;
}

enum exec_event run_shfl(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                         struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    if (uop->target != WITH_ACTIVE_LANES &&
        !warp_together(warp, lanes_at(state, uop->source[3]), &mask, uop))
        return EXEC_DONE;
    if (!mask)
        return advance(warp);
    const lane_word *value = lanes_at(state, uop->source[0]);
    const lane_word *b = lanes_at(state, uop->source[1]), *c = lanes_at(state, uop->source[2]);
    lane_word *to = lanes_at(state, uop->dst);
    uint32_t result[WARP_LANES] = {0}, valid = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        bool inside;
        result[lane] = value[shuffle_source(uop->option, lane, b[lane], c[lane], &inside)];
        valid |= (uint32_t)inside << lane;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        to[lowest_lane(rest)] = result[lowest_lane(rest)];
    pred_write(state, uop->pred_dst[0], valid, mask);
    return advance(warp);
}

int decode_shfl(struct decoder *d)
{
    const struct ptx_operand *operands = d->insn->operands, *to = &operands[0];
    int rc = SONDE_OK;
    d->uop->run = run_shfl;
    d->uop->option = (uint16_t)d->insn->mods[MODC_SHFL];
    d->uop->pred_dst[0] = PRED_SINK;
    if (to->kind == OPERAND_PAIR) {
        rc = decode_pred_dest(d, 0, &to->elems[1]);
        to = &to->elems[0];
    }
    if (rc == SONDE_OK)
        rc = decode_dest(d, &d->uop->dst, to, 4);
    for (int i = 0; rc == SONDE_OK && i < 3; i++)
        rc = decode_source(d, i, &operands[1 + i], 4);
    return rc == SONDE_OK ? decode_members(d, 3, 4) : rc;
}

/* uop->option: MOD_MATCH_any or all; the compared value has register_bytes of element 0. */
enum exec_event run_match(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                          struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    const lane_word *members = lanes_at(state, uop->source[1]);
    if (!warp_together(warp, members, &mask, uop))
        return EXEC_DONE;
    const struct element source = {.ref = uop->source[0], .register_bytes = (uint8_t)uop->target};
    lane_word *to = lanes_at(state, uop->dst);
    uint64_t value[WARP_LANES] = {0};
    uint32_t named[WARP_LANES] = {0}, agree = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        value[lane] = element_get(state, &source, lane);
        named[lane] = members[lane] & mask;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), same = 0;
        for (uint32_t others = named[lane]; others; others &= others - 1)
            same |= (uint32_t)(value[lowest_lane(others)] == value[lane]) << lowest_lane(others);
        if (uop->option == MOD_MATCH_all)
            same = same == named[lane] ? same : 0;
        agree |= (uint32_t)(same != 0) << lane;
        to[lane] = same;
    }
    pred_write(state, uop->pred_dst[0], agree, mask);
    return advance(warp);
}

int decode_match(struct decoder *d)
{
    const struct ptx_operand *operands = d->insn->operands, *to = &operands[0];
    int rc = SONDE_OK;
    d->uop->run = run_match;
    d->uop->option = d->insn->op == OP_MATCH_ALL ? MOD_MATCH_all : MOD_MATCH_any;
    d->uop->target = isa_type_info(d->insn->types[0])->bytes;
    d->uop->pred_dst[0] = PRED_SINK;
    if (to->kind == OPERAND_PAIR) {
        rc = decode_pred_dest(d, 0, &to->elems[1]);
        to = &to->elems[0];
    }
    if (rc == SONDE_OK)
        rc = decode_dest(d, &d->uop->dst, to, 4);
    if (rc == SONDE_OK)
        rc = decode_source(d, 0, &operands[1], d->uop->target);
    return rc == SONDE_OK ? decode_source(d, 1, &operands[2], 4) : rc;
}
