/*
 * The simulated GPU: the one place where components are wired together, plus the CTA distributor
 * and the launch loop. Caches keep their state between launches (as far as the model says).
 */
#ifndef SONDE_GPU_GPU_H
#define SONDE_GPU_GPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/sm_stats.h"
#include "exec/exec.h"
#include "exec/memory/memory.h"
#include "mem/mem.h"
#include "model/model.h"

struct gpu;

/* Physical address of a device virtual address (page tables live in rt); false: not mapped. */
struct gpu_translate {
    bool (*physical)(void *ctx, uint64_t vaddr, uint64_t *paddr);
    void *ctx;
    /*
     * Physical address of the entry of a page-table level that stands for `vaddr`; false: none.
     * NULL where the model's walker reads no levels.
     */
    bool (*entry)(void *ctx, uint32_t level, uint64_t vaddr, uint64_t *paddr);
};

int gpu_create(struct gpu **out, const struct model *model, struct exec_memory *memory,
               const struct gpu_translate *translate);
void gpu_destroy(struct gpu *gpu);

/* Select a carve-out choice of the model (index); a change takes effect at the next launch, with
 * empty L1s. */
int gpu_set_carveout(struct gpu *gpu, uint32_t choice);
uint32_t gpu_carveout(const struct gpu *gpu);
/* That of the grids that are on the GPU. */
uint32_t gpu_carveout_in_force(const struct gpu *gpu);

/* Launches stop with SONDE_EINTERRUPTED soon after *cancel becomes non-zero; NULL: never. */
void gpu_set_cancel(struct gpu *gpu, const volatile int *cancel);
/* The error of such a stop tells where the warps are (exec/positions.h). */
void gpu_tell_when_cancelled(struct gpu *gpu);
/* Told of now and then while grids run; borrowed. NULL: nobody listens. */
struct progress;
void gpu_set_progress(struct gpu *gpu, const struct progress *progress);

/*
 * Host threads that a launch may use from now on, 1 to TEAM_THREADS_MAX; what is simulated is the
 * same, to the cycle, for any number.
 */
int gpu_set_threads(struct gpu *gpu, uint32_t threads);
struct team;
/* Those threads, for launches without timing; NULL: there is one. Borrowed until their number is
 * set again. SONDE_ENOMEM, SONDE_EIO. */
int gpu_team(struct gpu *gpu, struct team **team);

/*
 * Who leaves out blocks of a grid, which he has executed himself when he says so: skip() is asked
 * before a block is handed out, in their order, and gives how many are left out from it on, never
 * all that are left; ended() is told of the others' ends. Only of grids without clusters. Cycles
 * are since the grid's begin.
 */
struct gpu_skips {
    uint64_t (*skip)(void *ctx, uint64_t next, uint64_t cycle);
    void (*ended)(void *ctx, uint64_t block);
    void *ctx;
};

/*
 * Grids. One is on the GPU from gpu_grid_begin(), which borrows `launch`, until it is over, and
 * then the caller's to end. GPU_LATER: beside those that are on the GPU it cannot be, only after
 * them. SONDE_EINPUT: its CTA can never fit an SM.
 *
 * gpu_run() lets time go on until a grid is over, the next event is at `until_ps` or later, or a
 * pause is wanted. An error (SONDE_EFAULT, SONDE_EINTERRUPTED...) is the end of all grids.
 */
#define GPU_LATER 1
struct gpu_grid;
struct gpu_grid_options {
    int priority;                  /* lower numbers go first */
    bool shares;                   /* others may come to the GPU while it is there */
    uint64_t not_before_ps;        /* it begins then, or now */
    uint64_t max_cycles;           /* SONDE_EFAULT soon after so many; 0: never */
    const struct gpu_skips *skips; /* borrowed; NULL: nobody */
};
struct gpu_grid_result {
    uint64_t begin_ps, end_ps;
    bool shared;                       /* other grids were on the GPU in this time */
    uint64_t warp_insns, thread_insns; /* its own, of the CTAs that have ended */
};
int gpu_grid_begin(struct gpu *gpu, struct gpu_grid **out, const struct exec_launch *launch,
                   const struct gpu_grid_options *options);
int gpu_run(struct gpu *gpu, uint64_t until_ps);
bool gpu_has_reached(const struct gpu *gpu); /* the last gpu_run() its `until_ps` */
void gpu_abandon(struct gpu *gpu);           /* all grids end where they are */
bool gpu_grid_is_over(const struct gpu_grid *grid);
void gpu_grid_end(struct gpu_grid *grid, struct gpu_grid_result *result);
uint64_t gpu_now_ps(const struct gpu *gpu);
/* Calls `sample` while grids run, each time that so much time has gone by, between two steps of the
 * machine; what is simulated is the same. NULL: nobody. */
void gpu_set_sampler(struct gpu *gpu, void (*sample)(void *ctx, uint64_t now_ps), void *ctx,
                     uint64_t interval_ps);
uint64_t gpu_resident_warps(const struct gpu *gpu);
bool gpu_is_idle(const struct gpu *gpu);
/* From a system call: gpu_run() returns in the next step. */
void gpu_return_soon(struct gpu *gpu);
/*
 * Whether, as long as gpu_run() does not return, nothing but the grids on the GPU changes memory,
 * and no other grid comes. Asked now and then of long ones: grids that will never end are told only
 * while it says so (endless.c). NULL: it is never so.
 */
void gpu_set_alone(struct gpu *gpu, bool (*alone)(const void *ctx), const void *ctx);
/* gpu_run() returns soon after *pause is not 0; it goes on when it is called again. NULL: never. */
void gpu_set_pause(struct gpu *gpu, const atomic_uint *pause);

/*
 * Run a launch to its end with timing, alone. SONDE_EFAULT with the fault's text, also when the
 * launch can never end because all warps wait; SONDE_EINPUT when the CTA can never fit an SM.
 * `*cycles` (may be NULL): core cycles from start to end. After an error the GPU is idle again and
 * may be used.
 */
int gpu_launch(struct gpu *gpu, const struct exec_launch *launch, uint64_t max_cycles,
               uint64_t *cycles); /* max_cycles 0: no limit */

/*
 * How many CTAs of the launch can be resident at once, with the carve-out that it would get; 0:
 * none. `*limit` names what limits it.
 */
uint64_t gpu_resident_ctas(const struct gpu *gpu, const struct exec_launch *launch,
                           const char **limit);

/* How many clusters of so many CTAs are resident at once where each SM holds so many CTAs: all of a
 * cluster are on SMs of one GPC. */
uint64_t gpu_resident_clusters(const struct model *model, uint32_t ctas_of_sm, uint32_t size);

/* A host copy that passes through L2 (physical contiguous pieces are found by translate). One that
 * happens while grids are on the GPU leaves L2 as it is. */
void gpu_host_copy(struct gpu *gpu, uint64_t vaddr, uint64_t bytes, bool to_device);

/* L2 as if the bytes had been read or written last, at no time. Between launches, or while
 * skip() is asked. */
void gpu_touch_l2(struct gpu *gpu, uint64_t vaddr, uint64_t bytes, bool writes);

/* Caches and TLBs forget all they hold; dirty lines are written back at no time. Only between
 * launches. */
void gpu_empty_caches(struct gpu *gpu);

/* Pages have been unmapped: the TLBs forget all they know. Only between launches. */
void gpu_forget_translations(struct gpu *gpu);

/*
 * Local memory: what a launch needs of device memory at most, and where it lies from now on. A
 * launch that needs more than was given, or has been given none, has local memory that takes a
 * fixed time and no cache. `shares`: with room for others beside it. Only between launches.
 */
uint64_t gpu_local_bytes(const struct gpu *gpu, const struct exec_launch *launch, bool shares);
void gpu_set_local(struct gpu *gpu, uint64_t address, uint64_t bytes);

/* The width of shared memory's banks as programs choose it: 4, 8, or 0 for the model's default.
 * SONDE_EUNSUPPORTED where the model has no such choice. */
int gpu_set_shared_bank_bytes(struct gpu *gpu, uint32_t bytes);

/*
 * Sums over all SMs, caches and channels, and over all launches since the beginning: nothing but
 * counters of 64 bits, so that gpu_stats_since() can take the difference.
 */
struct gpu_stats {
    uint64_t launches, ctas;
    uint64_t cycles, warp_insns, thread_insns;
    uint64_t machine_insns; /* what the warp instructions have issued; see ptx/lower.h */
    uint64_t l1_reads, l1_hits, l2_reads, l2_hits, dram_reads, dram_writes;
    uint64_t l1_pending_hits, l2_pending_hits; /* mem.h: read_pending_hits; likewise below */
    uint64_t l2_writes, l2_write_hits, l2_evictions, l2_writebacks;
    uint64_t dram_read_bytes, dram_written_bytes;
    uint64_t dram_row_hits, dram_row_misses, dram_busy_ps; /* all channels'; mem.h has whose hits */
    uint64_t dram_sending_ps, dram_pending_ps;
    uint64_t shared_accesses, shared_conflicts, transactions;
    struct sm_stats sm; /* of all SMs */
    struct mem_noc_stats noc;
    uint64_t texture_reads, texture_hits, constant_reads, constant_hits;
    uint64_t texture_pending_hits, constant_pending_hits;
    uint64_t constant_l15_reads, constant_l15_hits, constant_l15_pending_hits;
    uint64_t tlb_l1_reads, tlb_l1_hits, tlb_l2_reads, tlb_l2_hits;
    uint64_t tlb_l1_pending_hits, tlb_l2_pending_hits;
    uint64_t walks, walk_reads; /* the reads are among l2_reads */
    uint64_t window_switches;
    uint64_t resident_warp_cycles; /* the cycles of CTAs on SMs, each as often as it has warps */
};
void gpu_stats(const struct gpu *gpu, struct gpu_stats *out);
/* While this number is the same, so are the statistics. */
uint64_t gpu_stats_version(const struct gpu *gpu);
/* Takes from `stats` what `before` had counted already. */
void gpu_stats_since(struct gpu_stats *stats, const struct gpu_stats *before);
void gpu_stats_add(struct gpu_stats *sum, const struct gpu_stats *more);

/*
 * Profiles: from the next launch on each SM counts what its warps wait for (core/profile.h). What
 * was counted of a program since the last time is added to `lines`, one for each of its
 * instructions. SONDE_ENOMEM; not while grids run apart.
 */
struct profile_line;
int gpu_profile_enable(struct gpu *gpu);
void gpu_profile_take(struct gpu *gpu, const struct exec_program *program,
                      struct profile_line *lines, uint64_t *resident);

/* Told of every CTA when it starts on an SM and when it has ended, in core cycles since the launch
 * began. NULL: nobody. */
typedef void gpu_placed(void *ctx, uint64_t cta, uint32_t sm, uint64_t cycle, bool ends);
void gpu_set_placed(struct gpu *gpu, gpu_placed *placed, void *ctx);

#endif
