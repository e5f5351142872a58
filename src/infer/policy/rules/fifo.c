/*
 * First in, first out: a way's state is when its line came in. Hits change nothing, so misses alone
 * tell the rule, whatever the set held before.
 */
#include <stdlib.h>

#include "infer/policy/policy.h"
#include "infer/policy/rule.h"

static void use(struct policy_set *set, uint32_t way, bool fill)
{
    set->state[way] = fill ? set->reads : set->state[way];
}

static unsigned washed_states(uint32_t ways)
{
    (void)ways;
    return 1;
}

/* With one line more than ways, the evicted line misses next. So the lines miss in turn, for ever
 * in the same order. */
static size_t misses_out_of_turn(uint32_t ways, const struct policy_order *order)
{
    uint32_t turn[INFER_MAX_WAYS + 1], lines = ways + 1;
    size_t misses = 0, differing = 0;
    if (ways > INFER_MAX_WAYS) {
        return order->records;
    }
    for (size_t i = 0; i < order->records && order->count; i++) {
        uint32_t line = order->line[(order->first + i) % order->count];
        if (line != POLICY_OTHER && !order->hit[i]) {
            differing += misses >= lines && turn[misses % lines] != line;
            turn[misses++ % lines] = line;
        }
    }
    return misses < 2 * lines ? order->records : differing;
}

/* A line is there exactly if its last miss is one of the set's last misses, as many as ways. Visits
 * before a line's first miss, and before as many misses as ways, tell nothing. */
static bool judge_by_misses(uint32_t ways, size_t lines, const struct policy_order *order,
                            size_t *judged, size_t *differing)
{
    size_t time = 0, *last = calloc(lines, sizeof *last); /* 0: no miss seen */
    *judged = *differing = 0;
    for (size_t i = 0; last && i < order->records; i++) {
        uint32_t line = order->line[order->first + i];
        if (line == POLICY_OTHER) {
            continue;
        }
        if (last[line] > 0 && time >= ways) {
            *differing += (time - last[line] < ways) != order->hit[i];
            ++*judged;
        }
        if (!order->hit[i]) {
            last[line] = ++time;
        }
    }
    bool enough = last && time > 2 * (size_t)ways;
    free(last);
    return enough;
}

const struct policy_rule policy_rule_FIFO = {.use = use,
                                             .victim = policy_set_least,
                                             .states = 1000,
                                             .washed_states = washed_states,
                                             .misses_out_of_turn = misses_out_of_turn,
                                             .judge_by_misses = judge_by_misses};
