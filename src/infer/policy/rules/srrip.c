/*
 * Static re-reference interval prediction in two bits: a way's state is its prediction, from 0,
 * soon (after a hit), over 2 (a line that came in) to 3, the victim. Where no way has 3, all age by
 * one.
 */
#include "infer/policy/rule.h"

enum { SOON = 0, LATE = 2, DISTANT = 3 };

static void use(struct policy_set *set, uint32_t way, bool fill)
{
    set->state[way] = fill ? LATE : SOON;
}

static uint32_t victim(struct policy_set *set)
{
    for (;;) {
        for (uint32_t i = 0; i < set->ways; i++) {
            if (set->state[i] >= DISTANT) {
                return i;
            }
        }
        for (uint32_t i = 0; i < set->ways; i++) {
            set->state[i]++;
        }
    }
}

/* New lines alone fill the ways in turn, so a wash leaves open how many were just filled. */
static unsigned washed_states(uint32_t ways)
{
    return ways;
}

static uint64_t washed_state(uint32_t ways, uint32_t way, unsigned number)
{
    (void)ways;
    return way < number ? LATE : DISTANT;
}

const struct policy_rule policy_rule_SRRIP = {.use = use,
                                              .victim = victim,
                                              .states = 4,
                                              .washed_states = washed_states,
                                              .washed_state = washed_state};
