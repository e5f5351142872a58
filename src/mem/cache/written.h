/*
 * Limits on the dirty lines of a write-back cache. One bounds how many lines are dirty, the other
 * how many hold partly written sectors, of which only the written bytes are valid. A line beyond
 * the limit causes the oldest one to be written back; that line stays in the cache, clean.
 */
#ifndef SONDE_MEM_CACHE_WRITTEN_H
#define SONDE_MEM_CACHE_WRITTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/spec.h"

struct mem_cache;
struct mem_request;
struct piece;

/* Slots in the order in which they came, linked in a circle through the place behind the last slot.
 * NULL: none is kept. */
struct slot_list {
    struct slot_link {
        uint32_t next, previous; /* next == WRITTEN_OUT: not in the list */
    } * links;                   /* [lines + 1] */
    uint32_t lines, count;
};
#define WRITTEN_OUT UINT32_MAX

struct written {
    uint32_t most_dirty, most_partial; /* lines; 0: no bound, sectors are fetched when written */
    struct slot_list dirty, partial;
    uint64_t (*bytes)[2]; /* [lines]: of those in `partial`, which are known of sectors not whole */
};

/* SONDE_EINPUT, naming the parameter, when the specification's bounds do not hold together. */
int written_check(const struct cache_spec *spec);
/* `spec` has passed written_check. SONDE_ENOMEM. */
int written_init(struct written *written, const struct cache_spec *spec, uint32_t lines);
void written_free(struct written *written);

static inline bool written_has_limits(const struct written *written)
{
    return (written->most_dirty | written->most_partial) != 0;
}

/* The line of `slot` has gone. */
void written_forget(struct written *written, uint32_t slot);

/*
 * A write to a line that is there, of a cache that keeps parts: sectors that it covers, or
 * completes, become whole. To be followed by written_changed().
 */
void written_store(struct mem_cache *cache, const struct mem_request *request,
                   const struct piece *piece);

/* Sectors of `slot` have been written or have arrived: what is too much leaves at `leave_ps`. */
void written_changed(struct mem_cache *cache, uint32_t slot, uint64_t leave_ps);
/* The same without time and requests: of what the host copies. */
void written_changed_at_once(struct mem_cache *cache, uint32_t slot);

#endif
