/*
 * Ukkonen's algorithm: letter by letter, all suffixes so far are made longer. Those that end in
 * leaves grow by themselves, since a leaf's edge ends with the text; the active point is the
 * longest that does not. Suffixes that end within the tree at the end of the text get no leaves:
 * what matches is the same without them.
 */
#include "workloads/mummer/tree.h"

#include "util/error.h"

struct builder {
    struct tree *tree;
    const uint8_t *text;
    uint32_t length;
    /* The active point: a node, and so many letters of the edge that begins with text[edge]. */
    uint32_t node, edge, within;
    uint32_t pending;  /* suffixes that have no leaf yet */
    uint32_t unlinked; /* an inner node made in this phase, whose link is to come; 0: none */
};

static uint32_t add_node(struct tree *tree, uint32_t start, uint32_t end)
{
    tree->nodes[tree->count] = (struct tree_node){.start = start, .end = end};
    return tree->count++;
}

static void link_to(struct builder *b, uint32_t node)
{
    if (b->unlinked) {
        b->tree->nodes[b->unlinked].link = node;
    }
    b->unlinked = node;
}

/* Does the active point lie beyond this edge? Then on to its end. */
static bool walked_down(struct builder *b, uint32_t child)
{
    uint32_t length = b->tree->nodes[child].end - b->tree->nodes[child].start;
    if (b->within < length) {
        return false;
    }
    b->edge += length;
    b->within -= length;
    b->node = child;
    return true;
}

/* A new inner node within the edge to `child`, with a leaf for text[at]. */
static void split(struct builder *b, uint32_t child, uint32_t at)
{
    struct tree_node *nodes = b->tree->nodes;
    uint32_t start = nodes[child].start;
    uint32_t middle = add_node(b->tree, start, start + b->within);
    nodes[b->node].child[b->text[b->edge]] = middle;
    uint32_t leaf = add_node(b->tree, at, b->length);
    nodes[middle].child[b->text[at]] = leaf;
    nodes[child].start += b->within;
    nodes[middle].child[b->text[nodes[child].start]] = child;
    link_to(b, middle);
}

static void next_suffix(struct builder *b, uint32_t at)
{
    b->pending--;
    if (b->node == 0 && b->within > 0) {
        b->within--;
        b->edge = at - b->pending + 1;
    } else if (b->node != 0) {
        b->node = b->tree->nodes[b->node].link;
    }
}

static void extend(struct builder *b, uint32_t at)
{
    struct tree_node *nodes = b->tree->nodes;
    b->pending++;
    b->unlinked = 0;
    while (b->pending > 0) {
        if (b->within == 0) {
            b->edge = at;
        }
        uint32_t child = nodes[b->node].child[b->text[b->edge]];
        if (child == 0) {
            uint32_t leaf = add_node(b->tree, at, b->length);
            nodes[b->node].child[b->text[b->edge]] = leaf;
            link_to(b, b->node);
        } else if (walked_down(b, child)) {
            continue;
        } else if (b->text[nodes[child].start + b->within] == b->text[at]) {
            b->within++;
            link_to(b, b->node);
            return;
        } else {
            split(b, child, at);
        }
        next_suffix(b, at);
    }
}

int tree_build(struct tree *tree, struct workbench *bench, const uint8_t *text, uint32_t length)
{
    tree->nodes = workbench_array(bench, 2 * (size_t)length + 1, sizeof *tree->nodes);
    if (!tree->nodes) {
        return SONDE_ENOMEM;
    }
    struct builder builder = {.tree = tree, .text = text, .length = length};
    tree->count = 1; /* the root */
    for (uint32_t at = 0; at < length; at++) {
        extend(&builder, at);
    }
    return 0;
}
