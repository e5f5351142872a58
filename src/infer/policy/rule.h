/*
 * Replacement rules as inference knows them: policies whose next victim follows from what came
 * before. Each is a row of policies.def and a file in rules/ with one struct of operations.
 * A set of cache lines is told which line comes next and answers whether it was there.
 * Nothing is shared with the simulator.
 *
 *   state    what a rule remembers of a way: a time, a used bit, a prediction
 *   wash     new lines, four times as many as the set has ways, read one after another
 *   scramble a state that any use may have left
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
    uint64_t reads, hits;           /* so far; a scrambled set begins with some */
};

/* What makes a rule. */
struct policy_rule {
    /* A way was hit, or (`fill`) a line came into it. */
    void (*use)(struct policy_set *set, uint32_t way, bool fill);
    /* The way that a full set evicts from. */
    uint32_t (*victim)(struct policy_set *set);
    uint64_t states; /* a scrambled way's state is drawn below this number */

    /* The states that a wash may leave: how many, and a way's state in one of them. NULL for the
     * number: any state; NULL for the state: 0. */
    unsigned (*washed_states)(uint32_t ways);
    uint64_t (*washed_state)(uint32_t ways, uint32_t way, unsigned number);
    /* Its state outlasts many rounds, and an emptied set begins with it: as many ways as are tried
     * have the state 1. */
    bool remembers;

    /* From misses alone, whatever the set held before; NULL: nothing follows from these. Of an
     * order of one line more than ways: the records that differ. */
    size_t (*misses_out_of_turn)(uint32_t ways, const struct policy_order *order);
    /* Of an order of more lines: visits that can be judged, and how many of them differ. False when
     * the misses are too few. */
    bool (*judge_by_misses)(uint32_t ways, size_t lines, const struct policy_order *order,
                            size_t *judged, size_t *differing);
};

const char *policy_name(enum policy_kind kind);
/* The kind with this name; POLICY_COUNT: there is none. */
enum policy_kind policy_named(const char *name);
const struct policy_rule *policy_rule(enum policy_kind kind);

/* An empty set. At most INFER_MAX_WAYS ways. */
void policy_set_init(struct policy_set *set, enum policy_kind kind, uint32_t ways);
/* A full one: lines numbered from `first` on, any state. */
void policy_set_scramble(struct policy_set *set, uint32_t first, struct rng *rng);
/* Was the line there? Now it is. */
bool policy_set_read(struct policy_set *set, uint32_t line);

/* For rules: the way with the least state; the first of several. */
static inline uint32_t policy_set_least(struct policy_set *set)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < set->ways; i++) {
        least = set->state[i] < set->state[least] ? i : least;
    }
    return least;
}

#endif
