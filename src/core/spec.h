/*
 * Specification of a streaming multiprocessor: plain data, validated by model, frozen afterwards.
 * Latencies are in core cycles from issue to the result being usable by a dependent instruction.
 */
#ifndef SONDE_CORE_SPEC_H
#define SONDE_CORE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/fragment.h"
#include "isa/isa.h"

/* sched/sched.def: SCHED(ID, "name", "doc") */
enum sched_kind {
#define SCHED(id, text, doc) SCHED_##id,
#include "core/sched/sched.def"
#undef SCHED
    SCHED_KIND_COUNT
};

struct unit_spec {
    uint32_t latency_cycles;
    uint32_t lanes_per_cycle;
};

struct shared_spec {
    uint64_t size_bytes; /* per SM */
    uint32_t banks;
    uint32_t bank_bytes;      /* a row of a bank: what it delivers in one pass */
    uint32_t word_bytes;      /* successive words of this size lie in successive banks; divides
                                 bank_bytes; 0: bank_bytes */
    bool word_selectable;     /* the driver may choose words of 4 bytes or of bank_bytes */
    uint32_t latency_cycles;  /* no conflict */
    uint32_t conflict_cycles; /* each further way */
    /* So long a further way keeps the load/store unit; 0: as long as it takes. */
    uint32_t conflict_interval_cycles;
    uint32_t matrix_cycles; /* ldmatrix without conflict, of one matrix; 0: no time at all */
    /* A scheduler's way there, for each pass of ldmatrix and of stmatrix. */
    uint32_t matrix_load_cycles, matrix_store_cycles;
};

/* The network between the SMs of a cluster's CTAs. */
struct cluster_spec {
    uint32_t latency_cycles;  /* of an access to another CTA's shared memory */
    uint32_t barrier_cycles;  /* the last arrival to waiting warps that go on */
    uint32_t bytes_per_cycle; /* of an SM; 0: no limit */
    uint32_t async_cycles;    /* of what counts on a barrier there, from issue to that */
    uint32_t arrive_cycles;   /* an arrival at a barrier there to who waits */
};

/* For so long fences and releases hold their warp before they act; 0: until what is before is over.
 */
struct fence_spec {
    /* By exec_reach. */
    uint32_t init_cycles, shared_copies_cycles, cta_cycles, copies_cycles, others_cycles,
        system_cycles;
    /* Longer, when the SM has accessed device memory since the last such one; instead, when that
     * was memory which lies far (sm_host). */
    uint32_t access_cycles, far_cycles;
};

struct product_spec {
    uint32_t latency_cycles; /* of an asynchronous matrix product, beside its columns; 0: no time */
    uint32_t columns_per_cycle; /* of 64 rows, by an SM's tensor cores */
    uint32_t least_cycles;      /* what the tensor cores take beside half of the columns' time */
};

/* A machine instruction of a warp's products. */
struct step_spec {
    uint32_t latency_cycles; /* 0: the tensor unit's */
    uint32_t lanes_per_cycle;
};

/* cp.async. */
struct copy_spec {
    uint32_t latency_cycles; /* the last answer to its bytes in shared memory; 0: no time at all */
    uint32_t l1_cycles;      /* the same of .ca, which goes through L1; 0: latency_cycles */
};

/* The engine of bulk copies, see async/bulk.c. */
struct bulk_spec {
    uint32_t latency_cycles;                    /* issue to the first request; 0: no time at all */
    uint32_t issue_cycles, tensor_issue_cycles; /* a copy into shared memory holds its warp */
    uint32_t requests;                          /* on their way, 0: no limit */
    uint32_t write_bytes;                       /* a cycle, out of shared memory; 0: no limit */
    uint32_t write_latency_cycles;
};

/* Barriers in shared memory. */
struct mbarrier_spec {
    uint32_t latency_cycles;  /* issue, or the end of the phase, to the result; 0: no time at all */
    uint32_t arrive_cycles;   /* issue of an arrival to its state; 0: as latency */
    uint32_t interval_cycles; /* for so long an instruction keeps the load/store unit */
    uint32_t limit_cycles;    /* of a wait */
};

struct coalesce_spec {
    uint32_t segment_bytes;      /* transactions are aligned segments of this size */
    uint32_t sector_bytes;       /* a read asks for whole ones; a divisor of the segment */
    uint32_t lanes_per_pass;     /* 32: the whole warp; 16: half-warps */
    uint32_t inter_warp_entries; /* reads that later ones may join, see merge.h; 0: none */
    bool halving;                /* the rules of compute capability 1.2: coalesce_halve() */
};

/* How lanes of a warp that disagree go on: see exec/divergence/diverge.h. */
enum divergence { DIVERGENCE_STACK, DIVERGENCE_INDEPENDENT };

/* pending/pending.def: PENDING(ID, "name", "doc") */
enum pending_kind {
    PENDING_NONE,
#define PENDING(id, text, doc) PENDING_##id,
#include "core/pending/pending.def"
#undef PENDING
    PENDING_KIND_COUNT
};

/* What may be outstanding, see pending/pending.h. */
struct pending_spec {
    enum pending_kind kind;
    uint32_t entries;      /* at least 1 where there is a structure */
    bool hold_instruction; /* REQUEST_LIMIT: see request_limit.c */
    uint32_t retry_cycles; /* until a refused access asks again; 0: when an entry is freed */
};

/* How accesses leave the load/store unit, see lanes.c. */
struct lanes_spec {
    uint32_t parallel;           /* accesses that send at a time, 0: 1 */
    uint32_t request_cycles;     /* between two requests of one, 0: 1 */
    uint32_t instruction_cycles; /* an access takes its place for at least so many */
    uint32_t writeback_cycles;   /* between two answers of one that reach its registers, 0: none */
};

/* Which cache serves ld.global.nc. NONE: it is a global load like others. */
enum readonly_path { READONLY_NONE, READONLY_TEXTURE, READONLY_L1 };

/* The texture unit around its cache, see texture.c. */
struct texture_spec {
    uint32_t address_cycles; /* issue to the lookup */
    uint32_t filter_cycles;  /* data at the end of the FIFO to the result usable */
    uint32_t empty_cycles;   /* FIFO's time of a fetch that reads nothing: the cache's hit_cycles */
    uint32_t queue_entries;  /* warp accesses in the unit */
    bool by_l1;              /* fetches look in L1 */
    bool blocks_linear;      /* addresses of two-dimensional linear memory are permuted */
};

/* The way to the constant caches. */
struct constant_spec {
    uint32_t address_cycles;  /* issue to the lookup */
    uint32_t interval_cycles; /* between two addresses of a warp; 0: 1 */
    uint32_t queue_entries;
};

struct sm_spec {
    uint32_t max_threads, max_warps, max_ctas;
    uint32_t registers;           /* 32-bit */
    uint32_t register_granule;    /* allocation unit per warp, registers */
    uint32_t schedulers;          /* warp schedulers; warps are dealt to them by warp id */
    uint32_t issue_per_scheduler; /* instructions a cycle, of one warp */
    uint32_t issue_interval;      /* cycles from one issue of a scheduler to the next, 0: 1 */
    uint32_t sub_cores;           /* that share the units, 0: 1; see param.def */
    uint32_t register_ports;      /* registers read for one issue, 0: no limit */
    enum lowering lowering;
    bool reorder; /* instructions come in the compiler's order, not the PTX's: ptx/schedule.h */
    uint32_t cta_start_cycles; /* from the end of a CTA to the start of the next in its place */
    enum sched_kind scheduler;
    enum divergence divergence;
    uint32_t
        yield_after; /* INDEPENDENT: backward branches of loops that wait, before a path yields */
    uint32_t fetch_group; /* two_level: warps of a scheduler in a group, 0: 8 */
    struct unit_spec unit[ISA_UNIT_COUNT];
    uint32_t barrier_release_cycles; /* between two warps that a barrier lets go */
    uint32_t fall_through_cycles;    /* a branch that no lane takes; 0: as one that is taken */
    struct fence_spec fence;
    uint32_t clock_read_cycles; /* latency of reading %clock */
    uint32_t lsu_queue_entries; /* warp memory instructions waiting at the load/store unit */
    uint32_t lsu_cycles;        /* address path from issue to the first cache lookup */
    uint32_t lsu_local_cycles;  /* the same of local memory; 0: lsu_cycles */
    uint32_t lsu_tag_banks;     /* of L1, as a load finds them; 0: a line is looked up in a cycle */
    uint32_t lsu_readonly_cycles; /* the same of .nc loads that L1 serves; 0: lsu_cycles */
    struct lanes_spec lanes;
    struct pending_spec pending;
    uint32_t loads_per_warp; /* whose results wait for memory at a time; 0: no limit */
    bool loads_hold_warp;    /* nothing issues before a load off chip is there: param.def */
    struct shared_spec shared;
    struct cluster_spec cluster;
    struct product_spec products;
    struct step_spec step[STEP_KINDS];
    struct copy_spec copies;
    struct bulk_spec bulk;
    struct mbarrier_spec mbarrier;
    struct coalesce_spec coalesce;
    struct texture_spec texture;
    struct constant_spec constant;
    enum readonly_path readonly;
    uint32_t const_hit_cycles; /* ld.param, which always hits; ld.const without a constant cache */
    uint32_t local_hit_cycles; /* local memory that has no place in device memory */
    bool local_contiguous;     /* each thread's local memory in one piece, not by words in turn */
    bool l1_caches_global;     /* false on Kepler: global loads go straight to L2 */
};

#endif
