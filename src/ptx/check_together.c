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

uint32_t check_fragment_registers(enum isa_type *reg, const struct opcode *o, char which)
{
    enum isa_mod shape = (enum isa_mod)o->mods[MODC_MNK];
    enum isa_type s = o->tuple.s;
    if (isa_row(o->op)->shape != SHAPE_PRODUCT)
        return which == 'A'   ? isa_fragment(reg, true, shape, 'a', s, s)
               : which == 'B' ? isa_fragment(reg, true, shape, 'b', s, s)
                              : isa_fragment(reg, true, shape, 'c', s, factor_type(s, shape));
    bool halves = o->op == OP_WMMA_MMA_F16; /* the types of a and b are not written */
    enum isa_type a = halves ? TYPE_f16 : o->types[1], b = halves ? TYPE_f16 : o->types[2];
    if (isa_type_info(a)->bytes != isa_type_info(b)->bytes || (o->op == OP_WMMA_MMA && a != b))
        return 0;
    return which == 'A'   ? isa_fragment(reg, o->op != OP_MMA, shape, 'a', a, a)
           : which == 'B' ? isa_fragment(reg, o->op != OP_MMA, shape, 'b', b, b)
           : which == 'C' ? isa_fragment(reg, o->op != OP_MMA, shape, 'c', s, a)
                          : isa_fragment(reg, o->op != OP_MMA, shape, 'c', o->tuple.d, a);
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

int check_together(const struct ptx_insn *insn, struct parser *p, const struct raw_operand *raws)
{
    int code = check_integers(insn, p, raws);
    if (code == 0)
        code = check_bulk_bytes(insn, p, raws);
    return code < 0 ? code : check_copy_and_arrival(insn, p, raws);
}
