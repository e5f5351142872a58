/*
 * Replacement policies as inference knows them: a set of cache lines that is told which line comes
 * next and answers whether it was there. Written for comparison with what was measured, so one
 * program serves all policies, and nothing is shared with the simulator.
 */
#ifndef SONDE_INFER_POLICY_MODEL_H
#define SONDE_INFER_POLICY_MODEL_H

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

const char *policy_name(enum policy_kind kind);

struct policy_set {
    enum policy_kind kind;
    uint32_t ways;
    uint32_t line[INFER_MAX_WAYS];  /* number of the line each way holds, or POLICY_FREE */
    uint64_t age[INFER_MAX_WAYS];   /* LRU, FIFO: time; NRU: used; SRRIP: prediction;
                                     * LRU_LATE: place in the order of going */
    bool upper[2 * INFER_MAX_WAYS]; /* PLRU: tree of bits, node i above 2i and 2i + 1 */
    uint64_t clock;
    uint64_t hits; /* LRU_LATE: its own time */
};

/* An empty set. At most INFER_MAX_WAYS ways. */
void policy_set_init(struct policy_set *set, enum policy_kind kind, uint32_t ways);
/* A full one after use that nobody saw: lines numbered from `first` on, any state. */
void policy_set_scramble(struct policy_set *set, uint32_t first, struct rng *rng);
/* Was the line there? Now it is. */
bool policy_set_read(struct policy_set *set, uint32_t line);

#endif
