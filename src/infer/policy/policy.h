/*
 * Naming a policy from walks over the lines of one set (policy.c), whether the set is a cache's or
 * a TLB's.
 */
#ifndef SONDE_INFER_POLICY_H
#define SONDE_INFER_POLICY_H

#include "infer/ask/lab.h"
#include "util/rng.h"

#define POLICY_ORDERS 3         /* drawn orders, each walked once */
#define POLICY_OTHER UINT32_MAX /* what does not concern the set */
#define POLICY_WARM_ROUNDS 24   /* before records where the beginning is not known */
#define POLICY_WASHES 4 /* new lines, times the ways: little is open of a state after them */

/* One walk: which line each record read, and whether it was there. */
struct policy_order {
    uint32_t *ring, *line; /* owned; one round */
    bool *hit;             /* owned */
    bool *unheard; /* per record: a cache in front kept it from the set; NULL: none did; owned */
    size_t count, first, records;
    uint64_t warm;
};

int policy_order_create(struct policy_order *out, size_t count, size_t most_records);
void policy_order_free(struct policy_order *order);

/* What the orders of a cache's set are made of. */
struct level;
struct walk_plan;
struct policy_pool {
    uint32_t words;       /* reads of a line in a round, at most */
    const uint32_t *line; /* offsets of lines of the set, visited in a drawn order; borrowed */
    size_t count;
    const uint32_t *wash; /* others, read first in each round; borrowed */
    size_t wash_count;
};

/* Walks the plan and notes each record: a hit or not, and heard of behind a cache in front or not.
 */
int policy_order_walk(struct policy_order *order, struct level *level,
                      const struct walk_plan *plan);
/* policy/order.c: draws an order and records it after so many rounds. */
int policy_run_order(struct level *level, struct policy_order *order,
                     const struct policy_pool *pool, uint64_t warm_rounds, struct rng *rng);
/* Lines of the conflicting set's set, in no order that matters, that are not in it: their offsets,
 * at most `most`; none where the index is not known. */
size_t policy_find_others(uint32_t *out, const struct level *level, size_t most);
/* policy/filler_order.c: the same on a cache that needs filler accesses, from the beginning of a
 * launch on.
 */
int policy_filler_order(struct level *level, struct policy_order *order,
                        const struct policy_pool *pool, struct rng *rng);

/* What the orders are of, for the evidence, and what misfit is noise. */
struct policy_case {
    struct lab *lab;
    const char *id, *op;
    uint32_t ways;
    double allowed;      /* share of the records that may differ */
    size_t least_misses; /* in all orders, to say anything */
    bool from_empty;     /* the set is empty when a walk begins */
    bool one_sided;      /* what should miss never hits */
    bool kept_state;     /* an empty set begins with what its policy remembers from before */
    bool flushed; /* the first reads were new lines, four times as many as the set has ways */
};

/* True, and `out` filled, when a policy predicts the orders. */
bool policy_match(const struct policy_case *of, struct policy_result *out,
                  const struct policy_order orders[POLICY_ORDERS]);

#endif
