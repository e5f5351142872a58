/* An instruction's own slots: rows of isa/lowering.def, else by the width of the operation. */
#include "ptx/lower/lower.h"

enum when {
    WHEN_ANY,
    WHEN_FTZ,
    WHEN_NO_FTZ,
    WHEN_AGAIN,
    WHEN_GLOBAL,
    WHEN_UNIFORM, /* from here on of atomics that one lane does for all */
    WHEN_UNIFORM_DEAD,
    WHEN_COUNTED,
    WHEN_COUNTED_DEAD,
    WHEN_SCANNED
};

struct row {
    uint16_t generation, op, type;
    uint8_t when;
    struct {
        uint8_t unit, slots;
    } on[LOWER_PARTS];
};

enum { UNIT_ALONE = ISA_UNIT_COUNT };

static const struct row rows[] = {
#define ON(unit, n)                                                                                \
    {                                                                                              \
        UNIT_##unit, n                                                                             \
    }
#define LOWERING(g, op, type, when, ...)                                                           \
    {LOWERING_##g, OP_##op, TYPE_##type, WHEN_##when, {__VA_ARGS__}},
#include "isa/lowering.def"
};

/* Instructions whose warp issues nothing beside them. */
static const struct kept {
    uint16_t generation, op, type, cycles;
} apart[] = {
#define APART(g, op, type, more) {LOWERING_##g, OP_##op, TYPE_##type, more},
#include "isa/lowering.def"
};

/* Instructions whose warp issues the next one later. */
static const struct kept stalls[] = {
#define STALLS(g, op, type, cycles) {LOWERING_##g, OP_##op, TYPE_##type, cycles},
#include "isa/lowering.def"
};

static const struct {
    uint16_t generation, op, type;
    uint8_t when, sixteenths;
} held[] = {
#define HOLDS(g, op, type, when, n) {LOWERING_##g, OP_##op, TYPE_##type, WHEN_##when, n},
#include "isa/lowering.def"
};

static const struct {
    uint16_t generation, op;
    enum lower_operands operands;
    struct lowered_rare rare;
} rare[] = {
#define RARE(g, op, operands, slots, stalls, jumps)                                                \
    {LOWERING_##g, OP_##op, LOWER_##operands, {slots, stalls, jumps}},
#include "isa/lowering.def"
};

/* The same divisor above: its reciprocal is there. */
static bool divides_again(const struct lower *l, const struct ptx_insn *insn)
{
    uint32_t at = lower_pc(l, insn);
    const struct ptx_operand *divisor = &insn->operands[2];
    for (uint32_t pc = at; pc-- > 0 && at - pc < 256;) {
        const struct ptx_insn *other = &l->func->insns[pc];
        if (isa_row(other->op)->unit == UNIT_IDIV && !l->dead[pc] &&
            other->tuple.s == insn->tuple.s && divisor->kind == OPERAND_REG &&
            other->operands[2].kind == OPERAND_REG && other->operands[2].reg == divisor->reg &&
            l->regs[divisor->reg].defs == 1)
            return lower_dominates(l, l->block_of[pc], l->block_of[at]);
    }
    return false;
}

/* The comparison is of %tid.x with a constant, whether it is that: one lane of a warp at most. */
static bool asks_for_lane(const struct lower *l, const struct ptx_insn *test)
{
    uint64_t value;
    if (!test || test->op != OP_SETP || !lower_constant(l, &test->operands[2], &value))
        return false;
    const struct ptx_insn *def = lower_def(l, &test->operands[1]);
    return def && def->op == OP_MOV && def->operands[1].kind == OPERAND_SREG &&
           def->operands[1].sreg == SREG_TID_X &&
           (test->mods[MODC_CMP] == MOD_CMP_eq || test->mods[MODC_CMP] == MOD_CMP_ne);
}

/* A branch above lets through the lane alone whose %tid.x is a constant. */
static bool is_of_one_lane(const struct lower *l, const struct ptx_insn *insn)
{
    uint32_t block = l->block_of[lower_pc(l, insn)];
    for (uint32_t b = l->blocks[block].idom; b != NOWHERE; b = l->blocks[b].idom) {
        const struct ptx_insn *branch = &l->func->insns[l->func->blocks[b].last];
        if (branch->op != OP_BRA || branch->guard < 0)
            continue;
        struct ptx_operand guard = {.kind = OPERAND_REG, .reg = branch->guard};
        const struct ptx_insn *test = lower_def(l, &guard);
        if (!asks_for_lane(l, test))
            continue;
        bool jumps_there = (test->mods[MODC_CMP] == MOD_CMP_eq) != branch->guard_negate;
        uint32_t side = jumps_there ? l->block_of[branch->operands[0].target] : b + 1;
        if (side < l->func->block_count && l->blocks[side].entries == 1 &&
            lower_dominates(l, side, block))
            return true;
    }
    return false;
}

/* All lanes of the warp access the same word, and they may be several. */
static bool is_at_one_place(const struct lower *l, const struct ptx_insn *insn)
{
    for (uint32_t i = 0; i < insn->operand_count; i++)
        if (insn->operands[i].kind == OPERAND_ADDR)
            return insn->space[0] == SPACE_GLOBAL &&
                   !(insn->operands[i].has_reg && l->regs[insn->operands[i].reg].divergent) &&
                   !is_of_one_lane(l, insn);
    return false;
}

static bool has_result(const struct lower *l, const struct ptx_insn *insn)
{
    return lower_result(insn) >= 0 && l->regs[lower_result(insn)].uses > 0;
}

/* What an atomic adds is a constant: the number of lanes tells the sum. */
static bool adds_constant(const struct lower *l, const struct ptx_insn *insn)
{
    uint64_t value;
    return lower_constant(l, &insn->operands[insn->operand_count - 1], &value);
}

/* What it adds is each lane's own: what a lane finds is the sum of those before it. */
static bool adds_own_value(const struct lower *l, const struct ptx_insn *insn)
{
    const struct ptx_operand *data = &insn->operands[insn->operand_count - 1];
    return data->kind == OPERAND_REG && l->regs[data->reg].divergent;
}

static bool fits(const struct lower *l, const struct ptx_insn *insn, enum when when)
{
    switch (when) {
    case WHEN_FTZ:
        return insn->mods[MODC_FTZ] != MOD_NONE;
    case WHEN_NO_FTZ:
        return insn->mods[MODC_FTZ] == MOD_NONE;
    case WHEN_AGAIN:
        return divides_again(l, insn);
    case WHEN_GLOBAL:
        return insn->space[0] == SPACE_GLOBAL || insn->space[0] == SPACE_NONE;
    case WHEN_UNIFORM:
        return is_at_one_place(l, insn);
    case WHEN_UNIFORM_DEAD:
        return is_at_one_place(l, insn) && !has_result(l, insn);
    case WHEN_COUNTED:
        return is_at_one_place(l, insn) && adds_constant(l, insn);
    case WHEN_COUNTED_DEAD:
        return is_at_one_place(l, insn) && adds_constant(l, insn) && !has_result(l, insn);
    case WHEN_SCANNED:
        return is_at_one_place(l, insn) && adds_own_value(l, insn) && has_result(l, insn);
    default:
        return true;
    }
}

static const struct row *find_row(const struct lower *l, const struct ptx_insn *insn)
{
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].op == insn->op && rows[i].generation == lowering_rows(l->generation) &&
            (rows[i].type == TYPE_NONE || rows[i].type == insn->tuple.s) &&
            fits(l, insn, rows[i].when))
            return &rows[i];
    return NULL;
}

void lower_add(struct lower *l, uint32_t pc, uint32_t unit, uint32_t slots)
{
    struct lowered *out = &l->out[pc];
    uint32_t i = 0;
    out->slots = (uint16_t)(out->slots + slots);
    if (unit == ISA_UNIT_COUNT || slots == 0)
        return;
    while (i < out->part_count && out->part[i].unit != unit)
        i++;
    if (i == LOWER_PARTS)
        return; /* it takes issue slots alone */
    if (i == out->part_count) {
        out->part_count++;
        out->part[i].unit = (uint8_t)unit;
        out->part[i].slots = 0;
    }
    out->part[i].slots = (uint16_t)(out->part[i].slots + slots);
}

static bool is_wide_integer(const struct ptx_insn *insn)
{
    enum isa_type type = insn->tuple.s;
    const struct isa_type_info *info = isa_type_info(type);
    uint32_t unit = isa_row(insn->op)->unit;
    return type != TYPE_NONE && info->bytes == 8 && info->kind != KIND_FLOAT &&
           (unit == UNIT_ALU || unit == UNIT_SHIFT);
}

static const struct kept *find_kept(const struct kept *table, size_t count, const struct lower *l,
                                    const struct ptx_insn *insn)
{
    for (size_t i = 0; i < count; i++)
        if (table[i].generation == lowering_rows(l->generation) && table[i].op == insn->op &&
            (table[i].type == TYPE_NONE || table[i].type == insn->tuple.s))
            return &table[i];
    return NULL;
}

/* A subroutine's jumps take as much as such a branch: a call and a return were not timed apart. */
static void add_rare(struct lower *l, uint32_t pc)
{
    const struct ptx_insn *insn = &l->func->insns[pc];
    const struct kept *alone = find_kept(apart, sizeof apart / sizeof *apart, l, insn);
    const struct kept *slow = isa_row(insn->op)->unit == UNIT_IDIV && divides_again(l, insn)
                                  ? NULL
                                  : find_kept(stalls, sizeof stalls / sizeof *stalls, l, insn);
    l->out[pc].apart = alone != NULL;
    l->out[pc].stall_cycles = alone != NULL  ? alone->cycles
                              : slow != NULL ? slow->cycles
                                             : (uint16_t)0;
    for (uint32_t i = 0; i < sizeof rare / sizeof *rare; i++)
        if (rare[i].generation == lowering_rows(l->generation) && rare[i].op == insn->op) {
            struct lowered_rare *out = &l->out[pc].rare[rare[i].operands];
            *out = rare[i].rare;
            out->stalls = (uint16_t)(out->stalls + out->jumps * lower_meeting_cycles(l));
        }
}

#define UNIFORM_LOAD_BYTES 8 /* what one load of the uniform datapath brings at most */

/* The uniform datapath's loads for what is used of a vector, or of a single value. */
static uint32_t uniform_loads(const struct lower *l, const struct ptx_insn *insn)
{
    const struct ptx_operand *d = &insn->operands[0];
    uint32_t bytes = isa_type_info(insn->tuple.s)->bytes, loads = 0, end = 0;
    if (d->kind != OPERAND_VECTOR)
        return 1;
    for (uint32_t i = 0; i < d->count; i++) {
        bool used = d->elems[i].kind == OPERAND_REG && l->regs[d->elems[i].reg].uses > 0;
        if (used && i * bytes >= end) {
            loads++;
            end = (i * bytes / UNIFORM_LOAD_BYTES + 1) * UNIFORM_LOAD_BYTES;
        }
    }
    return loads;
}

static bool is_whole_bytes(uint64_t first, uint64_t count)
{
    return first % 8 == 0 && count % 8 == 0;
}

/*
 * A field of bits in a register of 32 is shifted and masked; at the register's low end a mask
 * does, of whole bytes a permutation, but for a sign. Where it lies is put together first if it is
 * no constant.
 */
static uint32_t field_slots(const struct lower *l, const struct ptx_insn *insn)
{
    uint64_t first, count;
    uint32_t at = insn->operand_count - 2;
    if (!lower_constant(l, &insn->operands[at], &first) ||
        !lower_constant(l, &insn->operands[at + 1], &count))
        return insn->op == OP_BFI ? 7 : insn->op == OP_BFE ? 6 : 5;
    return first == 0 || (insn->op != OP_BFE_SIGNED && is_whole_bytes(first, count)) ? 1 : 2;
}

static bool is_field(const struct ptx_insn *insn)
{
    return (insn->op == OP_BFI || insn->op == OP_BFE || insn->op == OP_BFE_SIGNED) &&
           isa_type_info(insn->tuple.s)->bytes == 4 && insn->operand_count >= 4;
}

/* A register is copied that the block has given a constant. */
static bool copies_constant(const struct lower *l, const struct ptx_insn *insn)
{
    if (insn->op != OP_MOV || insn->operands[1].kind != OPERAND_REG)
        return false;
    int32_t from = insn->operands[1].reg;
    uint32_t first = l->func->blocks[l->block_of[lower_pc(l, insn)]].first;
    for (uint32_t pc = lower_pc(l, insn); pc-- > first;) {
        const struct ptx_insn *before = &l->func->insns[pc];
        if (lower_result(before) != from)
            continue;
        return before->op == OP_MOV && before->operands[1].kind == OPERAND_IMM;
    }
    return false;
}

static void add_own(struct lower *l, uint32_t pc)
{
    const struct ptx_insn *insn = &l->func->insns[pc];
    const struct row *row = find_row(l, insn);
    if (copies_constant(l, insn)) { /* zeros come by twos */
        lower_add(l, pc, UNIT_ALU, LOWER_ONE / 2);
        return;
    }
    if (lower_is_uniform_constant(l, insn)) {
        lower_add(l, pc, UNIT_ALONE, uniform_loads(l, insn) * LOWER_ONE);
        return;
    }
    if (is_field(insn)) {
        lower_add(l, pc, UNIT_ALU, field_slots(l, insn) * LOWER_ONE);
        return;
    }
    if (!row) {
        lower_add(l, pc, isa_row(insn->op)->unit,
                  is_wide_integer(insn) ? 2 * LOWER_ONE : LOWER_ONE);
        return;
    }
    for (uint32_t i = 0; i < LOWER_PARTS; i++)
        lower_add(l, pc, row->on[i].unit, row->on[i].slots * LOWER_ONE);
    l->out[pc].aggregated = row->when >= WHEN_UNIFORM;
}

void lower_hold(struct lower *l, uint32_t pc, const struct ptx_insn *insn)
{
    for (uint32_t i = 0; i < sizeof held / sizeof *held; i++)
        if (held[i].generation == lowering_rows(l->generation) && held[i].op == insn->op &&
            (held[i].type == TYPE_NONE || held[i].type == insn->tuple.s) &&
            fits(l, insn, held[i].when)) {
            l->out[pc].held = held[i].sixteenths;
            return;
        }
}

/* Elements of one and two bytes travel in words: they are taken apart, and put together. */
static void add_packing(struct lower *l, uint32_t pc)
{
    const struct ptx_insn *insn = &l->func->insns[pc];
    bool store = insn->op == OP_ST;
    if ((!store && insn->op != OP_LD && insn->op != OP_LD_NC) || insn->operand_count < 2)
        return;
    const struct ptx_operand *data = &insn->operands[store ? insn->operand_count - 1 : 0];
    if (data->kind != OPERAND_VECTOR)
        return;
    uint32_t bytes = isa_type_info(insn->tuple.s)->bytes;
    if (bytes == 1)
        lower_add(l, pc, UNIT_ALU, (data->count - store) * LOWER_ONE);
    else if (bytes == 2)
        lower_add(l, pc, UNIT_ALU, data->count / 2 * LOWER_ONE);
}

void lower_table(struct lower *l)
{
    for (uint32_t pc = 0; pc < l->func->insn_count; pc++)
        if (!l->dead[pc] && !l->folded[pc] && l->out[pc].slots == 0) {
            add_own(l, pc);
            add_rare(l, pc);
            lower_hold(l, pc, &l->func->insns[pc]);
            add_packing(l, pc);
        }
}
