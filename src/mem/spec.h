/*
 * Specifications of the memory system's components: plain data, validated by model, frozen
 * afterwards. Cycles are cycles of the core clock unless a name says otherwise. No power of two is
 * assumed anywhere.
 */
#ifndef SONDE_MEM_SPEC_H
#define SONDE_MEM_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#define MEM_MAX_WAYS 512
#define MEM_MAX_INDEX_MASKS 24
#define MEM_MAX_MAP 4096

/* indexing/indexing.def: INDEXING(ID, "name", "doc") */
enum index_kind {
#define INDEXING(id, text, doc) INDEX_##id,
#include "mem/cache/indexing/indexing.def"
#undef INDEXING
    INDEX_KIND_COUNT
};

/*
 * A function from address to set. BITS: set bit i is address bit bits[i]. XOR: set bit i is the
 * parity of (address & masks[i]). MODULO: (address / unit_bytes) mod sets. HASH: the same with the
 * number's bits mixed. ROUNDS: (number mod block_units + what is drawn for the block) mod sets.
 * MAP: (address / unit_bytes) mod map_count looked up in map[].
 */
struct index_spec {
    enum index_kind kind;
    uint32_t mask_count;
    uint64_t masks[MEM_MAX_INDEX_MASKS]; /* BITS: one bit each */
    uint32_t unit_bytes;                 /* MODULO, HASH, ROUNDS, MAP; 0: the line */
    uint64_t seed;                       /* HASH, ROUNDS */
    uint32_t block_units;                /* ROUNDS */
    uint32_t map_count;
    uint16_t map[MEM_MAX_MAP];
};

/* replacement/replacement.def: REPLACEMENT(ID, "name", "doc") */
enum replacement_kind {
#define REPLACEMENT(id, text, doc) REPLACE_##id,
#include "mem/cache/replacement/replacement.def"
#undef REPLACEMENT
    REPLACE_KIND_COUNT
};

struct replacement_spec {
    enum replacement_kind kind;
    uint32_t probability_count;       /* BIASED, BIASED_ALTERNATING: one a way */
    double probability[MEM_MAX_WAYS]; /* by cold fill; smaller sets: the first ones */
    uint64_t seed;                    /* RANDOM, BIASED, BIASED_ALTERNATING */
};

/* miss/miss.def: MISS(ID, "name", "doc") */
enum miss_kind {
#define MISS(id, text, doc) MISS_##id,
#include "mem/cache/miss/miss.def"
#undef MISS
    MISS_KIND_COUNT
};

/* What takes a place of a pending line: a request, or each lane of a warp that it stands for. */
enum merger_kind { MERGER_REQUEST, MERGER_LANE };
/* WRITE_BACK_WHOLE: a line that a write misses is read whole whatever is written of it, the warp
 * waits for it (see sm_set_l1()), and it is written whole when it leaves. */
enum write_policy { WRITE_THROUGH_INVALIDATE, WRITE_THROUGH_UPDATE, WRITE_BACK, WRITE_BACK_WHOLE };
enum address_kind { ADDRESS_VIRTUAL, ADDRESS_PHYSICAL };

struct cache_spec {
    bool enabled;
    uint64_t size_bytes;   /* of one instance (one SM's L1, one L2 slice): what its tags reach */
    uint64_t data_bytes;   /* of the data array that the sets share; 0: size_bytes */
    uint32_t line_bytes;   /* what a tag covers */
    uint32_t sector_bytes; /* what a miss fetches; = line_bytes when not sectored */
    uint32_t sets;
    uint32_t ways;          /* equal sets; else ways_per_set */
    uint32_t unequal_count; /* 0, or = sets */
    uint16_t ways_per_set[MEM_MAX_MAP];
    struct index_spec index;
    struct replacement_spec replacement;
    enum address_kind address;
    enum write_policy write;
    bool invalidate_on_launch;
    uint32_t hit_cycles;                  /* arrival of a request to its data ready, on a hit */
    uint32_t miss_cycles;                 /* arrival to the request leaving downstream, on a miss */
    uint32_t fill_cycles;                 /* reply arriving to data forwarded */
    uint32_t accesses_per_cycle;          /* tag lookups a cycle; 0: unlimited */
    uint32_t data_bytes_per_cycle;        /* data port width; 0: unlimited */
    uint32_t write_bytes_per_cycle;       /* the same of writes of parts of sectors; 0: as reads */
    uint32_t whole_write_bytes_per_cycle; /* of writes of whole sectors; 0: as reads */
    uint32_t written_bytes; /* WRITE_BACK: pieces in which written data are kept and sent on, a
                               divisor of sector_bytes; 0: sector_bytes */
    uint32_t dirty_lines;   /* WRITE_BACK: that may be dirty at a time; 0: all */
    uint32_t partial_lines; /* WRITE_BACK: that may hold pieces written in part, which are not
                               fetched; 0: they are fetched when written */
    uint32_t atomic_passes; /* in 16 cycles, see mem_request.passes; 0: unlimited */
    uint32_t read_passes;   /* the same of reads, whose bytes then pass without rounding up to
                               cycles; 0: as atomic_passes. No limit without
                               data_bytes_per_cycle */
    uint32_t gather_lines;  /* writing through: of which stores may wait for others, 0: none does */
    uint32_t gather_held;   /* of these so many wait even if they could leave */
    uint32_t gather_cycles; /* not longer after the last of a line's stores */
    enum miss_kind miss;
    uint32_t mshr_entries; /* lines that may be pending, at least 1 */
    uint32_t mshr_mergers; /* further requests (or lanes) per pending line */
    enum merger_kind merger;
    bool separate_misses;   /* each request that misses fetches for itself */
    uint32_t queue_entries; /* input queue: requests that wait for a lookup, at least 1 */
};

/* Writes stay there until their line leaves. */
static inline bool cache_keeps_writes(const struct cache_spec *spec)
{
    return spec->write == WRITE_BACK || spec->write == WRITE_BACK_WHOLE;
}

/* noc/noc.def: NOC(ID, "name", "doc") */
enum noc_kind {
#define NOC(id, text, doc) NOC_##id,
#include "mem/noc/noc.def"
#undef NOC
    NOC_KIND_COUNT
};

/* noc/topology/topology.def: TOPOLOGY(ID, "name", "doc") */
enum noc_topology {
#define TOPOLOGY(id, text, doc) NOC_TOPOLOGY_##id,
#include "mem/noc/topology/topology.def"
#undef TOPOLOGY
    NOC_TOPOLOGY_COUNT
};

/* noc/allocator.def: NOC_ALLOCATOR(ID, "name", "doc") */
enum noc_allocator {
#define NOC_ALLOCATOR(id, text, doc) NOC_ALLOCATOR_##id,
#include "mem/noc/allocator.def"
#undef NOC_ALLOCATOR
    NOC_ALLOCATOR_COUNT
};

/* Of a network of kind FLITS. Cycles are cycles of its own clock. */
struct noc_flits_spec {
    enum noc_topology topology;
    uint32_t width, height; /* as the topology reads them */
    uint32_t flit_bytes;    /* that a channel carries in a cycle */
    uint32_t virtual_channels;
    uint32_t buffer_flits; /* of each virtual channel, at each input */
    enum noc_allocator vc_allocator, switch_allocator;
    uint32_t iterations;    /* of both allocators, at least 1 */
    uint32_t input_speedup; /* inputs of the crossbar for each port, at least 1 */
    uint32_t routing_cycles, vc_cycles, switch_cycles,
        link_cycles;             /* fabric.h; switch: 1 or more */
    uint64_t period_ps;          /* 0: the core clock's */
    uint32_t reply_entries;      /* replies that may wait at a target before it stops, at least 1 */
    uint32_t memory_place_count; /* 0, or = targets */
    uint16_t memory_places[MEM_MAX_MAP];
};

#define NOC_SECTOR_BYTES 32 /* what is counted, and the piece that folds_header is about */

/*
 * A packet is the header, and the data where it carries any (write, atomic; reply to a read, an
 * atomic). One that fits into a cycle's width takes the latency; each further cycle of
 * serialization adds one.
 */
struct noc_spec {
    enum noc_kind kind;
    uint32_t request_cycles, reply_cycles; /* latency, one way */
    uint32_t request_bytes_per_cycle;      /* per source port; 0: unlimited */
    uint32_t reply_bytes_per_cycle;        /* per destination port; 0: unlimited */
    uint32_t header_bytes;
    uint32_t write_granule_bytes; /* written data travel in whole pieces of this; 0: as they are */
    bool folds_header;            /* whole pieces go without one, a single word in one */
    uint32_t queue_entries;       /* per source port, at least 1 */
    uint32_t share_groups;        /* groups of a cluster's SMs whose reads go as one; 0: none do */
    uint32_t share_tables;        /* of all sources: model/check.c reckons it */
    uint32_t share_deal;          /* sources of a cluster that a group gets in its turn */
    uint32_t share_most;          /* requests that go as one; 0: any number */
    struct noc_flits_spec flits;
};

/* dram/sched/sched.def: DRAM_SCHED(ID, "name", "doc") */
enum dram_sched_kind {
#define DRAM_SCHED(id, text, doc) DRAM_SCHED_##id,
#include "mem/dram/sched/sched.def"
#undef DRAM_SCHED
    DRAM_SCHED_KIND_COUNT
};

/* dram/bus.def: DRAM_BUS(ID, "name", "doc") */
enum dram_bus_kind {
#define DRAM_BUS(id, text, doc) DRAM_BUS_##id,
#include "mem/dram/bus.def"
#undef DRAM_BUS
    DRAM_BUS_KIND_COUNT
};

/*
 * A channel, and how it is cut: subchannels of banks in groups. Times t_ are in memory clock
 * cycles; where 0 stands for something else the comment says so.
 */
struct dram_spec {
    enum dram_sched_kind sched;
    enum dram_bus_kind bus;
    uint32_t channels;         /* one per L2 slice group; requests interleave by slice */
    uint32_t interleave_bytes; /* contiguous bytes in one channel, taken out of bank and row; 0:
                                  the address is used as it is */
    uint32_t subchannels;      /* of a channel: banks and data bus of their own; 0: 1 */
    uint32_t banks;            /* of a subchannel */
    uint32_t bank_groups;      /* successive banks lie in successive groups; 0: 1 */
    uint32_t row_bytes;
    uint32_t bank_interleave_bytes; /* contiguous bytes in one bank; 0: a row */
    uint32_t banks_abreast;         /* take these in turn until their rows are full; 0: all */
    bool bank_hash;                 /* each row begins at another bank */
    uint32_t burst_bytes;
    uint64_t period_ps; /* memory command clock */
    uint32_t t_cl, t_rcd, t_rp, t_ras, t_rc, t_rrd;
    uint32_t t_rrd_l;          /* 0: t_rrd */
    uint32_t t_faw;            /* 0: no limit */
    uint32_t t_ccd_s, t_ccd_l; /* 0: a burst on the data bus; 0: t_ccd_s */
    uint32_t t_ccd_wr;         /* 0: a write as a read */
    uint32_t t_wl;             /* 0: t_cl */
    uint32_t t_rtp;            /* 0: a burst on the data bus */
    uint32_t t_wr, t_wtr, t_rtw;
    uint32_t t_refi, t_rfc;   /* t_refi 0: no refresh */
    bool refresh_by_bank;     /* a bank of each subchannel at a time, in turn */
    bool refresh_in_turn;     /* the channels' refreshes do not fall together */
    uint32_t bytes_per_cycle; /* data bus, per memory clock cycle and subchannel; 0: unlimited */
    uint32_t queue_entries;   /* per channel, at least 1 */
    uint32_t fixed_cycles;    /* core cycles of controller and pads, both ways together */
    bool closed_page;         /* precharge as soon as nothing waits for the row */
    bool parts_read_first;    /* a write of part of a burst reads it first, for want of masks */
    uint32_t overtakes;       /* FR_FCFS: later places that may go before one; 0: any number */
};

/* Virtual memory as the driver lays it out. */
struct vm_spec {
    uint64_t page_bytes;
    uint64_t memory_bytes; /* device memory */
};

/* tlb/scope.def: TLB_SCOPE(ID, "name", "doc") */
enum tlb_scope {
#define TLB_SCOPE(id, text, doc) TLB_PER_##id,
#include "mem/tlb/scope.def"
#undef TLB_SCOPE
    TLB_SCOPE_COUNT
};

/*
 * A TLB is a cache whose lines are pages: line_bytes and sector_bytes are what one entry
 * translates, size_bytes its coverage; it knows pages by their virtual address. What is not of
 * interest to it (writes, data port) stands as mem_tlb_complete() leaves it.
 */
struct tlb_spec {
    enum tlb_scope scope;
    struct cache_spec entries;
};

#define WALKER_MAX_LEVELS 4

/*
 * One level of a page table: an array with an entry of entry_bytes for each span_bytes of virtual
 * addresses, both powers of two.
 */
struct walker_level_spec {
    uint64_t span_bytes;
    uint32_t entry_bytes;
};

struct walker_spec {
    uint32_t latency_cycles; /* of a walk, besides its reads */
    uint32_t levels;         /* reads of a walk, each after the one before */
    struct walker_level_spec level[WALKER_MAX_LEVELS];
    uint32_t read_bytes;    /* what a read asks of L2, aligned */
    uint32_t walks;         /* at the same time, at least 1 */
    uint32_t queue_entries; /* that wait for one to end, at least 1 */
    uint64_t window_bytes;  /* of addresses whose tables are active; 0: all are */
    uint32_t switch_cycles; /* to activate another window */
};

#endif
