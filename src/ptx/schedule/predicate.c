/*
 * Short forward branches, as the compiler predicates them: what they skip gets their predicate, and
 * the blocks become one, whose loads may then be issued together.
 *
 *     @p bra over;  a;  over: b            @!p a;  b
 *     @p bra two;  a;  bra over;
 *     two: b;  over: c                     @!p a;  @p b;  c
 *
 * Which branches is the lowering's rule (ptx/lower/flow.c). A result that is computed from
 * registers and serves its side alone needs no predicate: addresses stay part of their loads. Left
 * out: sides in which something is guarded, those that do not follow each other in the text, and
 * functions with jumps by a table.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/analyse/analyse.h"
#include "ptx/schedule/schedule.h"
#include "util/error.h"

struct predicator {
    struct ptx_func *func;
    const struct lowered *lowered;
    bool *gone;          /* by pc: a branch or jump that nothing is left of */
    uint32_t *all;       /* by register: reads and writes in the function */
    uint32_t *inner;     /* by register: in the side at hand */
    bool *is_read_first; /* by register: by the side at hand, before it writes it */
    uint32_t sides;
};

/* What is skipped, without a jump at its end, and the predicate under which it is not. */
struct side {
    uint32_t first, last;
    int32_t guard;
    bool negate;
};

static void count(void *ctx, int32_t reg, enum reg_access access)
{
    struct predicator *p = ctx;
    (void)access;
    p->all[reg]++;
}

static void meet(void *ctx, int32_t reg, enum reg_access access)
{
    struct predicator *p = ctx;
    if (p->inner[reg] == 0 && access == REG_READ)
        p->is_read_first[reg] = true;
    p->inner[reg]++;
}

static void forget(void *ctx, int32_t reg, enum reg_access access)
{
    struct predicator *p = ctx;
    (void)access;
    p->inner[reg] = 0;
    p->is_read_first[reg] = false;
}

static void visit_side(struct predicator *p, const struct side *side, reg_visitor *visit)
{
    for (uint32_t pc = side->first; pc <= side->last; pc++)
        insn_visit_regs(p->func, &p->func->insns[pc], visit, p);
}

static bool is_computed(const struct ptx_insn *insn)
{
    switch (isa_row(insn->op)->unit) {
    case UNIT_ALU:
    case UNIT_IMUL:
    case UNIT_SHIFT:
    case UNIT_FP32:
    case UNIT_CVT:
        return !schedule_uses_carry(insn->op) && !schedule_is_wall(insn);
    default:
        return false;
    }
}

struct result {
    const struct predicator *p;
    bool is_own;
};

static void judge(void *ctx, int32_t reg, enum reg_access access)
{
    struct result *r = ctx;
    if (access == REG_WRITE && (r->p->inner[reg] != r->p->all[reg] || r->p->is_read_first[reg]))
        r->is_own = false;
}

static void put_under_guard(struct predicator *p, const struct side *side)
{
    visit_side(p, side, meet);
    p->sides++;
    for (uint32_t pc = side->first; pc <= side->last; pc++) {
        struct ptx_insn *insn = &p->func->insns[pc];
        struct result result = {.p = p, .is_own = true};
        insn->side = p->sides;
        insn_visit_regs(p->func, insn, judge, &result);
        if (result.is_own && is_computed(insn))
            continue;
        insn->guard = side->guard;
        insn->guard_negate = side->negate;
        insn->own_result = result.is_own;
    }
    visit_side(p, side, forget);
}

struct search {
    int32_t reg;
    bool found;
};

static void look_for_write(void *ctx, int32_t reg, enum reg_access access)
{
    struct search *s = ctx;
    s->found |= access == REG_WRITE && reg == s->reg;
}

static bool can_be_guarded(const struct predicator *p, const struct side *side)
{
    struct search predicate = {.reg = side->guard};
    for (uint32_t pc = side->first; pc <= side->last; pc++) {
        const struct ptx_insn *insn = &p->func->insns[pc];
        if (insn->guard >= 0 || insn_is_branch(insn) || insn_ends_thread(insn))
            return false;
        insn_visit_regs(p->func, insn, look_for_write, &predicate);
    }
    return side->first <= side->last && !predicate.found;
}

/* The block's jump to `join` is taken off; false: it goes elsewhere. */
static bool take_side(struct side *side, const struct ptx_func *f, uint32_t block, uint32_t join)
{
    const struct ptx_block *b = &f->blocks[block];
    const struct ptx_insn *last = &f->insns[b->last];
    bool jumps = last->op == OP_BRA && last->guard < 0;
    side->first = b->first;
    side->last = jumps ? b->last - 1 : b->last;
    return b->succ_count == 1 && b->succ[0] == join && (!jumps || b->last > b->first);
}

/* The block's instructions behind `last`: the jump at its end. */
static void drop_behind(struct predicator *p, uint32_t block, uint32_t last)
{
    for (uint32_t pc = last + 1; pc <= p->func->blocks[block].last; pc++)
        p->gone[pc] = true;
}

static void predicate(struct predicator *p, uint32_t block)
{
    struct ptx_func *f = p->func;
    uint32_t pc = f->blocks[block].last;
    const struct ptx_insn *branch = &f->insns[pc];
    if (block + 2 >= f->block_count || !p->lowered[pc].predicated)
        return;
    uint32_t target = branch->operands[0].target;
    bool both = target != f->blocks[f->blocks[block + 1].succ[0]].first;
    uint32_t join = both ? block + 3 : block + 2;
    struct side body = {.guard = branch->guard, .negate = !branch->guard_negate};
    struct side other = {.guard = branch->guard, .negate = branch->guard_negate};
    if (join >= f->block_count || target != f->blocks[block + 2].first ||
        !take_side(&body, f, block + 1, join) || !can_be_guarded(p, &body) ||
        (both && (!take_side(&other, f, block + 2, join) || !can_be_guarded(p, &other))))
        return;
    p->gone[pc] = true;
    put_under_guard(p, &body);
    drop_behind(p, block + 1, body.last);
    if (both) {
        put_under_guard(p, &other);
        drop_behind(p, block + 2, other.last);
    }
}

/* What is left moves together. `place`: by old pc, the new one. */
static void close_gaps(struct predicator *p, uint32_t *place)
{
    struct ptx_func *f = p->func;
    uint32_t count = 0;
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        place[pc] = count;
        if (!p->gone[pc])
            f->insns[count++] = f->insns[pc];
    }
    f->insn_count = count;
    for (uint32_t pc = 0; pc < count; pc++)
        if (f->insns[pc].op == OP_BRA)
            f->insns[pc].operands[0].target = place[f->insns[pc].operands[0].target];
}

static bool jumps_by_table(const struct ptx_func *f)
{
    for (uint32_t pc = 0; pc < f->insn_count; pc++)
        if (f->insns[pc].op == OP_BRX_IDX)
            return true;
    return false;
}

int schedule_predicate(struct ptx_func *f, struct arena *arena, const struct lowered *lowered)
{
    size_t regs = (size_t)f->reg_count + 1, insns = (size_t)f->insn_count + 1;
    struct predicator p = {.func = f,
                           .lowered = lowered,
                           .gone = calloc(insns, sizeof *p.gone),
                           .all = calloc(regs, sizeof *p.all),
                           .inner = calloc(regs, sizeof *p.inner),
                           .is_read_first = calloc(regs, sizeof *p.is_read_first)};
    uint32_t *place = calloc(insns, sizeof *place);
    bool is_ready = p.gone && p.all && p.inner && p.is_read_first && place;
    int rc = is_ready ? 0 : error_memory();
    if (is_ready && !jumps_by_table(f)) {
        for (uint32_t pc = 0; pc < f->insn_count; pc++)
            insn_visit_regs(f, &f->insns[pc], count, &p);
        for (uint32_t b = 0; b < f->block_count; b++)
            predicate(&p, b);
    }
    if (is_ready && p.sides > 0) {
        close_gaps(&p, place);
        rc = func_build_cfg(f, arena);
        rc = rc < 0 || func_find_ipdoms(f) < 0 ? error_memory() : 0;
    }
    free(p.gone);
    free(p.all);
    free(p.inner);
    free(p.is_read_first);
    free(place);
    return rc;
}
