/*
 * As LRU, but a line that comes in ranks behind those of the set's last two hits (an H200's first
 * level, docs/h200.md). A way's state is its rank. A hit's rank is its number; a line that comes in
 * ranks just after the last hit but one, and the later of two lines ranks first.
 */
#include "infer/policy/rule.h"

enum { RANKS = 1 << 20, FIRST = 3 }; /* ranks between two hits; no rank is below 0 */

static void use(struct policy_set *set, uint32_t way, bool fill)
{
    uint64_t hit = (FIRST + set->hits) * RANKS;
    set->state[way] = fill ? hit - 2 * RANKS + 1 + set->reads % (RANKS - 1) : hit;
}

static unsigned washed_states(uint32_t ways)
{
    (void)ways;
    return 1;
}

const struct policy_rule policy_rule_LRU_LATE = {
    .use = use,
    .victim = policy_set_least,
    .states = 1000,
    .washed_states = washed_states,
    .outlasts_wash = true, /* the lines of the last two hits, as nothing of a wash hits */
};
