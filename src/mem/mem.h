/*
 * The contract between the memory system's components. A request travels down through ports
 * (LSU -> L1 -> network -> L2 slice -> DRAM) and its reply comes back as a call of `reply`. A port
 * may refuse (queue full); the sender then waits for the `space` callback it left. Whoever makes a
 * request owns it until the reply.
 */
#ifndef SONDE_MEM_MEM_H
#define SONDE_MEM_MEM_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "mem/spec.h"

enum mem_kind { MEM_READ, MEM_WRITE, MEM_ATOMIC, MEM_PREFETCH };

/* Where an access was served: recorded on the way for statistics and for tests, never for probes. */
enum mem_level { MEM_AT_NONE, MEM_AT_L1, MEM_AT_L2, MEM_AT_DRAM };

struct mem_request {
    uint64_t vaddr, paddr;          /* of the first byte; never crosses a line of the receiver */
    uint32_t bytes;
    uint32_t sm;                    /* source SM */
    enum mem_kind kind;
    enum mem_level served_at;
    bool bypass;                    /* do not look up or allocate in the next cache (.cg at L1) */
    uint64_t issued_ps;
    engine_handler *reply;          /* reply(ctx, arg), at the time the data (or ack) is there */
    void *ctx;
    uint64_t arg;
    struct mem_request *next;       /* list link of whoever holds it */
};

struct mem_port {
    /* Accept the request now (true), or refuse because the input queue is full. */
    bool (*send)(void *self, struct mem_request *request);
    /* Call handler(ctx, arg) once, when there may be space again. */
    void (*when_space)(void *self, engine_handler *handler, void *ctx, uint64_t arg);
    void *self;
};

struct mem_cache;
struct mem_cache_stats { uint64_t reads, read_hits, read_pending_hits, writes, write_hits, evictions,
                         writebacks, mshr_full_stalls; };

/* `clock`: the cache's clock domain; `source`: engine source id, unique in the gpu. */
int mem_cache_create(struct mem_cache **out, const struct cache_spec *spec, enum mem_level level,
                     struct engine *engine, const struct engine_clock *clock, uint32_t source,
                     struct mem_port downstream);
void mem_cache_destroy(struct mem_cache *cache);
struct mem_port mem_cache_port(struct mem_cache *cache);
void mem_cache_invalidate(struct mem_cache *cache);         /* clean lines dropped, dirty written back at no time */
const struct mem_cache_stats *mem_cache_stats(const struct mem_cache *cache);
/* Host copies pass through: touch a line's sectors without time (allocate as a write-back cache would). */
void mem_cache_touch(struct mem_cache *cache, uint64_t address, uint32_t bytes, bool dirty);

struct mem_noc;
int mem_noc_create(struct mem_noc **out, const struct noc_spec *spec, struct engine *engine,
                   const struct engine_clock *clock, uint32_t source, uint32_t sources,
                   uint32_t targets);
void mem_noc_destroy(struct mem_noc *noc);
void mem_noc_connect(struct mem_noc *noc, uint32_t target, struct mem_port port);
/* The port by which source `source` sends; `route` chooses the target from the physical address. */
struct mem_port mem_noc_port(struct mem_noc *noc, uint32_t source,
                             uint32_t (*route)(void *ctx, const struct mem_request *), void *ctx);

struct mem_dram;
struct mem_dram_stats { uint64_t reads, writes, row_hits, row_misses, busy_ps; };
int mem_dram_create(struct mem_dram **out, const struct dram_spec *spec, struct engine *engine,
                    const struct engine_clock *core_clock, uint32_t source);   /* one channel */
void mem_dram_destroy(struct mem_dram *dram);
struct mem_port mem_dram_port(struct mem_dram *dram);
const struct mem_dram_stats *mem_dram_stats(const struct mem_dram *dram);

/* indexing: the set of an address (indexing/*.c, one file a kind). */
uint32_t mem_index_set(const struct index_spec *index, uint32_t sets, uint32_t line_bytes, uint64_t address);

#endif
