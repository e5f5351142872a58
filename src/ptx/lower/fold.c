/*
 * What vanishes into the instructions that use it. A use that cannot take it in keeps it.
 *
 *     mul.wide  + add.s64           IMAD.WIDE
 *     shl.b64 n + add.s64           LEA, LEA.HI.X
 *     shl.b32 n + add.s32           LEA
 *     shr.u32 n + add.s32           LEA.HI, and so does a rotation
 *     mul.lo    + add.s32           IMAD
 *     add.s32   + add.s32           IADD3
 *     and, or, xor, not in pairs    LOP3
 *     add n     + [address]         the displacement of the address
 *     and       + setp.eq 0         LOP3 that writes a predicate
 *     setp      + and.pred          the third operand of ISETP
 *     mul.f32   + add.f32           FFMA, where no rounding is written
 *     min, max  + selp              both write under a predicate
 *     any       + selp, the other one's last use   it writes the result under the predicate
 *     mov, cvta, cvt.u64.u32        nothing: registers are named anew; a zero is a register
 *     neg.f32, abs.f32              a modifier of the operand
 */
#include "ptx/lower/lower.h"

static bool is_wide(const struct ptx_insn *insn)
{
    return insn->tuple.s != TYPE_NONE && isa_type_info(insn->tuple.s)->bytes == 8;
}

static bool is_add(const struct ptx_insn *insn, bool wide)
{
    return (insn->op == OP_ADD || insn->op == OP_SUB) && is_wide(insn) == wide;
}

static bool uses_in_add64(const struct lower *l, const struct ptx_insn *user, int32_t reg)
{
    (void)l;
    (void)reg;
    return is_add(user, true) && user->op == OP_ADD;
}

static bool uses_in_add32(const struct lower *l, const struct ptx_insn *user, int32_t reg)
{
    (void)l;
    (void)reg;
    return is_add(user, false) && isa_type_info(user->tuple.s)->bytes == 4;
}

static bool uses_as_address(const struct lower *l, const struct ptx_insn *user, int32_t reg)
{
    (void)l;
    bool found = false;
    for (uint32_t i = 0; i < user->operand_count; i++) {
        const struct ptx_operand *o = &user->operands[i];
        if (o->kind == OPERAND_ADDR && o->has_reg && o->reg == reg)
            found = true;
        else if (o->kind == OPERAND_REG && o->reg == reg)
            return false;
        for (uint32_t k = 0; o->kind == OPERAND_VECTOR && k < o->count; k++)
            if (o->elems[k].kind == OPERAND_REG && o->elems[k].reg == reg)
                return false;
    }
    return found;
}

static bool is_logic(const struct ptx_insn *insn)
{
    return insn->op == OP_AND || insn->op == OP_OR || insn->op == OP_XOR || insn->op == OP_NOT;
}

/* A product that a loop needs is made before it: the additions in the loop take the result. */
static bool uses_in_add_here(const struct lower *l, const struct ptx_insn *user, int32_t reg)
{
    uint32_t from = l->block_of[l->regs[reg].def], to = l->block_of[lower_pc(l, user)];
    return uses_in_add32(l, user, reg) &&
           (l->blocks[to].header == NOWHERE || l->blocks[to].header == l->blocks[from].header);
}

static bool uses_in_logic(const struct lower *l, const struct ptx_insn *user, int32_t reg)
{
    (void)l;
    (void)reg;
    return is_logic(user);
}

static bool uses_in_predicate_logic(const struct lower *l, const struct ptx_insn *user, int32_t reg)
{
    (void)l;
    (void)reg;
    return user->op == OP_AND_PRED || user->op == OP_OR_PRED || user->op == OP_XOR_PRED;
}

static bool uses_in_float(const struct lower *l, const struct ptx_insn *user, int32_t reg)
{
    (void)l;
    (void)reg;
    uint32_t unit = isa_row(user->op)->unit;
    return unit == UNIT_FP32 || unit == UNIT_FP64 || unit == UNIT_SFU || unit == UNIT_FDIV;
}

static bool uses_in_sum(const struct lower *l, const struct ptx_insn *user, int32_t reg)
{
    (void)l;
    (void)reg;
    return (user->op == OP_ADD_F32 || user->op == OP_SUB_F32 || user->op == OP_ADD_F64 ||
            user->op == OP_SUB_F64) &&
           user->mods[MODC_RND] == MOD_NONE;
}

/* Vanished into its user, to which it has added an operand. */
static bool adds_operand(const struct lower *l, const struct ptx_insn *def)
{
    return def && l->folded[lower_pc(l, def)] &&
           (is_add(def, false) || is_add(def, true) || is_logic(def) || def->op == OP_MUL_LO ||
            def->op == OP_MUL_WIDE || def->op == OP_SHL || def->op == OP_SHR ||
            def->op == OP_SHF_L_WRAP);
}

/* Of the two that meet in a three-operand instruction, one vanishes: the other has not. */
static bool takes_one_more(const struct lower *l, const struct ptx_insn *insn)
{
    int32_t reg = lower_result(insn);
    const struct ptx_insn *user = &l->func->insns[l->use[l->regs[reg].first]];
    for (uint32_t i = 1; i < user->operand_count; i++) {
        const struct ptx_insn *def = lower_def(l, &user->operands[i]);
        if (def != insn && adds_operand(l, def))
            return false;
    }
    return true;
}

static bool is_test_of_zero(const struct lower *l, const struct ptx_insn *user, int32_t reg)
{
    uint64_t value;
    (void)reg;
    return user->op == OP_SETP &&
           (user->mods[MODC_CMP] == MOD_CMP_eq || user->mods[MODC_CMP] == MOD_CMP_ne) &&
           lower_constant(l, &user->operands[2], &value) && value == 0;
}

/* No operand has taken in another instruction, so that there are two sources left. */
static bool is_plain(const struct lower *l, const struct ptx_insn *insn)
{
    for (uint32_t i = 1; i < insn->operand_count; i++) {
        const struct ptx_insn *def = lower_def(l, &insn->operands[i]);
        if (adds_operand(l, def) && def->op != OP_NOT)
            return false;
    }
    return true;
}

static bool constant_operand(const struct lower *l, const struct ptx_insn *insn)
{
    uint64_t value;
    return lower_constant(l, &insn->operands[insn->operand_count - 1], &value);
}

/* The address of a variable in shared or constant memory is the same in all lanes: an address takes
 * it beside a register. */
static bool is_base(const struct ptx_insn *def)
{
    return def && def->op == OP_MOV && def->operands[1].kind == OPERAND_VAR &&
           def->operands[1].var &&
           (def->operands[1].var->space == SPACE_SHARED ||
            def->operands[1].var->space == SPACE_CONST);
}

static bool adds_base(const struct lower *l, const struct ptx_insn *insn)
{
    bool found = false;
    for (uint32_t i = 1; i <= 2; i++) {
        const struct ptx_insn *def = lower_def(l, &insn->operands[i]);
        if (adds_operand(l, def))
            return false;
        found |= is_base(def);
    }
    return found;
}

static bool folds_add(const struct lower *l, const struct ptx_insn *insn)
{
    bool wide = is_wide(insn);
    uint64_t value;
    if (lower_constant(l, &insn->operands[2], &value) && value == 0)
        return true;
    if ((constant_operand(l, insn) || adds_base(l, insn)) &&
        lower_all_uses(l, insn, uses_as_address))
        return true;
    return lower_used_once(l, insn) &&
           lower_all_uses(l, insn, wide ? uses_in_add64 : uses_in_add32) && is_plain(l, insn) &&
           takes_one_more(l, insn);
}

#define LOGIC_INPUTS 3

/* Adds an operand to the distinct inputs of a logic instruction; a constant is one. */
static void add_input(const struct ptx_operand **in, uint32_t *count, const struct ptx_operand *o)
{
    for (uint32_t i = 0; i < *count && *count <= LOGIC_INPUTS; i++)
        if (in[i]->kind == o->kind && in[i]->reg == o->reg && in[i]->imm == o->imm)
            return;
    if (*count <= LOGIC_INPUTS)
        in[*count] = o;
    (*count)++;
}

static void add_inputs(const struct lower *l, const struct ptx_operand **in, uint32_t *count,
                       const struct ptx_insn *insn, const struct ptx_insn *also, uint32_t depth)
{
    for (uint32_t i = 1; i < insn->operand_count; i++) {
        const struct ptx_insn *def = lower_def(l, &insn->operands[i]);
        if (def && is_logic(def) && depth < 4 && (def == also || l->folded[lower_pc(l, def)]))
            add_inputs(l, in, count, def, also, depth + 1);
        else
            add_input(in, count, &insn->operands[i]);
    }
}

/* A LOP3 computes any function of three inputs, and takes another instruction's place in one. */
static bool folds_logic(const struct lower *l, const struct ptx_insn *insn)
{
    if (!is_wide(insn) && lower_used_once(l, insn) && lower_all_uses(l, insn, is_test_of_zero))
        return true;
    if (!lower_used_once(l, insn) || !lower_all_uses(l, insn, uses_in_logic))
        return false;
    const struct ptx_operand *in[LOGIC_INPUTS + 1];
    uint32_t count = 0;
    int32_t reg = lower_result(insn);
    add_inputs(l, in, &count, &l->func->insns[l->use[l->regs[reg].first]], insn, 0);
    return count <= LOGIC_INPUTS;
}

/* A shift by 32 of 64 bits names the other register. */
static bool moves_half(const struct lower *l, const struct ptx_insn *insn)
{
    uint64_t count;
    return lower_constant(l, &insn->operands[2], &count) && count == 32;
}

static bool folds_product(const struct lower *l, const struct ptx_insn *insn)
{
    switch (insn->op) {
    case OP_MUL_WIDE:
        return lower_all_uses(
            l, insn, isa_type_info(insn->tuple.d)->bytes == 8 ? uses_in_add64 : uses_in_add32);
    case OP_MUL_LO:
        return !is_wide(insn) && lower_all_uses(l, insn, uses_in_add_here);
    case OP_SHL:
        if (is_wide(insn) && moves_half(l, insn))
            return true;
        return constant_operand(l, insn) &&
               lower_all_uses(l, insn, is_wide(insn) ? uses_in_add64 : uses_in_add32);
    case OP_SHR:
    case OP_SHR_SIGNED:
        if (is_wide(insn))
            return moves_half(l, insn) && insn->op == OP_SHR;
        return constant_operand(l, insn) && lower_used_once(l, insn) &&
               lower_all_uses(l, insn, uses_in_add32) && takes_one_more(l, insn);
    case OP_SHF_L_WRAP:
        return constant_operand(l, insn) && lower_used_once(l, insn) &&
               lower_all_uses(l, insn, uses_in_add32) && takes_one_more(l, insn);
    default:
        return insn->mods[MODC_RND] == MOD_NONE && lower_used_once(l, insn) &&
               lower_all_uses(l, insn, uses_in_sum);
    }
}

static bool uses_wide_as_low(const struct lower *l, const struct ptx_insn *user, int32_t reg)
{
    (void)reg;
    if (user->op == OP_CVT)
        return isa_type_info(user->tuple.d)->bytes <= 4;
    return uses_in_add64(l, user, reg);
}

static bool uses_low(const struct lower *l, const struct ptx_insn *user, int32_t reg)
{
    (void)l;
    (void)reg;
    return user->op == OP_CVT;
}

/* Widening and narrowing of integers. An add takes in a sign (LEA.HI.X.SX32); for several it is
 * made once. */
static bool folds_cvt(const struct lower *l, const struct ptx_insn *insn)
{
    const struct isa_type_info *d = isa_type_info(insn->tuple.d), *s = isa_type_info(insn->tuple.s);
    const struct ptx_insn *def = lower_def(l, &insn->operands[1]);
    if (d->bytes == 8 && s->bytes == 4 && l->regs[insn->operands[0].reg].defs > 1)
        return false;
    if (d->bytes == 8 && s->bytes == 4)
        return s->kind != KIND_SIGNED ||
               (lower_all_uses(l, insn, uses_wide_as_low) &&
                (lower_used_once(l, insn) || lower_all_uses(l, insn, uses_low)));
    if (d->bytes <= s->bytes && s->bytes >= 4)
        return true;
    return def && def->op == OP_LD; /* a load widens what it reads */
}

static bool folds_predicate(const struct lower *l, const struct ptx_insn *insn)
{
    for (uint32_t i = 1; i < insn->operand_count; i++) {
        const struct ptx_insn *def = lower_def(l, &insn->operands[i]);
        if (def && isa_row(def->op)->shape == SHAPE_SETP &&
            lower_all_uses(l, def, uses_in_predicate_logic))
            return true;
        if (def && l->folded[lower_pc(l, def)] && lower_used_once(l, def))
            return true;
    }
    return false;
}

/* The lesser or the greater: each writes the result under its predicate. */
static bool folds_choice(const struct lower *l, const struct ptx_insn *insn)
{
    for (uint32_t i = 1; i <= 2; i++) {
        const struct ptx_insn *def = lower_def(l, &insn->operands[i]);
        if (!def || (def->op != OP_MIN && def->op != OP_MAX) || !lower_used_once(l, def))
            return false;
    }
    return true;
}

/* One instruction of one register. */
static bool can_be_guarded(const struct lower *l, const struct ptx_insn *insn)
{
    if (l->folded[lower_pc(l, insn)] || insn->op == OP_SELP || is_wide(insn))
        return false;
    switch (isa_row(insn->op)->unit) {
    case UNIT_ALU:
    case UNIT_SHIFT:
    case UNIT_IMUL:
    case UNIT_FP32:
        return true;
    case UNIT_LSU:
        return (insn->op == OP_LD || insn->op == OP_LD_NC) && insn->operands[0].kind == OPERAND_REG;
    default:
        return false;
    }
}

/* Nothing reads the register behind `pc`, in whose block it was made: the result may take its
 * place. */
static bool ends_at(const struct lower *l, const struct ptx_operand *o, uint32_t pc)
{
    const struct ptx_insn *def = lower_def(l, o);
    uint64_t value;
    if (!def || l->folded[lower_pc(l, def)] || l->block_of[lower_pc(l, def)] != l->block_of[pc] ||
        lower_constant(l, o, &value))
        return false;
    const struct reg_fact *fact = &l->regs[o->reg];
    for (uint32_t i = 0; i < fact->uses; i++) {
        uint32_t use = l->use[fact->first + i];
        if (use > pc || l->block_of[use] != l->block_of[pc])
            return false;
    }
    return true;
}

/* Of what is selected one is made for nothing else: it is made under the predicate, in the place of
 * the other, which nothing else needs. Of 64 bits two selections stay. */
static bool folds_selection(const struct lower *l, const struct ptx_insn *insn)
{
    uint32_t pc = lower_pc(l, insn);
    if (isa_type_info(insn->tuple.s)->bytes > 4 || insn->operands[0].kind != OPERAND_REG)
        return false;
    for (uint32_t i = 1; i <= 2; i++) {
        const struct ptx_insn *def = lower_def(l, &insn->operands[i]);
        const struct ptx_operand *other = &insn->operands[3 - i];
        const struct ptx_insn *beside = lower_def(l, other);
        if (!def || !lower_used_once(l, def) || !can_be_guarded(l, def) || !is_plain(l, def) ||
            l->block_of[lower_pc(l, def)] != l->block_of[pc] || other->kind != OPERAND_REG)
            continue;
        if (other->reg == insn->operands[0].reg ||
            (ends_at(l, other, pc) && beside && is_plain(l, beside)))
            return true;
    }
    return false;
}

/* The register was given the same constant in a block above, and nothing has changed it since. */
static bool holds_already(const struct lower *l, const struct ptx_insn *insn)
{
    int32_t reg = lower_result(insn);
    uint32_t at = lower_pc(l, insn);
    for (uint32_t pc = at; pc-- > 0 && at - pc < 256;) {
        const struct ptx_insn *before = &l->func->insns[pc];
        if (lower_result(before) != reg || l->dead[pc])
            continue;
        return before->op == OP_MOV && before->guard < 0 &&
               before->operands[1].kind == OPERAND_IMM &&
               before->operands[1].imm == insn->operands[1].imm &&
               lower_dominates(l, l->block_of[pc], l->block_of[at]);
    }
    return false;
}

/* The first of the definitions of `reg` behind `pc` in the text, NOWHERE: none. */
static uint32_t next_def(const struct lower *l, int32_t reg, uint32_t pc)
{
    uint32_t at = pc + 1;
    while (l->regs[reg].defs > 1 && at < l->func->insn_count &&
           (l->dead[at] || lower_result(&l->func->insns[at]) != reg))
        at++;
    return l->regs[reg].defs > 1 && at < l->func->insn_count ? at : NOWHERE;
}

static bool is_used_behind(const struct lower *l, int32_t reg, uint32_t pc)
{
    const struct reg_fact *fact = &l->regs[reg];
    for (uint32_t i = 0; i < fact->uses; i++)
        if (l->use[fact->first + i] > pc)
            return true;
    return false;
}

/* One of the two registers gets another value while the other one's is still needed. */
static bool copies(const struct lower *l, const struct ptx_insn *insn)
{
    uint32_t pc = lower_pc(l, insn);
    int32_t to = lower_result(insn), from = insn->operands[1].reg;
    if (to < 0)
        return false;
    uint32_t to_changes = next_def(l, to, pc), from_changes = next_def(l, from, pc);
    return (to_changes != NOWHERE && is_used_behind(l, from, to_changes)) ||
           (from_changes != NOWHERE && is_used_behind(l, to, from_changes));
}

/* A constant that an instruction takes as an operand; of several defining movs each writes. */
static bool folds_mov(const struct lower *l, const struct ptx_insn *insn)
{
    const struct ptx_operand *source = &insn->operands[1];
    int32_t reg = lower_result(insn);
    switch (source->kind) {
    case OPERAND_SREG:
        return false;
    case OPERAND_VAR:
    case OPERAND_FUNC:
        return source->var &&
               (source->var->space == SPACE_PARAM || source->var->space == SPACE_CONST);
    case OPERAND_IMM:
        return reg >= 0 && (l->regs[reg].defs == 1 || holds_already(l, insn));
    case OPERAND_REG:
        return !copies(l, insn);
    default:
        return true;
    }
}

static bool folds(const struct lower *l, const struct ptx_insn *insn)
{
    switch (insn->op) {
    case OP_MOV:
    case OP_MOV_PRED:
        return folds_mov(l, insn);
    case OP_CVTA:
    case OP_CVTA_TO:
    case OP_NOT_PRED:
        return true;
    case OP_LD:
        return insn->space[0] == SPACE_PARAM;
    case OP_CVT:
        return folds_cvt(l, insn);
    case OP_ADD:
    case OP_SUB:
        return folds_add(l, insn);
    case OP_MUL_WIDE:
    case OP_MUL_LO:
    case OP_SHL:
    case OP_SHR:
    case OP_SHR_SIGNED:
    case OP_SHF_L_WRAP:
    case OP_MUL_F32:
    case OP_MUL_F64:
        return folds_product(l, insn);
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
        return folds_logic(l, insn);
    case OP_AND_PRED:
    case OP_OR_PRED:
    case OP_XOR_PRED:
        return folds_predicate(l, insn);
    case OP_SELP:
        return folds_choice(l, insn) || folds_selection(l, insn);
    case OP_NEG_F32:
    case OP_ABS_F32:
    case OP_NEG_F64:
    case OP_ABS_F64:
        return lower_all_uses(l, insn, uses_in_float);
    default:
        return false;
    }
}

static bool uses_near(const struct lower *l, const struct ptx_insn *user, int32_t reg)
{
    enum isa_space space = user->space[0];
    return uses_as_address(l, user, reg) && (space == SPACE_LOCAL || space == SPACE_SHARED ||
                                             space == SPACE_SHARED_CTA || space == SPACE_CONST);
}

/*
 * An add of 64 bits that has taken in a wide product is one multiply-add. Addresses of local,
 * shared and constant memory have 32 bits, and so has what a constant masks to as many.
 */
static void note_wide_add(struct lower *l, uint32_t pc)
{
    const struct ptx_insn *insn = &l->func->insns[pc];
    uint64_t value;
    if ((is_add(insn, true) && lower_all_uses(l, insn, uses_near)) ||
        (insn->op == OP_AND && is_wide(insn) && lower_constant(l, &insn->operands[2], &value) &&
         value <= UINT32_MAX)) {
        lower_add(l, pc, UNIT_ALU, LOWER_ONE);
        return;
    }
    for (uint32_t i = 1; is_add(insn, true) && i < insn->operand_count; i++) {
        const struct ptx_insn *def = lower_def(l, &insn->operands[i]);
        if (def && def->op == OP_MUL_WIDE && l->folded[lower_pc(l, def)]) {
            lower_add(l, pc, UNIT_IMUL, LOWER_ONE);
            lower_hold(l, pc, def);
            return;
        }
    }
}

void lower_fold(struct lower *l)
{
    for (uint32_t pc = 0; pc < l->func->insn_count; pc++) {
        if (l->dead[pc])
            continue;
        l->folded[pc] = l->func->insns[pc].guard < 0 && folds(l, &l->func->insns[pc]);
        if (!l->folded[pc])
            note_wide_add(l, pc);
    }
}
