/*
 * Tree pseudo-LRU: a binary tree of bits that point away from what was used. Where the number of
 * ways is no power of two, the tree's last leaves have no way, and a half without ways is never
 * entered. No wash is sure to set all bits: way by way, they depend on who hits in between.
 */
#include "infer/policy/rule.h"

static uint32_t leaves_of(uint32_t ways)
{
    uint32_t leaves = 1;
    while (leaves < ways) {
        leaves *= 2;
    }
    return leaves;
}

static void use(struct policy_set *set, uint32_t way, bool fill)
{
    (void)fill;
    for (uint32_t node = leaves_of(set->ways) + way; node > 1; node /= 2) {
        set->tree[node / 2] = node % 2 == 0;
    }
}

static uint32_t victim(struct policy_set *set)
{
    uint32_t leaves = leaves_of(set->ways), node = 1, first = 0;
    for (uint32_t half = leaves / 2; half >= 1; half /= 2) {
        bool upper = set->tree[node] && first + half < set->ways;
        first += upper ? half : 0;
        node = 2 * node + upper;
    }
    return first;
}

const struct policy_rule policy_rule_PLRU = {.use = use, .victim = victim, .states = 1000};
