/*
 * Results that are later where they are needed than in the unit that has them: a predicate at what
 * issues under it, and what crosses from one pipe of arithmetic to the other. A result has one time
 * for all that need it: the first one's; a predicate that of a guard, if there is one. And what
 * lanes wait for where they meet, and which barriers are over earlier than their unit says.
 */
#include "ptx/lower/lower.h"

static const uint8_t guard_cycles[] = {
    [LOWERING_HOPPER] = 0,
#define GUARD(generation, cycles) [LOWERING_##generation] = (cycles),
#include "isa/lowering.def"
};

static const uint8_t other_pipe_cycles[] = {
    [LOWERING_HOPPER] = 0,
#define OTHER_PIPE(generation, cycles) [LOWERING_##generation] = (cycles),
#include "isa/lowering.def"
};

static const uint8_t meeting_cycles[] = {
    [LOWERING_HOPPER] = 0,
#define MEETING(generation, cycles) [LOWERING_##generation] = (cycles),
#include "isa/lowering.def"
};

static const uint8_t constant_barrier_cycles[] = {
#define CONSTANT_BARRIER(generation, cycles) [LOWERING_##generation] = (cycles),
#include "isa/lowering.def"
};

enum pipe { PIPE_NONE, PIPE_PRODUCTS, PIPE_LOGIC };

/* The pipe of one machine instruction: comparisons, minimum and maximum are logic of any type. */
static enum pipe pipe_of(const struct lower *l, uint32_t pc)
{
    const struct ptx_insn *insn = &l->func->insns[pc];
    int32_t reg = lower_result(insn);
    if (l->out[pc].slots != LOWER_ONE)
        return PIPE_NONE;
    switch (isa_row(insn->op)->unit) {
    case UNIT_ALU:
    case UNIT_SHIFT:
        return PIPE_LOGIC;
    case UNIT_IMUL:
        return PIPE_PRODUCTS;
    case UNIT_FP32:
        return insn->op == OP_MIN_F32 || insn->op == OP_MAX_F32 ||
                       (reg >= 0 && l->func->regs[reg].type == TYPE_pred)
                   ? PIPE_LOGIC
                   : PIPE_PRODUCTS;
    default:
        return PIPE_NONE;
    }
}

enum { LOOK_AHEAD = 64 }; /* instructions; chosen */

/* Something issues under a register of several values before it gets another one. */
static bool guards_next(const struct lower *l, uint32_t pc, int32_t reg)
{
    uint32_t end = pc + LOOK_AHEAD < l->func->insn_count ? pc + LOOK_AHEAD : l->func->insn_count;
    for (uint32_t i = pc + 1; i < end; i++) {
        if (l->func->insns[i].guard == reg)
            return true;
        if (lower_result(&l->func->insns[i]) == reg)
            return false;
    }
    return false;
}

/* Arithmetic gives a predicate, under which an instruction issues. */
static bool guards(const struct lower *l, uint32_t pc, int32_t reg)
{
    const struct reg_fact *fact = &l->regs[reg];
    uint32_t unit = isa_row(l->func->insns[pc].op)->unit;
    if (unit != UNIT_ALU && unit != UNIT_FP32 && unit != UNIT_FP64)
        return false;
    if (fact->defs > 1)
        return guards_next(l, pc, reg);
    for (uint32_t i = 0; i < fact->uses; i++)
        if (l->func->insns[l->use[fact->first + i]].guard == reg)
            return true;
    return false;
}

/* Behind it, or else, in a loop, before it. */
static bool crosses(const struct lower *l, uint32_t pc, int32_t reg)
{
    const struct reg_fact *fact = &l->regs[reg];
    enum pipe own = pipe_of(l, pc), first = PIPE_NONE;
    for (uint32_t i = 0; i < fact->uses && own != PIPE_NONE; i++) {
        uint32_t user = l->use[fact->first + i];
        first = user > pc || first == PIPE_NONE ? pipe_of(l, user) : first;
        if (user > pc)
            break;
    }
    return first != PIPE_NONE && first != own;
}

uint8_t lower_late(const struct lower *l, uint32_t pc)
{
    int32_t reg = lower_result(&l->func->insns[pc]);
    if (reg < 0)
        return 0;
    if (l->func->regs[reg].type == TYPE_pred)
        return guards(l, pc, reg) ? guard_cycles[l->generation] : 0;
    return crosses(l, pc, reg) ? other_pipe_cycles[l->generation] : 0;
}

uint32_t lower_meeting_cycles(const struct lower *l)
{
    return meeting_cycles[l->generation];
}

/* Neither its number nor that of its threads is in a register. */
static bool is_constant_barrier(const struct ptx_insn *insn)
{
    bool constant = isa_row(insn->op)->unit == UNIT_BARRIER;
    for (uint32_t i = 0; constant && i < insn->operand_count; i++)
        constant = insn->operands[i].kind != OPERAND_REG;
    return constant;
}

uint8_t lower_early(const struct lower *l, uint32_t pc)
{
    return is_constant_barrier(&l->func->insns[pc])
               ? constant_barrier_cycles[lowering_rows(l->generation)]
               : 0;
}
