/*
 * Address translation, as far as it costs time: which frame a page lies in is known beforehand
 * (requests carry both addresses), what is modelled is how long the hardware takes to find out.
 *
 *      request --> translator --> downstream (the network; L1, where that is physical)
 *                    | ^
 *                    v |  translation requests: reads of a page by its virtual address
 *                 L1 TLB --> L2 TLB --> walker --> entries of the page table, read through L2
 *
 * TLBs are caches of pages (struct mem_cache with a tlb_spec's specification): sets, indexing,
 * replacement, merging of misses to one page and back-pressure are those of caches. An entry that
 * is there costs its TLB's hit latency; one that is not, the TLB's miss latency, what is below it,
 * and its fill latency.
 *
 * Left out: faults and replays (rt refuses accesses to what is not mapped), access bits, caches of
 * upper levels in the walker, prefetching of entries.
 */
#ifndef SONDE_MEM_TLB_TLB_H
#define SONDE_MEM_TLB_TLB_H

#include "mem/mem.h"

/* Fills in what a TLB's cache_spec has from its geometry: size, sector, kind of address, writes. */
void mem_tlb_complete(struct tlb_spec *tlb);

/*
 * A translator: what passes its port has been translated when it goes on. A request whose page
 * misses waits here, up to `entries` of them; those behind it whose pages hit go past it. `tlb`
 * may be NULL: translation requests go to `below`, else below is the TLB's own port. Both are
 * borrowed.
 */
struct mem_translator;
int mem_translator_create(struct mem_translator **out, struct engine *engine, uint32_t source,
                          uint32_t entries, struct mem_cache *tlb, struct mem_port below,
                          struct mem_port downstream);
void mem_translator_destroy(struct mem_translator *translator);
struct mem_port mem_translator_port(struct mem_translator *translator);

/*
 * The walker: the port below the last TLB. A walk reads one entry of each level, the next when
 * the one before is there; walks to different pages overlap up to spec->walks.
 *
 * With a window, only the tables of that much aligned address space are active. The first walk
 * activates its window; a walk elsewhere begins when its own has been activated, switch_cycles
 * after it might have begun or after the last switch; those under way go on.
 */
struct mem_walker_memory {
    /* The physical address of the entry of `level` for a virtual address; false: none. */
    bool (*entry)(void *ctx, uint32_t level, uint64_t vaddr, uint64_t *paddr);
    /* The port of L2 that serves a physical address. */
    struct mem_port (*port)(void *ctx, uint64_t paddr);
    void *ctx;
};

struct mem_walker_stats {
    uint64_t walks, reads, window_switches;
};

struct mem_walker;
int mem_walker_create(struct mem_walker **out, const struct walker_spec *spec,
                      struct engine *engine, const struct engine_clock *clock, uint32_t source,
                      const struct mem_walker_memory *memory);
void mem_walker_destroy(struct mem_walker *walker);
struct mem_port mem_walker_port(struct mem_walker *walker);
/* SONDE_EINPUT, naming the parameter, when the specification does not hold together. */
int mem_walker_check(const struct walker_spec *spec);
const struct mem_walker_stats *mem_walker_stats(const struct mem_walker *walker);

#endif
