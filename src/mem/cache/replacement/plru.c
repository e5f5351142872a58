/*
 * Tree pseudo-LRU. The ways are the leaves of a binary tree; a node's bit says which half to take
 * a victim from (0: the lower). A use turns the bits on its path away from itself.
 *
 *              [1]                 node i has the children 2i and 2i + 1; with 4 ways, leaf
 *          [2]     [3]             nodes are 4 .. 7 = 4 + way
 *         0   1   2   3
 *
 * For a number of ways that is no power of two, the tree is that of the next power of two, and a
 * victim is never sought in a half that has no ways.
 */
#include "mem/cache/replacement/replacement.h"

static uint32_t leaves_of(uint32_t ways)
{
    uint32_t leaves = 1;
    while (leaves < ways) {
        leaves *= 2;
    }
    return leaves;
}

static size_t plru_state_bytes(uint32_t ways)
{
    return leaves_of(ways); /* a byte a node, node 0 unused */
}

static void plru_use(void *state, uint32_t ways, uint32_t way)
{
    uint8_t *take_upper = state;
    for (uint32_t node = leaves_of(ways) + way; node > 1; node /= 2) {
        take_upper[node / 2] = node % 2 == 0;
    }
}

static uint32_t plru_victim(struct replacement *replacement, void *state, uint32_t ways)
{
    (void)replacement;
    const uint8_t *take_upper = state;
    uint32_t leaves = leaves_of(ways), node = 1, first = 0, half = leaves / 2;
    for (; node < leaves; half /= 2) {
        uint32_t upper = take_upper[node] && first + half < ways;
        node = 2 * node + upper;
        first += upper * half;
    }
    return first;
}

const struct replacement_ops replacement_PLRU = {.state_bytes = plru_state_bytes,
                                                 .init = replacement_init_nothing,
                                                 .on_hit = plru_use,
                                                 .on_fill = plru_use,
                                                 .victim = plru_victim};
