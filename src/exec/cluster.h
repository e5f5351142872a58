/*
 * Clusters: CTAs that are resident together, reach each other's shared memory and have a barrier of
 * their own. Every CTA of a program that uses them belongs to one, of a single CTA where the launch
 * has none. Whoever runs the CTAs owns the cluster and tells it of them.
 *
 * The barrier has one phase after the other. Threads arrive, and wait later on; the phase is over
 * when all threads of the cluster have arrived, or exited, and those that arrive then belong to the
 * next one. Source: PTX ISA 9.0, 9.7.13.4 and 9.7.9.23.
 *
 * Left out: that a thread must not arrive twice in a phase is not checked, nor that those of
 * .aligned instructions are together.
 */
#ifndef SONDE_EXEC_CLUSTER_H
#define SONDE_EXEC_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/barrier.h"
#include "exec/exec.h"

enum cluster_state { CLUSTER_CTA_ABSENT, CLUSTER_CTA_RUNS, CLUSTER_CTA_ENDED };

struct cluster_member {
    enum cluster_state state;
    const struct exec_cta *cta;
    struct exec_warp *const *warps; /* by index in the CTA */
    uint32_t warp_count;
    uint64_t waiting;                /* warps that wait for the end of the phase */
    uint32_t arrived[CTA_WARPS_MAX]; /* lanes that have come in this phase */
};

struct exec_cluster {
    uint32_t size, ended;
    void *owner;                    /* for whoever runs it */
    struct cluster_member member[]; /* by rank */
};

/* NULL with the error set: no memory. */
struct exec_cluster *cluster_create(uint32_t size);
void cluster_destroy(struct exec_cluster *cluster);
void cluster_reset(struct exec_cluster *cluster); /* none of its CTAs has started */

/* A CTA starts, all of its warps initialised; it has ended. `warps` is borrowed until then. */
void cluster_enter(struct exec_cluster *cluster, const struct exec_cta *cta,
                   struct exec_warp *const *warps, uint32_t warp_count);
void cluster_leave(struct exec_cluster *cluster, const struct exec_cta *cta);

/*
 * A warp has returned EXEC_BARRIER with one of the cluster's kinds, or EXEC_EXIT. True: the phase
 * is over, and cluster_take() tells who may go on. A warp that waits goes on at once if
 * cluster_waits() says so; else it is noted.
 */
bool cluster_arrive(struct exec_cluster *cluster, const struct exec_warp *warp, uint32_t index);
bool cluster_waits(struct exec_cluster *cluster, const struct exec_warp *warp, uint32_t index);
bool cluster_exit(struct exec_cluster *cluster);
/* Those of the lanes that have arrived in the phase that is not over. */
uint32_t cluster_pending(const struct exec_warp *warp, uint32_t lanes);
/* The warp's lanes that wait for that phase at the cluster's barrier. */
uint32_t cluster_held(const struct exec_warp *warp);
/* The warps of a CTA that waited for the phase that is over; they are forgotten. */
uint64_t cluster_take(struct exec_cluster *cluster, uint32_t rank);

/* Where CTAs are in their clusters. */
static inline uint32_t cluster_extent(const struct exec_launch *launch, int axis)
{
    return launch->cluster[axis] ? launch->cluster[axis] : 1;
}

static inline uint32_t cluster_size(const struct exec_launch *launch)
{
    return cluster_extent(launch, 0) * cluster_extent(launch, 1) * cluster_extent(launch, 2);
}

uint32_t cluster_rank(const struct exec_launch *launch, const uint32_t ctaid[3]);
/*
 * CTAs in the order of their clusters: which one, in the linear order of the grid, is CTA `order %
 * size` of cluster `order / size`?
 */
uint64_t cluster_linear_cta(const struct exec_launch *launch, uint64_t order);

/*
 * Addresses of shared::cluster (exec.h). cluster_address() names the CTA in one that does not;
 * cluster_place() is where the bytes lie on the host, NULL: in no CTA that runs.
 */
uint64_t cluster_address(const struct exec_cta *cta, uint64_t address);
bool cluster_is_own(const struct exec_cta *cta, uint64_t address);
uint8_t *cluster_place(const struct exec_cta *cta, uint64_t address, uint64_t bytes);
/* Why there is none, for fault messages. */
void cluster_describe(const struct exec_cta *cta, uint64_t address, char *text, size_t size);

#endif
