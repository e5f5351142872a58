/*
 * Whether CTAs are apart: exec_program_ctas_are_apart(). Found here by what instructions a program
 * has, on any path: an instruction that it never comes to counts, too.
 */
#include "exec/decode/decode.h"
#include "exec/ops.h"

/* Memory that other CTAs see. A generic address may lead there. */
static bool is_outside(enum isa_space space)
{
    return space == SPACE_GLOBAL || space == SPACE_CONST || space == SPACE_NONE;
}

/* An access that tells of an order, or one that marks do not know. */
static bool is_of_others(const struct uop *uop, const struct exec_uop_info *info)
{
    bool moves = info->is_load || info->is_store || info->is_atomic;
    if (uop->run == run_texture || uop->inner == run_texture || info->is_fragment)
        return false;
    if (!moves || !is_outside(info->space) || uop->run == run_copy)
        return false;
    if (uop->run != run_memory && uop->inner != run_memory)
        return true; /* surfaces */
    return info->is_atomic || uop->memory->is_volatile || uop->memory->cache_op == MOD_COP_cv;
}

/* Fences of a CTA, and those between a thread and what copies for it, order nothing for others. */
static bool is_fence_of_others(const struct ptx_insn *insn)
{
    if (insn->op == OP_MEMBAR)
        return insn->mods[MODC_MEMBAR] != MOD_MEMBAR_cta;
    return insn->op == OP_FENCE && insn->mods[MODC_SCOPE] != MOD_SCOPE_cta;
}

bool decode_ctas_are_apart(const struct exec_program *program)
{
    for (uint32_t pc = 0; pc < program->length; pc++) {
        const struct ptx_insn *insn = program->insns[pc];
        if (insn &&
            (program->infos[pc].reads_clock || program->infos[pc].takes_turn ||
             is_fence_of_others(insn) || is_of_others(&program->uops[pc], &program->infos[pc])))
            return false;
    }
    return true;
}
