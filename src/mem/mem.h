/*
 * The contract between the memory system's components. A request travels down through ports
 * (LSU -> L1 -> network -> L2 slice -> DRAM) and its reply comes back as a call of `reply`, exactly
 * once, later than the send returned. A port may refuse (queue full); the sender then waits for the
 * `space` callback it left. Whoever makes a request owns it until the reply, and leaves it alone
 * meanwhile: those that pass it on may put themselves between it and its reply for the time.
 *
 * Components move times, not data: bytes live in exec's memory, and nothing here looks at them.
 */
#ifndef SONDE_MEM_MEM_H
#define SONDE_MEM_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "mem/spec.h"

enum mem_kind { MEM_READ, MEM_WRITE, MEM_ATOMIC, MEM_PREFETCH };

/*
 * Where an access was served: recorded on the way for statistics and for tests, never for probes.
 */
enum mem_level { MEM_AT_NONE, MEM_AT_L1, MEM_AT_L2, MEM_AT_DRAM };

/*
 * Fill in with zero what does not apply. A bypass passes by caches of level MEM_AT_L1; a matching
 * line is evicted there, so that a later ordinary load does not hit what has become stale.
 *
 * Thousands are under way, and with what its owner knows of it a request fits two lines of the
 * host's cache. The first one has what all look at that pass it on.
 */
struct mem_request {
    uint64_t paddr;        /* of the first byte */
    uint64_t arrive_ps;    /* when it reaches the port it is sent to; the past means now. A
                              sender need not wait for that time. Queues keep the order of
                              sending */
    engine_handler *reply; /* reply(ctx, the request), at the time the data (or ack) is there */
    void *ctx;
    /* If not NULL: whoever knows that time beforehand may tell it here instead, at once. */
    const struct mem_outlet *outlet;
    struct mem_request *next; /* list link of whoever holds it */
    uint32_t bytes;           /* > 0; each line of the receiver costs a lookup */
    enum mem_kind kind : 8;
    enum mem_level served_at : 8;
    uint8_t lanes;     /* of a warp, that want bytes of it; 0: nobody says, so one */
    bool bypass : 1;   /* do not look up or allocate in the L1 (.cg) */
    bool constant : 1; /* what an SM's constant cache asks, where SMs share the next one */
    bool inner : 1;    /* made by a cache in memory: its reply does not leave for the SM */
    bool joined : 1;   /* what it missed in the L1 was on its way to it: a pending hit */
    /* Of the cache that holds it, as are done_bytes, ready_ps and pieces. */
    bool stalled : 1;   /* it has found no place in the miss structure */
    uint8_t done_lanes; /* of the piece that is being placed */
    uint8_t asked;      /* sectors of 32 bytes that went through the network for it; 255: or more */
    uint16_t sm;        /* source SM */
    uint32_t done_bytes;

    uint64_t vaddr; /* of the first byte */
    uint64_t ready_ps;
    uint32_t pieces;
    uint16_t
        sectors;     /* of 32 bytes that a write touches of those from first to last byte; 0: all */
    uint16_t passes; /* of an atomic: in each sector of 32 bytes those lanes are done at once
                        that want different words; the passes of all sectors. 0: one */
    union {
        uint64_t written[2]; /* of a write: the bytes written of the aligned 128 in which its first
                                byte and its last one lie, a bit each; both 0: all from first to
                                last */
        struct mem_request *asker; /* of a read that a cache makes: for whom; NULL: for none */
    };
};
_Static_assert(offsetof(struct mem_request, vaddr) == 64 && sizeof(struct mem_request) == 104,
               "what all look at is one line of a cache, and its owner has 24 bytes of two");

/* Sectors went through the network for the request. */
static inline void mem_request_ask(struct mem_request *request, uint64_t sectors)
{
    uint64_t all = request->asked + sectors;
    request->asked = (uint8_t)(all < UINT8_MAX ? all : UINT8_MAX);
}

/* Who is told when a request's reply will be there. */
struct mem_outlet {
    void (*reply)(void *self, struct mem_request *request, uint64_t at_ps);
    void *self;
    struct engine *engine; /* of a network's source: what the reply is to be an event of */
};

struct mem_port {
    /* Accept the request now (true), or refuse because the input queue is full. */
    bool (*send)(void *self, struct mem_request *request);
    /* Call handler(ctx, arg) once, as an event, when there may be space again. */
    void (*when_space)(void *self, engine_handler *handler, void *ctx, uint64_t arg);
    void *self;
};

/*
 * A cache. Times, of a request that reaches it at a clock edge and finds nothing in its way:
 *
 *   hit             the reply comes after hit_cycles
 *   miss            the fetch leaves after miss_cycles, its data goes on after fill_cycles
 *   bypass          leaves at once; its reply goes past the cache
 *   write through   leaves after miss_cycles; the level below acknowledges it
 *   write back      acknowledged after hit_cycles; sectors written in part are fetched if absent,
 *                   or kept as they are (partial_lines)
 *   atomic          at the L1: a bypass; below it: a write that also reads
 *
 * Obstacles: lookups (accesses_per_cycle, in order of arrival; what cannot proceed blocks those
 * behind it), the data port (ceil(bytes / width) cycles from when the data is ready; the reply
 * comes at the start of the last), the miss structure, and whatever refuses downstream.
 */
struct mem_cache;
struct mem_cache_stats {
    uint64_t reads, read_hits;
    uint64_t read_pending_hits; /* all that these missed was on its way already */
    uint64_t writes, write_hits, atomics, bypasses;
    uint64_t fetches;               /* requests for sectors sent downstream */
    uint64_t evictions, writebacks; /* lines; writebacks are the dirty ones among them, and those
                                       that were written back and stayed */
    uint64_t mshr_full_stalls;      /* requests that found the miss structure full */
};

/*
 * `clock`: the cache's clock domain; `source`: engine source id, unique in the gpu. The
 * specification and the clock are borrowed and must outlive the cache. A specification with
 * enabled = false gives a cache whose port is `downstream`. SONDE_EINPUT when the specification
 * does not hold together, SONDE_ENOMEM.
 */
int mem_cache_create(struct mem_cache **out, const struct cache_spec *spec, enum mem_level level,
                     struct engine *engine, const struct engine_clock *clock, uint32_t source,
                     struct mem_port downstream);
void mem_cache_destroy(struct mem_cache *cache);
struct mem_port mem_cache_port(struct mem_cache *cache);
/*
 * Clean lines are dropped, dirty ones written back at no time; what is on its way arrives, and is
 * not kept.
 */
void mem_cache_invalidate(struct mem_cache *cache);
/* What it holds of stores for others of the same lines (cache_spec.gather_lines) leaves. */
void mem_cache_send_gathered(struct mem_cache *cache);
/* Writes every dirty line downstream, as when it leaves; it stays, clean. done(ctx, 0) when all are
 * answered, at once where none is dirty. Not to be called again before, nor where the cache keeps
 * parts of sectors. */
void mem_cache_write_back(struct mem_cache *cache, engine_handler *done, void *ctx);
bool mem_cache_is_dirty(const struct mem_cache *cache);
/* What mem_cache_create() checks; the text of the error names the parameter. */
int mem_cache_check(const struct cache_spec *spec);
const struct mem_cache_stats *mem_cache_stats(const struct mem_cache *cache);
/*
 * A read that hits with nothing in its way, done at once and without a request: counted, the
 * policy told, *ready_ps when the data is there (the data port is not asked). False: nothing has
 * happened; send a request. `arrive_ps` as of a request; `address` as the cache knows lines.
 * Sectored caches never answer.
 */
bool mem_cache_hit_now(struct mem_cache *cache, uint64_t address, uint64_t arrive_ps,
                       uint64_t *ready_ps);
/*
 * Host copies pass through: touch a line's sectors without time (allocate as a write-back cache
 * would).
 */
void mem_cache_touch(struct mem_cache *cache, uint64_t address, uint64_t bytes, bool dirty);
/* The line of an address goes, if it is there, and is not kept if it is on its way: what was
 * written elsewhere. */
void mem_cache_drop(struct mem_cache *cache, uint64_t address);
/* Whether all sectors of the range are valid; `address` as the cache knows lines. */
bool mem_cache_holds(const struct mem_cache *cache, uint64_t address, uint64_t bytes);

/*
 * The network: requests go from a source's port to a target, replies back to the port they came
 * by.
 */
struct mem_noc;
int mem_noc_create(struct mem_noc **out, const struct noc_spec *spec, struct engine *engine,
                   const struct engine_clock *clock, uint32_t source, uint32_t sources,
                   uint32_t targets);
/* What mem_noc_create() checks: SONDE_EINPUT with the reason. */
int mem_noc_check(const struct noc_spec *spec, uint32_t sources, uint32_t targets);
void mem_noc_destroy(struct mem_noc *noc);
void mem_noc_connect(struct mem_noc *noc, uint32_t target, struct mem_port port);
/*
 * The port by which source `source` sends; `route` chooses the target from the physical address.
 * To be called once a source, after all targets are connected.
 */
struct mem_port mem_noc_port(struct mem_noc *noc, uint32_t source,
                             uint32_t (*route)(void *ctx, const struct mem_request *), void *ctx);

/*
 * Who takes the replies of a source: told of each when the time at which it will come out of the
 * network is known, which is later than now by at least mem_noc_lookahead_ps(). At that time, as an
 * event of the outlet's engine, it is to call mem_noc_deliver(), which touches nothing but the
 * source's own end of the network and calls the request's `reply`, at once or as an event of that
 * engine too, where replies stand in line there. Without an outlet the network does so with its own
 * engine. Before mem_noc_port() of that source.
 */
void mem_noc_set_outlet(struct mem_noc *noc, uint32_t source, struct mem_outlet outlet);

/* Where sources share reads (spec->share_tables): of which group this one is. */
void mem_noc_set_group(struct mem_noc *noc, uint32_t source, uint32_t group);
void mem_noc_deliver(struct mem_noc *noc, uint32_t source, struct mem_request *request);
uint64_t mem_noc_lookahead_ps(const struct mem_noc *noc);
/*
 * Ports without a bound take whatever is sent; the sender keeps to one by what the port holds, the
 * requests that are still in its queue. To be asked for a time not before now, which rises;
 * whatever will be sent until then comes on top.
 */
void mem_noc_set_bounded(struct mem_noc *noc, bool bounded);
uint32_t mem_noc_held(struct mem_noc *noc, uint32_t source, uint64_t at_ps);

/* What went one way; what a kind of network does not know is 0. */
struct mem_noc_way_stats {
    uint64_t packets, flits, routers; /* arrived; of them; routers that the packets passed */
    uint64_t sectors;        /* of 32 bytes, that requests ask for or bring; of shared reads once */
    uint64_t latency_ps;     /* from being sent to having arrived, in all */
    uint64_t stalled_cycles; /* in which a port could not send for want of a buffer */
};
struct mem_noc_stats {
    struct mem_noc_way_stats requests, replies;
};
void mem_noc_stats(struct mem_noc_stats *out, const struct mem_noc *noc);

/* One DRAM channel: banks with open rows behind a data bus. */
struct mem_dram;
struct mem_dram_stats {
    uint64_t reads, writes;
    uint64_t read_bytes, written_bytes;
    uint64_t row_hits, row_misses; /* of what requests want of each unit (dram/channel.h); a
                                      miss activated a row */
    uint64_t busy_ps;              /* the data bus carried data: its subchannels' mean */
    uint64_t sending_ps; /* that of any subchannel did; where a write's data pass before those of a
                            read that was sent first, the read's alone are counted */
    uint64_t pending_ps; /* a request waited or was being served */
};
int mem_dram_create(struct mem_dram **out, const struct dram_spec *spec, struct engine *engine,
                    const struct engine_clock *core_clock, uint32_t source); /* one channel */
/* What mem_dram_create() checks: SONDE_EINPUT with the reason. */
int mem_dram_check(const struct dram_spec *spec);
/* Before the first request: it is channel `channel` of the specification's, whose refreshes come in
 * turn where the specification says so. */
void mem_dram_set_channel(struct mem_dram *dram, uint32_t channel);
void mem_dram_destroy(struct mem_dram *dram);
struct mem_port mem_dram_port(struct mem_dram *dram);
const struct mem_dram_stats *mem_dram_stats(const struct mem_dram *dram);

/* Commands as they are given, for tests. An automatic precharge is told of with the column command
 * that asks for it, at the clock at which it begins. */
enum mem_dram_command_kind {
    MEM_DRAM_PRECHARGE,
    MEM_DRAM_ACTIVATE,
    MEM_DRAM_READ,
    MEM_DRAM_WRITE,
    MEM_DRAM_REFRESH /* all banks of all subchannels, or `bank` of each: by_bank */
};
struct mem_dram_command {
    enum mem_dram_command_kind kind;
    bool automatic;
    uint32_t subchannel, bank;
    uint64_t row, clock; /* of the memory's */
};
void mem_dram_watch(struct mem_dram *dram,
                    void (*note)(void *ctx, const struct mem_dram_command *command), void *ctx);

/* indexing: the set of an address, < sets (indexing/, one file a kind). */
uint32_t mem_index_set(const struct index_spec *index, uint32_t sets, uint32_t line_bytes,
                       uint64_t address);
/* SONDE_EINPUT, with the reason, unless the function yields only numbers below `sets`. */
int mem_index_check(const struct index_spec *index, uint32_t sets);

#endif
