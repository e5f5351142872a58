/*
 * What a replacement policy provides. The state of a set is a block of bytes that the policy alone
 * interprets; one cache's sets differ in their ways, so every call is told the set's. Calls:
 *   on_hit    a way was read or written, and held the line
 *   on_fill   a way received a line: an invalid one, or the victim
 *   victim    the set is full; which way goes? May draw numbers and change the state. What comes
 *             in is announced by on_fill.
 */
#ifndef SONDE_MEM_CACHE_REPLACEMENT_REPLACEMENT_H
#define SONDE_MEM_CACHE_REPLACEMENT_REPLACEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "mem/spec.h"
#include "util/rng.h"

/* One cache's policy: its row, its numbers, one stream of random numbers for all its sets. */
struct replacement {
    const struct replacement_ops *ops;
    const struct replacement_spec *spec;
    struct rng rng;
};

struct replacement_ops {
    size_t (*state_bytes)(uint32_t ways);     /* of one set, at most */
    void (*init)(void *state, uint32_t ways); /* the state is zeroed before */
    void (*on_hit)(void *state, uint32_t ways, uint32_t way);
    void (*on_fill)(void *state, uint32_t ways, uint32_t way);
    uint32_t (*victim)(struct replacement *replacement, void *state, uint32_t ways);
};

/*
 * SONDE_EINPUT with the reason: unknown kind, or probabilities that are none. `ways`: of the
 * largest set.
 */
int replacement_check(const struct replacement_spec *spec, uint32_t ways);
void replacement_init(struct replacement *replacement, const struct replacement_spec *spec);

/* For policies that have nothing to do. */
void replacement_ignore(void *state, uint32_t ways, uint32_t way);
void replacement_init_nothing(void *state, uint32_t ways);

/* A way of `ways` drawn by the probabilities, `without` (a way, or UINT32_MAX) left out. */
uint32_t replacement_draw(struct replacement *replacement, uint32_t ways, uint32_t without);

#define REPLACEMENT(id, text, doc) extern const struct replacement_ops replacement_##id;
#include "mem/cache/replacement/replacement.def"
#undef REPLACEMENT

#endif
