/* The checker's state, shared by its files. */
#ifndef SONDE_CHECK_STATE_H
#define SONDE_CHECK_STATE_H

#include "check/check.h"
#include "exec/barrier.h"
#include "exec/exec.h"
#include "exec/observe.h"
#include "util/container/map.h"
#include "util/container/vec.h"

#define CHECK_WARPS 32      /* of a block: 1024 threads */
#define MATRIX_ROW_BYTES 16 /* each address of ldmatrix and stmatrix */

/* ---- reports: finding.c ---- */

enum fault_kind {
#define FAULT(id, name, key) FAULT_##id,
#include "check/faults.def"
#undef FAULT
    FAULT_KINDS
};

/* Reports that are not wanted. */
struct suppression {
    bool any;
    enum fault_kind kind;
    char *kernel; /* NULL: any */
    char *asked;  /* the last kernel that was asked about, and what was answered */
    bool answer;
};

struct finding {
    enum fault_kind kind;
    uint64_t count; /* equal ones */
    const void *program;
    uint32_t pc;
    uint32_t allocation; /* its number; 0: none */
    bool of_heap;        /* allocations of the heap are one: each thread may have its own */
    uint32_t other_pc;   /* of a race: the access that it conflicts with */
    uint32_t early;      /* places that were read unwritten and may yet prove to be a race's */
    char *what;          /* "store of 4 bytes in global memory" */
    char *kernel;        /* NULL: of the host's side */
    char *file;          /* of PTX; NULL: none */
    int line, column;
    char *source; /* NULL: the PTX does not tell */
    uint32_t source_line;
    char *caller; /* where the function that this is in was put; NULL: nowhere */
    uint32_t caller_line;
    bool has_thread, has_address;
    uint32_t block[3], thread[3];
    uint64_t address;
    char *where;  /* the address and its allocation, in words */
    char *detail; /* NULL: none */
};

/* ---- allocations: allocation.c ---- */

struct allocation {
    uint64_t address, bytes;
    uint32_t number;
    enum check_owner owner;
    bool live;
    char *made, *freed; /* sites */
};

/* ---- order between accesses ---- */

/* What a warp has seen of the others: all accesses of warp w up to time [w]. */
struct clocks {
    uint32_t seen[CHECK_WARPS];
};
/* A place by which threads order others' accesses: an atomic variable, a barrier in memory. */
struct sync_place {
    struct clocks clocks; /* within the block */
    uint32_t block;       /* whose clocks they are */
    uint8_t blocks[]; /* of the grid, a bit each, that have released here; none: of a block. Behind
                         them as many: those whose reads came before a store here */
};
/* In the name of a place in a block's shared memory. */
#define ORDER_SHARED (UINT64_C(1) << 63)

struct watched_cta {
    struct check_launch *launch;
    struct exec_cta *cta;
    struct exec_warp *const *warps;
    uint32_t warp_count, number;
    uint32_t time; /* counts what orders accesses */
    struct clocks clock[CHECK_WARPS];
    uint32_t floor[CHECK_WARPS]; /* everything up to then is seen by the warp */
    struct clocks barrier[CTA_BARRIERS];
    uint32_t barrier_threads[CTA_BARRIERS]; /* that those who have come wait for */
    uint32_t barrier_come[CTA_BARRIERS];    /* who has come, but not been let go */
    uint64_t gone;                          /* warps that have exited */
    bool fenced[CHECK_WARPS], any_fence;
    uint8_t *seen_blocks; /* whose accesses come before this one's; NULL: nobody's */
    uint8_t *seen_reads;  /* whose reads do, beside these */
    /* Shared memory, by granules of 1 << launch->shift bytes. */
    uint32_t granules, capacity;
    uint32_t *writes, *reads, *more_reads, *atomics;
    uint32_t begin;                 /* records of the block are this and more */
    uint32_t *write_pcs, *read_pcs; /* of writes and atomics; of reads */
    uint8_t *early;                 /* by granule: read before anybody has written it, and told */
    uint32_t *early_pcs;            /* by whom, and one */
    bool any_early;
    /* The cluster's barrier: the times at which its phases began to end here, and in how many the
     * warps have waited. */
    VEC(uint32_t) met;
    uint32_t waits[CHECK_WARPS], comes[CHECK_WARPS];
    /* Local memory: which lanes have written a byte. */
    uint32_t *local[CHECK_WARPS];
    uint32_t local_bytes[CHECK_WARPS];
    struct u64_map places;     /* in its shared memory */
    struct copies *copies;     /* copies.c; NULL: none was ever needed */
    struct bulk *bulk;         /* bulk.c; where copies are */
    struct products *products; /* products.c */
};

struct check_launch {
    struct check *check;
    const struct exec_launch *launch;
    uint8_t *watch, *flags; /* by pc */
    uint32_t tag;           /* of this launch in the words of device memory */
    uint64_t blocks;
    uint32_t shift;
    bool local_checked, shared_checked;
    bool blocks_ordered; /* those of a cluster perhaps by more than its barrier */
    bool copies;         /* the program has some that it must wait for */
    bool products;       /* the kernel has some */
    bool order_lost;     /* too many places order blocks: races between them are not looked for */
    struct u64_map places;
    size_t place_bytes;
    VEC(struct watched_cta *) ctas;
};

/* What an instruction is to the checker: check_launch.flags. */
enum {
    INSN_STRONG = 1, /* volatile, relaxed and the like: no race with its own kind */
    INSN_RELEASE = 2,
    INSN_ACQUIRE = 4,
    INSN_ALIGNED = 8, /* a barrier that a warp must come to as a whole */
    INSN_FENCE = 16,
    INSN_WARP_SYNC = 32,
    INSN_CALL = 64,
    INSN_PRODUCT = 128, /* products_issue() wants to know of it */
};

struct check {
    struct exec_observer observer;
    const struct row_table *rows; /* rows.h */
    uint64_t base, range_bytes;
    bool lockstep;
    uint8_t *written; /* a bit for each byte of device memory */
    uint32_t *words;  /* one for each 4 bytes of it: global.c */
    uint32_t last_tag;
    uint64_t heap, heap_bytes;
    uint32_t made; /* allocations */
    char *site;
    VEC(struct allocation) allocations; /* by address */
    VEC(struct finding) findings;
    VEC(struct suppression) suppressions;
    uint64_t dropped; /* reports beyond FINDINGS_MAX */
    bool failed;      /* memory ran out: something is missing */
    bool explained;   /* why the launch is about to fault has been told */
    /* The instruction that calls the driver, for what that tells. */
    struct exec_warp *caller;
    uint32_t caller_mask;
};

/* With the number of an allocation: it is one of the heap. */
#define OF_HEAP (1u << 31)
/* A report about a lane of a warp at a pc. */
struct finding *finding_at(struct check *check, enum fault_kind kind, const struct exec_warp *warp,
                           uint32_t pc, uint32_t lane, uint32_t allocation);
/* The same about an address of shared memory; NULL too where it has been told before. */
struct finding *finding_in_shared(struct check *check, enum fault_kind kind,
                                  const struct exec_warp *warp, uint32_t pc, uint32_t lane,
                                  uint64_t address);
/* The same without a program: `key` tells equal ones apart. */
struct finding *finding_of_host(struct check *check, enum fault_kind kind, uint32_t key);
/* Fills a text of a new report, whose count is 1; of one that was there before nothing is changed.
 */
void finding_text(struct check *check, char **text, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void findings_free(struct check *check);
/* A finding of the two instructions the other way round, which is counted; false: there is none. */
bool finding_turned(struct check *check, enum fault_kind kind, const void *program, uint32_t pc,
                    uint32_t other_pc);
/* Places more, or one less, that the report of what was read unwritten rests on. Without any it is
 * withdrawn. */
void finding_early(struct check *check, const void *program, uint32_t pc, uint32_t places);
void finding_early_over(struct check *check, const void *program, uint32_t pc);
/* The line of PTX that an instruction stands in; 0: of none. */
int insn_line(const struct exec_program *program, uint32_t pc);
const char *fault_name(enum fault_kind kind);
const char *fault_key(enum fault_kind kind);

/* What a report about it is told: its number, and that it is of the heap; NULL: 0. */
uint32_t allocation_key(const struct allocation *a);
/* The one that holds the address, live or freed, or the nearest to it; NULL: there is none. */
struct allocation *allocation_near(const struct check *check, uint64_t address);
/* "0x... is 4 bytes behind the 1024 bytes of allocation 2 (SITE)". */
void allocation_describe(struct check *check, char **text, const struct allocation *near,
                         uint64_t address);
void allocations_free(struct check *check);

/* launch.c */
struct check_launch *launch_create(struct check *check, const struct exec_launch *launch);
void launch_destroy(struct check_launch *launch);
struct watched_cta *cta_create(struct check_launch *launch, struct exec_cta *cta,
                               struct exec_warp *const *warps, uint32_t count);
void cta_destroy(struct watched_cta *cta);

/* order.c */
void order_begin(struct watched_cta *cta);
void order_release(struct watched_cta *cta, uint32_t warp, uint64_t place);
void order_acquire(struct watched_cta *cta, uint32_t warp, uint64_t place);
void order_lanes(struct watched_cta *cta, uint32_t warp); /* those of a warp */
void order_arrive(struct watched_cta *cta, uint32_t warp, uint32_t barrier);
void order_leave(struct watched_cta *cta, uint64_t warps, uint32_t barrier, bool all);
void order_cluster(struct watched_cta *cta);
void order_forget(struct u64_map *places);
bool order_has_block(const struct watched_cta *cta, uint32_t block);
void order_tell_reads(struct watched_cta *cta,
                      uint64_t place); /* by a store that releases nothing */
void order_see_reads(struct watched_cta *cta, uint64_t place);
bool order_has_reads(const struct watched_cta *cta, uint32_t block);

/* global.c, shared.c */
void global_access(struct watched_cta *cta, struct exec_warp *warp,
                   const struct exec_access *access, uint32_t mask);
void shared_access(struct watched_cta *cta, struct exec_warp *warp,
                   const struct exec_access *access, uint32_t mask);
void shared_begin(struct watched_cta *cta); /* time goes on to a new block's */
/* The granules of some bytes of shared memory, from the first, which it returns, up to *end. */
uint32_t shared_granules(const struct watched_cta *cta, uint64_t offset, uint64_t bytes,
                         uint32_t *end);
/* Lanes' bytes of the own shared memory are moved by an instruction that is no usual access, as
 * ACCESS_LOAD or ACCESS_STORE; `together`: by the warp as one. */
void shared_moves(struct watched_cta *cta, struct exec_warp *warp, const struct exec_access *access,
                  uint32_t mask, bool together);
/* The pieces that this is made of, for cluster.c: `record` tells who did it before, at `pc`. */
void shared_race(struct watched_cta *cta, const struct exec_warp *warp,
                 const struct exec_access *access, uint32_t lane, uint32_t record, const char *did,
                 uint32_t pc);
void shared_unwritten(struct watched_cta *cta, struct exec_warp *warp,
                      const struct exec_access *access, uint32_t lane, uint32_t first,
                      uint32_t count);
void shared_came_late(struct watched_cta *cta, const struct exec_program *program, uint32_t first,
                      uint32_t count);
void shared_note_read(const struct watched_cta *cta, uint32_t granule, uint32_t mine,
                      uint32_t limit, uint32_t pc);
/* Written by the block at all? */
static inline uint32_t shared_is_written(const struct watched_cta *cta, uint32_t granule)
{
    return (cta->writes[granule] >= cta->begin) | (cta->atomics[granule] >= cta->begin);
}
/* cluster.c: accesses to shared memory of other blocks; a warp comes to the cluster's barrier. */
void cluster_access(struct watched_cta *cta, struct exec_warp *warp,
                    const struct exec_access *access, uint32_t mask);
void cluster_meets(struct watched_cta *cta, const struct exec_warp *warp);
/* An instruction has written there when it was issued. */
void shared_touched(struct watched_cta *cta, uint64_t offset, uint64_t bytes);
void local_touched(struct watched_cta *cta, const struct exec_warp *warp, uint32_t lane,
                   uint64_t offset, uint64_t bytes);
void local_access(struct watched_cta *cta, struct exec_warp *warp, const struct exec_access *access,
                  uint32_t mask);
void report_uninitialised(struct watched_cta *cta, struct exec_warp *warp,
                          const struct exec_access *access, uint32_t lane, const char *space);

/* images.c */
void texture_access(struct watched_cta *cta, struct exec_warp *warp,
                    const struct exec_access *access);
void surface_left(struct watched_cta *cta, struct exec_warp *warp, uint32_t lane,
                  const struct exec_image *image, const int64_t at[4], uint64_t bytes,
                  bool misaligned);

/* copies.c: cp.async. False: no memory. */
bool copies_begin(struct watched_cta *cta);
void copies_destroy(struct copies *copies);
/* An instruction that makes groups, or waits for them, or for a barrier that counts bulk copies. */
bool copies_concern(const struct exec_program *program, uint32_t pc);
void copies_group(struct watched_cta *cta, uint32_t warp, const struct exec_uop_info *info,
                  uint32_t mask);
/* False: it has been reported. */
bool copies_access(struct watched_cta *cta, const struct exec_warp *warp,
                   const struct exec_access *access);

/* A product reads there; false: a fault has been found. */
bool copies_multiply(struct watched_cta *cta, const struct exec_warp *warp, uint32_t lane,
                     uint64_t offset, uint64_t bytes);

/* bulk.c: bulk copies. bulk_access: false, where one that is not over has been reported. */
bool bulk_begin(struct watched_cta *cta);
void bulk_destroy(struct bulk *b);
void bulk_moves(struct watched_cta *cta, const struct exec_warp *warp, uint32_t lane,
                uint64_t offset, uint64_t bytes, const struct exec_phase *barrier);
void bulk_waited(struct watched_cta *cta, const struct exec_phase *phase);
/* An mbarrier instruction; those at one that is not initialised are reported. */
void bulk_barrier(struct watched_cta *cta, const struct exec_warp *warp, uint32_t lane,
                  uint64_t offset, enum exec_barrier_use use);
void bulk_waited_for_all(struct watched_cta *cta);
void bulk_fenced(struct watched_cta *cta);
/* A cp.async at `pc` writes a granule, by a proxy of which no fence is wanted. */
void bulk_copied(struct watched_cta *cta, const struct exec_warp *warp, uint32_t pc, uint32_t lane,
                 uint64_t offset, uint32_t granule);
/* A product reads there; false: a fault has been found. */
bool bulk_multiplies(struct watched_cta *cta, const struct exec_warp *warp, uint32_t lane,
                     uint64_t offset, uint64_t bytes);
/* No bulk copy to these granules that is not known to be over. */
bool bulk_is_quiet(const struct watched_cta *cta, uint32_t first, uint32_t end);
bool bulk_access(struct watched_cta *cta, const struct exec_warp *warp,
                 const struct exec_access *access, uint32_t lane, uint32_t granule, bool stores);

/* products.c: wgmma. False: no memory. */
bool products_watch(struct check_launch *launch);
bool products_begin(struct watched_cta *cta);
void products_destroy(struct products *products);
void products_issue(struct watched_cta *cta, const struct exec_warp *warp, uint32_t mask);
/* A product reads bytes of shared memory; an instruction at `pc` writes a granule of it. */
void products_read(struct watched_cta *cta, const struct exec_warp *warp, uint64_t offset,
                   uint64_t bytes);
/* Those of the warps just let go that have waited for groups of products. */
uint64_t products_released(struct watched_cta *cta, uint64_t warps);
void products_written(struct watched_cta *cta, const struct exec_warp *warp, uint32_t pc,
                      uint32_t lane, uint64_t offset, uint32_t granule);

/* What an access is, in words: "load of 4 bytes from". */
const char *access_words(const struct exec_access *access);

static inline struct watched_cta *watched(const struct exec_warp *warp)
{
    return warp->cta->observed;
}

#endif
