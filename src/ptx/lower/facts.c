/*
 * Definitions, uses, what is dead, and which values differ between lanes. A value differs if it
 * comes from a thread's number, from memory other than parameters, or from another that does; also
 * if several instructions define it and one of them is reached by a branch that lanes disagree on.
 */
#include <string.h>

#include "ptx/lower/lower.h"
#include "util/container/arena.h"
#include "util/error.h"

uint32_t lower_pc(const struct lower *l, const struct ptx_insn *insn)
{
    return (uint32_t)(insn - l->func->insns);
}

const struct ptx_insn *lower_def(const struct lower *l, const struct ptx_operand *operand)
{
    if (operand->kind != OPERAND_REG)
        return NULL;
    const struct reg_fact *reg = &l->regs[operand->reg];
    const struct ptx_insn *insn = reg->defs == 1 ? &l->func->insns[reg->def] : NULL;
    return insn && insn->guard < 0 ? insn : NULL;
}

static bool writes_first(const struct ptx_insn *insn)
{
    return insn->operand_count > 0 && isa_shape_text(isa_row(insn->op)->shape)[0] == '=';
}

int32_t lower_result(const struct ptx_insn *insn)
{
    if (!writes_first(insn))
        return -1;
    const struct ptx_operand *d = &insn->operands[0];
    if (d->kind == OPERAND_PAIR && d->count > 0)
        d = &d->elems[0];
    return d->kind == OPERAND_REG ? d->reg : -1;
}

bool lower_all_uses(const struct lower *l, const struct ptx_insn *insn, use_test *test)
{
    int32_t reg = lower_result(insn);
    if (reg < 0 || l->regs[reg].defs != 1 || l->regs[reg].uses == 0 || insn->guard >= 0)
        return false;
    const struct reg_fact *fact = &l->regs[reg];
    for (uint32_t i = 0; i < fact->uses; i++)
        if (!test(l, &l->func->insns[l->use[fact->first + i]], reg))
            return false;
    return true;
}

bool lower_used_once(const struct lower *l, const struct ptx_insn *insn)
{
    int32_t reg = lower_result(insn);
    return reg >= 0 && l->regs[reg].defs == 1 && l->regs[reg].uses == 1 && insn->guard < 0;
}

bool lower_constant(const struct lower *l, const struct ptx_operand *operand, uint64_t *value)
{
    if (operand->kind == OPERAND_IMM) {
        *value = operand->imm;
        return true;
    }
    const struct ptx_insn *def = lower_def(l, operand);
    if (!def || def->op != OP_MOV || def->operands[1].kind != OPERAND_IMM)
        return false;
    *value = def->operands[1].imm;
    return true;
}

/* Whether an instruction does something besides giving a result. */
static bool acts(const struct ptx_insn *insn)
{
    const struct isa_row *row = isa_row(insn->op);
    switch (row->unit) {
    case UNIT_BRANCH:
    case UNIT_BARRIER:
    case UNIT_FENCE:
    case UNIT_SHUFFLE:
    case UNIT_VOTE:
    case UNIT_TENSOR:
    case UNIT_TEX:
    case UNIT_SPECIAL:
        return true;
    case UNIT_LSU:
        return (insn->op != OP_LD && insn->op != OP_LD_NC) ||
               (insn->mods[MODC_SEM] != MOD_NONE && insn->mods[MODC_SEM] != MOD_SEM_weak);
    default:
        return !writes_first(insn);
    }
}

struct count {
    struct lower *l;
    uint32_t pc;
    bool gather; /* second pass: the lists are filled */
};

static void note_def(void *ctx, int32_t reg, enum reg_access access)
{
    struct count *count = ctx;
    if (access == REG_WRITE) {
        count->l->regs[reg].defs++;
        count->l->regs[reg].def = count->pc;
    }
}

static void note_use(void *ctx, int32_t reg, enum reg_access access)
{
    struct count *count = ctx;
    struct reg_fact *fact = &count->l->regs[reg];
    if (access != REG_READ)
        return;
    if (count->gather)
        count->l->use[fact->first + fact->uses] = count->pc;
    fact->uses++;
}

struct wake {
    struct lower *l;
    bool *needed; /* by register */
    bool changed;
};

static void need(void *ctx, int32_t reg, enum reg_access access)
{
    struct wake *wake = ctx;
    if (access == REG_READ && !wake->needed[reg])
        wake->needed[reg] = wake->changed = true;
}

static void find_written(void *ctx, int32_t reg, enum reg_access access)
{
    struct wake *wake = ctx;
    if (access == REG_WRITE && wake->needed[reg])
        wake->changed = true;
}

/* Everything that something needs which acts; passes from the end until nothing is added. */
static int find_dead(struct lower *l)
{
    const struct ptx_func *f = l->func;
    bool *needed = arena_array(l->arena, f->reg_count, sizeof *needed);
    if (!needed)
        return error_memory();
    for (uint32_t pc = 0; pc < f->insn_count; pc++)
        l->dead[pc] = true;
    struct wake wake = {.l = l, .needed = needed, .changed = true};
    while (wake.changed) {
        wake.changed = false;
        for (uint32_t pc = f->insn_count; pc-- > 0;) {
            const struct ptx_insn *insn = &f->insns[pc];
            if (!l->dead[pc])
                continue;
            struct wake written = {.needed = needed};
            insn_visit_regs(f, insn, find_written, &written);
            if (!acts(insn) && !written.changed)
                continue;
            l->dead[pc] = false;
            insn_visit_regs(f, insn, need, &wake);
        }
    }
    return 0;
}

static int find_uses(struct lower *l)
{
    const struct ptx_func *f = l->func;
    struct count count = {.l = l};
    for (count.pc = 0; count.pc < f->insn_count; count.pc++) {
        if (l->dead[count.pc])
            continue;
        insn_visit_regs(f, &f->insns[count.pc], note_def, &count);
        insn_visit_regs(f, &f->insns[count.pc], note_use, &count);
    }
    size_t total = 0;
    for (uint32_t r = 0; r < f->reg_count; r++) {
        l->regs[r].first = (uint32_t)total;
        total += l->regs[r].uses;
        l->regs[r].uses = 0;
    }
    l->use = arena_array(l->arena, total + 1, sizeof *l->use);
    if (!l->use)
        return error_memory();
    count.gather = true;
    for (count.pc = 0; count.pc < f->insn_count; count.pc++)
        if (!l->dead[count.pc])
            insn_visit_regs(f, &f->insns[count.pc], note_use, &count);
    return 0;
}

static bool sreg_differs(enum isa_sreg sreg)
{
    switch (sreg) {
    case SREG_TID_X:
    case SREG_TID_Y:
    case SREG_TID_Z:
    case SREG_LANEID:
    case SREG_LANEMASK_EQ:
    case SREG_LANEMASK_LE:
    case SREG_LANEMASK_LT:
    case SREG_LANEMASK_GE:
    case SREG_LANEMASK_GT:
        return true;
    default:
        return false;
    }
}

/* By itself, whatever its operands are. */
static bool gives_difference(const struct ptx_insn *insn)
{
    if (insn->op == OP_CALL)
        return true;
    if (isa_row(insn->op)->unit == UNIT_LSU || isa_row(insn->op)->unit == UNIT_TEX)
        return insn->space[0] != SPACE_PARAM && insn->space[0] != SPACE_CONST;
    if (isa_row(insn->op)->unit == UNIT_SHUFFLE || isa_row(insn->op)->unit == UNIT_TENSOR)
        return true;
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (insn->operands[i].kind == OPERAND_SREG && sreg_differs(insn->operands[i].sreg))
            return true;
    return false;
}

static void spread(void *ctx, int32_t reg, enum reg_access access)
{
    struct wake *wake = ctx;
    struct reg_fact *fact = &wake->l->regs[reg];
    if (access == REG_READ)
        wake->changed |= fact->divergent;
}

static void mark(void *ctx, int32_t reg, enum reg_access access)
{
    struct wake *wake = ctx;
    struct reg_fact *fact = &wake->l->regs[reg];
    if (access == REG_WRITE && !fact->divergent)
        fact->divergent = wake->changed = true;
}

bool lower_is_uniform_constant(const struct lower *l, const struct ptx_insn *insn)
{
    const struct ptx_operand *at = &insn->operands[1];
    return insn->op == OP_LD && insn->space[0] == SPACE_CONST && insn->operand_count > 1 &&
           at->kind == OPERAND_ADDR && !(at->has_reg && l->regs[at->reg].divergent);
}

/* What a warp votes is the same in all lanes. */
static bool gives_same(const struct ptx_insn *insn)
{
    return insn->op == OP_VOTE || insn->op == OP_VOTE_BALLOT || insn->op == OP_REDUX;
}

static void mark_merged(void *ctx, int32_t reg, enum reg_access access)
{
    struct wake *wake = ctx;
    if (access == REG_WRITE && wake->l->regs[reg].defs > 1)
        mark(ctx, reg, access);
}

/* Notes the stretch between a branch that lanes disagree on and where they meet: what begins there
 * less what ends there, by pc. The text's order stands for the paths' instructions. */
static void note_parting(const struct lower *l, uint32_t pc, int32_t *begun)
{
    const struct ptx_func *f = l->func;
    const struct ptx_insn *insn = &f->insns[pc];
    if (!insn_is_branch(insn) || insn->guard < 0 || !l->regs[insn->guard].divergent)
        return;
    uint32_t first = pc, end = insn->reconverge == PTX_NO_PC ? f->insn_count : insn->reconverge;
    if (insn->op == OP_BRA && insn->operands[0].target < first)
        first = insn->operands[0].target;
    if (first < end) {
        begun[first]++;
        begun[end]--;
    }
}

/* What is defined more than once, and where lanes have parted, may differ afterwards. */
static bool spread_from_branches(struct lower *l, int32_t *begun)
{
    const struct ptx_func *f = l->func;
    struct wake wake = {.l = l};
    memset(begun, 0, ((size_t)f->insn_count + 1) * sizeof *begun);
    for (uint32_t pc = 0; pc < f->insn_count; pc++)
        note_parting(l, pc, begun);
    int32_t parted = 0;
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        parted += begun[pc];
        if (parted > 0)
            insn_visit_regs(f, &f->insns[pc], mark_merged, &wake);
    }
    return wake.changed;
}

static int find_divergent(struct lower *l)
{
    const struct ptx_func *f = l->func;
    int32_t *begun = arena_array(l->arena, (size_t)f->insn_count + 1, sizeof *begun);
    if (!begun)
        return error_memory();
    bool changed = true;
    for (uint32_t turn = 0; changed && turn < 64; turn++) {
        changed = false;
        for (uint32_t pc = 0; pc < f->insn_count; pc++) {
            const struct ptx_insn *insn = &f->insns[pc];
            struct wake read = {.l = l, .changed = gives_difference(insn)};
            struct wake wrote = {.l = l};
            insn_visit_regs(f, insn, spread, &read);
            if (read.changed && !gives_same(insn))
                insn_visit_regs(f, insn, mark, &wrote);
            changed |= wrote.changed;
        }
        changed |= spread_from_branches(l, begun);
    }
    return 0;
}

int lower_facts(struct lower *l)
{
    const struct ptx_func *f = l->func;
    l->regs = arena_array(l->arena, f->reg_count, sizeof *l->regs);
    l->dead = arena_array(l->arena, f->insn_count, sizeof *l->dead);
    l->folded = arena_array(l->arena, f->insn_count, sizeof *l->folded);
    if (!l->regs || !l->dead || !l->folded)
        return error_memory();
    int rc = find_dead(l);
    rc = rc < 0 ? rc : find_uses(l);
    return rc < 0 ? rc : find_divergent(l);
}
