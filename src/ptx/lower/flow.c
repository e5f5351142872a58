/*
 * Branches. A short body that one forward branch skips is predicated: its instructions issue
 * whenever the branch is reached, so their slots move to it. A branch that lanes disagree on puts a
 * BSSY before and a BSYNC where they meet again, unless they meet at the end of the kernel. A
 * branch to a lone ret is an EXIT under its predicate.
 *
 * The limits are those at which ptxas 13.0 for sm_90 was seen to change its mind, on bodies of one
 * to 24 like instructions.
 */
#include <string.h>

#include "ptx/lower/lower.h"
#include "util/container/arena.h"
#include "util/error.h"

static const struct {
    uint32_t body, first, second; /* slots of an if's body; of the two of an if with else */
    uint32_t shared_loads;        /* of them */
    uint32_t meanwhile;           /* slots of arithmetic behind it that make a global load cheap */
} predicated = {.body = 8, .first = 7, .second = 8, .shared_loads = 2, .meanwhile = 2};

static const struct ptx_insn *last_of(const struct lower *l, uint32_t block)
{
    return &l->func->insns[l->func->blocks[block].last];
}

static bool is_lone_exit(const struct lower *l, uint32_t pc)
{
    return pc == PTX_NO_PC || pc >= l->func->insn_count || insn_ends_thread(&l->func->insns[pc]);
}

static bool is_jump(const struct ptx_insn *insn)
{
    return insn->op == OP_BRA && insn->guard < 0;
}

/* Past blocks that are nothing but a jump onwards. */
static uint32_t skip_jumps(const struct lower *l, uint32_t block)
{
    while (l->func->blocks[block].first == l->func->blocks[block].last &&
           is_jump(last_of(l, block)) && l->func->blocks[block].succ[0] > block)
        block = l->func->blocks[block].succ[0];
    return block;
}

/* What must not issue for nothing, or for too long. */
static bool stays_behind_branch(const struct ptx_insn *insn)
{
    switch (isa_row(insn->op)->unit) {
    case UNIT_BRANCH:
        return !is_jump(insn);
    case UNIT_LSU:
        return insn->op != OP_ST && insn->op != OP_LD && insn->op != OP_LD_NC;
    case UNIT_BARRIER:
    case UNIT_SHUFFLE:
    case UNIT_FENCE:
    case UNIT_VOTE:
    case UNIT_FDIV:
    case UNIT_IDIV:
    case UNIT_TEX:
    case UNIT_TENSOR:
        return true;
    default:
        return false;
    }
}

static bool loads_global(const struct ptx_insn *insn)
{
    return (insn->op == OP_LD || insn->op == OP_LD_NC) &&
           (insn->space[0] == SPACE_GLOBAL || insn->space[0] == SPACE_NONE);
}

struct shape {
    uint32_t head, body, other, join; /* blocks; other == join: there is no else */
};

/* Of registers: whether a side of a branch gives the value. */
struct given {
    bool *reg;
    bool reads, writes; /* an instruction reads one that is; makes what it writes one */
};

static void follow(void *ctx, int32_t reg, enum reg_access access)
{
    struct given *given = ctx;
    given->reads |= access == REG_READ && given->reg[reg];
    if (access == REG_WRITE && given->writes)
        given->reg[reg] = true;
}

static void give(const struct lower *l, struct given *given, uint32_t block)
{
    const struct ptx_block *b = &l->func->blocks[block];
    given->writes = true;
    for (uint32_t pc = b->first; pc <= b->last; pc++)
        insn_visit_regs(l->func, &l->func->insns[pc], follow, given);
}

static uint32_t arithmetic_slots(const struct lowered *lowered)
{
    uint32_t slots = 0;
    for (uint32_t i = 0; i < lowered->part_count; i++) {
        enum isa_unit unit = lowered->part[i].unit;
        slots += unit == UNIT_LSU || unit == UNIT_BRANCH ? 0 : lowered->part[i].slots;
    }
    return slots;
}

/* Arithmetic where the sides meet that needs nothing of theirs, in slots. */
static uint32_t independent_slots(const struct lower *l, const struct shape *shape, bool *given_reg)
{
    struct given given = {.reg = given_reg};
    const struct ptx_block *b = &l->func->blocks[shape->join];
    uint32_t slots = 0;
    memset(given_reg, 0, l->func->reg_count * sizeof *given_reg);
    give(l, &given, shape->body);
    if (shape->other != shape->join)
        give(l, &given, shape->other);
    for (uint32_t pc = b->first; pc <= b->last; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        given.reads = given.writes = false;
        insn_visit_regs(l->func, insn, follow, &given);
        slots += given.reads ? 0 : arithmetic_slots(&l->out[pc]);
        given.writes = given.reads;
        insn_visit_regs(l->func, insn, follow, &given);
    }
    return slots;
}

/*
 * A global load is worth a branch, unless another is on its way, the next turn's may be, or there
 * is something to do meanwhile where the sides meet.
 */
static bool hides_load(const struct lower *l, const struct shape *shape, bool *given)
{
    const struct ptx_block *b = &l->func->blocks[shape->head];
    bool found = l->blocks[shape->head].header != NOWHERE;
    for (uint32_t pc = b->first; !found && pc <= b->last; pc++)
        found = loads_global(&l->func->insns[pc]);
    return found || independent_slots(l, shape, given) >= predicated.meanwhile * LOWER_ONE;
}

static bool predicable(const struct lower *l, const struct shape *shape, bool *given,
                       uint32_t block, uint32_t limit)
{
    const struct ptx_block *b = &l->func->blocks[block];
    uint32_t slots = 0, shared_loads = 0;
    for (uint32_t pc = b->first; pc <= b->last; pc++) {
        const struct ptx_insn *insn = &l->func->insns[pc];
        if (stays_behind_branch(insn) || (loads_global(insn) && !hides_load(l, shape, given)))
            return false;
        shared_loads += insn->op == OP_LD && insn->space[0] == SPACE_SHARED && !l->folded[pc];
        slots += is_jump(insn) ? 0 : l->out[pc].slots;
    }
    return slots <= limit * LOWER_ONE && shared_loads <= predicated.shared_loads;
}

static void move_slots(struct lower *l, uint32_t block, uint32_t to)
{
    const struct ptx_block *b = &l->func->blocks[block];
    for (uint32_t pc = b->first; pc <= b->last; pc++) {
        struct lowered from = l->out[pc];
        uint32_t parts = 0;
        l->out[pc] = (struct lowered){0};
        if (is_jump(&l->func->insns[pc]))
            continue;
        for (uint32_t i = 0; i < from.part_count; i++) {
            lower_add(l, to, from.part[i].unit, from.part[i].slots);
            parts += from.part[i].slots;
        }
        lower_add(l, to, ISA_UNIT_COUNT, from.slots - parts);
    }
}

/* Entered from `from` alone, jumps that are skipped aside, and left in one way. */
static bool is_side(const struct lower *l, uint32_t block)
{
    return l->blocks[block].entries == 1 && l->func->blocks[block].succ_count == 1;
}

static bool find_shape(struct shape *shape, const struct lower *l, uint32_t block)
{
    const struct ptx_insn *branch = last_of(l, block);
    uint32_t target = skip_jumps(l, l->block_of[branch->operands[0].target]);
    if (branch->operands[0].target <= lower_pc(l, branch) || block + 1 >= l->func->block_count)
        return false;
    shape->head = block;
    shape->body = skip_jumps(l, block + 1);
    if (!is_side(l, shape->body) || shape->body <= block)
        return false;
    shape->join = skip_jumps(l, l->func->blocks[shape->body].succ[0]);
    shape->other = target;
    if (target == shape->join)
        return true;
    return is_side(l, target) && target != shape->body &&
           skip_jumps(l, l->func->blocks[target].succ[0]) == shape->join;
}

static void drop_jumps(struct lower *l, uint32_t from, uint32_t to)
{
    for (uint32_t b = from; b < to; b++)
        if (l->func->blocks[b].first == l->func->blocks[b].last && is_jump(last_of(l, b)))
            l->out[l->func->blocks[b].last] = (struct lowered){0};
}

/* `given`: room for a flag a register. */
static bool predicate(struct lower *l, bool *given, uint32_t block)
{
    struct shape s;
    uint32_t pc = l->func->blocks[block].last;
    if (!find_shape(&s, l, block) || s.join <= block ||
        is_lone_exit(l, l->func->blocks[s.join].first))
        return false;
    bool both = s.other != s.join;
    if (!predicable(l, &s, given, s.body, both ? predicated.first : predicated.body) ||
        (both && !predicable(l, &s, given, s.other, predicated.second)))
        return false;
    l->out[pc] = (struct lowered){.predicated = true};
    move_slots(l, s.body, pc);
    if (both)
        move_slots(l, s.other, pc);
    drop_jumps(l, block + 1, s.join);
    return true;
}

/* A branch above whose lanes meet in the same place has announced it. */
static bool is_announced(const struct lower *l, uint32_t block)
{
    uint32_t meeting = last_of(l, block)->reconverge;
    for (uint32_t b = l->blocks[block].idom; b != NOWHERE; b = l->blocks[b].idom) {
        const struct ptx_insn *above = last_of(l, b);
        if (above->op == OP_BRA && above->guard >= 0 && above->reconverge == meeting &&
            l->regs[above->guard].divergent && l->out[lower_pc(l, above)].slots > 0)
            return true;
    }
    return false;
}

/* Where lanes part and meet again: one BSSY, one BSYNC; of a loop, around the whole loop. */
static void add_meeting(struct lower *l, uint32_t block)
{
    const struct ptx_insn *branch = last_of(l, block);
    uint32_t pc = lower_pc(l, branch);
    if (!l->regs[branch->guard].divergent || is_lone_exit(l, branch->reconverge) ||
        is_lone_exit(l, branch->operands[0].target) || is_announced(l, block))
        return;
    uint32_t header = l->blocks[block].header;
    bool leaves = header != NOWHERE && l->blocks[l->block_of[branch->reconverge]].header != header;
    uint32_t at = pc;
    if (leaves && l->blocks[header].before != NOWHERE)
        at = l->func->blocks[l->blocks[header].before].last;
    bool is_timed = lower_meeting_cycles(l) > 0; /* beside the branch's unit */
    lower_add(l, at, UNIT_BRANCH, is_timed ? LOWER_ONE : 2 * LOWER_ONE);
    lower_add(l, at, ISA_UNIT_COUNT, is_timed ? LOWER_ONE : 0);
    l->out[at].stall_cycles = (uint16_t)(l->out[at].stall_cycles + lower_meeting_cycles(l));
}

/* In a loop that waits for what others write, lanes give way to each other in each turn. */
static bool waits_for_others(const struct ptx_insn *insn)
{
    return (isa_row(insn->op)->unit == UNIT_LSU && insn->op != OP_LD && insn->op != OP_ST &&
            insn->space[0] != SPACE_SHARED && lower_result(insn) >= 0 && insn->op != OP_LD_NC) ||
           (insn->op == OP_LD && insn->mods[MODC_SEM] != MOD_NONE &&
            insn->mods[MODC_SEM] != MOD_SEM_weak);
}

static void add_yields(struct lower *l)
{
    for (uint32_t pc = 0; pc < l->func->insn_count; pc++) {
        uint32_t header = l->blocks[l->block_of[pc]].header;
        int32_t result = lower_result(&l->func->insns[pc]);
        if (header == NOWHERE || l->dead[pc] || !waits_for_others(&l->func->insns[pc]) ||
            result < 0 || l->regs[result].uses == 0)
            continue;
        uint32_t at = l->func->blocks[l->blocks[header].latch].last;
        const struct ptx_insn *last = &l->func->insns[at];
        if (last->op == OP_BRA && last->guard >= 0 && l->regs[last->guard].divergent)
            lower_add(l, at, ISA_UNIT_COUNT, LOWER_ONE);
    }
}

/* Backwards, so that an inner branch is judged before the one around it. */
int lower_flow(struct lower *l)
{
    const struct ptx_func *f = l->func;
    bool *given = arena_array(l->arena, (size_t)f->reg_count + 1, sizeof *given);
    if (!given)
        return error_memory();
    for (uint32_t b = f->block_count; b-- > 0;) {
        const struct ptx_insn *last = last_of(l, b);
        uint32_t pc = f->blocks[b].last;
        if (last->op != OP_BRA)
            continue;
        if (last->guard >= 0) {
            if (!predicate(l, given, b))
                add_meeting(l, b);
        } else if (f->insns[pc].operands[0].target == pc + 1) {
            l->out[pc] = (struct lowered){0};
        }
    }
    add_yields(l);
    return 0;
}
