/*
 * Stores that a cache which writes through keeps back for a while, so that later ones of the same
 * lines go with them.
 */
#ifndef SONDE_MEM_CACHE_GATHER_H
#define SONDE_MEM_CACHE_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/spec.h"

struct mem_cache;
struct mem_request;

/* A line of which something is held. */
struct gather_line {
    uint64_t line;       /* its address divided by its bytes */
    uint64_t written[2]; /* as in a request */
    uint64_t leave_ps;   /* of the last of its stores, if it went alone */
    struct mem_request *first, *last;
};

struct gather {
    uint32_t count, capacity; /* capacity 0: nothing is held */
    bool timed;               /* an event comes that looks for those that have waited */
    struct gather_line *line; /* oldest first */
};

/* SONDE_EINPUT with the error text set; SONDE_ENOMEM. */
int gather_check(const struct cache_spec *spec);
int gather_init(struct gather *gather, const struct cache_spec *spec);
void gather_free(struct gather *gather);

/* A store of one line leaves at `leave_ps`, or stays. */
void gather_store(struct mem_cache *cache, struct mem_request *request, uint64_t leave_ps);
/* Whether a request can be held now, so that it need not wait until downstream takes others. */
bool gather_takes(const struct mem_cache *cache, const struct mem_request *request);
/* Downstream takes requests again. */
void gather_drain(struct mem_cache *cache);
/* All that is held leaves. */
void gather_flush(struct mem_cache *cache);

#endif
