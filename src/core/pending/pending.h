/*
 * What an SM may have outstanding in all, whatever caches lie behind it. The load/store unit asks
 * when an access begins to send its requests and before each of them, and reports when each has
 * been answered and when all have. Where the answer is no, the access waits and those behind it
 * wait too.
 *
 * This is not one of a cache's miss structures (mem/cache/miss): those see requests, one at a time,
 * and not which of them belong to one warp instruction; and what passes a cache by, as all global
 * loads do on Kepler, never meets one. So a table of instructions sits here, in front of the
 * caches, and an access that hits L1 holds its place for as long as the hit takes.
 */
#ifndef SONDE_CORE_PENDING_PENDING_H
#define SONDE_CORE_PENDING_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/spec.h"

struct pending_ops;

struct pending {
    const struct pending_ops *ops; /* NULL: no bound */
    const struct pending_spec *spec;
    uint32_t used;
};

struct pending_ops {
    /* An access of `requests` (at least 1) wants to send its first. False: not yet. */
    bool (*begin)(struct pending *table, uint32_t requests);
    /* One of them wants to leave. False: not yet. */
    bool (*leave)(struct pending *table);
    /* One has been answered, or did not leave after all. */
    void (*answered)(struct pending *table);
    /* All have. */
    void (*end)(struct pending *table, uint32_t requests);
};

#define PENDING(id, text, doc) extern const struct pending_ops pending_##id;
#include "core/pending/pending.def"
#undef PENDING

void pending_init(struct pending *table, const struct pending_spec *spec);

#endif
