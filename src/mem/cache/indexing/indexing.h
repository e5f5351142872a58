/*
 * What one kind of index function provides. `check` runs once, when a cache is built; `set` may
 * then rely on what it checked.
 */
#ifndef SONDE_MEM_CACHE_INDEXING_INDEXING_H
#define SONDE_MEM_CACHE_INDEXING_INDEXING_H

#include "mem/spec.h"

struct indexing_ops {
    /* 0, or SONDE_EINPUT with the reason: every number that `set` can return is below `sets`. */
    int (*check)(const struct index_spec *index, uint32_t sets);
    uint32_t (*set)(const struct index_spec *index, uint32_t sets, uint32_t line_bytes,
                    uint64_t address);
};

#define INDEXING(id, text, doc) extern const struct indexing_ops indexing_##id;
#include "mem/cache/indexing/indexing.def"
#undef INDEXING

/* BITS and XOR share the rule that their bits number the sets exactly. */
int indexing_check_masks(const struct index_spec *index, uint32_t sets);

#endif
