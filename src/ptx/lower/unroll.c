/*
 * Loops of one block that count are unrolled: four times, or as often as fits where the number of
 * turns is a constant. What counts and compares then issues once for all the copies, and so does a
 * pointer's step, which becomes a displacement of the copies' addresses. The epilogue of a loop
 * that has been unrolled before, in the compiler that wrote the PTX, is left as it is: it makes
 * fewer turns than four.
 *
 * The limits are those at which ptxas 13.0 for sm_90 was seen to stop, over bodies of one to 80
 * multiply-adds, loads, stores, roots and tiles of a matrix product: instructions, of which global
 * accesses count twice. Loops with a division or root that branches it leaves as they are, and
 * those with an atomic, or with a load of memory and a store that does not go along with a pointer.
 */
#include "ptx/lower/lower.h"

#define BASES_MAX 16

static const struct {
    uint32_t with_load, without; /* slots */
    uint32_t times;
    uint32_t constant_slots; /* of all copies where the turns are a constant */
    uint64_t epilogue_mask;
} unroll = {.with_load = 51, .without = 23, .times = 4, .constant_slots = 160, .epilogue_mask = 15};

struct loop {
    const struct ptx_block *block;
    uint32_t slots;
    bool has_load, refused;
    bool loads_memory, stores_elsewhere; /* where a pointer that steps does not point */
    int32_t counter;
    bool constant; /* first value, step and last value are */
};

/* x += constant, in place. */
static bool is_step(const struct ptx_insn *insn)
{
    return (insn->op == OP_ADD || insn->op == OP_SUB) && insn->guard < 0 &&
           insn->operands[1].kind == OPERAND_REG && insn->operands[0].kind == OPERAND_REG &&
           insn->operands[1].reg == insn->operands[0].reg && insn->operands[2].kind == OPERAND_IMM;
}

static bool defined_within(const struct lower *l, const struct ptx_block *block, int32_t reg)
{
    for (uint32_t pc = block->first; pc <= block->last; pc++)
        if (!l->dead[pc] && lower_result(&l->func->insns[pc]) == reg)
            return true;
    return false;
}

/* The register that the loop's last branch depends on by one comparison with something invariant.
 */
static int32_t find_counter(const struct lower *l, const struct ptx_block *block, bool *constant)
{
    const struct ptx_insn *last = &l->func->insns[block->last];
    struct ptx_operand guard = {.kind = OPERAND_REG, .reg = last->guard};
    const struct ptx_insn *test = lower_def(l, &guard);
    if (!test || test->op != OP_SETP || lower_pc(l, test) < block->first ||
        lower_pc(l, test) > block->last || test->operands[1].kind != OPERAND_REG)
        return -1;
    const struct ptx_operand *bound = &test->operands[2];
    if (bound->kind == OPERAND_REG && defined_within(l, block, bound->reg))
        return -1;
    *constant = bound->kind == OPERAND_IMM;
    int32_t counter = test->operands[1].reg;
    for (uint32_t pc = block->first; pc <= block->last; pc++)
        if (is_step(&l->func->insns[pc]) && l->func->insns[pc].operands[0].reg == counter)
            return counter;
    return -1;
}

/* What the counter is before the loop: a constant, or less than four by its making. */
static bool is_epilogue(const struct lower *l, struct loop *loop)
{
    bool constant = false;
    for (uint32_t pc = 0; pc < l->func->insn_count; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        if (l->dead[pc] || lower_result(insn) != loop->counter || is_step(insn))
            continue;
        const struct ptx_insn *from = insn;
        if (insn->op == OP_MOV && insn->operands[1].kind == OPERAND_REG)
            from = lower_def(l, &insn->operands[1]);
        uint64_t mask;
        if (from && from->op == OP_AND && lower_constant(l, &from->operands[2], &mask) &&
            mask <= unroll.epilogue_mask)
            return true;
        constant = insn->op == OP_MOV && insn->operands[1].kind == OPERAND_IMM;
    }
    loop->constant &= constant;
    return false;
}

#define POINTER_DEPTH 4 /* additions and shifts between a step of 64 bits and an address */

/*
 * A register of 64 bits follows from one that steps in the loop, and from what stays. A counter of
 * 32 bits that is made an address does not: it may wrap around.
 */
static bool steps_along(const struct lower *l, const struct loop *loop,
                        const struct ptx_operand *operand, uint32_t depth)
{
    if (operand->kind != OPERAND_REG && !operand->has_reg)
        return false;
    bool steps = false;
    for (uint32_t pc = loop->block->first; pc <= loop->block->last; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        if (l->dead[pc] || lower_result(insn) != operand->reg)
            continue;
        bool wide = isa_type_info(insn->tuple.s)->bytes == 8;
        bool straight = insn->op == OP_ADD || insn->op == OP_SUB || insn->op == OP_SHL;
        if (!wide || !straight || depth == 0)
            return false;
        for (uint32_t i = 1; !is_step(insn) && i <= 2; i++) {
            const struct ptx_operand *source = &insn->operands[i];
            bool stays =
                source->kind != OPERAND_REG || !defined_within(l, loop->block, source->reg);
            if (!stays && !steps_along(l, loop, source, depth - 1))
                return false;
            steps |= !stays;
        }
        steps |= is_step(insn);
    }
    return steps;
}

static void note_access(struct loop *loop, const struct lower *l, const struct ptx_insn *insn)
{
    if (insn_is_atomic(insn->op))
        loop->refused = true;
    if (insn->space[0] != SPACE_GLOBAL && insn->space[0] != SPACE_NONE)
        return;
    loop->loads_memory |= insn_is_load(insn->op);
    loop->stores_elsewhere |=
        insn_is_store(insn->op) && !steps_along(l, loop, &insn->operands[0], POINTER_DEPTH);
}

static void measure(struct loop *loop, const struct lower *l)
{
    for (uint32_t pc = loop->block->first; pc <= loop->block->last; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        bool global = isa_row(insn->op)->unit == UNIT_LSU && insn->space[0] == SPACE_GLOBAL;
        loop->slots += l->out[pc].slots * (global ? 2 : 1);
        loop->has_load |= global && lower_result(insn) >= 0;
        loop->has_load |= global && insn->operands[0].kind == OPERAND_VECTOR;
        loop->refused |= insn->space[0] == SPACE_LOCAL || insn->op == OP_CALL || l->out[pc].apart;
    }
}

static void note_accesses(struct loop *loop, const struct lower *l)
{
    for (uint32_t pc = loop->block->first; pc <= loop->block->last; pc++)
        note_access(loop, l, &l->func->insns[pc]);
    loop->refused |= loop->loads_memory && loop->stores_elsewhere;
}

/* A step that only addresses, the step itself and a comparison see. */
static bool only_counts(const struct lower *l, const struct loop *loop, const struct ptx_insn *step)
{
    int32_t reg = step->operands[0].reg;
    const struct reg_fact *fact = &l->regs[reg];
    for (uint32_t i = 0; i < fact->uses; i++) {
        const struct ptx_insn *user = &l->func->insns[l->use[fact->first + i]];
        uint32_t pc = lower_pc(l, user);
        if (pc < loop->block->first || pc > loop->block->last || user == step ||
            user->op == OP_SETP)
            continue;
        for (uint32_t k = 0; k < user->operand_count; k++)
            if (user->operands[k].kind == OPERAND_REG && user->operands[k].reg == reg)
                return false;
    }
    return true;
}

/* Something is left, so that no loop turns for nothing. */
static void share(struct lowered *out, uint32_t times)
{
    out->slots = (uint16_t)((out->slots + times - 1) / times);
    for (uint32_t i = 0; i < out->part_count; i++)
        out->part[i].slots = (uint16_t)(out->part[i].slots / times);
}

/* The parameters that the loop's addresses begin at are loaded again for all copies together. */
static uint32_t count_bases(const struct lower *l, const struct loop *loop)
{
    int32_t seen[BASES_MAX];
    uint32_t count = 0;
    for (uint32_t pc = loop->block->first; pc <= loop->block->last; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        if (isa_row(insn->op)->unit == UNIT_BARRIER)
            return 0;
        for (uint32_t i = 1; insn->op == OP_ADD && !l->folded[pc] && i <= 2; i++) {
            const struct ptx_insn *def = lower_def(l, &insn->operands[i]);
            uint32_t k = 0;
            if (!def || def->op != OP_CVTA_TO || def->operands[1].kind != OPERAND_REG)
                continue;
            while (k < count && seen[k] != insn->operands[i].reg)
                k++;
            if (k == count && count < BASES_MAX)
                seen[count++] = insn->operands[i].reg;
        }
    }
    return count;
}

static void unroll_loop(struct lower *l, const struct loop *loop, uint32_t times)
{
    for (uint32_t pc = loop->block->first; pc <= loop->block->last; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        if (pc == loop->block->last || (is_step(insn) && only_counts(l, loop, insn)) ||
            (insn->op == OP_SETP && insn->operands[1].reg == loop->counter))
            share(&l->out[pc], times);
    }
    lower_add(l, loop->block->last, ISA_UNIT_COUNT, count_bases(l, loop) * LOWER_ONE / times);
    l->out[loop->block->last].turns = loop->constant ? 0 : (uint8_t)times;
}

/* .pragma "nounroll", of the function or in the loop's block. Neither does the compiler unroll
 * where a branch was. */
static bool is_forbidden(const struct ptx_func *func, const struct ptx_block *block)
{
    bool forbidden = func->nounroll;
    for (uint32_t pc = block->first; pc <= block->last; pc++)
        forbidden |= func->insns[pc].nounroll || func->insns[pc].side > 0;
    return forbidden;
}

void lower_unroll(struct lower *l)
{
    for (uint32_t b = 0; b < l->func->block_count; b++) {
        struct loop loop = {.block = &l->func->blocks[b]};
        const struct ptx_insn *last = &l->func->insns[loop.block->last];
        if (l->blocks[b].header != b || last->op != OP_BRA || last->guard < 0 ||
            last->operands[0].target != loop.block->first || is_forbidden(l->func, loop.block))
            continue;
        if (last->unrolled) {
            lower_add(l, loop.block->last, ISA_UNIT_COUNT, count_bases(l, &loop) * LOWER_ONE);
            continue;
        }
        loop.counter = find_counter(l, loop.block, &loop.constant);
        if (loop.counter < 0 || is_epilogue(l, &loop))
            continue;
        measure(&loop, l);
        uint32_t limit = loop.has_load ? unroll.with_load : unroll.without;
        if (loop.refused || loop.slots > limit * LOWER_ONE || loop.slots == 0)
            continue;
        note_accesses(&loop, l); /* of few instructions by now */
        if (loop.refused)
            continue;
        uint32_t fits = unroll.constant_slots * LOWER_ONE / loop.slots;
        unroll_loop(l, &loop, loop.constant && fits > unroll.times ? fits : unroll.times);
    }
}
