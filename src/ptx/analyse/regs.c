/*
 * Which registers an instruction reads and writes, from its operands and shape: results are the
 * operands that shapes.def marks with '=' ('+': it is read, too); call writes its return list.
 */
#include "ptx/analyse/analyse.h"

static void visit_operand(const struct ptx_insn *insn, const struct ptx_operand *o, bool write,
                          reg_visitor *visit, void *ctx)
{
    switch (o->kind) {
    case OPERAND_REG:
        if (write && insn->guard >= 0 && !insn->own_result)
            visit(ctx, o->reg, REG_READ);
        visit(ctx, o->reg, write ? REG_WRITE : REG_READ);
        break;
    case OPERAND_ADDR:
        if (o->has_reg)
            visit(ctx, o->reg, REG_READ);
        break;
    case OPERAND_VECTOR:
    case OPERAND_PAIR:
    case OPERAND_FETCH:
        for (uint32_t i = 0; i < o->count; i++)
            visit_operand(insn, &o->elems[i], write, visit, ctx);
        break;
    default:
        break;
    }
}

static void visit_results(const struct ptx_func *func, reg_visitor *visit, void *ctx)
{
    for (uint32_t i = 0; i < func->return_count; i++)
        for (int k = 0; func->returns[i].reg >= 0 && k < func->returns[i].vec; k++)
            visit(ctx, func->returns[i].reg + k, REG_READ);
}

void insn_visit_regs(const struct ptx_func *func, const struct ptx_insn *insn, reg_visitor *visit,
                     void *ctx)
{
    const char *shape = isa_shape_text(isa_row(insn->op)->shape);
    bool first_is_read = shape[0] == '+', first_is_written = shape[0] == '=' || first_is_read;
    bool is_call = insn->op == OP_CALL;
    if (insn->guard >= 0)
        visit(ctx, insn->guard, REG_READ);
    if (insn->op == OP_RET)
        visit_results(func, visit, ctx);
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        bool write = is_call ? i == 1 : first_is_written && i == 0;
        if (!write || (first_is_read && i == 0))
            visit_operand(insn, &insn->operands[i], false, visit, ctx);
    }
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        bool write = is_call ? i == 1 : first_is_written && i == 0;
        if (write)
            visit_operand(insn, &insn->operands[i], true, visit, ctx);
    }
}
