/*
 * What steers a program: what its branches, addresses and guards are computed from. Found backwards
 * from these, register by register, on all paths together. Where that comes to a load of shared or
 * local memory, all that is stored there steers; where to a load of device memory, that one is
 * told. Instructions that this file does not know, calls, what atomics return and carries, which
 * lie in no register, are not followed.
 */
#include <stdlib.h>

#include "exec/decode/decode.h"
#include "exec/ops.h"
#include "ptx/analyse/analyse.h"
#include "util/error.h"

struct steer {
    const struct exec_program *program;
    struct exec_steering *out;
    bool *reg;    /* its value steers */
    bool scratch; /* what lies in shared and local memory does */
    bool changed, unknown;
};

static void mark(struct steer *s, int32_t reg)
{
    if (!s->reg[reg]) {
        s->reg[reg] = true;
        s->changed = true;
    }
}

static void mark_read(void *ctx, int32_t reg, enum reg_access access)
{
    if (access == REG_READ)
        mark(ctx, reg);
}

struct results {
    const struct steer *s;
    bool steer;
};

static void look_at_result(void *ctx, int32_t reg, enum reg_access access)
{
    struct results *results = ctx;
    results->steer |= access == REG_WRITE && results->s->reg[reg];
}

static bool result_steers(const struct steer *s, const struct ptx_insn *insn)
{
    struct results results = {.s = s};
    insn_visit_regs(s->program->functions[0]->func, insn, look_at_result, &results);
    return results.steer;
}

static void mark_all(struct steer *s, const struct ptx_insn *insn)
{
    insn_visit_regs(s->program->functions[0]->func, insn, mark_read, s);
}

/* Its result alone matters, and that steers or not. */
static void plain(struct steer *s, const struct ptx_insn *insn)
{
    if (result_steers(s, insn))
        mark_all(s, insn);
}

static void note_parameters(const struct steer *s, const struct uop_memory *memory)
{
    uint64_t bytes = s->out->param_bytes, first = memory->has_base ? 0 : memory->offset;
    uint64_t end = memory->has_base ? bytes : first + (uint64_t)memory->bytes * memory->vec;
    for (uint64_t i = first; i < end && i < bytes; i++)
        s->out->params[i] = 1;
}

static void steered_load(struct steer *s, uint32_t pc)
{
    const struct uop_memory *memory = s->program->uops[pc].memory;
    bool scratch = memory->space == SPACE_SHARED || memory->space == SPACE_LOCAL,
         generic = memory->space == SPACE_NONE;
    bool followed =
        scratch || generic || memory->space == SPACE_PARAM || memory->space == SPACE_GLOBAL;
    /* Not what an atomic returns, nor constants, of which observers are not told. */
    s->unknown |= memory->kind != ACCESS_LOAD || !followed;
    if (memory->kind == ACCESS_LOAD && (memory->space == SPACE_PARAM || generic)) {
        note_parameters(s, memory);
    }
    s->out->loads[pc] = memory->space == SPACE_GLOBAL || generic;
    if ((scratch || generic) && !s->scratch)
        s->scratch = s->changed = true;
}

static void memory_access(struct steer *s, uint32_t pc, const struct ptx_insn *insn)
{
    const struct uop_memory *memory = s->program->uops[pc].memory;
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (insn->operands[i].kind == OPERAND_ADDR && insn->operands[i].has_reg)
            mark(s, insn->operands[i].reg);
    if (insn->guard >= 0)
        mark(s, insn->guard);
    if (result_steers(s, insn)) {
        steered_load(s, pc);
        mark_all(s, insn);
    }
    s->out->reads_constants |= memory->space == SPACE_CONST;
    if (memory->kind != ACCESS_LOAD && memory->space != SPACE_GLOBAL && s->scratch)
        mark_all(s, insn);
}

/* Others of the warp take part: the last operand may say which. */
static void together(struct steer *s, const struct ptx_insn *insn)
{
    const struct ptx_operand *last = &insn->operands[insn->operand_count - 1];
    if (insn->guard >= 0)
        mark(s, insn->guard);
    if (last->kind == OPERAND_REG && insn->operand_count > 1)
        mark(s, last->reg);
    plain(s, insn);
}

/* A value that is the same in each launch of the same shape. */
static bool knows_specials(const struct uop *uop)
{
    bool known = true;
    for (uint32_t rest = uop->specials; rest; rest &= rest - 1) {
        uint16_t id = uop->special_ids[__builtin_ctz(rest)];
        known &= id <= SREG_NSMID || (id >= SREG_LANEMASK_EQ && id <= SREG_LANEMASK_GT) ||
                 id == SPECIAL_LOCAL;
    }
    return known;
}

static void look(struct steer *s, uint32_t pc)
{
    const struct ptx_insn *insn = s->program->insns[pc];
    const struct uop *uop = &s->program->uops[pc];
    uop_run *run = uop->specials || uop->whole ? uop->inner : uop->run;
    if (!insn)
        return;
    s->unknown |= !knows_specials(uop);
    if (run == run_memory)
        memory_access(s, pc, insn);
    else if (run == run_shfl || run == run_vote || run == run_redux)
        together(s, insn);
    else if (run == run_branch || run == run_exit || run == run_barrier)
        mark_all(s, insn);
    else if (run != run_carry && decode_changes_registers(run))
        plain(s, insn);
    else if (run != run_nop && run != run_fence)
        s->unknown = true;
}

static int follow(struct steer *s)
{
    s->reg = calloc((size_t)s->program->functions[0]->func->reg_count + 1, sizeof *s->reg);
    if (!s->reg)
        return error_memory();
    do {
        s->changed = false;
        for (uint32_t pc = s->program->length; pc-- > 0 && !s->unknown;)
            look(s, pc);
    } while (s->changed && !s->unknown);
    free(s->reg);
    return SONDE_OK;
}

int exec_steering_create(struct exec_steering *out, const struct exec_program *program)
{
    struct steer s = {.program = program, .out = out, .unknown = program->function_count > 1};
    *out = (struct exec_steering){.param_bytes = program->functions[0]->func->param_bytes};
    out->loads = calloc((size_t)program->length + 1, 1);
    out->params = calloc((size_t)out->param_bytes + 1, 1);
    if (!out->loads || !out->params)
        return error_memory();
    int rc = s.unknown ? SONDE_OK : follow(&s);
    out->known = rc == SONDE_OK && !s.unknown;
    return rc;
}

void exec_steering_free(struct exec_steering *steering)
{
    free(steering->loads);
    free(steering->params);
}
