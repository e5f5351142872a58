/*
 * A structure that keeps a cache's outstanding misses, in front of which requests of one warp
 * instruction to one line have become one: the coalescer merges these, the structure those of
 * different instructions. Where the specification says so it counts the lanes behind a request as
 * well, as if they merged here. (A table of instructions belongs to the SM: core/pending.)
 *
 * The cache looks a request up, finds sectors missing and asks for a place (`add`): the answer is a
 * pending line that the request now waits at, and which of its sectors are not on their way yet, or
 * that there is no place: try again when sectors arrived. When they do, `arrive` hands out those
 * that waited for nothing else, in order of arrival, and gives the place back with the last of
 * them.
 *
 *      add(A, sectors 0011) -> line, fetch 0011          pending 0011
 *      add(B, sectors 0110) -> line, fetch 0100          pending 0111    B merged
 *      arrive(0011)         -> A                         pending 0100
 *      arrive(0100)         -> B, line released          pending 0
 */
#ifndef SONDE_MEM_CACHE_MISS_MISS_H
#define SONDE_MEM_CACHE_MISS_MISS_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "mem/mem.h"

/* One request that waits for sectors of one line. */
struct miss_waiter {
    struct mem_request *request;
    uint64_t sectors, dirty; /* waits for; makes dirty once there */
    uint32_t bytes;          /* of the request that lie in this line */
    uint32_t places;         /* that it takes, at least 1 */
    struct miss_waiter *next;
};

/* Two lines of the host's cache. */
struct miss_line {
    alignas(64) uint64_t line; /* its number: address / line_bytes */
    uint64_t pending;          /* sectors on their way */
    bool discard;              /* became stale meanwhile: serve who waits, do not keep it */
    uint32_t waiting;          /* places taken */
    struct miss_waiter *first, *last;
    uint32_t next;             /* link in a hash chain or in the free list */
    struct miss_waiter opener; /* the first that came: mostly nobody follows */
};

struct miss_table;

enum { MISS_PLACED = 0, MISS_FULL = 1 };

typedef void miss_served(void *ctx, const struct miss_waiter *waiter);

struct miss_ops {
    int (*create)(struct miss_table **out, const struct cache_spec *spec);
    void (*destroy)(struct miss_table *table);
    /* What is pending of this line became stale. */
    void (*discard)(struct miss_table *table, uint64_t line);
    /*
     * MISS_PLACED: `waiter` is copied, with as many of its places as there were; *fetch, those of
     * its sectors that were not pending, are from now on. MISS_FULL, or SONDE_ENOMEM: nothing
     * happened.
     */
    int (*add)(struct miss_line **out, uint64_t *fetch, uint32_t *placed, struct miss_table *table,
               uint64_t line, const struct miss_waiter *waiter);
    /* Must not add from within `served`. `line` is gone when nothing is pending any more. */
    void (*arrive)(struct miss_table *table, struct miss_line *line, uint64_t sectors,
                   miss_served *served, void *ctx);
    void (*discard_all)(struct miss_table *table);
    uint32_t (*used)(const struct miss_table *table); /* pending lines */
};

#define MISS(id, text, doc) extern const struct miss_ops miss_##id;
#include "mem/cache/miss/miss.def"
#undef MISS

/* NULL when there is no such kind. */
const struct miss_ops *miss_ops_of(enum miss_kind kind);

#endif
