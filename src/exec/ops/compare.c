/*
 * setp and set: a comparison gives a mask of lanes, which a third predicate may be combined with.
 *
 *     setp.lt.and  p|q, a, b, c:   p = (a < b) and c     q = !(a < b) and c
 *
 * Source: PTX ISA 9.0, 9.7.6.
 */
#include <string.h>

#include "exec/ops/decoders.h"
#include "util/error.h"

/* uop->option: how the third predicate joins. */
enum { JOIN_NONE, JOIN_AND, JOIN_OR, JOIN_XOR };
#define COMPARE_FTZ 4u

static uint32_t join(unsigned how, uint32_t compared, uint32_t other)
{
    switch (how) {
    case JOIN_AND:
        return compared & other;
    case JOIN_OR:
        return compared | other;
    case JOIN_XOR:
        return compared ^ other;
    default:
        return compared;
    }
}

static uint32_t compare_flushed(const struct uop *uop, const void *a, const void *b, uint32_t mask)
{
    lane_word x[WARP_LANES], y[WARP_LANES];
    for (int i = 0; i < WARP_LANES; i++) {
        x[i] = ((const lane_word *)a)[i];
        y[i] = ((const lane_word *)b)[i];
        x[i] = x[i] & 0x7f800000 ? x[i] : x[i] & 0x80000000;
        y[i] = y[i] & 0x7f800000 ? y[i] : y[i] & 0x80000000;
    }
    return uop->compare(x, y, mask);
}

static uint32_t compared_lanes(struct exec_warp *warp, const struct uop *uop, uint32_t mask)
{
    const struct exec_state *state = warp->state;
    const void *a = lanes_at(state, uop->source[0]), *b = lanes_at(state, uop->source[1]);
    return uop->option & COMPARE_FTZ ? compare_flushed(uop, a, b, mask) : uop->compare(a, b, mask);
}

enum exec_event run_compare(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                            struct exec_access *access)
{
    (void)access;
    struct exec_state *state = warp->state;
    if (!mask)
        return advance(warp);
    uint32_t lanes = compared_lanes(warp, uop, mask), other = pred_lanes(state, uop, 0);
    unsigned how = uop->option & ~COMPARE_FTZ;
    pred_write(state, uop->pred_dst[0], join(how, lanes, other), mask);
    if (uop->pred_dst[1] != PRED_SINK)
        pred_write(state, uop->pred_dst[1], join(how, ~lanes, other), mask);
    return advance(warp);
}

bool compare_is_plain(const struct uop *uop)
{
    return uop->run == run_compare && uop->guard == PRED_TRUE && !uop->guard_flip &&
           uop->option == JOIN_NONE && uop->pred_dst[1] == PRED_SINK;
}

/* set: true is all ones, or 1.0 in a float. */
enum exec_event run_set(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                        struct exec_access *access)
{
    (void)access;
    const struct exec_state *state = warp->state;
    if (!mask)
        return advance(warp);
    uint32_t lanes = compared_lanes(warp, uop, mask);
    lanes = join(uop->option & ~COMPARE_FTZ, lanes, pred_lanes(state, uop, 0));
    lane_word *to = lanes_at(state, uop->dst);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        to[lowest_lane(rest)] = lanes >> lowest_lane(rest) & 1 ? uop->target : 0;
    return advance(warp);
}

static int decode_comparison(struct decoder *d, enum isa_type type)
{
    const struct ptx_insn *insn = d->insn;
    int rc = decode_lane_compare(d, (enum isa_mod)insn->mods[MODC_CMP], type);
    if (rc != SONDE_OK)
        return rc;
    if (!d->uop->compare)
        return decode_refuse(d, "comparison '%s%s.%s' is not implemented", isa_row(insn->op)->name,
                             isa_mod_text((enum isa_mod)insn->mods[MODC_CMP]),
                             isa_type_info(type)->text);
    switch (insn->mods[MODC_BOOL]) {
    case MOD_BOOL_and:
        d->uop->option = JOIN_AND;
        break;
    case MOD_BOOL_or:
        d->uop->option = JOIN_OR;
        break;
    case MOD_BOOL_xor:
        d->uop->option = JOIN_XOR;
        break;
    default:
        d->uop->option = JOIN_NONE;
        break;
    }
    if (insn->mods[MODC_FTZ] != MOD_NONE && type == TYPE_f32)
        d->uop->option |= COMPARE_FTZ;
    uint32_t bytes = isa_type_info(type)->bytes;
    rc = decode_source(d, 0, &insn->operands[1], bytes);
    if (rc == SONDE_OK)
        rc = decode_source(d, 1, &insn->operands[2], bytes);
    if (rc == SONDE_OK && insn->operand_count > 3)
        rc = decode_pred_source(d, 0, &insn->operands[3]);
    return rc;
}

int decode_compare(struct decoder *d)
{
    const struct ptx_operand *p = &d->insn->operands[0];
    d->uop->run = run_compare;
    int rc = decode_comparison(d, d->insn->types[0]);
    if (rc != SONDE_OK)
        return rc;
    d->uop->pred_dst[1] = PRED_SINK;
    if (p->kind != OPERAND_PAIR)
        return decode_pred_dest(d, 0, p);
    rc = decode_pred_dest(d, 0, &p->elems[0]);
    return rc == SONDE_OK ? decode_pred_dest(d, 1, &p->elems[1]) : rc;
}

int decode_set(struct decoder *d)
{
    d->uop->run = run_set;
    d->uop->target = d->insn->types[0] == TYPE_f32 ? 0x3f800000 : UINT32_MAX;
    int rc = decode_comparison(d, d->insn->types[1]);
    return rc == SONDE_OK ? decode_dest(d, &d->uop->dst, &d->insn->operands[0], 4) : rc;
}
