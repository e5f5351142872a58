/*
 * Replacement rules: policies whose next victim follows from the accesses before. Each is a row of
 * policies.def and a file in rules/ with one struct of operations. A modelled set takes one line
 * after another and answers whether it hit. No code is shared with the simulator.
 *
 *   state    what a rule keeps of a way: a time, a used bit, a prediction
 *   wash     new lines, four times as many as the set has ways, read one after another
 *   scramble sets every way to a random state
 */
#ifndef SONDE_INFER_POLICY_RULE_H
#define SONDE_INFER_POLICY_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "infer/dissection.h"
#include "util/rng.h"

#define POLICY_FREE UINT32_MAX /* a way that holds nothing */

enum policy_kind {
#define POLICY(id, name, doc) POLICY_##id,
#include "infer/policy/policies.def"
    POLICY_COUNT
};

struct policy_rule;
struct policy_order;

struct policy_set {
    const struct policy_rule *rule;
    uint32_t ways;
    uint32_t line[INFER_MAX_WAYS];  /* number of the line each way holds, or POLICY_FREE */
    uint64_t state[INFER_MAX_WAYS]; /* of each way; the rule says what it means */
    bool tree[2 * INFER_MAX_WAYS];  /* bits above the ways; node i stands above 2i and 2i + 1 */
    uint64_t reads, hits;           /* so far; a scrambled set begins above 0 */
};

/* The operations of a rule. */
struct policy_rule {
    /* A way was hit, or (`fill`) a line came into it. */
    void (*use)(struct policy_set *set, uint32_t way, bool fill);
    /* The way that a full set evicts from. */
    uint32_t (*victim)(struct policy_set *set);
    uint64_t states; /* a scrambled way's state is drawn below this number */

    /* The states that a set may have after a wash. washed_states returns how many there are (NULL:
     * any state is possible), washed_state a way's state in one of them (NULL: 0). */
    unsigned (*washed_states)(uint32_t ways);
    uint64_t (*washed_state)(uint32_t ways, uint32_t way, unsigned number);
    /* The state lasts over many rounds, and over an invalidation of the set: then some ways begin
     * with state 1. How many is tried. */
    bool remembers;
    /* A wash leaves lines in the set that were hit before, so that not all is known then. */
    bool outlasts_wash;

    /* How many misses of an order of one line more than ways contradict the rule, whatever the set
     * held before. NULL: misses alone do not contradict it. */
    size_t (*misses_out_of_turn)(uint32_t ways, const struct policy_order *order);
    /* The same of an order of more lines: `judged` records could be compared, `differing` of them
     * contradict the rule. False when the misses are too few. */
    bool (*judge_by_misses)(uint32_t ways, size_t lines, const struct policy_order *order,
                            size_t *judged, size_t *differing);
};

const char *policy_name(enum policy_kind kind);
/* The kind with this name; POLICY_COUNT if none has it. */
enum policy_kind policy_named(const char *name);
const struct policy_rule *policy_rule(enum policy_kind kind);
/* Does a policy of that name, of a rule or not, draw its victims? */
bool policy_is_drawn(const char *name);

/* An empty set. At most INFER_MAX_WAYS ways. */
void policy_set_init(struct policy_set *set, enum policy_kind kind, uint32_t ways);
/* Fills the set with lines `first`, `first` + 1, ... and random states. */
void policy_set_scramble(struct policy_set *set, uint32_t first, struct rng *rng);
/* The way that has a line, or a free one for it; set->ways: there is none. */
uint32_t policy_set_place(const struct policy_set *set, uint32_t line, bool *hit);
/* Reads a line: true when it hit. After a miss the line is in the set. */
bool policy_set_read(struct policy_set *set, uint32_t line);
/* The same where victims are drawn, by the probabilities of the ways: no rule is asked. */
bool policy_set_read_drawn(struct policy_set *set, uint32_t line, const double *probability,
                           struct rng *rng);

/* The way with the least state, the first of several: a victim for rules that keep times. */
static inline uint32_t policy_set_least(struct policy_set *set)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < set->ways; i++) {
        least = set->state[i] < set->state[least] ? i : least;
    }
    return least;
}

#endif
