/*
 * The suffix tree of a text of letters 0 to 3, by Ukkonen's algorithm (1995). Node 0 is the root; a
 * node's edge is text[start .. end). Links of leaves lead to the root and mean nothing.
 */
#ifndef SONDE_WORKLOADS_MUMMER_TREE_H
#define SONDE_WORKLOADS_MUMMER_TREE_H

#include "workloads/workload.h"

#define TREE_LETTERS 4
#define TREE_END 4 /* no letter: stands behind the text */

struct tree_node {
    uint32_t start, end, link, child[TREE_LETTERS]; /* child 0: none */
};

struct tree {
    struct tree_node *nodes; /* the bench's arena's */
    uint32_t count;
};

int tree_build(struct tree *tree, struct workbench *bench, const uint8_t *text, uint32_t length);

#endif
