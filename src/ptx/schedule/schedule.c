/*
 * A list scheduler. It goes through a window cycle by cycle as a warp alone on its scheduler would,
 * and issues of all instructions whose operands are there the one with the longest way to the end
 * of the window before it; of equals, the one that stands first. Where none has its operands, time
 * goes on to the next that has. While registers are out, only what needs no further one issues,
 * though it waits for its operands.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/analyse/analyse.h"
#include "ptx/schedule/schedule.h"
#include "util/error.h"

/* Passes take time in proportion to the squares of these. */
static const struct {
    uint32_t window;  /* instructions */
    uint32_t insns;   /* of a function */
    uint64_t entries; /* windows times registers */
} most = {.window = 1024, .insns = 65536, .entries = 1u << 26};

static void find_paths(struct window *w)
{
    for (uint32_t i = w->count; i-- > 0;) {
        uint32_t longest = schedule_latency(w, w->first + i);
        for (uint32_t e = w->nodes[i].edges; e != NO_NODE; e = w->edges[e].next) {
            uint32_t path = w->edges[e].cycles + w->nodes[w->edges[e].to].path;
            longest = path > longest ? path : longest;
        }
        w->nodes[i].path = longest;
    }
}

/* `a` rather than `b`, at `cycle`. */
static bool is_better(const struct window *w, uint32_t a, uint32_t b, uint32_t cycle)
{
    if (b == NO_NODE)
        return true;
    const struct node *x = &w->nodes[a], *y = &w->nodes[b];
    uint32_t at_x = x->ready > cycle ? x->ready : cycle, at_y = y->ready > cycle ? y->ready : cycle;
    return at_x != at_y ? at_x < at_y : x->path > y->path;
}

/* The next to issue. Where all need more registers than there are, the one that needs the fewest.
 */
static uint32_t choose(struct window *w, uint32_t from, uint32_t cycle)
{
    uint32_t best = NO_NODE, least = NO_NODE;
    int least_growth = 0;
    for (uint32_t i = from; i < w->count; i++) {
        if (w->nodes[i].issued || w->nodes[i].blocked > 0)
            continue;
        int growth = schedule_growth(w, i);
        if (growth <= 0 || w->pressure + (uint32_t)growth <= w->limit) {
            if (is_better(w, i, best, cycle))
                best = i;
        } else if (least == NO_NODE || growth < least_growth) {
            least = i;
            least_growth = growth;
        }
    }
    return best != NO_NODE ? best : least;
}

static uint32_t issue_cycles(const struct window *w, uint32_t pc)
{
    uint32_t slots = w->lowered[pc].slots / LOWER_ONE;
    bool halves = isa_row(w->func->insns[pc].op)->unit == UNIT_LSU;
    return halves ? slots + 1 : slots;
}

static void release(struct window *w, uint32_t node, uint32_t cycle)
{
    for (uint32_t e = w->nodes[node].edges; e != NO_NODE; e = w->edges[e].next) {
        struct node *to = &w->nodes[w->edges[e].to];
        uint32_t ready = cycle + w->edges[e].cycles;
        to->ready = ready > to->ready ? ready : to->ready;
        to->blocked--;
    }
}

/* order[i]: the node that comes i-th. */
static void put_in_order(struct window *w, uint32_t *order)
{
    uint32_t cycle = 0, from = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t node = choose(w, from, cycle);
        cycle = w->nodes[node].ready > cycle ? w->nodes[node].ready : cycle;
        w->nodes[node].issued = true;
        order[i] = node;
        schedule_issue(w, node);
        release(w, node, cycle);
        cycle += issue_cycles(w, w->first + node);
        while (from < w->count && w->nodes[from].issued)
            from++;
    }
}

struct schedule {
    struct window window;
    struct ptx_func *func;
    struct lowered *lowered;
    struct liveness live;
    struct ptx_insn *insns; /* in the new order */
    uint32_t *order;
};

static int run_window(struct schedule *s, uint32_t first, uint32_t count)
{
    struct window *w = &s->window;
    if (count < 3)
        return 0;
    w->first = first;
    w->count = count;
    int rc = schedule_depend(w);
    if (rc < 0)
        return rc;
    find_paths(w);
    schedule_enter(w);
    put_in_order(w, s->order);
    for (uint32_t i = 0; i < count; i++)
        s->insns[first + i] = s->func->insns[first + s->order[i]];
    return 0;
}

static int run_block(struct schedule *s, const struct ptx_block *block)
{
    uint32_t first = block->first;
    int rc = 0;
    for (uint32_t pc = block->first; rc == 0 && pc <= block->last; pc++) {
        bool wall = schedule_is_wall(&s->func->insns[pc]) || s->lowered[pc].apart;
        uint32_t end = wall ? pc : pc + 1;
        if (!wall && pc < block->last && end - first < most.window)
            continue;
        rc = run_window(s, first, end - first);
        first = pc + 1;
    }
    return rc;
}

static int prepare(struct schedule *s, enum lowering generation)
{
    struct ptx_func *f = s->func;
    struct window *w = &s->window;
    size_t regs = (size_t)f->reg_count + 1, insns = (size_t)f->insn_count + 1;
    *w = (struct window){.func = f, .generation = generation};
    s->lowered = calloc(insns, sizeof *s->lowered);
    s->insns = malloc(insns * sizeof *s->insns);
    s->order = malloc(most.window * sizeof *s->order);
    w->nodes = malloc(most.window * sizeof *w->nodes);
    w->last_write = malloc(regs * sizeof *w->last_write);
    w->reads = malloc(regs * sizeof *w->reads);
    w->uses = calloc(regs, sizeof *w->uses);
    w->weight = calloc(regs, sizeof *w->weight);
    w->is_live = calloc(regs, sizeof *w->is_live);
    if (!s->lowered || !s->insns || !s->order || !w->nodes || !w->last_write || !w->reads ||
        !w->uses || !w->weight || !w->is_live)
        return error_memory();
    memset(w->last_write, 0xff, regs * sizeof *w->last_write);
    memset(w->reads, 0xff, regs * sizeof *w->reads);
    memcpy(s->insns, f->insns, f->insn_count * sizeof *s->insns);
    int rc = ptx_lower(s->lowered, f, generation);
    rc = rc < 0 ? rc : liveness_compute(&s->live, f);
    w->lowered = s->lowered;
    w->live = &s->live;
    return rc < 0 ? error_memory() : 0;
}

static void release_all(struct schedule *s)
{
    struct window *w = &s->window;
    liveness_free(&s->live);
    free(s->lowered);
    free(s->insns);
    free(s->order);
    free(w->nodes);
    free(w->edges);
    free(w->last_write);
    free(w->reads);
    free(w->uses);
    free(w->weight);
    free(w->is_live);
}

/* Reads of a register by others than the instruction that writes it. */
struct need {
    uint32_t *reads;
    int32_t own;
};

static void count_read(void *ctx, int32_t reg, enum reg_access access)
{
    struct need *need = ctx;
    need->reads[reg] += access == REG_READ && reg != need->own;
}

static int32_t atomic_result(const struct ptx_insn *insn)
{
    bool atomic = insn->op >= OP_ATOM_BITS && insn->op <= OP_ATOM_HALF;
    return atomic && insn->operands[0].kind == OPERAND_REG ? insn->operands[0].reg : -1;
}

/* An atomic whose result nobody needs is a reduction: nothing waits for its register. */
static int drop_results(struct ptx_func *f)
{
    struct need need = {.reads = calloc((size_t)f->reg_count + 1, sizeof *need.reads)};
    if (!need.reads)
        return error_memory();
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        struct ptx_insn insn = f->insns[pc];
        need.own = atomic_result(&insn);
        for (uint32_t i = 1; i < insn.operand_count; i++)
            if (need.own >= 0 && insn.operands[i].reg == need.own)
                need.own = -1; /* an operand, too */
        insn_visit_regs(f, &insn, count_read, &need);
    }
    for (uint32_t pc = 0; pc < f->insn_count; pc++) {
        int32_t reg = atomic_result(&f->insns[pc]);
        if (reg >= 0 && need.reads[reg] == 0)
            f->insns[pc].operands[0].kind = OPERAND_SINK;
    }
    free(need.reads);
    return 0;
}

typedef int func_rewrite(struct ptx_func *func, struct arena *arena, const struct lowered *lowered);

static int run_rewrite(func_rewrite *rewrite, struct ptx_func *f, struct arena *arena,
                       enum lowering generation)
{
    struct lowered *lowered = calloc((size_t)f->insn_count + 1, sizeof *lowered);
    int rc = lowered ? ptx_lower(lowered, f, generation) : error_memory();
    rc = rc < 0 ? rc : rewrite(f, arena, lowered);
    free(lowered);
    return rc;
}

/* What occupancy counts: of words that the machine's code does not have it has no register. */
static int count_registers(struct schedule *s, enum lowering generation)
{
    memset(s->lowered, 0, s->func->insn_count * sizeof *s->lowered);
    int rc = ptx_lower(s->lowered, s->func, generation);
    rc = rc < 0 ? error_memory() : schedule_registers(&s->window);
    if (rc >= 0)
        s->func->register_count = (uint32_t)rc;
    return rc < 0 ? rc : 0;
}

static int schedule_func(struct ptx_func *f, struct arena *arena, enum lowering generation)
{
    struct schedule s = {.func = f};
    int rc = drop_results(f);
    rc = rc < 0 ? rc : run_rewrite(schedule_unroll, f, arena, generation);
    rc = rc < 0 ? rc : run_rewrite(schedule_predicate, f, arena, generation);
    rc = rc < 0 ? rc : prepare(&s, generation);
    rc = rc < 0 ? rc : schedule_weigh(&s.window);
    for (uint32_t b = 0; rc == 0 && b < f->block_count; b++)
        rc = run_block(&s, &f->blocks[b]);
    if (rc == 0) {
        memcpy(f->insns, s.insns, f->insn_count * sizeof *f->insns);
        rc = func_assign_slots(f) < 0 ? error_memory() : 0;
        rc = rc < 0 ? rc : count_registers(&s, generation);
    }
    release_all(&s);
    return rc;
}

int ptx_schedule(struct ptx_module *module, enum lowering generation)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < module->func_count; i++) {
        struct ptx_func *f = module->funcs[i];
        if (f->has_body && !f->alias_of && f->insn_count > 0 && f->insn_count <= most.insns &&
            (uint64_t)f->block_count * f->reg_count <= most.entries)
            rc = schedule_func(f, module->arena, generation);
    }
    return rc;
}
