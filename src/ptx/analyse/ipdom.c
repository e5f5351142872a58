/*
 * Immediate post-dominators: dominators of the reversed control-flow graph, from a virtual exit
 * behind all blocks that leave the function. Lengauer and Tarjan's algorithm ("A fast algorithm for
 * finding dominators in a flowgraph", TOPLAS 1979, the simple version) instead of the shorter
 * iteration of Cooper, Harvey and Kennedy, because its time is bounded on any graph that a hostile
 * text describes.
 *
 * Two details beyond the book. A block that ends in trap is an exit only if nothing else is: no
 * reconvergence waits for threads that kill the kernel. Blocks that cannot reach the exit (endless
 * loops) get an edge to it, the last block first.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/analyse/analyse.h"
#include "util/error.h"

/*
 * Nodes are blocks, numbered from 1; node 0 is the exit. Depth-first numbers are by order of the
 * visit; the arrays below are indexed by node unless they say otherwise.
 */
struct tree {
    const struct ptx_func *func;
    uint32_t nodes;       /* blocks + 1 */
    uint32_t *edge_start; /* reversed edges: from a node to its predecessors in the program */
    uint32_t *edge;
    uint8_t *to_exit; /* has an edge to the exit */
    uint32_t *number; /* depth-first number + 1, 0: not visited */
    uint32_t *order;  /* by depth-first number: the node */
    uint32_t *parent, *semi, *ancestor, *label, *idom;
    uint32_t *bucket, *bucket_next; /* lists; 0 ends */
    uint32_t *stack, *cursor;
    uint32_t visited;
};

static bool is_trap(const struct ptx_func *f, const struct ptx_block *b)
{
    return b->succ_count == 0 && f->insns[b->last].op == OP_TRAP;
}

/* An edge that counts: not into a block that only traps, if there is another way. */
static bool edge_counts(const struct ptx_func *f, const struct ptx_block *from, uint32_t to)
{
    if (!is_trap(f, &f->blocks[to]))
        return true;
    for (uint32_t i = 0; i < from->succ_count; i++)
        if (!is_trap(f, &f->blocks[from->succ[i]]))
            return false;
    return true;
}

static int build_edges(struct tree *t)
{
    const struct ptx_func *f = t->func;
    size_t total = 0;
    for (uint32_t b = 0; b < f->block_count; b++)
        total += f->blocks[b].succ_count;
    t->edge_start = calloc((size_t)t->nodes + 2, sizeof *t->edge_start);
    t->edge = calloc(total + 1, sizeof *t->edge);
    if (t->edge_start == NULL || t->edge == NULL)
        return SONDE_ENOMEM;
    for (uint32_t b = 0; b < f->block_count; b++)
        for (uint32_t i = 0; i < f->blocks[b].succ_count; i++)
            if (edge_counts(f, &f->blocks[b], f->blocks[b].succ[i]))
                t->edge_start[f->blocks[b].succ[i] + 1 + 2]++;
    for (uint32_t n = 2; n < t->nodes + 2; n++)
        t->edge_start[n] += t->edge_start[n - 1];
    for (uint32_t b = 0; b < f->block_count; b++)
        for (uint32_t i = 0; i < f->blocks[b].succ_count; i++)
            if (edge_counts(f, &f->blocks[b], f->blocks[b].succ[i]))
                t->edge[t->edge_start[f->blocks[b].succ[i] + 1 + 1]++] = b + 1;
    return 0;
}

static void visit(struct tree *t, uint32_t node, uint32_t parent)
{
    t->number[node] = ++t->visited;
    t->order[t->visited - 1] = node;
    t->parent[node] = parent;
    t->semi[node] = t->visited;
    t->label[node] = node;
}

/* Depth first over the reversed edges from `root`, without recursion. */
static void walk(struct tree *t, uint32_t root)
{
    uint32_t depth = 0;
    t->stack[depth++] = root;
    while (depth > 0) {
        uint32_t node = t->stack[depth - 1];
        uint32_t *cursor = &t->cursor[node];
        uint32_t end = t->edge_start[node + 1];
        while (*cursor < end && t->number[t->edge[*cursor]] != 0)
            (*cursor)++;
        if (*cursor == end) {
            depth--;
            continue;
        }
        uint32_t next = t->edge[(*cursor)++];
        visit(t, next, node);
        t->stack[depth++] = next;
    }
}

/* The exit's own edges: blocks without successors, then what reaches no exit, last first. */
static void walk_all(struct tree *t)
{
    const struct ptx_func *f = t->func;
    for (uint32_t n = 0; n < t->nodes; n++)
        t->cursor[n] = t->edge_start[n];
    visit(t, 0, 0);
    for (uint32_t b = 0; b < f->block_count; b++)
        t->to_exit[b + 1] = f->blocks[b].succ_count == 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t n = t->nodes - 1; n > 0; n--) {
            if (t->number[n] != 0 || (pass == 0 && !t->to_exit[n]))
                continue;
            t->to_exit[n] = 1;
            visit(t, n, 0);
            walk(t, n);
        }
    }
}

/* The node with the least semidominator on the path to the forest's root; compresses the path. */
static uint32_t evaluate(struct tree *t, uint32_t node)
{
    uint32_t depth = 0;
    if (t->ancestor[node] == UINT32_MAX)
        return t->label[node];
    for (uint32_t n = node; t->ancestor[t->ancestor[n]] != UINT32_MAX; n = t->ancestor[n])
        t->stack[depth++] = n;
    while (depth > 0) {
        uint32_t n = t->stack[--depth], up = t->ancestor[n];
        if (t->semi[t->label[up]] < t->semi[t->label[n]])
            t->label[n] = t->label[up];
        t->ancestor[n] = t->ancestor[up];
    }
    return t->label[node];
}

/* In the reversed graph, what leads to `node` are its successors in the program, or the exit. */
static void find_semidominator(struct tree *t, uint32_t node)
{
    const struct ptx_func *f = t->func;
    const struct ptx_block *block = &f->blocks[node - 1];
    if (t->to_exit[node])
        t->semi[node] = 1;
    for (uint32_t i = 0; i < block->succ_count; i++) {
        uint32_t from = block->succ[i] + 1;
        if (!edge_counts(f, block, block->succ[i]))
            continue;
        uint32_t least = t->semi[evaluate(t, from)];
        if (least < t->semi[node])
            t->semi[node] = least;
    }
}

static void empty_bucket(struct tree *t, uint32_t parent)
{
    for (uint32_t n = t->bucket[parent]; n != 0; n = t->bucket_next[n]) {
        uint32_t least = evaluate(t, n);
        t->idom[n] = t->semi[least] < t->semi[n] ? least : parent;
    }
    t->bucket[parent] = 0;
}

static void dominate(struct tree *t)
{
    for (uint32_t i = t->visited; i-- > 1;) {
        uint32_t node = t->order[i], parent = t->parent[node];
        find_semidominator(t, node);
        uint32_t home = t->order[t->semi[node] - 1];
        t->bucket_next[node] = t->bucket[home];
        t->bucket[home] = node;
        t->ancestor[node] = parent;
        empty_bucket(t, parent);
    }
    for (uint32_t i = 1; i < t->visited; i++) {
        uint32_t node = t->order[i];
        if (t->idom[node] != t->order[t->semi[node] - 1])
            t->idom[node] = t->idom[t->idom[node]];
    }
}

static int allocate(struct tree *t)
{
    uint32_t **arrays[] = {&t->number,      &t->order, &t->parent, &t->semi,
                           &t->ancestor,    &t->label, &t->idom,   &t->bucket,
                           &t->bucket_next, &t->stack, &t->cursor};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = calloc(t->nodes, sizeof **arrays[i]);
        if (*arrays[i] == NULL)
            return SONDE_ENOMEM;
    }
    t->to_exit = calloc(t->nodes, 1);
    if (t->to_exit == NULL)
        return SONDE_ENOMEM;
    for (uint32_t n = 0; n < t->nodes; n++)
        t->ancestor[n] = UINT32_MAX;
    return build_edges(t);
}

static void release(struct tree *t)
{
    uint32_t *arrays[] = {t->number, t->order,      t->parent, t->semi,        t->ancestor,
                          t->label,  t->idom,       t->bucket, t->bucket_next, t->stack,
                          t->cursor, t->edge_start, t->edge};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    free(t->to_exit);
}

int func_find_ipdoms(struct ptx_func *f)
{
    struct tree t = {.func = f, .nodes = f->block_count + 1};
    int code = allocate(&t);
    if (code == 0) {
        walk_all(&t);
        dominate(&t);
        for (uint32_t b = 0; b < f->block_count; b++) {
            struct ptx_block *block = &f->blocks[b];
            block->ipdom = t.idom[b + 1] == 0 ? PTX_NO_PC : t.idom[b + 1] - 1;
            struct ptx_insn *last = &f->insns[block->last];
            if (insn_is_branch(last))
                last->reconverge =
                    block->ipdom == PTX_NO_PC ? PTX_NO_PC : f->blocks[block->ipdom].first;
        }
    }
    release(&t);
    return code;
}
