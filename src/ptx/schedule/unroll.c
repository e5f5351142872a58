/*
 * Loops of one block that count, as the compiler unrolls them: a turn apart, four turns at a time
 * while four are left, two, one. In the four the loads of all copies may then be issued together.
 *
 *     body                                  the turn that is made in any case
 *     @!(i < n)       bra done
 *     @!(n - i > 3s)  bra two
 *     body x 4; @(n - i > 3s) bra four      labelled `four`
 *     two:  @!(i < n) bra done;  @!(n - i > s) bra one;  body x 2;  @!(i < n) bra done
 *     one:  body;  @(i < n) bra body
 *     done:
 *
 * Which loops and how often is lower/unroll.c's rule. What steps by a constant is not stepped
 * between copies: each adds its own multiple, which is part of the displacement where an address
 * is all that it serves. The last test finds a counter that has wrapped around at the end of its
 * type, which ptxas does not look for. Left out: loops with a constant number of turns, and those
 * with anything guarded, convergent or ordered in them.
 */
#include <string.h>

#include "ptx/analyse/analyse.h"
#include "ptx/schedule/schedule.h"
#include "util/container/arena.h"
#include "util/error.h"

#define TIMES 4u
#define SECTIONS 4u
#define INSNS_MAX 96u
#define STEPS_MAX 16u
#define OPERANDS_MAX 8u

struct step {
    int32_t reg;
    uint32_t pc;
    int64_t by;
    int32_t copy[TIMES + 1]; /* registers with the value after so many steps, -1: none yet */
};

struct unroller {
    struct ptx_func *func;
    struct arena *arena;
    const struct ptx_block *block;
    const struct ptx_insn *test, *last;
    struct step step[STEPS_MAX];
    uint32_t step_count, counter; /* counter: the step of what is compared */
    int32_t *name;                /* by register: what stands for it at this place */
    bool *carried;                /* by register: the next turn, or what follows, needs it */
    struct ptx_insn *out;
    uint32_t out_count, out_room, reg_room;
    bool failed;
};

/* ---- which loops ---- */

struct census {
    struct unroller *u;
    bool inside, refused;
    uint32_t guard_reads; /* of what the last branch is guarded by */
    uint8_t *written;     /* by register: by the body so far */
};

static void note_access(void *ctx, int32_t reg, enum reg_access access)
{
    struct census *c = ctx;
    if (!c->inside || (access == REG_READ && !c->written[reg]))
        c->u->carried[reg] = true;
    c->guard_reads += access == REG_READ && reg == c->u->last->guard;
    if (c->inside && access == REG_WRITE) {
        c->written[reg] = 1;
        c->refused |= c->u->func->regs[reg].vec != 1;
    }
}

static bool is_plain(const struct ptx_insn *insn)
{
    const struct isa_row *row = isa_row(insn->op);
    switch (row->unit) {
    case UNIT_BARRIER:
    case UNIT_FENCE:
    case UNIT_VOTE:
    case UNIT_SHUFFLE:
    case UNIT_TENSOR:
    case UNIT_SPECIAL:
        return false;
    default:
        return insn->guard < 0 && !row->at_issue && !schedule_is_wall(insn) &&
               isa_shape_text(row->shape)[0] != '+' && insn->op != OP_BAR_WARP_SYNC &&
               (insn->mods[MODC_SEM] == MOD_NONE || insn->mods[MODC_SEM] == MOD_SEM_weak) &&
               insn->operand_count <= OPERANDS_MAX;
    }
}

static bool is_step(const struct ptx_insn *insn)
{
    return (insn->op == OP_ADD || insn->op == OP_SUB) && insn->guard < 0 &&
           insn->operands[0].kind == OPERAND_REG && insn->operands[1].kind == OPERAND_REG &&
           insn->operands[1].reg == insn->operands[0].reg &&
           insn->operands[2].kind == OPERAND_IMM && insn->mods[MODC_SAT] == MOD_NONE;
}

static uint32_t bytes_of(const struct ptx_insn *insn)
{
    return isa_type_info(insn->tuple.s)->bytes;
}

static int64_t step_of(const struct ptx_insn *insn)
{
    uint64_t imm = insn->operands[2].imm;
    int64_t by = bytes_of(insn) == 4 ? (int32_t)(uint32_t)imm : (int64_t)imm;
    return insn->op == OP_SUB ? (int64_t) - (uint64_t)by : by;
}

static uint32_t count_writes(const struct unroller *u, int32_t reg)
{
    uint32_t count = 0;
    for (uint32_t pc = u->block->first; pc <= u->block->last; pc++)
        for (uint32_t i = 0; i < u->func->insns[pc].operand_count && i < 1; i++) {
            const struct ptx_operand *o = &u->func->insns[pc].operands[i];
            count += o->kind == OPERAND_REG && o->reg == reg &&
                     isa_shape_text(isa_row(u->func->insns[pc].op)->shape)[0] == '=';
            for (uint32_t k = 0; o->kind == OPERAND_VECTOR && k < o->count; k++)
                count += o->elems[k].kind == OPERAND_REG && o->elems[k].reg == reg;
        }
    return count;
}

static void find_steps(struct unroller *u)
{
    u->step_count = 0;
    for (uint32_t pc = u->block->first; pc <= u->block->last; pc++) {
        const struct ptx_insn *insn = &u->func->insns[pc];
        if (u->step_count < STEPS_MAX && is_step(insn) && bytes_of(insn) >= 4 &&
            count_writes(u, insn->operands[0].reg) == 1)
            u->step[u->step_count++] =
                (struct step){.reg = insn->operands[0].reg, .pc = pc, .by = step_of(insn)};
    }
}

/* The comparison compares, after its step, a counter that comes nearer to what is invariant. */
static bool has_counter(struct unroller *u)
{
    const struct ptx_operand *bound = &u->test->operands[2];
    uint32_t pc = (uint32_t)(u->test - u->func->insns);
    if (u->test->operands[1].kind != OPERAND_REG || u->test->operands[0].kind != OPERAND_REG ||
        (bound->kind == OPERAND_REG ? count_writes(u, bound->reg) > 0 : bound->kind != OPERAND_IMM))
        return false;
    for (u->counter = 0; u->counter < u->step_count; u->counter++)
        if (u->step[u->counter].reg == u->test->operands[1].reg)
            break;
    if (u->counter == u->step_count || u->step[u->counter].pc > pc)
        return false;
    const struct step *step = &u->step[u->counter];
    if (bytes_of(u->test) != bytes_of(&u->func->insns[step->pc]) || step->by == 0 ||
        step->by > INT16_MAX || step->by < -INT16_MAX)
        return false;
    switch (u->test->mods[MODC_CMP]) {
    case MOD_CMP_ne:
        return true;
    case MOD_CMP_lt:
    case MOD_CMP_le:
    case MOD_CMP_lo:
    case MOD_CMP_ls:
        return step->by > 0;
    case MOD_CMP_gt:
    case MOD_CMP_ge:
    case MOD_CMP_hi:
    case MOD_CMP_hs:
        return step->by < 0;
    default:
        return false;
    }
}

/* The only instruction of the block that writes what its last branch is guarded by. */
static const struct ptx_insn *find_test(const struct unroller *u)
{
    const struct ptx_insn *test = NULL;
    for (uint32_t pc = u->block->first; pc < u->block->last; pc++) {
        const struct ptx_insn *insn = &u->func->insns[pc];
        if (insn->operand_count > 0 && insn->operands[0].kind == OPERAND_REG &&
            insn->operands[0].reg == u->last->guard) {
            if (test || insn->op != OP_SETP)
                return NULL;
            test = insn;
        }
    }
    return test;
}

static bool take_census(struct unroller *u)
{
    struct ptx_func *f = u->func;
    struct census c = {.u = u, .written = arena_alloc(u->arena, (size_t)f->reg_count + 1)};
    if (!c.written) {
        u->failed = true;
        return false;
    }
    memset(u->carried, 0, f->reg_count * sizeof *u->carried);
    memset(c.written, 0, f->reg_count);
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        c.inside = pc >= u->block->first && pc <= u->block->last;
        insn_visit_regs(f, &f->insns[pc], note_access, &c);
    }
    return !c.refused && c.guard_reads == 1;
}

static bool can_be_unrolled(struct unroller *u)
{
    u->last = &u->func->insns[u->block->last];
    if (u->block->last - u->block->first >= INSNS_MAX || u->block->last + 1 >= u->func->insn_count)
        return false;
    for (uint32_t pc = u->block->first; pc < u->block->last; pc++)
        if (!is_plain(&u->func->insns[pc]))
            return false;
    u->test = find_test(u);
    if (!u->test || u->last->guard_negate)
        return false;
    find_steps(u);
    return has_counter(u) && take_census(u);
}

/* ---- copies ---- */

static int32_t new_register(struct unroller *u, int32_t like)
{
    struct ptx_func *f = u->func;
    if (f->reg_count == u->reg_room) {
        uint32_t room = 2 * u->reg_room + 64;
        struct ptx_reg *regs = arena_array(u->arena, room, sizeof *regs);
        int32_t *name = arena_array(u->arena, room, sizeof *name);
        bool *carried = arena_array(u->arena, room, sizeof *carried);
        if (!regs || !name || !carried) {
            u->failed = true;
            return like;
        }
        memcpy(regs, f->regs, f->reg_count * sizeof *regs);
        memcpy(name, u->name, f->reg_count * sizeof *name);
        memcpy(carried, u->carried, f->reg_count * sizeof *carried);
        f->regs = regs;
        u->name = name;
        u->carried = carried;
        u->reg_room = room;
    }
    int32_t reg = (int32_t)f->reg_count++;
    f->regs[reg] = f->regs[like];
    f->regs[reg].slot = -1;
    u->name[reg] = reg;
    u->carried[reg] = false;
    return reg;
}

/* A copy with operands of its own, behind all others. */
static struct ptx_insn *emit(struct unroller *u, const struct ptx_insn *insn)
{
    static struct ptx_insn nothing;
    struct ptx_operand *operands =
        arena_array(u->arena, (size_t)insn->operand_count + 1, sizeof *operands);
    if (!operands || u->out_count == u->out_room) {
        u->failed = true;
        return &nothing;
    }
    memcpy(operands, insn->operands, insn->operand_count * sizeof *operands);
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        struct ptx_operand *o = &operands[i];
        if (o->kind != OPERAND_VECTOR && o->kind != OPERAND_PAIR && o->kind != OPERAND_FETCH)
            continue;
        struct ptx_operand *elems = arena_array(u->arena, (size_t)o->count + 1, sizeof *elems);
        if (!elems) {
            u->failed = true;
            return &nothing;
        }
        memcpy(elems, o->elems, o->count * sizeof *elems);
        o->elems = elems;
    }
    struct ptx_insn *copy = &u->out[u->out_count++];
    *copy = *insn;
    copy->operands = operands;
    return copy;
}

/* So many steps, which may wrap around as the register does. */
static int64_t times_step(const struct step *step, uint32_t times)
{
    return (int64_t)((uint64_t)step->by * times);
}

/* x + constant, in a register of its own or in place; by a step's example. */
static void emit_add(struct unroller *u, const struct step *step, int32_t to, int64_t by)
{
    const struct ptx_insn *like = &u->func->insns[step->pc];
    struct ptx_insn *add = emit(u, like);
    if (u->failed)
        return;
    add->op = OP_ADD;
    add->operands[0].reg = to;
    add->operands[1].reg = step->reg;
    add->operands[2].imm = bytes_of(like) == 4 ? (uint32_t)by : (uint64_t)by;
}

static struct step *step_of_reg(struct unroller *u, int32_t reg)
{
    for (uint32_t i = 0; i < u->step_count; i++)
        if (u->step[i].reg == reg)
            return &u->step[i];
    return NULL;
}

/* The register that holds what `step` is after so many steps. */
static int32_t stepped(struct unroller *u, struct step *step, uint32_t steps)
{
    if (steps == 0)
        return step->reg;
    if (step->copy[steps] < 0) {
        step->copy[steps] = new_register(u, step->reg);
        emit_add(u, step, step->copy[steps], times_step(step, steps));
    }
    return step->copy[steps];
}

static void rename_read(struct unroller *u, struct ptx_operand *o, uint32_t pc, uint32_t copy)
{
    bool address = o->kind == OPERAND_ADDR && o->has_reg;
    for (uint32_t i = 0; i < o->count && (o->kind == OPERAND_VECTOR || o->kind == OPERAND_PAIR ||
                                          o->kind == OPERAND_FETCH);
         i++)
        rename_read(u, &o->elems[i], pc, copy);
    if (o->kind != OPERAND_REG && !address)
        return;
    struct step *step = step_of_reg(u, o->reg);
    if (!step) {
        o->reg = u->name[o->reg];
        return;
    }
    uint32_t steps = copy + (pc > step->pc);
    if (address && bytes_of(&u->func->insns[step->pc]) == 8)
        o->imm += (uint64_t)times_step(step, steps);
    else
        o->reg = stepped(u, step, steps);
}

static void rename_write(struct unroller *u, struct ptx_operand *o, bool last)
{
    for (uint32_t i = 0; i < o->count && (o->kind == OPERAND_VECTOR || o->kind == OPERAND_PAIR);
         i++)
        rename_write(u, &o->elems[i], last);
    if (o->kind != OPERAND_REG)
        return;
    int32_t reg = o->reg;
    bool own = last && u->carried[reg];
    int32_t name = own ? reg : new_register(u, reg);
    u->name[reg] = name;
    o->reg = name;
}

static void emit_insn(struct unroller *u, uint32_t pc, uint32_t copy, uint32_t times)
{
    const struct ptx_insn *insn = &u->func->insns[pc];
    bool writes = isa_shape_text(isa_row(insn->op)->shape)[0] == '=';
    struct ptx_operand operands[OPERANDS_MAX];
    struct ptx_insn *made;
    /* Renamed first: what an operand needs may be put before it. */
    uint32_t at = u->out_count;
    made = emit(u, insn);
    if (u->failed)
        return;
    memcpy(operands, made->operands, insn->operand_count * sizeof *operands);
    u->out_count = at;
    struct ptx_operand *own = made->operands;
    for (uint32_t i = writes ? 1 : 0; i < insn->operand_count; i++)
        rename_read(u, &operands[i], pc, copy);
    if (writes && insn->operand_count > 0)
        rename_write(u, &operands[0], copy + 1 == times);
    if (u->failed || u->out_count == u->out_room) {
        u->failed = true;
        return;
    }
    memcpy(own, operands, insn->operand_count * sizeof *operands);
    u->out[u->out_count] = *insn;
    u->out[u->out_count++].operands = own;
}

/* So many turns, and the steps of all of them. */
static void emit_turns(struct unroller *u, uint32_t times)
{
    for (uint32_t i = 0; i < u->func->reg_count; i++)
        u->name[i] = (int32_t)i;
    for (uint32_t i = 0; i < u->step_count; i++)
        for (uint32_t k = 0; k <= TIMES; k++)
            u->step[i].copy[k] = -1;
    for (uint32_t copy = 0; copy < times; copy++)
        for (uint32_t pc = u->block->first; pc < u->block->last && !u->failed; pc++) {
            const struct ptx_insn *insn = &u->func->insns[pc];
            const struct step *step = is_step(insn) ? step_of_reg(u, insn->operands[0].reg) : NULL;
            if (insn != u->test && !(step && step->pc == pc))
                emit_insn(u, pc, copy, times);
        }
    for (uint32_t i = 0; i < u->step_count; i++)
        emit_add(u, &u->step[i], u->step[i].reg, times_step(&u->step[i], times));
}

/* ---- what decides ---- */

/* A branch on a new predicate, taken unless it holds, or if it does; its target is filled in later.
 */
static uint32_t emit_branch(struct unroller *u, int32_t predicate, bool unless)
{
    struct ptx_insn *branch = emit(u, u->last);
    if (u->failed)
        return 0;
    branch->guard = predicate;
    branch->guard_negate = unless;
    branch->unrolled = true;
    return u->out_count - 1;
}

/* i < n, as the loop has it. */
static int32_t emit_test(struct unroller *u)
{
    int32_t predicate = new_register(u, u->last->guard);
    struct ptx_insn *test = emit(u, u->test);
    if (!u->failed)
        test->operands[0].reg = predicate;
    return predicate;
}

static enum isa_type unsigned_of(const struct ptx_insn *insn)
{
    return bytes_of(insn) == 4 ? TYPE_u32 : TYPE_u64;
}

/* Whether the last value that counts is in the loop, too: <= and >=. */
static bool is_inclusive(const struct ptx_insn *test)
{
    switch (test->mods[MODC_CMP]) {
    case MOD_CMP_le:
    case MOD_CMP_ge:
    case MOD_CMP_ls:
    case MOD_CMP_hs:
        return true;
    default:
        return false;
    }
}

/* Whether more turns are left than `turns`, where i < n holds: the way is longer than their steps.
 */
static int32_t emit_left(struct unroller *u, uint32_t turns)
{
    const struct step *step = &u->step[u->counter];
    int32_t way = new_register(u, step->reg), predicate = new_register(u, u->last->guard);
    struct ptx_insn *sub = emit(u, &u->func->insns[step->pc]);
    struct ptx_insn *test = emit(u, u->test);
    if (u->failed)
        return predicate;
    int64_t by = step->by < 0 ? -step->by : step->by;
    sub->op = OP_SUB;
    sub->operands[0].reg = way;
    sub->operands[step->by > 0 ? 1 : 2] = u->test->operands[2];
    sub->operands[step->by > 0 ? 2 : 1] = u->test->operands[1];
    test->tuple.s = test->types[0] = unsigned_of(u->test);
    test->mods[MODC_CMP] = is_inclusive(u->test) ? MOD_CMP_ge : MOD_CMP_gt;
    test->operands[0].reg = predicate;
    test->operands[1].reg = way;
    test->operands[2] = (struct ptx_operand){
        .kind = OPERAND_IMM, .type = unsigned_of(u->test), .reg = -1, .imm = (uint64_t)by * turns};
    return predicate;
}

/* What the counter is compared with where four turns have to be left; -1: it has to be counted. */
static int32_t emit_bound(struct unroller *u)
{
    const struct step *step = &u->step[u->counter];
    if (u->test->mods[MODC_CMP] == MOD_CMP_ne)
        return -1;
    int32_t bound = new_register(u, step->reg);
    struct ptx_insn *sub = emit(u, &u->func->insns[step->pc]);
    if (u->failed)
        return bound;
    int64_t by = step->by * (int64_t)(TIMES - 1);
    if (u->test->operands[2].kind == OPERAND_IMM) {
        sub->op = OP_ADD; /* of a constant: the lowering sees one */
        sub->operands[1] = u->test->operands[2];
        by = -by;
    } else {
        sub->op = OP_SUB;
        sub->operands[1].reg = u->test->operands[2].reg;
    }
    sub->operands[0].reg = bound;
    sub->operands[2].imm = bytes_of(sub) == 4 ? (uint32_t)by : (uint64_t)by;
    return bound;
}

/* Whether four turns are left, at the end of four. */
static int32_t emit_again(struct unroller *u, int32_t bound)
{
    if (bound < 0)
        return emit_left(u, TIMES - 1);
    int32_t predicate = emit_test(u);
    struct ptx_operand *operand = u->failed ? NULL : &u->out[u->out_count - 1].operands[2];
    if (operand) {
        *operand = u->test->operands[1];
        operand->reg = bound;
    }
    return predicate;
}

static void land(struct unroller *u, uint32_t branch)
{
    if (!u->failed)
        u->out[branch].operands[0].target = u->out_count;
}

/* The counter may step over != or wrap around: then the loop goes on. */
static void emit_rest(struct unroller *u, uint32_t begin)
{
    int64_t by = u->step[u->counter].by;
    if (u->test->mods[MODC_CMP] == MOD_CMP_ne && (by == 1 || by == -1))
        return;
    uint32_t back = emit_branch(u, emit_test(u), false);
    if (!u->failed)
        u->out[back].operands[0].target = begin;
}

/* All of it, in place of the block. */
static void emit_loop(struct unroller *u)
{
    uint32_t ends[SECTIONS - 1], to_two, to_one, begin = u->out_count;
    emit_turns(u, 1);
    ends[0] = emit_branch(u, emit_test(u), true);
    to_two = emit_branch(u, emit_left(u, TIMES - 1), true);
    int32_t bound = emit_bound(u);
    uint32_t four = u->out_count;
    emit_turns(u, TIMES);
    uint32_t back = emit_branch(u, emit_again(u, bound), false);
    if (!u->failed)
        u->out[back].operands[0].target = four;
    land(u, to_two);
    ends[1] = emit_branch(u, emit_test(u), true);
    to_one = emit_branch(u, emit_left(u, 1), true);
    emit_turns(u, 2);
    ends[2] = emit_branch(u, emit_test(u), true);
    land(u, to_one);
    emit_turns(u, 1);
    emit_rest(u, begin);
    for (uint32_t i = 0; i < SECTIONS - 1; i++)
        land(u, ends[i]);
}

/* ---- the function ---- */

static bool is_loop(const struct ptx_func *f, const struct ptx_block *block,
                    const struct lowered *lowered)
{
    const struct ptx_insn *last = &f->insns[block->last];
    return last->op == OP_BRA && last->guard >= 0 && last->operands[0].target == block->first &&
           lowered[block->last].turns == TIMES;
}

static int begin(struct unroller *u, size_t loop_insns, size_t loops)
{
    struct ptx_func *f = u->func;
    size_t copies = TIMES + SECTIONS; /* of a loop: 1, 4, 2, 1 */
    u->out_room =
        (uint32_t)(f->insn_count + 2 * copies * loop_insns + loops * (12 * STEPS_MAX + 32));
    u->out = arena_array(u->arena, u->out_room, sizeof *u->out);
    u->name = arena_array(u->arena, f->reg_count + 1, sizeof *u->name);
    u->carried = arena_array(u->arena, f->reg_count + 1, sizeof *u->carried);
    u->reg_room = f->reg_count;
    return u->out && u->name && u->carried ? 0 : error_memory();
}

/* `place`: by old pc, the new one. */
static void rewrite(struct unroller *u, const struct lowered *lowered, uint32_t *place)
{
    struct ptx_func *f = u->func;
    for (uint32_t b = 0; b < f->block_count && !u->failed; b++) {
        u->block = &f->blocks[b];
        place[u->block->first] = u->out_count;
        if (is_loop(f, u->block, lowered) && can_be_unrolled(u)) {
            emit_loop(u);
            continue;
        }
        for (uint32_t pc = u->block->first; pc <= u->block->last && !u->failed; pc++) {
            place[pc] = u->out_count;
            emit(u, &f->insns[pc]);
        }
    }
    for (uint32_t pc = 0; pc < u->out_count && !u->failed; pc++)
        if (u->out[pc].op == OP_BRA && !u->out[pc].unrolled)
            u->out[pc].operands[0].target = place[u->out[pc].operands[0].target];
}

int schedule_unroll(struct ptx_func *f, struct arena *arena, const struct lowered *lowered)
{
    struct unroller u = {.func = f, .arena = arena};
    size_t loop_insns = 0, loops = 0;
    for (uint32_t b = 0; b < f->block_count; b++)
        if (is_loop(f, &f->blocks[b], lowered)) {
            loop_insns += f->blocks[b].last - f->blocks[b].first + 1;
            loops++;
        }
    for (uint32_t pc = 0; pc < f->insn_count; pc++)
        if (f->insns[pc].op == OP_BRX_IDX)
            return 0;
    if (loops == 0)
        return 0;
    uint32_t *place = arena_array(arena, f->insn_count, sizeof *place);
    if (!place)
        return error_memory();
    int rc = begin(&u, loop_insns, loops);
    if (rc < 0)
        return rc;
    rewrite(&u, lowered, place);
    if (u.failed)
        return error_memory();
    f->insns = u.out;
    f->insn_count = u.out_count;
    rc = func_build_cfg(f, arena);
    rc = rc < 0 ? rc : func_find_ipdoms(f);
    return rc < 0 ? error_memory() : 0;
}
