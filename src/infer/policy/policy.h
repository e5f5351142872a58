/*
 * Finds the replacement policy of one set from walks over its lines. The set is a cache's or a
 * TLB's.
 *
 *   order   the lines of a set in a drawn order, each read several times in a round
 *   record  one timed read of a walk: a hit or a miss
 *   wash    new lines of the set, read first in each round, which evict what the set held
 *   pool    the lines that orders are drawn from
 */
#ifndef SONDE_INFER_POLICY_H
#define SONDE_INFER_POLICY_H

#include "infer/ask/lab.h"
#include "util/rng.h"

#define POLICY_ORDERS 3         /* drawn orders, each walked once */
#define POLICY_OTHER UINT32_MAX /* a read of a line of another set */
#define POLICY_WARM_ROUNDS 24   /* rounds before the records where the first state is not known */
#define POLICY_WASHES 4 /* lines of a wash, times the ways: few states are possible after it */

/* One walk: which line each record read, and whether it was there. */
struct policy_order {
    uint32_t *ring, *line; /* owned; one round */
    bool *hit;             /* owned */
    bool *unheard;         /* per record: it hit in a cache in front; NULL: there is none; owned */
    size_t count, first, records;
    uint64_t warm;
};

int policy_order_create(struct policy_order *out, size_t count, size_t most_records);
void policy_order_free(struct policy_order *order);

/* The lines that the orders of a cache's set are drawn from. */
struct level;
struct walk_plan;
struct policy_pool {
    uint32_t words;       /* reads of a line in a round, at most */
    const uint32_t *line; /* offsets of lines of the set, visited in a drawn order; borrowed */
    size_t count;
    const uint32_t *wash; /* others, read first in each round; borrowed */
    size_t wash_count;
    bool in_turn; /* no line comes again before all others have been read */
    bool turns;   /* the same, by one word of each line, with a wash before each time */
};

/* Walks the plan. Notes of each record whether it hit, and whether a cache in front kept it from
 * the set. */
int policy_order_walk(struct policy_order *order, struct level *level,
                      const struct walk_plan *plan);
/* Draws an order and records it after `warm_rounds` rounds (order.c). */
int policy_run_order(struct level *level, struct policy_order *order,
                     const struct policy_pool *pool, uint64_t warm_rounds, struct rng *rng);
/* Finds more lines of the set that the conflicting lines lie in (others.c): their offsets, at most
 * `most`. Of an outermost cache lines are asked where the index function is not known. */
int policy_find_others(uint32_t *out, size_t *count, struct level *level, size_t most);
/* As policy_run_order on a cache behind another one, with filler accesses that keep the front cache
 * busy (filler_order.c). It records from the first read of the launch on. */
int policy_filler_order(struct level *level, struct policy_order *order,
                        const struct policy_pool *pool, struct rng *rng);

/* What is known of the set before its orders are compared with the rules' predictions. */
struct policy_case {
    struct lab *lab;
    const char *id, *op;
    uint32_t ways;
    double allowed;      /* share of the records that noise may change, 0 to 1 */
    size_t least_misses; /* in all orders together; with fewer no policy is told */
    bool from_empty;     /* the set is empty when a walk begins */
    bool one_sided;      /* noise never turns a miss into a hit */
    bool kept_state;     /* the lines are gone when a walk begins, the policy's bits are not */
    bool flushed;        /* each round begins with a wash */
    bool twice;          /* there are twice as many lines as in a set that is too full */
};

/* Fills `out` and returns true when a policy predicts the orders. */
bool policy_match(const struct policy_case *of, struct policy_result *out,
                  const struct policy_order orders[POLICY_ORDERS]);
/* Rules that few ways make one are so, if all sets are known to be alike. Where more could tell
 * them apart and did not, or may in other sets, that one of them is right is less sure. */
void policy_doubt_choice(struct policy_result *out, size_t ways, bool alike);

#endif
