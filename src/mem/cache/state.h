/*
 * A cache's state, shared by the files that work on it: cache.c takes requests in, lookup.c decides
 * what happens to them, send.c sends requests on.
 *
 *      send -> [in queue] -> lookup --hit--> data port -> reply
 *                              |miss                        ^
 *                              v                            |
 *                         miss table -> [out] -> downstream -> fill
 */
#ifndef SONDE_MEM_CACHE_STATE_H
#define SONDE_MEM_CACHE_STATE_H

#include "mem/cache/gather.h"
#include "mem/cache/miss/miss.h"
#include "mem/cache/tags.h"
#include "mem/cache/written.h"
#include "mem/pool.h"
#include "mem/queue.h"
#include "mem/timeline.h"

struct mem_cache {
    const struct cache_spec *spec;
    enum mem_level level;
    struct engine *engine;
    const struct engine_clock *clock;
    uint32_t source;
    struct mem_port downstream;
    struct mem_cache_stats stats;

    struct tags tags;
    struct written written;
    struct gather gather;
    const struct miss_ops *miss_ops;
    struct miss_table *misses;
    struct timeline data_port;
    struct timeline atomics;

    struct request_queue in;
    struct waiters space;                    /* senders refused */
    bool stalled;                            /* the head waits for a fill or for space downstream */
    void (*resume)(struct mem_cache *cache); /* a fill or space has come: the head may try again */
    bool pump_scheduled;
    uint32_t hit_slot;  /* of the last mem_cache_hit_now(): mostly the next one's, too */
    uint64_t lookup_ps; /* the edge of the last lookups, and how many there were */
    uint32_t lookups;

    struct request_list out; /* refused downstream; while there are any, no lookup adds */
    struct pool own;         /* struct own_request */
    struct {
        uint32_t left; /* writes that are not answered */
        engine_handler *done;
        void *ctx;
    } flush; /* mem_cache_write_back() */
};

/* The part of a request that lies in one line. */
struct piece {
    uint64_t line;          /* its set is that of its first byte: a line lies in one set */
    uint32_t offset, bytes; /* in the line */
    uint32_t set, slot;
    uint64_t sectors;
};

/* A request that the cache itself makes: a fetch of sectors, or (line == NULL) a write-back. */
struct own_request {
    struct mem_request request;
    struct mem_cache *cache;
    union {
        struct miss_line *line;       /* of a fetch */
        struct mem_request *gathered; /* of a write: stores that it stands for (gather.c) */
    };
    uint64_t sectors;
};
_Static_assert(sizeof(struct own_request) == 128, "a request fits two lines of a cache");

/*
 * Look up the next piece of a request at `edge_ps`. False: it must wait for a fill or space
 * downstream.
 */
bool cache_lookup(struct mem_cache *cache, struct mem_request *request, uint64_t edge_ps);

/* own.c: a request of the cache's own, for `sectors`; vaddr, paddr and sm are the caller's to fill
 * in. NULL: the engine was told that there is no memory. */
struct own_request *own_take(struct mem_cache *cache, enum mem_kind kind, engine_handler *reply,
                             struct miss_line *line, uint32_t bytes, uint64_t sectors);
/* Of what a line that has left, or is to be clean, holds that memory does not, at `leave_ps`: whole
 * sectors are written, each run of neighbours as one, sectors that are known in part are read
 * first. `physical`: where the line lies, for caches that know lines by virtual addresses. */
void own_write_back(struct mem_cache *cache, const struct tag_line *line, uint64_t physical,
                    uint64_t leave_ps);
/* The first run of adjoining bits of `bits`, not 0: its first bit, its length; and its mask. */
uint32_t own_next_run(uint32_t *length, uint64_t bits);
uint64_t own_run_mask(uint32_t first, uint32_t length);

/* What mem_request.written tells of, and the sectors of which stores are counted. */
enum { CHUNK_BYTES = 128, STORE_SECTOR_BYTES = 32 };

/* Bits [first, end) of a chunk's mask. */
static inline void chunk_range(uint64_t mask[2], uint32_t first, uint32_t end)
{
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t from = first > half * 64 ? first - half * 64 : 0;
        uint32_t to = end > half * 64 ? end - half * 64 : 0;
        to = to > 64 ? 64 : to;
        mask[half] = from < to ? (UINT64_MAX >> (64 - (to - from))) << from : 0;
    }
}

/* What a store writes of bytes [first, end) of a chunk. */
static inline void chunk_written(uint64_t mask[2], const struct mem_request *request,
                                 uint32_t first, uint32_t end)
{
    chunk_range(mask, first, end);
    if (request->written[0] | request->written[1]) {
        mask[0] &= request->written[0];
        mask[1] &= request->written[1];
    }
}

/* send.c: send downstream at `leave_ps`, behind those that wait already. */
void cache_send_out(struct mem_cache *cache, struct mem_request *request, uint64_t leave_ps);

static inline uint64_t cache_key(const struct mem_cache *cache, const struct mem_request *request)
{
    return cache->spec->address == ADDRESS_VIRTUAL ? request->vaddr : request->paddr;
}

#endif
