/* Least recently used: a way's state is when it was used last. */
#include "infer/policy/rule.h"

static void use(struct policy_set *set, uint32_t way, bool fill)
{
    (void)fill;
    set->state[way] = set->reads;
}

/* A wash uses every way, in turn. */
static unsigned washed_states(uint32_t ways)
{
    (void)ways;
    return 1;
}

const struct policy_rule policy_rule_LRU = {
    .use = use, .victim = policy_set_least, .states = 1000, .washed_states = washed_states};
