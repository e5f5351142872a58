/*
 * Decoding of regular rows: the operands by the row's shape, the lane loop by its types. The
 * letters of a shape's sources say how wide each is: D and S as the row's types, u 32 bits, ~ as
 * its register.
 */

#include <string.h>

#include "exec/ops/decoders.h"
#include "util/error.h"

/* clang-format off */
static const char *const shape_sources[SHAPE_COUNT] = {
    [SHAPE_D_A] = "S",       [SHAPE_D_AB] = "SS",     [SHAPE_D_ABC] = "SSD",
    [SHAPE_CVT] = "~",       [SHAPE_MOV] = "S",       [SHAPE_SHIFT] = "Su",
    [SHAPE_FIELD] = "Suu",   [SHAPE_INSERT] = "SSuu", [SHAPE_FUNNEL] = "SSu",
    [SHAPE_LOP3] = "SSSu",   [SHAPE_MASK] = "uu",     [SHAPE_SLCT] = "DDS",
    [SHAPE_SELP] = "SS",
};
/* clang-format on */

static enum isa_type letter_type(char letter, const struct lane_entry *entry)
{
    return letter == 'D' ? entry->d : letter == 'u' ? TYPE_u32 : entry->s;
}

static int decode_sources(struct decoder *d, const char *letters, const struct lane_entry *entry)
{
    int rc = SONDE_OK;
    for (int i = 0; rc == SONDE_OK && letters[i]; i++) {
        uint32_t bytes = isa_type_info(letter_type(letters[i], entry))->bytes;
        if (letters[i] == '~' && d->insn->operands[1 + i].kind == OPERAND_REG)
            bytes = 0;
        rc = decode_source(d, i, &d->insn->operands[1 + i], bytes);
    }
    return rc;
}

static int decode_predicates(struct decoder *d)
{
    int rc = decode_pred_dest(d, 0, &d->insn->operands[0]);
    for (int i = 1; rc == SONDE_OK && i < d->insn->operand_count; i++)
        rc = decode_pred_source(d, i - 1, &d->insn->operands[i]);
    d->uop->run = run_pred_logic;
    return rc;
}

/* How run_float finds out that rounding alone made a result the smallest normal number. */
static unsigned tiny_result(enum isa_op op)
{
    switch (op) {
    case OP_MUL_F32:
        return FLOAT_TINY_PRODUCT;
    case OP_FMA_F32:
    case OP_MAD_F32:
        return FLOAT_TINY_SUM;
    case OP_DIV_F32:
        return FLOAT_TINY_QUOTIENT;
    case OP_DIV_APPROX:
    case OP_DIV_FULL:
        return FLOAT_TINY_QUOTIENT | FLOAT_TINY_APPROX;
    case OP_RCP_F32:
        return FLOAT_TINY_RECIPROCAL;
    case OP_RCP_APPROX:
        return FLOAT_TINY_RECIPROCAL | FLOAT_TINY_APPROX;
    default:
        return 0;
    }
}

/* Rounding, .ftz, .sat and .NaN act around the loop: option bits of run_float. */
static int decode_float(struct decoder *d, const char *letters, const struct lane_entry *entry)
{
    const uint16_t *mods = d->insn->mods;
    unsigned option = 0;
    switch (mods[MODC_RND]) {
    case MOD_RND_rz:
        option = 1;
        break;
    case MOD_RND_rm:
        option = 2;
        break;
    case MOD_RND_rp:
        option = 3;
        break;
    default:
        break;
    }
    option |= mods[MODC_FTZ] != MOD_NONE ? FLOAT_FTZ : 0;
    if (mods[MODC_SAT] != MOD_NONE && isa_type_info(entry->d)->kind == KIND_FLOAT)
        option |= FLOAT_SAT;
    option |= mods[MODC_NANP] != MOD_NONE ? FLOAT_NAN : 0;
    option |= mods[MODC_XORSIGN] != MOD_NONE ? FLOAT_XORSIGN : 0;
    if (!option)
        return SONDE_OK;
    if (d->uop->run == run_convert)
        return decode_refuse(d,
                             "'%s' with these modifiers between registers of other widths is not "
                             "implemented",
                             isa_row(d->insn->op)->name);
    if (option & FLOAT_FTZ)
        option |= tiny_result(d->insn->op);
    bool selects = isa_row(d->insn->op)->shape == SHAPE_SLCT; /* only what decides is flushed */
    for (int i = selects ? 2 : 0; i < 3 && letters[i]; i++)
        if (letter_type(letters[i], entry) == TYPE_f32)
            d->uop->narrow |= (uint8_t)(1u << i);
    if (entry->d == TYPE_f32 && !selects)
        d->uop->narrow |= 1u << 7;
    d->uop->option = (uint16_t)option;
    d->uop->run = run_float;
    return SONDE_OK;
}

/* cvt between registers that are wider than its types. */
static void decode_widths(struct decoder *d, const struct lane_entry *entry)
{
    const struct isa_type_info *to = isa_type_info(entry->d), *from = isa_type_info(entry->s);
    unsigned option = 0;
    if (from->bytes <= 4 && decode_register_bytes(d, &d->insn->operands[1]) == 8)
        option |= CONVERT_SOURCE_WIDE;
    if (to->bytes <= 4 && decode_register_bytes(d, &d->insn->operands[0]) == 8)
        option |= CONVERT_DEST_WIDE | (to->kind == KIND_SIGNED ? CONVERT_SIGNED : 0);
    if (!option)
        return;
    d->uop->option = (uint16_t)option;
    d->uop->run = run_convert;
}

int decode_regular(struct decoder *d)
{
    const struct ptx_insn *insn = d->insn;
    const struct lane_entry *entry = NULL;
    enum isa_shape shape = isa_row(insn->op)->shape;
    enum isa_type dt = insn->type_count >= 2 ? insn->types[0] : TYPE_NONE;
    enum isa_type st = insn->type_count >= 2   ? insn->types[1]
                       : insn->type_count == 1 ? insn->types[0]
                                               : TYPE_NONE;
    int rc = decode_lane_loop(d, insn->op, dt, st, &entry);
    if (rc != SONDE_OK)
        return rc;
    if (!entry)
        return decode_refuse(d, "instruction '%s' is not implemented for these types",
                             isa_row(insn->op)->name);
    if (shape == SHAPE_PRED_A || shape == SHAPE_PRED_AB)
        return decode_predicates(d);
    const char *letters = shape_sources[shape];
    if (!letters || insn->operand_count < strlen(letters) + 1)
        return decode_refuse(d, "instruction '%s' is not implemented", isa_row(insn->op)->name);
    d->uop->run = run_lanes;
    d->uop->dst_bytes = isa_type_info(entry->d)->bytes > 4 ? 8 : 4;
    rc = decode_dest(d, &d->uop->dst, &insn->operands[0],
                     shape == SHAPE_CVT ? 0 : d->uop->dst_bytes);
    d->uop->sources = (uint8_t)strlen(letters);
    if (rc == SONDE_OK)
        rc = decode_sources(d, letters, entry);
    if (rc == SONDE_OK && shape == SHAPE_SELP) {
        d->uop->run = run_select;
        rc = decode_pred_source(d, 0, &insn->operands[3]);
    }
    if (rc == SONDE_OK && shape == SHAPE_CVT)
        decode_widths(d, entry);
    if (rc == SONDE_OK)
        rc = decode_float(d, letters, entry);
    return rc;
}
