/*
 * Dominators (Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", 2001) and natural
 * loops. The iteration ends after a bounded number of passes: a graph that takes more, as only a
 * hostile text can arrange, has no loops for the lowering.
 */
#include "ptx/lower/lower.h"
#include "util/container/arena.h"
#include "util/error.h"

#define PASSES 32

struct graph {
    uint32_t *order; /* blocks in reverse postorder */
    uint32_t count;
    uint32_t *pred, *pred_start;
    uint32_t *stack; /* room for a number a block */
};

static int find_preds(struct lower *l, struct graph *g)
{
    const struct ptx_func *f = l->func;
    size_t edges = 0;
    for (uint32_t b = 0; b < f->block_count; b++)
        edges += f->blocks[b].succ_count;
    g->pred_start = arena_array(l->arena, (size_t)f->block_count + 2, sizeof *g->pred_start);
    g->pred = arena_array(l->arena, edges + 1, sizeof *g->pred);
    if (!g->pred_start || !g->pred)
        return error_memory();
    for (uint32_t b = 0; b < f->block_count; b++)
        for (uint32_t i = 0; i < f->blocks[b].succ_count; i++) {
            g->pred_start[f->blocks[b].succ[i] + 2]++;
            l->blocks[f->blocks[b].succ[i]].entries++;
        }
    for (uint32_t b = 2; b < f->block_count + 2; b++)
        g->pred_start[b] += g->pred_start[b - 1];
    for (uint32_t b = 0; b < f->block_count; b++)
        for (uint32_t i = 0; i < f->blocks[b].succ_count; i++)
            g->pred[g->pred_start[f->blocks[b].succ[i] + 1]++] = b;
    return 0;
}

/* Depth first without recursion; a block is written when all behind it are. */
static int find_order(struct lower *l, struct graph *g)
{
    const struct ptx_func *f = l->func;
    uint32_t *stack = g->stack = arena_array(l->arena, f->block_count + 1, sizeof *stack);
    uint32_t *cursor = arena_array(l->arena, f->block_count + 1, sizeof *cursor);
    g->order = arena_array(l->arena, f->block_count + 1, sizeof *g->order);
    if (!stack || !cursor || !g->order)
        return error_memory();
    uint32_t depth = 0, place = f->block_count;
    stack[depth++] = 0;
    l->blocks[0].reached = true;
    while (depth > 0) {
        uint32_t b = stack[depth - 1];
        const struct ptx_block *block = &f->blocks[b];
        while (cursor[b] < block->succ_count && l->blocks[block->succ[cursor[b]]].reached)
            cursor[b]++;
        if (cursor[b] == block->succ_count) {
            g->order[--place] = b;
            depth--;
            continue;
        }
        stack[depth++] = block->succ[cursor[b]];
        l->blocks[stack[depth - 1]].reached = true;
    }
    g->count = f->block_count - place;
    for (uint32_t i = 0; i < g->count; i++) {
        g->order[i] = g->order[place + i];
        l->blocks[g->order[i]].order = i;
    }
    return 0;
}

static uint32_t meet(const struct lower *l, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (l->blocks[a].order > l->blocks[b].order)
            a = l->blocks[a].idom;
        while (l->blocks[b].order > l->blocks[a].order)
            b = l->blocks[b].idom;
    }
    return a;
}

static bool dominator_pass(struct lower *l, const struct graph *g)
{
    bool changed = false;
    for (uint32_t i = 1; i < g->count; i++) {
        uint32_t b = g->order[i], idom = NOWHERE;
        for (uint32_t k = g->pred_start[b]; k < g->pred_start[b + 1]; k++) {
            uint32_t p = g->pred[k];
            if (!l->blocks[p].reached || (p != 0 && l->blocks[p].idom == NOWHERE))
                continue;
            idom = idom == NOWHERE ? p : meet(l, idom, p);
        }
        changed |= idom != l->blocks[b].idom;
        l->blocks[b].idom = idom;
    }
    return changed;
}

/* Numbers blocks so that a dominator's range holds the ranges of all below it; a dominator comes
 * first in the order. */
static void number_tree(struct lower *l, const struct graph *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        l->blocks[g->order[i]].below = 1;
    for (uint32_t i = g->count; i-- > 1;)
        l->blocks[l->blocks[g->order[i]].idom].below += l->blocks[g->order[i]].below;
    uint32_t *next = g->stack; /* by block: the first number of what is not numbered below it */
    next[0] = 1;
    for (uint32_t i = 1; i < g->count; i++) {
        struct block_fact *fact = &l->blocks[g->order[i]];
        fact->number = next[fact->idom];
        next[fact->idom] += fact->below;
        next[g->order[i]] = fact->number + 1;
    }
}

bool lower_dominates(const struct lower *l, uint32_t above, uint32_t below)
{
    const struct block_fact *a = &l->blocks[above], *b = &l->blocks[below];
    return a->reached && b->reached && b->number - a->number < a->below;
}

/* All blocks from which `tail` is reached without passing `header`. */
static void mark_loop(struct lower *l, const struct graph *g, uint32_t header, uint32_t tail,
                      uint32_t *stack, uint32_t *seen)
{
    uint32_t depth = 0;
    if (seen[tail] != header && tail != header) {
        seen[tail] = header;
        stack[depth++] = tail;
    }
    while (depth > 0) {
        uint32_t b = stack[--depth];
        l->blocks[b].header = header;
        for (uint32_t k = g->pred_start[b]; k < g->pred_start[b + 1]; k++) {
            uint32_t p = g->pred[k];
            if (p == header || seen[p] == header || !l->blocks[p].reached)
                continue;
            seen[p] = header;
            stack[depth++] = p;
        }
    }
}

static void enter_loop(struct lower *l, const struct graph *g, uint32_t header)
{
    struct block_fact *fact = &l->blocks[header];
    fact->outer = fact->header;
    fact->header = header;
    fact->before = NOWHERE;
    uint32_t entries = 0;
    for (uint32_t k = g->pred_start[header]; k < g->pred_start[header + 1]; k++)
        if (!lower_dominates(l, header, g->pred[k])) {
            fact->before = g->pred[k];
            entries++;
        }
    if (entries != 1)
        fact->before = fact->idom;
}

/* Outer loops first: a header comes before its loop's blocks, so inner ones overwrite. */
static int find_loops(struct lower *l, const struct graph *g)
{
    uint32_t count = l->func->block_count;
    uint32_t *stack = g->stack;
    uint32_t *seen = arena_array(l->arena, count + 1, sizeof *seen);
    if (!seen)
        return error_memory();
    for (uint32_t b = 0; b < count; b++)
        seen[b] = NOWHERE;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t header = g->order[i];
        bool loops = false;
        for (uint32_t k = g->pred_start[header]; k < g->pred_start[header + 1]; k++)
            loops |= lower_dominates(l, header, g->pred[k]);
        if (!loops)
            continue;
        enter_loop(l, g, header);
        for (uint32_t k = g->pred_start[header]; k < g->pred_start[header + 1]; k++)
            if (lower_dominates(l, header, g->pred[k])) {
                mark_loop(l, g, header, g->pred[k], stack, seen);
                l->blocks[header].latch = g->pred[k];
            }
    }
    return 0;
}

/* An inner loop's barriers bar the loops around it. */
static void find_barriers(struct lower *l)
{
    for (uint32_t pc = 0; pc < l->func->insn_count; pc++) {
        if (isa_row(l->func->insns[pc].op)->unit != UNIT_BARRIER)
            continue;
        uint32_t header = l->blocks[l->block_of[pc]].header;
        for (; header != NOWHERE && !l->blocks[header].barred; header = l->blocks[header].outer)
            l->blocks[header].barred = l->blocks[header].latch != header;
    }
}

uint32_t lower_hoist(const struct lower *l, uint32_t block)
{
    uint32_t place = NOWHERE;
    uint32_t header = l->blocks[block].header;
    while (header != NOWHERE && l->blocks[header].before != NOWHERE && !l->blocks[header].barred &&
           lower_dominates(l, block, l->blocks[header].latch)) {
        block = l->blocks[header].before;
        place = l->func->blocks[l->blocks[header].before].last;
        header = l->blocks[header].outer;
    }
    return place;
}

int lower_graph(struct lower *l)
{
    const struct ptx_func *f = l->func;
    struct graph g = {0};
    l->blocks = arena_array(l->arena, f->block_count, sizeof *l->blocks);
    l->block_of = arena_array(l->arena, f->insn_count, sizeof *l->block_of);
    if (!l->blocks || !l->block_of)
        return error_memory();
    for (uint32_t b = 0; b < f->block_count; b++) {
        l->blocks[b] = (struct block_fact){.idom = NOWHERE,
                                           .header = NOWHERE,
                                           .before = NOWHERE,
                                           .outer = NOWHERE,
                                           .latch = NOWHERE,
                                           .order = NOWHERE};
        for (uint32_t pc = f->blocks[b].first; pc <= f->blocks[b].last; pc++)
            l->block_of[pc] = b;
    }
    int rc = find_preds(l, &g);
    rc = rc < 0 ? rc : find_order(l, &g);
    if (rc < 0)
        return rc;
    bool changed = true;
    for (uint32_t pass = 0; changed && pass < PASSES; pass++)
        changed = dominator_pass(l, &g);
    number_tree(l, &g);
    rc = changed ? 0 : find_loops(l, &g);
    find_barriers(l);
    return rc;
}
