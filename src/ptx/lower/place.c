/*
 * What PTX does not show or shows elsewhere: parameters are loaded from the constant bank where
 * they are first needed, special registers once, the address of shared memory is put together from
 * the CTA's window, global accesses need a descriptor, and a kernel begins by loading its stack
 * pointer. What is invariant is loaded before the outermost loop that it is needed in.
 */
#include "ptx/lower/lower.h"
#include "util/container/arena.h"
#include "util/container/map.h"
#include "util/error.h"

#define SHARED_ADDRESS_SLOTS 3 /* S2UR, UMOV, ULEA */

/* The blocks in which something has been loaded already; under a predicate: for that side alone. */
struct place {
    uint32_t block, side;
};

struct places {
    struct place *place;
    uint32_t count;
};

/* Adds a slot where `pc` needs something, unless a block that dominates it has it. `side`: under
 * whose predicate it is made, 0: for all. */
static void need_under(struct lower *l, struct places *have, uint32_t pc, uint32_t slots,
                       uint32_t side)
{
    uint32_t hoisted = lower_hoist(l, l->block_of[pc]);
    uint32_t at = hoisted == NOWHERE ? pc : hoisted;
    struct place here = {.block = l->block_of[at], .side = at == pc ? side : 0};
    for (uint32_t i = 0; i < have->count; i++)
        if (lower_dominates(l, have->place[i].block, here.block) &&
            (have->place[i].side == 0 || have->place[i].side == here.side))
            return;
    if (have->count < l->func->block_count)
        have->place[have->count++] = here;
    lower_add(l, at, ISA_UNIT_COUNT, slots * LOWER_ONE);
}

static void need_at(struct lower *l, struct places *have, uint32_t pc, uint32_t slots)
{
    need_under(l, have, pc, slots, l->func->insns[pc].side);
}

/* All that reads a register, through instructions that have vanished. */
static void need_reg(struct lower *l, struct places *have, int32_t reg, uint32_t slots,
                     uint32_t depth)
{
    const struct reg_fact *fact = &l->regs[reg];
    for (uint32_t i = 0; i < fact->uses; i++) {
        uint32_t pc = l->use[fact->first + i];
        int32_t result = lower_result(&l->func->insns[pc]);
        if (l->folded[pc] && result >= 0 && result != reg && depth < 8)
            need_reg(l, have, result, slots, depth + 1);
        else if (!l->folded[pc])
            need_at(l, have, pc, slots);
    }
}

static bool is_param_load(const struct ptx_insn *insn)
{
    return insn->op == OP_LD && insn->space[0] == SPACE_PARAM &&
           insn->operands[1].kind == OPERAND_ADDR;
}

/* Two parameters of 4 bytes side by side come in one load. */
static bool shares_load(const struct lower *l, uint32_t pc)
{
    const struct ptx_insn *insn = &l->func->insns[pc];
    if (pc == 0 || !is_param_load(&l->func->insns[pc - 1]) || !l->func->is_entry)
        return false;
    const struct ptx_operand *a = &insn->operands[1], *b = &l->func->insns[pc - 1].operands[1];
    if (!a->var || !b->var || a->var->size != 4 || b->var->size != 4)
        return false;
    uint64_t first = b->var->offset + b->imm, second = a->var->offset + a->imm;
    return first % 8 == 0 && second == first + 4;
}

static void place_params(struct lower *l, struct places *have)
{
    for (uint32_t pc = 0; pc < l->func->insn_count; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        if (l->dead[pc] || !is_param_load(insn))
            continue;
        if (!shares_load(l, pc))
            have->count = 0;
        const struct ptx_operand *d = &insn->operands[0];
        if (d->kind == OPERAND_REG)
            need_reg(l, have, d->reg, 1, 0);
        for (uint32_t i = 0; d->kind == OPERAND_VECTOR && i < d->count; i++)
            if (d->elems[i].kind == OPERAND_REG)
                need_reg(l, have, d->elems[i].reg, 1, 0);
    }
}

static bool is_counter(enum isa_sreg sreg)
{
    return sreg == SREG_CLOCK || sreg == SREG_CLOCK64 || sreg == SREG_CLOCK_HI ||
           sreg == SREG_GLOBALTIMER || sreg == SREG_GLOBALTIMER_LO || sreg == SREG_GLOBALTIMER_HI;
}

/* A special register that a block above has read already is read no more. */
static void place_sregs(struct lower *l, struct places *have)
{
    for (enum isa_sreg sreg = SREG_NONE + 1; sreg < SREG_COUNT; sreg++) {
        have->count = 0;
        for (uint32_t pc = 0; pc < l->func->insn_count; pc++) {
            const struct ptx_insn *insn = &l->func->insns[pc];
            if (insn->op != OP_MOV || l->dead[pc] || insn->operands[1].kind != OPERAND_SREG ||
                insn->operands[1].sreg != sreg || is_counter(sreg))
                continue;
            l->out[pc] = (struct lowered){0};
            need_at(l, have, pc, 1);
            l->folded[pc] = l->out[pc].slots == 0;
        }
    }
}

static bool is_shared_address(const struct ptx_operand *o)
{
    return (o->kind == OPERAND_VAR || (o->kind == OPERAND_ADDR && !o->has_reg)) && o->var &&
           o->var->space == SPACE_SHARED;
}

static void place_shared(struct lower *l, struct places *have)
{
    have->count = 0;
    for (uint32_t pc = 0; pc < l->func->insn_count; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        for (uint32_t i = 0; !l->dead[pc] && i < insn->operand_count; i++) {
            if (!is_shared_address(&insn->operands[i]))
                continue;
            if (insn->op == OP_MOV)
                l->out[pc] = (struct lowered){0};
            need_at(l, have, pc, SHARED_ADDRESS_SLOTS);
            l->folded[pc] |= l->out[pc].slots == 0;
        }
    }
}

/* What a store writes is a register: a constant other than zero is moved to one, once a block and
 * once under each predicate. */
static void place_data(struct lower *l)
{
    uint64_t had = 0;
    uint32_t side = 0; /* that has it; 0: all of the block */
    for (uint32_t pc = 0; pc < l->func->insn_count; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        uint64_t value;
        had = pc == l->func->blocks[l->block_of[pc]].first ? 0 : had;
        if (l->dead[pc] || isa_row(insn->op)->unit != UNIT_LSU || insn->operand_count < 2)
            continue;
        bool global = insn->space[0] == SPACE_GLOBAL || insn->space[0] == SPACE_NONE;
        const struct ptx_operand *data = &insn->operands[insn->operand_count - 1];
        if ((insn->op != OP_ST && !global) || data->kind == OPERAND_ADDR ||
            insn->op == OP_ATOM_CAS || l->out[pc].aggregated || !lower_constant(l, data, &value) ||
            (value == had && (side == 0 || side == insn->side)))
            continue;
        had = value;
        side = insn->side;
        lower_add(l, pc, UNIT_ALU, LOWER_ONE);
    }
}

/* An instruction has room for one constant, zero aside: another one is moved to a register. */
static void place_second_constants(struct lower *l, struct places *have)
{
    for (uint32_t pc = 0; pc < l->func->insn_count; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        uint32_t constants = 0;
        if (l->dead[pc] || l->folded[pc] || isa_row(insn->op)->unit != UNIT_FP32 ||
            insn->operand_count != 4)
            continue;
        for (uint32_t i = 1; i < insn->operand_count; i++) {
            uint64_t value;
            constants += lower_constant(l, &insn->operands[i], &value) && value != 0;
        }
        have->count = 0;
        if (constants > 1)
            need_at(l, have, pc, constants - 1);
    }
}

/* Of an instruction that is there: where each of its constants was seen last. */
static int note_constants(const struct lower *l, struct u64_map *last, uint32_t pc)
{
    const struct ptx_insn *insn = &l->func->insns[pc];
    int rc = 0;
    for (uint32_t i = 1; rc == 0 && i < insn->operand_count; i++) {
        uint64_t value;
        if (lower_constant(l, &insn->operands[i], &value))
            rc = u64_map_put(last, value, pc);
    }
    return rc;
}

/* The last instruction above with the same constant is in a block that this one's follows. */
static bool constant_is_there(const struct lower *l, const struct u64_map *last, uint32_t at,
                              uint64_t wanted)
{
    uint64_t pc;
    return u64_map_get(&pc, last, wanted) && lower_dominates(l, l->block_of[pc], l->block_of[at]);
}

/* A constant of 64 bits is an operand where its lower half is zero; else it is moved to two
 * registers. */
static int place_wide_constants(struct lower *l, struct places *have)
{
    struct u64_map last = {0};
    int rc = 0;
    for (uint32_t pc = 0; rc == 0 && pc < l->func->insn_count; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        if (l->dead[pc] || isa_row(insn->op)->unit != UNIT_FP64)
            continue;
        for (uint32_t i = 1; !l->folded[pc] && i < insn->operand_count; i++) {
            uint64_t value;
            have->count = 0;
            if (lower_constant(l, &insn->operands[i], &value) && (uint32_t)value != 0 &&
                !constant_is_there(l, &last, pc, value))
                need_at(l, have, pc, 2);
        }
        rc = note_constants(l, &last, pc);
    }
    u64_map_free(&last);
    return rc;
}

static bool reaches_global(const struct ptx_insn *insn)
{
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (insn->operands[i].kind == OPERAND_ADDR)
            return insn->space[0] == SPACE_GLOBAL || insn->space[0] == SPACE_NONE;
    return false;
}

/* Of a register: whether it is made by x += constant, by something that is not plain for a pointer
 * (x += constant, or what a parameter gives), and the block in which it was an address last. */
struct pointer {
    bool steps, other;
    uint32_t block;
};

static void find_pointers(const struct lower *l, struct pointer *pointers)
{
    for (uint32_t reg = 0; reg < l->func->reg_count; reg++)
        pointers[reg] = (struct pointer){.block = NOWHERE};
    for (uint32_t pc = 0; pc < l->func->insn_count; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        int32_t reg = lower_result(insn);
        if (l->dead[pc] || reg < 0)
            continue;
        bool step = insn->op == OP_ADD && insn->operands[1].kind == OPERAND_REG &&
                    insn->operands[1].reg == reg && insn->operands[2].kind == OPERAND_IMM;
        pointers[reg].steps |= step;
        pointers[reg].other |=
            !step && insn->op != OP_CVTA_TO && insn->op != OP_MOV && insn->op != OP_LD;
    }
}

/* A pointer that all lanes have in common and that a loop steps lies in uniform registers: an
 * access takes it from two others, to which it is moved in each turn, once a block. */
static int place_pointers(struct lower *l)
{
    struct pointer *pointers =
        arena_array(l->arena, (size_t)l->func->reg_count + 1, sizeof *pointers);
    if (!pointers)
        return error_memory();
    find_pointers(l, pointers);
    for (uint32_t pc = 0; pc < l->func->insn_count; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        uint32_t block = l->block_of[pc];
        struct pointer *pointer = NULL;
        for (uint32_t i = 0; i < insn->operand_count; i++)
            if (insn->operands[i].kind == OPERAND_ADDR && insn->operands[i].has_reg)
                pointer = &pointers[insn->operands[i].reg];
        bool had = pointer && pointer->block == block;
        for (uint32_t i = 0; i < insn->operand_count; i++)
            if (insn->operands[i].kind == OPERAND_ADDR && insn->operands[i].has_reg)
                pointers[insn->operands[i].reg].block = block;
        bool plain = pointer && !pointer->other && !l->regs[pointer - pointers].divergent;
        if (plain && pointer->steps && !had && !l->dead[pc] && reaches_global(insn) &&
            l->blocks[block].header != NOWHERE)
            lower_add(l, pc, UNIT_ALU, 2 * LOWER_ONE);
    }
    return 0;
}

/* The uniform datapath makes it, under no predicate of a lane. */
static void place_descriptor(struct lower *l, struct places *have)
{
    have->count = 0;
    for (uint32_t pc = 0; pc < l->func->insn_count; pc++)
        if (!l->dead[pc] && reaches_global(&l->func->insns[pc]))
            need_under(l, have, pc, 1, 0);
}

int lower_place(struct lower *l)
{
    struct places have = {0};
    have.place = arena_array(l->arena, (size_t)l->func->block_count + 1, sizeof *have.place);
    if (!have.place)
        return error_memory();
    place_params(l, &have);
    place_sregs(l, &have);
    place_shared(l, &have);
    place_descriptor(l, &have);
    int rc = place_pointers(l);
    place_second_constants(l, &have);
    rc = rc < 0 ? rc : place_wide_constants(l, &have);
    if (rc < 0)
        return rc;
    place_data(l);
    if (l->func->is_entry && l->func->insn_count > 0)
        lower_add(l, 0, ISA_UNIT_COUNT, LOWER_ONE);
    return 0;
}
