/*
 * Which loops may wait for other lanes or threads: those in which something asks what others have
 * done, by an atomic whose result is used, a load that is not weak or keeps nothing (.cv), a fence,
 * an mbarrier, a sleep or a call. A compiler may take any other load out of its loop, so that no
 * correct program waits by one. A loop is taken for the stretch of text that a branch backwards
 * leads over.
 */
#include <stdlib.h>

#include "exec/decode/decode.h"
#include "ptx/analyse/analyse.h"
#include "util/error.h"

static void count_use(void *ctx, int32_t reg, enum reg_access access)
{
    uint32_t *uses = ctx;
    uses[reg] += access == REG_READ;
}

static bool gives_used_result(const struct ptx_insn *insn, const uint32_t *uses)
{
    const struct ptx_operand *result = &insn->operands[0];
    if (insn->operand_count == 0 || isa_shape_text(isa_row(insn->op)->shape)[0] != '=')
        return false;
    return result->kind == OPERAND_REG ? uses[result->reg] > 0 : result->kind != OPERAND_SINK;
}

static bool asks_others(const struct ptx_insn *insn, const struct exec_uop_info *info,
                        const uint32_t *uses)
{
    const struct isa_row *row = isa_row(insn->op);
    if (info->is_atomic)
        return gives_used_result(insn, uses);
    if (info->is_load)
        return (insn->mods[MODC_SEM] != MOD_NONE && insn->mods[MODC_SEM] != MOD_SEM_weak) ||
               insn->mods[MODC_COP] == MOD_COP_cv;
    return insn->op == OP_CALL || insn->op == OP_NANOSLEEP || row->unit == UNIT_FENCE ||
           row->at_issue;
}

/* `asked`: room for a number an instruction and one more, how many before it ask others. */
static void note_loops(bool *waits, const struct ptx_func *f, const struct exec_uop_info *infos,
                       const uint32_t *uses, uint32_t *asked)
{
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        const struct ptx_insn *insn = &f->insns[pc];
        asked[pc + 1] = asked[pc] + asks_others(insn, &infos[pc], uses);
        uint32_t target = insn->op == OP_BRA ? insn->operands[0].target : UINT32_MAX;
        if (target <= pc && asked[pc + 1] > asked[target])
            waits[target] = true;
    }
}

static int note_function(struct exec_program *program, const struct exec_function *function)
{
    const struct ptx_func *f = function->func;
    uint32_t *uses = calloc((size_t)f->reg_count + 1, sizeof *uses);
    uint32_t *asked = calloc((size_t)f->insn_count + 1, sizeof *asked);
    bool made = uses && asked;
    if (uses && asked) {
        for (uint32_t pc = 0; pc < f->insn_count; pc++)
            insn_visit_regs(f, &f->insns[pc], count_use, uses);
        note_loops(program->waits + function->first_pc, f, program->infos + function->first_pc,
                   uses, asked);
    }
    free(uses);
    free(asked);
    return made ? SONDE_OK : error_memory();
}

int decode_waits(struct exec_program *program)
{
    program->waits = calloc((size_t)program->length + 1, sizeof *program->waits);
    if (!program->waits)
        return error_memory();
    int rc = SONDE_OK;
    for (uint32_t i = 0; rc == SONDE_OK && i < program->function_count; i++)
        rc = note_function(program, program->functions[i]);
    return rc;
}
