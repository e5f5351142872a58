/*
 * How many 32-bit registers are live while a window is put into order. What takes none on the
 * machine counts as none: predicates, values that vanish into their users, parameters and
 * constants, which come from the constant bank.
 *
 * The compiler was seen to fill 32 registers, with which all of an SM's warps fit, and more only
 * where fewer do not suffice: of 96 loads, each followed by its use, it issues 24 ahead, of loads
 * of four words six, and of the study's 109 kernels five have more than 32 and thirteen just these.
 * It needs some that PTX does not show (the stack pointer, halves of addresses). What is live but
 * neither read nor written in a window does not count: the eight loads of a loop amid twenty other
 * words are issued ahead of their uses, in 38 registers (split_k in tests/vectors/async). Nor does
 * it save registers that another place of the function needs anyway: behind 40 words that are live
 * at once 41 of the 96 loads are issued ahead, behind 60 words 63, in 48 and 72 registers (ptxas
 * 13.0). So do the loads of split_kv in tests/tiled, behind products of matrices.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/analyse/analyse.h"
#include "ptx/schedule/schedule.h"
#include "util/error.h"

static const struct {
    uint32_t registers, hidden, granule;
} bound = {.registers = 32, .hidden = 5, .granule = 8 /* a thread gets so many at a time */};

/* What `weigh` is told of. */
struct weighing {
    struct window *w;
    bool is_free;
};

static void weigh(void *ctx, int32_t reg, enum reg_access access)
{
    struct weighing *at = ctx;
    if (access == REG_WRITE && !at->is_free)
        at->w->weight[reg] = (uint8_t)type_slots(at->w->func->regs[reg].type);
}

static bool comes_for_free(const struct window *w, uint32_t pc)
{
    const struct ptx_insn *insn = &w->func->insns[pc];
    if (w->lowered[pc].folded)
        return true;
    if (insn->op == OP_LD && isa_space_base(insn->space[0]) == SPACE_PARAM)
        return w->func->is_entry;
    return insn->op == OP_MOV && insn->operands[1].kind == OPERAND_IMM;
}

/* The most words that are live anywhere in the function, in the order of the PTX, and those that a
 * thread gets with them. `change`: zeros, an entry an instruction and two.
 */
static uint32_t needed(const struct window *w, int32_t *change)
{
    int32_t live = 0, most = 0;
    for (uint32_t reg = 0; reg < w->func->reg_count; reg++) {
        const struct live_range *range = &w->live->ranges[reg];
        if (range->first != UINT32_MAX) {
            change[range->first] += w->weight[reg];
            change[range->last + 1] -= w->weight[reg];
        }
    }
    for (uint32_t pc = 0; pc < w->func->insn_count; pc++) {
        live += change[pc];
        most = live > most ? live : most;
    }
    most += (int32_t)(bound.hidden + bound.granule - 1);
    return (uint32_t)most / bound.granule * bound.granule - bound.hidden;
}

static void weigh_all(struct window *w)
{
    memset(w->weight, 0, w->func->reg_count * sizeof *w->weight);
    for (uint32_t pc = 0; pc < w->func->insn_count; pc++) {
        struct weighing at = {.w = w, .is_free = comes_for_free(w, pc)};
        insn_visit_regs(w->func, &w->func->insns[pc], weigh, &at);
    }
}

int schedule_weigh(struct window *w)
{
    int32_t *change = calloc((size_t)w->func->insn_count + 2, sizeof *change);
    if (!change)
        return error_memory();
    weigh_all(w);
    w->needed = needed(w, change);
    free(change);
    return 0;
}

static bool leaves(const struct window *w, int32_t reg)
{
    return w->live->ranges[reg].last >= w->first + w->count;
}

static void count_use(void *ctx, int32_t reg, enum reg_access access)
{
    struct window *w = ctx;
    w->uses[reg] += access == REG_READ;
}

static void make_live(struct window *w, int32_t reg)
{
    if (!w->is_live[reg]) {
        w->is_live[reg] = 1;
        w->pressure += w->weight[reg];
    }
}

static void make_dead(struct window *w, int32_t reg)
{
    if (w->is_live[reg]) {
        w->is_live[reg] = 0;
        w->pressure -= w->weight[reg];
    }
}

static void use_now(void *ctx, int32_t reg, enum reg_access access)
{
    struct window *w = ctx;
    if (access == REG_READ && --w->uses[reg] == 0 && !leaves(w, reg))
        make_dead(w, reg);
}

static void write_now(void *ctx, int32_t reg, enum reg_access access)
{
    struct window *w = ctx;
    if (access == REG_WRITE && (w->uses[reg] > 0 || leaves(w, reg)))
        make_live(w, reg);
}

void schedule_issue(struct window *w, uint32_t node)
{
    const struct ptx_insn *insn = &w->func->insns[w->first + node];
    insn_visit_regs(w->func, insn, use_now, w);
    insn_visit_regs(w->func, insn, write_now, w);
}

struct growth {
    struct window *w;
    int words;
};

static void try_use(void *ctx, int32_t reg, enum reg_access access)
{
    struct growth *g = ctx;
    if (access == REG_READ && --g->w->uses[reg] == 0 && !leaves(g->w, reg) && g->w->is_live[reg])
        g->words -= g->w->weight[reg];
}

static void try_write(void *ctx, int32_t reg, enum reg_access access)
{
    struct growth *g = ctx;
    if (access == REG_WRITE && !g->w->is_live[reg] && (g->w->uses[reg] > 0 || leaves(g->w, reg)))
        g->words += g->w->weight[reg];
}

int schedule_growth(struct window *w, uint32_t node)
{
    const struct ptx_insn *insn = &w->func->insns[w->first + node];
    struct growth g = {.w = w};
    insn_visit_regs(w->func, insn, try_use, &g);
    insn_visit_regs(w->func, insn, try_write, &g);
    insn_visit_regs(w->func, insn, count_use, w);
    return g.words;
}

/* What is live where the window begins: all whose range began before. */
static void begin(struct window *w)
{
    w->pressure = 0;
    for (uint32_t reg = 0; reg < w->func->reg_count; reg++) {
        const struct live_range *range = &w->live->ranges[reg];
        w->uses[reg] = 0;
        w->is_live[reg] =
            range->first != UINT32_MAX && range->first < w->first && range->last >= w->first;
        w->pressure += w->is_live[reg] ? w->weight[reg] : 0;
    }
    for (uint32_t i = 0; i < w->count; i++)
        insn_visit_regs(w->func, &w->func->insns[w->first + i], count_use, w);
}

/* Words that are live all through the window, which none of its instructions reads. */
static uint32_t idle(const struct window *w)
{
    uint32_t words = 0;
    for (uint32_t reg = 0; reg < w->func->reg_count; reg++)
        words += w->is_live[reg] && w->uses[reg] == 0 ? w->weight[reg] : 0;
    return words;
}

/* In the order of the PTX first, for what that needs. */
void schedule_enter(struct window *w)
{
    uint32_t most = bound.registers - bound.hidden;
    begin(w);
    most += idle(w);
    for (uint32_t i = 0; i < w->count; i++) {
        schedule_issue(w, i);
        most = w->pressure > most ? w->pressure : most;
    }
    begin(w);
    w->limit = most > w->needed ? most : w->needed;
}

int schedule_registers(struct window *w)
{
    struct liveness live;
    weigh_all(w);
    int rc = liveness_weighed(&live, w->func, w->weight);
    uint32_t words = live.pressure > 0 ? live.pressure : 1;
    liveness_free(&live);
    return rc < 0 ? error_memory() : (int)words;
}
