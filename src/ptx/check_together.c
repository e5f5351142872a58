/* What check.c asks besides an operand's own shape: how many registers a fragment has, what
 * operands must be together. */
#include "ptx/parser.h"

#include <string.h>

#include "isa/fragment.h"

int check_mismatch(struct parser *p, const struct raw_operand *raw, enum isa_type have,
                   enum isa_type want)
{
    return parser_error(p, raw->loc, "got an operand of type .%s, expected .%s",
                        isa_type_info(have)->text, isa_type_info(want)->text);
}

/* What c and d of wmma.load and wmma.store belong to: the product that has such sums. */
static enum isa_type factor_type(enum isa_type sum, enum isa_mod shape)
{
    if (sum == TYPE_s32 || sum == TYPE_f64)
        return sum == TYPE_s32 ? TYPE_s8 : TYPE_f64;
    return shape == MOD_MNK_m16n16k8 ? TYPE_tf32 : TYPE_f16;
}

static enum isa_product product_kind(enum isa_op op)
{
    if (isa_row(op)->shape == SHAPE_PRODUCT_SPARSE)
        return ISA_MMA_SPARSE;
    return op == OP_MMA || op == OP_MMA_4 || op == OP_MMA_1 ? ISA_MMA : ISA_WMMA;
}

static bool is_small_float(enum isa_type type)
{
    return type == TYPE_e4m3 || type == TYPE_e5m2;
}

/* Factors are of one type; mma also has integers of 8 bits of both signs, and both floats of 8. */
static bool go_together(enum isa_type a, enum isa_type b, bool mixes)
{
    bool bytes = isa_type_info(a)->bytes == 1 && isa_type_info(b)->bytes == 1;
    return a == b || (mixes && bytes && is_small_float(a) == is_small_float(b));
}

uint32_t check_fragment_registers(enum isa_type *reg, const struct opcode *o, char which)
{
    enum isa_mod shape = (enum isa_mod)o->mods[MODC_MNK];
    enum isa_type s = o->tuple.s;
    enum isa_shape operands = isa_row(o->op)->shape;
    enum isa_product kind = product_kind(o->op);
    bool packed = o->mods[MODC_X4] != MOD_NONE || o->mods[MODC_B1A] != MOD_NONE;
    bool sums = which == 'C' || which == 'D';
    if (shape == MOD_MNK_m8n8k32 || shape == MOD_MNK_m8n8k128)
        packed = packed || (sums && s == TYPE_s32);
    if (packed) {
        if (o->op == OP_WMMA_4 &&
            (o->mods[MODC_X4] == MOD_X4_s4) != (o->mods[MODC_Y4] == MOD_Y4_s4))
            return 0;
        bool bits = o->mods[MODC_B1A] != MOD_NONE || (sums && shape == MOD_MNK_m8n8k128);
        return isa_packed_fragment(reg, kind, shape,
                                   sums           ? 'c'
                                   : which == 'A' ? 'a'
                                                  : 'b',
                                   bits ? 1 : 4);
    }
    if (operands != SHAPE_PRODUCT && operands != SHAPE_PRODUCT_SPARSE)
        return which == 'A'   ? isa_fragment(reg, ISA_WMMA, shape, 'a', s, s)
               : which == 'B' ? isa_fragment(reg, ISA_WMMA, shape, 'b', s, s)
                              : isa_fragment(reg, ISA_WMMA, shape, 'c', s, factor_type(s, shape));
    bool halves = o->op == OP_WMMA_MMA_F16; /* the types of a and b are not written */
    enum isa_type a = halves ? TYPE_f16 : o->types[1], b = halves ? TYPE_f16 : o->types[2];
    if (!go_together(a, b, kind != ISA_WMMA))
        return 0;
    return which == 'A'   ? isa_fragment(reg, kind, shape, 'a', a, a)
           : which == 'B' ? isa_fragment(reg, kind, shape, 'b', b, b)
           : which == 'C' ? isa_fragment(reg, kind, shape, 'c', s, a)
                          : isa_fragment(reg, kind, shape, 'c', o->tuple.d, a);
}

/* cp.async moves 4, 8 or 16 bytes, past L1 only 16; an arrival elsewhere has no state to give. */
static int check_copy_and_arrival(const struct ptx_insn *insn, struct parser *p,
                                  const struct raw_operand *raws)
{
    enum isa_shape copied = isa_row(insn->op)->shape;
    bool copies =
        copied == SHAPE_COPY || copied == SHAPE_COPY_HINT || copied == SHAPE_COPY_SIZE_HINT;
    uint64_t bytes = copies ? insn->operands[2].imm : 0;
    bool past_l1 = insn->mods[MODC_COP] == MOD_COP_cg;
    if (copies && bytes != 16 && (past_l1 || (bytes != 4 && bytes != 8)))
        return parser_error(p, raws[2].loc, "a copy of %llu bytes, expected %s",
                            (unsigned long long)bytes, past_l1 ? "16" : "4, 8 or 16");
    enum isa_shape shape = isa_row(insn->op)->shape;
    bool arrives = shape == SHAPE_MBARRIER_ARRIVE || shape == SHAPE_MBARRIER_ARRIVE_COUNT;
    if (arrives && insn->space[0] == SPACE_SHARED_CLUSTER && insn->operands[0].kind != OPERAND_SINK)
        return parser_error(p, raws[0].loc, "expected '_': .shared::cluster gives no state");
    return 0;
}

/* Bulk copies move 16 bytes at a time, up to 2^20 - 16. */
static int check_bulk_bytes(const struct ptx_insn *insn, struct parser *p,
                            const struct raw_operand *raws)
{
    enum isa_shape shape = isa_row(insn->op)->shape;
    if (shape != SHAPE_BULK_IN && shape != SHAPE_BULK_OUT && shape != SHAPE_BULK_PREFETCH)
        return 0;
    int at = shape == SHAPE_BULK_PREFETCH ? 1 : 2;
    const struct ptx_operand *bytes = &insn->operands[at];
    if (bytes->kind == OPERAND_REG && bytes->type == TYPE_f16x2)
        return check_mismatch(p, &raws[at], bytes->type, TYPE_u32);
    if (bytes->kind == OPERAND_IMM && (bytes->imm % 16 != 0 || bytes->imm >= 1 << 20))
        return parser_error(p, raws[at].loc,
                            "a copy of %llu bytes, expected a multiple of 16 below 2^20",
                            (unsigned long long)bytes->imm);
    return 0;
}

/* Instructions that the vendor's assembler gives integer registers only, where others take any of
 * the size; of those on halves and bytes also no constants. */
static int check_integers(const struct ptx_insn *insn, struct parser *p,
                          const struct raw_operand *raws)
{
    const struct isa_row *row = isa_row(insn->op);
    bool video = row->shape == SHAPE_VIDEO || row->shape == SHAPE_VIDEO_TWO;
    bool integers = video || row->shape == SHAPE_MASK || row->shape == SHAPE_REDUX;
    char lanes = row->name[strcspn(row->name, ".") - 1];
    bool parity =
        row->shape == SHAPE_MBARRIER_TEST_PARITY || row->shape == SHAPE_MBARRIER_TRY_PARITY;
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const struct ptx_operand *o = &insn->operands[i];
        if (integers && o->kind == OPERAND_REG && isa_type_info(o->type)->kind == KIND_FLOAT)
            return parser_error(p, raws[i].loc, "got a register of type .%s, expected an integer",
                                isa_type_info(o->type)->text);
        if (video && (lanes == '2' || lanes == '4') && o->kind == OPERAND_IMM)
            return parser_error(p, raws[i].loc, "got a constant, expected a register");
        if (parity && i == 2 && o->kind == OPERAND_IMM && o->imm > 1)
            return parser_error(p, raws[i].loc, "parity %llu, expected 0 or 1",
                                (unsigned long long)o->imm);
    }
    return 0;
}

/* What tells which elements of a sparse matrix are there is not the same in all lanes; events are
 * numbered from 0 to 15, and have a bit each in a mask. */
static int check_constants(const struct ptx_insn *insn, struct parser *p,
                           const struct raw_operand *raws)
{
    enum isa_shape shape = isa_row(insn->op)->shape;
    int metadata = shape == SHAPE_PRODUCT_SPARSE ? 4 : shape == SHAPE_WGMMA_SPARSE ? 3 : -1;
    if (metadata >= 0 && insn->operands[metadata].kind == OPERAND_IMM)
        return parser_error(p, raws[metadata].loc, "got a constant, expected a register");
    uint64_t most = insn->op == OP_PMEVENT ? 15 : insn->op == OP_PMEVENT_MASK ? 0xffff : UINT64_MAX;
    if (most < UINT64_MAX && insn->operands[0].imm > most)
        return parser_error(p, raws[0].loc, "event %llu, expected 0 to %llu",
                            (unsigned long long)insn->operands[0].imm, (unsigned long long)most);
    return 0;
}

/* Digits of a mask: ascending from the last, each once, below `count`. */
static bool is_mask(uint16_t selector, uint32_t count)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < ptx_selector_count(selector); i++) {
        uint32_t digit = ptx_selector_digit(selector, i);
        if (digit >= count || (i > 0 && digit <= last))
            return false;
        last = digit;
    }
    return true;
}

/* One byte or half of a word; of words of `elements` parts, as many as they have, of a and b. */
static bool is_part(uint16_t selector, uint32_t elements, bool result)
{
    uint32_t count = ptx_selector_count(selector);
    bool halves = ptx_selector_is_halves(selector);
    if (selector == 0)
        return true;
    if (elements == 1)
        return count == 1 && ptx_selector_digit(selector, 0) < (halves ? 2 : 4);
    if (halves != (elements == 2))
        return false;
    if (result)
        return is_mask(selector, elements);
    for (uint32_t i = 0; i < count; i++)
        if (ptx_selector_digit(selector, i) >= 2 * elements)
            return false;
    return count == elements;
}

/* Selectors: 9.7.17. */
static int check_video(const struct ptx_insn *insn, struct parser *p,
                       const struct raw_operand *raws)
{
    enum isa_shape shape = isa_row(insn->op)->shape;
    const char *name = isa_row(insn->op)->name;
    uint32_t elements = strchr(name, '2') ? 2 : strchr(name, '4') ? 4 : 1;
    if (shape != SHAPE_VIDEO && shape != SHAPE_VIDEO_TWO && shape != SHAPE_VMAD)
        return 0;
    int minuses = 0;
    for (int i = 0; i < insn->operand_count; i++) {
        bool none =
            i == 3 || (i == 0 && (shape == SHAPE_VMAD || (shape == SHAPE_VIDEO && elements == 1)));
        if (raws[i].selector && (none || !is_part(raws[i].selector, elements, i == 0)))
            return parser_error(p, raws[i].loc, "this selector is none of '%s'", name);
        minuses += raws[i].minus;
        if (minuses > 1)
            return parser_error(p, raws[i].loc, "'%s' negates one operand at most", name);
        if (raws[i].minus && (shape != SHAPE_VMAD || insn->mods[MODC_PO] != MOD_NONE))
            return parser_error(p, raws[i].loc, "'%s' negates nothing", name);
    }
    bool merges = shape == SHAPE_VIDEO_TWO && insn->operand_count == 4;
    if (shape == SHAPE_VIDEO_TWO && merges != (raws[0].selector != 0))
        return parser_error(p, raws[0].loc,
                            merges ? "a third operand, where the whole result is written"
                                   : "a part of the result needs a third operand");
    return 0;
}

int check_together(const struct ptx_insn *insn, struct parser *p, const struct raw_operand *raws)
{
    int code = check_integers(insn, p, raws);
    if (code == 0)
        code = check_bulk_bytes(insn, p, raws);
    if (code == 0)
        code = check_constants(insn, p, raws);
    if (code == 0)
        code = check_video(insn, p, raws);
    return code < 0 ? code : check_copy_and_arrival(insn, p, raws);
}
