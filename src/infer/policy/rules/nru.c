/*
 * Not recently used: a way's state is its used bit. The victim is the first way whose bit is clear;
 * when the last clear bit is set, all others are cleared. Used bits outlast many rounds.
 */
#include "infer/policy/rule.h"

static void use(struct policy_set *set, uint32_t way, bool fill)
{
    (void)fill;
    bool all = true;
    set->state[way] = 1;
    for (uint32_t i = 0; i < set->ways; i++) {
        all = all && set->state[i];
    }
    for (uint32_t i = 0; all && i < set->ways; i++) {
        set->state[i] = i == way;
    }
}

/*
 * New lines alone fill the ways in turn, so a wash leaves open how far they have come: a number of
 * ways just filled. One more bit is set, that of the last way or of the one before, which was
 * filled when all others were set.
 */
static unsigned washed_states(uint32_t ways)
{
    return 2 * ways;
}

static uint64_t washed_state(uint32_t ways, uint32_t way, unsigned number)
{
    return way == ways - 1 - number % 2 || way < number / 2;
}

const struct policy_rule policy_rule_NRU = {.use = use,
                                            .victim = policy_set_least,
                                            .states = 2,
                                            .washed_states = washed_states,
                                            .washed_state = washed_state,
                                            .remembers = true};
