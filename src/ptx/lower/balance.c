/*
 * Additions and moves of 32 bits are done by the multiplier's pipe as well as by the ALU's
 * (IMAD.IADD, IMAD.MOV), and the compiler deals them out so that both have as much to do: of code
 * without floats the card counts 33 to 44 % of all instructions in the one and 31 to 34 % in the
 * other, and adds alone pass 132 lanes a cycle, of which a pipe has 64. Dealt out here block by
 * block, in order, each to the pipe that has had less.
 */
#include "ptx/lower/lower.h"

/* With a shift or a rotation that has vanished into it, it is the ALU's (LEA, LEA.HI). */
static bool has_folded(const struct lower *l, const struct ptx_insn *insn)
{
    for (uint32_t i = 1; i < insn->operand_count; i++) {
        const struct ptx_insn *def = lower_def(l, &insn->operands[i]);
        if (def && l->folded[lower_pc(l, def)])
            return true;
    }
    return false;
}

static bool goes_either_way(const struct lower *l, const struct ptx_insn *insn,
                            const struct lowered *out)
{
    if (out->part_count != 1 || out->part[0].unit != UNIT_ALU || out->slots != LOWER_ONE ||
        isa_type_info(insn->tuple.s)->bytes > 4)
        return false;
    if (insn->op == OP_MOV)
        return true;
    return (insn->op == OP_ADD || insn->op == OP_SUB) && !has_folded(l, insn);
}

static void balance_block(struct lower *l, const struct ptx_block *block)
{
    uint32_t slots[ISA_UNIT_COUNT] = {0};
    for (uint32_t pc = block->first; pc <= block->last; pc++) {
        struct lowered *out = &l->out[pc];
        if (goes_either_way(l, &l->func->insns[pc], out) && slots[UNIT_IMUL] < slots[UNIT_ALU])
            out->part[0].unit = UNIT_IMUL;
        for (uint32_t i = 0; i < out->part_count; i++)
            slots[out->part[i].unit] += out->part[i].slots;
    }
}

void lower_balance(struct lower *l)
{
    for (uint32_t b = 0; b < l->func->block_count; b++)
        balance_block(l, &l->func->blocks[b]);
}
