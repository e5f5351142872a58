/*
 * A warp's access to memory, and the requests that it becomes.
 *
 *   access   a warp memory instruction that waits for memory
 *   detail   its addresses and data, and the transactions that it becomes: kept until these are
 *            sent; of an atomic, which takes effect later, to the end. A warp's loads wait for
 *            hundreds of cycles, and their details would push all else out of the host's caches.
 *   request  one of its transactions, on its way through the memory system
 *   pipe     the way that the access takes through the SM, with a queue of its own
 *   pool     accesses, details and requests that are not in use
 *
 * An access carries the functions that end it. What sends requests therefore calls nothing that
 * knows of warps and CTAs.
 */
#ifndef SONDE_CORE_MEMORY_ACCESS_H
#define SONDE_CORE_MEMORY_ACCESS_H

#include <stddef.h>

#include "core/memory/coalesce.h"
#include "engine/engine.h"
#include "exec/exec.h"
#include "mem/mem.h"
#include "mem/pool.h"

struct sm;
struct sm_warp;
struct lsu_access;

struct access_detail {
    struct exec_access access;
    struct access_detail *next;                   /* in the pool */
    struct transaction transaction[COALESCE_MAX]; /* last: mostly few of many */
};

/*
 * The ways of accesses that wait for memory, each with a queue of its own: the load/store unit's
 * (global and local memory), the texture unit's (fetches, and read-only loads where the model sends
 * them there), the constant caches'.
 */
enum pipe { PIPE_LSU, PIPE_TEXTURE, PIPE_CONSTANT, PIPE_COUNT };

/* How an access ends: complete.c. */
struct access_completion {
    engine_handler *reply; /* to a struct lsu_request; ctx is its access */
    /* All of its requests are answered, or there were none. */
    void (*answered)(struct sm *sm, struct lsu_access *access, uint64_t cycle);
    /* Its results are usable at `cycle`. */
    void (*complete)(struct sm *sm, struct lsu_access *access, uint64_t cycle);
};

extern const struct access_completion access_completion;

/*
 * A warp memory instruction on its way through one of them. Two lines of the host's cache; the
 * first one has what its answers ask for.
 */
struct lsu_access {
    struct sm_warp *warp;
    const struct exec_uop_info *info;
    struct access_detail *detail; /* NULL: not needed any more */
    struct sm *sm;
    uint64_t issue_cycle;
    uint32_t count, sent;   /* transactions */
    uint32_t replies_left;  /* of those sent */
    uint32_t unserved_left; /* an atomic: requests that L2 has not performed */
    enum pipe pipe : 8;
    enum exec_access_kind kind : 8;
    bool started : 1, bypass : 1, answered : 1;
    bool banked : 1;     /* it looks up several lines in a cycle */
    bool holds_warp : 1; /* its warp issues nothing until it is complete */
    bool performed : 1;  /* an atomic: on the memory image */
    bool stalled : 1;    /* has found no place among what may be outstanding */
    uint8_t copy_group;  /* of a cp.async: its place in warp->copies */
    uint32_t copy_epoch; /* likewise: see async/arrive.c */

    struct lsu_access *next; /* in the queue, or in the texture unit */
    struct lsu_access *next_atomic;
    const struct access_completion *completion;
    const struct mem_port *port;
    uint64_t lookup_cycle; /* not sent before */
    uint64_t written_ps;   /* the next answer may be written back from here on */
    uint64_t done_cycle;   /* texture: its data are there, but for the filter */
};
_Static_assert(offsetof(struct lsu_access, next) == 64, "an answer looks at one line of a cache");

struct lsu_request {
    struct mem_request mem; /* first: what travels */
    struct lsu_access *owner;
    struct lsu_request *next_joined; /* merge.c */
    bool served;                     /* of an atomic: L2 has performed it */
};
_Static_assert(sizeof(struct lsu_request) == 128, "a request fits two lines of a cache");

static inline bool is_atomic(const struct lsu_access *access)
{
    return access->kind == ACCESS_ATOMIC || access->kind == ACCESS_REDUCTION;
}

/* Of a matrix: it is several accesses. */
static inline bool is_fragment(const struct exec_access *access)
{
    return access->kind == ACCESS_FRAGMENT_LOAD || access->kind == ACCESS_FRAGMENT_STORE;
}

/* An access that waits for memory leaves something in a register: it counts among a warp's loads.
 */
static inline bool has_result(const struct exec_uop_info *info)
{
    return info->result_count != 0;
}

/* pool.c: memory is taken up to the high-water mark and kept. NULL: there is none. */
struct access_pool {
    struct pool accesses, requests;
    struct access_detail *details;
};

void access_pool_init(struct access_pool *pool);

struct lsu_access *access_take(struct access_pool *pool); /* with a detail */
void access_release(struct access_pool *pool, struct lsu_access *access);
/* All its requests are sent: its detail goes, unless it is still to take effect. */
void access_sent(struct access_pool *pool, struct lsu_access *access);
struct lsu_request *request_take(struct access_pool *pool);
void request_release(struct access_pool *pool, struct lsu_request *request);
void access_pool_free(struct access_pool *pool);

#endif
