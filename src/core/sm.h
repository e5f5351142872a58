/*
 * A streaming multiprocessor: warps in CTA slots, warp schedulers, a scoreboard, and the load/store
 * unit in front of the L1 cache and the network.
 *
 * Time. The SM works in cycles of its clock, which are edges of the engine's time. It sleeps until
 * something can make a warp ready: a result's ready cycle, a reply, a barrier. While nothing else
 * in the machine is due earlier it runs ahead inline, without the event queue.
 *
 * Call order: sm_create, then per grid sm_launch, sm_cta_start as often as there is room, and the
 * engine until every CTA has reported its end through `cta_done`. CTAs of several grids may be
 * resident at a time.
 */
#ifndef SONDE_CORE_SM_H
#define SONDE_CORE_SM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/occupancy.h"
#include "core/sm_stats.h"
#include "core/spec.h"
#include "engine/engine.h"
#include "exec/exec.h"
#include "mem/mem.h"

struct sm;

/* A grid as SMs need to know it; whoever launches it keeps it until its CTAs have ended. */
struct sm_grid {
    const struct exec_launch *launch;
    struct cta_needs needs; /* of each CTA */
    void *owner;            /* for sm_host.cta_done */
};

/* What a CTA has executed. */
struct sm_cta_counts {
    uint64_t warp_insns, thread_insns;
    uint64_t exited_cycle; /* its last warp left */
    bool reaches_memory;   /* has sent requests */
};

/* What an SM calls of the GPU around it. */
struct sm_host {
    /* Physical address of a virtual one; the answer holds for its whole page. */
    bool (*physical)(void *ctx, uint64_t vaddr, uint64_t *paddr);
    uint64_t page_bytes; /* a power of two */
    /* its resources are free again */
    void (*cta_done)(void *ctx, uint32_t sm, const struct sm_grid *grid, uint64_t cta,
                     const struct sm_cta_counts *counts);
    void (*fault)(void *ctx, uint32_t sm, int code); /* the error text is set */
    /* A phase of the cluster's barrier is over: to be told to all its CTAs (sm_cluster_go()). */
    void (*cluster_phase)(void *ctx, struct exec_cluster *cluster);
    void *ctx;
    /* Barriers in shared memory of its CTAs may have changed: to be told to its SMs but this one
     * (sm_barriers_changed()). NULL: there are no clusters. */
    void (*cluster_barriers)(void *ctx, struct exec_cluster *cluster, uint32_t sm, uint32_t cycles);
    /* Whether L2 keeps a physical address far from this SM. NULL: it has one part. */
    bool (*is_far)(void *ctx, uint32_t sm, uint64_t paddr);
};

struct sm_setup {
    const struct sm_spec *spec; /* borrowed */
    struct engine *engine;
    struct engine_clock clock;
    uint32_t source;         /* engine source id; above those of the memory system, so that
                                replies of a cycle are in before its instructions issue */
    uint32_t id, sm_count;   /* %smid, %nsmid */
    struct mem_port network; /* to L2, past L1 */
    struct sm_host host;
};

/* Refuses a specification that the SM cannot follow, with the error text set; SONDE_ENOMEM. */
int sm_create(struct sm **out, const struct sm_setup *setup);
void sm_destroy(struct sm *sm);

/* How an SM sees which stores miss its L1. */
struct sm_stores_wait {
    bool (*holds)(const struct mem_cache *l1, uint64_t address, uint64_t bytes); /* all of them */
    const struct mem_cache *l1;
    bool physical; /* it knows lines by physical addresses */
};

/* What an SM has leave of the stores that its L1 holds for others of the same lines. */
struct sm_gathers {
    void (*send)(struct mem_cache *l1); /* NULL: it holds none */
    struct mem_cache *l1;
};

/* The L1 (NULL: none) and the shared memory that the carve-out leaves; only between launches.
 * `stores_wait`: a store that misses the L1 holds its warp until it is answered; NULL: none does.
 * sm_set_gathers(): behind it, where that L1 holds stores. */
void sm_set_l1(struct sm *sm, const struct mem_port *l1, const struct sm_stores_wait *stores_wait);
void sm_set_gathers(struct sm *sm, struct sm_gathers gathers);
void sm_set_shared(struct sm *sm, uint64_t bytes);
/* The texture and the constant cache (NULL: none; texture fetches then go to the network, and
 * constants take a fixed time); only between launches. */
void sm_set_readonly(struct sm *sm, const struct mem_port *texture,
                     const struct mem_port *constant);
/*
 * Where the local memory of this SM's warp slots lies: 32 times thread_bytes, a multiple of the
 * granule, for each of `slots`. 0 bytes: nowhere, and it takes a fixed time. Only while no access
 * to local memory is on its way.
 */
#define SM_LOCAL_GRANULE_BYTES 16
void sm_set_local(struct sm *sm, uint64_t address, uint64_t thread_bytes, uint32_t slots);
/* Successive words of shared memory of this size lie in successive banks; 0: bank_bytes. */
void sm_set_bank_word(struct sm *sm, uint32_t word_bytes);

/* SONDE_EINPUT: a CTA of the grid never fits. */
int sm_launch_check(const struct sm *sm, const struct sm_grid *grid);
/*
 * Prepare for CTAs of a grid, which fit. `beside`: others may be resident, or requests of theirs
 * out; else the SM has been idle. SONDE_ENOMEM.
 */
int sm_launch(struct sm *sm, const struct sm_grid *grid, bool beside);

/*
 * Start CTA `linear_id` of a grid that sm_launch() has prepared, at the next edge of the clock. The
 * caller has checked that there is room for it. `cluster`: that it belongs to, NULL: none.
 * SONDE_ENOMEM.
 */
int sm_cta_start(struct sm *sm, const struct sm_grid *grid, uint64_t linear_id,
                 struct exec_cluster *cluster);
/* Warps of the cluster's CTA of this rank, which is on this SM, that waited for the end of a phase
 * go on. */
void sm_cluster_go(struct sm *sm, struct exec_cluster *cluster, uint32_t rank);
/* Barriers in its shared memory have changed: who waits there learns of it after so many cycles. */
void sm_barriers_changed(struct sm *sm, uint32_t cycles);

/*
 * Between launches: stores to device memory are kept back from now on (exec/memory/stores.h), and
 * seen by others when sm_publish_stores() says so. Or no longer, while CTAs run, too: what was kept
 * is published before. SONDE_ENOMEM.
 */
int sm_keep_stores(struct sm *sm, bool keep);
bool sm_has_stores(const struct sm *sm);
void sm_publish_stores(struct sm *sm);

/*
 * While stores are kept back the SM stands still, and its engine with it, in front of an
 * instruction that others would see at once, or that calls the driver (exec_uop_info.takes_turn).
 * sm_take_turn() does the rest of that cycle, while no other SM executes; what SMs have stored is
 * published before.
 */
bool sm_awaits_turn(const struct sm *sm);
void sm_take_turn(struct sm *sm);

/*
 * L2 has performed an atomic request of this SM: it happens on the memory image now, in the order
 * of these calls. Optional; else it happens when the reply is there.
 */
void sm_atomic_served(struct sm *sm, struct mem_request *request);

/* After a fault: drop all warps. Replies that arrive later are ignored. */
void sm_abort(struct sm *sm);

/* The number of requests whose replies have not arrived. */
uint32_t sm_requests_out(const struct sm *sm);
uint32_t sm_resident_warps(const struct sm *sm);

/* When no event is pending and CTAs have not ended: sets the error to the place where a warp waits.
 * Returns false if no warp waits. */
bool sm_report_stall(struct sm *sm);
/*
 * Do its warps repeat themselves (core/repeat.h)? Asked from sm_repeats_begin() to
 * sm_repeats_end(); stores that were kept back have been published before. Each warp is looked at
 * at most at `visits` of its branches. False: bulk copies are on their way, or memory is out.
 *
 * NOT: something has changed or begun, or a warp was looked at often enough. OPEN: not known yet.
 * ALL: each warp that runs has come back to a state in which it was, those that wait have no access
 * on its way, and none of them has changed memory.
 */
enum sm_repeats_state { SM_REPEATS_NOT, SM_REPEATS_OPEN, SM_REPEATS_ALL };
bool sm_repeats_begin(struct sm *sm, uint32_t visits);
void sm_repeats_end(struct sm *sm);
enum sm_repeats_state sm_repeats_state(const struct sm *sm);

/* Where its warps are, and what each waits for (exec/positions.h). */
struct positions;
void sm_positions(const struct sm *sm, struct positions *positions);

const struct sm_stats *sm_stats(struct sm *sm);

#endif
