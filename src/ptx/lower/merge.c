/*
 * Loads of shared memory that the compiler makes one of: words side by side behind the same
 * register, with no store or barrier between them, where the address is known to be aligned. What
 * is known of a register's alignment comes from its definitions; a variable in shared memory begins
 * at a multiple of 16. Of global memory nothing is known: a parameter may be any address.
 *
 * Words of constant memory whose address is the same in all lanes come by twos, of neighbouring
 * variables too, whatever is stored between them: the compiler knows where each lies in the bank.
 */
#include "ptx/lower/lower.h"
#include "util/container/arena.h"
#include "util/error.h"

#define ALIGN_MAX 4u /* as a power of two: 16 bytes, what one load moves */
#define REACH 512u   /* instructions either way in which a neighbour is looked for */

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t of_value(uint64_t value)
{
    return value == 0 ? ALIGN_MAX : least((uint32_t)__builtin_ctzll(value), ALIGN_MAX);
}

static uint32_t of_operand(const uint8_t *align, const struct ptx_operand *o)
{
    switch (o->kind) {
    case OPERAND_REG:
        return align[o->reg];
    case OPERAND_IMM:
        return of_value(o->imm);
    case OPERAND_VAR:
        return !o->var                         ? 0
               : o->var->space == SPACE_SHARED ? of_value(o->imm)
               : o->var->space == SPACE_CONST  ? of_value(o->var->offset + o->imm)
                                               : 0;
    default:
        return 0;
    }
}

/* Zero bits at the low end of an instruction's result. */
static uint32_t of_result(const uint8_t *align, const struct ptx_insn *insn)
{
    const struct ptx_operand *o = insn->operands;
    switch (insn->op) {
    case OP_MOV:
    case OP_CVT:
    case OP_CVTA:
    case OP_CVTA_TO:
        return of_operand(align, &o[1]);
    case OP_ADD:
    case OP_SUB:
    case OP_OR:
    case OP_XOR:
        return least(of_operand(align, &o[1]), of_operand(align, &o[2]));
    case OP_AND:
        return of_operand(align, &o[1]) > of_operand(align, &o[2]) ? of_operand(align, &o[1])
                                                                   : of_operand(align, &o[2]);
    case OP_SHL:
        return o[2].kind == OPERAND_IMM && o[2].imm < 64
                   ? least(of_operand(align, &o[1]) + (uint32_t)o[2].imm, ALIGN_MAX)
                   : of_operand(align, &o[1]);
    case OP_MUL_LO:
    case OP_MUL_WIDE:
        return least(of_operand(align, &o[1]) + of_operand(align, &o[2]), ALIGN_MAX);
    case OP_MAD_LO:
    case OP_MAD_WIDE:
        return least(least(of_operand(align, &o[1]) + of_operand(align, &o[2]), ALIGN_MAX),
                     of_operand(align, &o[3]));
    default:
        return 0;
    }
}

struct lowering_of {
    uint8_t *align;
    uint32_t known;
    bool changed;
};

static void lower_to(void *ctx, int32_t reg, enum reg_access access)
{
    struct lowering_of *at = ctx;
    if (access == REG_WRITE && at->align[reg] > at->known) {
        at->align[reg] = (uint8_t)at->known;
        at->changed = true;
    }
}

/* All are aligned until a definition shows otherwise; each turn only lowers. */
static uint8_t *find_alignment(struct lower *l)
{
    const struct ptx_func *f = l->func;
    uint8_t *align = arena_array(l->arena, f->reg_count + 1, 1);
    if (!align)
        return NULL;
    for (uint32_t r = 0; r < f->reg_count; r++)
        align[r] = ALIGN_MAX;
    struct lowering_of at = {.align = align, .changed = true};
    while (at.changed) {
        at.changed = false;
        for (uint32_t pc = 0; pc < f->insn_count; pc++) {
            at.known = of_result(align, &f->insns[pc]);
            insn_visit_regs(f, &f->insns[pc], lower_to, &at);
        }
    }
    return align;
}

static bool is_word_load(const struct lower *l, uint32_t pc)
{
    const struct ptx_insn *insn = &l->func->insns[pc];
    uint32_t bytes = isa_type_info(insn->tuple.s)->bytes;
    bool shared = insn->space[0] == SPACE_SHARED || insn->space[0] == SPACE_SHARED_CTA;
    return insn->op == OP_LD && !l->dead[pc] && !l->folded[pc] && insn->guard < 0 &&
           insn->vec <= 1 && insn->mods[MODC_SEM] == MOD_NONE &&
           insn->operands[1].kind == OPERAND_ADDR &&
           ((shared && bytes >= 4) || (lower_is_uniform_constant(l, insn) && bytes == 4));
}

/* The displacement, from the bank's start where a variable of constant memory has a place there. */
static uint64_t displacement(const struct ptx_operand *o)
{
    return o->imm + (o->var && o->var->space == SPACE_CONST ? o->var->offset : 0);
}

static bool is_of_base(const struct ptx_operand *o, const struct ptx_operand *base)
{
    bool var = o->var == base->var || (o->var && base->var && o->var->space == SPACE_CONST &&
                                       base->var->space == SPACE_CONST);
    return var && o->has_reg == base->has_reg && (!o->has_reg || o->reg == base->reg);
}

/* `load`: the one that others are looked for; what is stored does not change constants. */
static bool ends_window(const struct lower *l, uint32_t pc, const struct ptx_insn *load)
{
    const struct ptx_insn *insn = &l->func->insns[pc];
    const struct ptx_operand *base = &load->operands[1];
    uint32_t unit = isa_row(insn->op)->unit;
    return unit == UNIT_BARRIER || unit == UNIT_FENCE || unit == UNIT_BRANCH ||
           (unit == UNIT_LSU && insn->op != OP_LD && insn->op != OP_LD_NC &&
            insn->space[0] != SPACE_GLOBAL && load->space[0] != SPACE_CONST) ||
           (base->has_reg && lower_result(insn) == base->reg);
}

/* The pc of the load of `offset` behind the same base in the window around `pc`, or NOWHERE. */
static uint32_t find_neighbour(const struct lower *l, uint32_t pc, uint64_t offset, uint32_t bytes)
{
    const struct ptx_insn *load = &l->func->insns[pc];
    const struct ptx_block *block = &l->func->blocks[l->block_of[pc]];
    for (int way = -1; way <= 1; way += 2) {
        uint32_t left = way < 0 ? pc - block->first : block->last - pc;
        for (uint32_t n = 1; n <= left && n <= REACH; n++) {
            uint32_t at = way < 0 ? pc - n : pc + n;
            const struct ptx_insn *insn = &l->func->insns[at];
            if (is_word_load(l, at) && insn->space[0] == load->space[0] &&
                isa_type_info(insn->tuple.s)->bytes == bytes &&
                is_of_base(&insn->operands[1], &load->operands[1]) &&
                displacement(&insn->operands[1]) == offset)
                return at;
            if (ends_window(l, at, load))
                break;
        }
    }
    return NOWHERE;
}

static bool merge_at(struct lower *l, uint32_t pc, uint32_t words)
{
    uint32_t at[4];
    uint64_t offset = displacement(&l->func->insns[pc].operands[1]);
    uint32_t bytes = isa_type_info(l->func->insns[pc].tuple.s)->bytes;
    for (uint32_t i = 1; i < words; i++)
        if ((at[i] = find_neighbour(l, pc, offset + (uint64_t)i * bytes, bytes)) == NOWHERE)
            return false;
    for (uint32_t i = 1; i < words; i++)
        l->folded[at[i]] = true;
    return true;
}

int lower_merge(struct lower *l)
{
    uint8_t *align = find_alignment(l);
    if (!align)
        return error_memory();
    for (uint32_t pc = 0; pc < l->func->insn_count; pc++) {
        if (!is_word_load(l, pc))
            continue;
        const struct ptx_operand *o = &l->func->insns[pc].operands[1];
        uint32_t known = of_value(displacement(o));
        known = least(known, o->has_reg ? align[o->reg] : ALIGN_MAX);
        bool wide = isa_type_info(l->func->insns[pc].tuple.s)->bytes == 8;
        bool constant = l->func->insns[pc].space[0] == SPACE_CONST;
        if (!wide && !constant && known >= 4 && merge_at(l, pc, 4))
            continue;
        if (known >= (wide ? 4 : 3))
            (void)merge_at(l, pc, 2);
    }
    return 0;
}
