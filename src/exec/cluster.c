/* The CTAs of a cluster, their barrier and their shared memory; see cluster.h. */
#include "exec/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/state.h"
#include "util/error.h"

struct exec_cluster *cluster_create(uint32_t size)
{
    struct exec_cluster *cluster = calloc(1, sizeof *cluster + size * sizeof cluster->member[0]);
    if (!cluster) {
        error_memory();
        return NULL;
    }
    cluster->size = size;
    return cluster;
}

void cluster_destroy(struct exec_cluster *cluster)
{
    free(cluster);
}

void cluster_reset(struct exec_cluster *cluster)
{
    cluster->ended = 0;
    memset(cluster->member, 0, cluster->size * sizeof cluster->member[0]);
}

void cluster_enter(struct exec_cluster *cluster, const struct exec_cta *cta,
                   struct exec_warp *const *warps, uint32_t warp_count)
{
    struct cluster_member *member = &cluster->member[cta->cluster_rank];
    *member = (struct cluster_member){
        .state = CLUSTER_CTA_RUNS, .cta = cta, .warps = warps, .warp_count = warp_count};
}

void cluster_leave(struct exec_cluster *cluster, const struct exec_cta *cta)
{
    cluster->member[cta->cluster_rank].state = CLUSTER_CTA_ENDED;
    cluster->ended++;
}

/* ---- the barrier ---- */

static bool has_come(const struct cluster_member *member)
{
    if (member->state == CLUSTER_CTA_ABSENT)
        return false;
    for (uint32_t i = 0; member->state == CLUSTER_CTA_RUNS && i < member->warp_count; i++)
        if (!member->warps[i]->done && member->warps[i]->live & ~member->arrived[i])
            return false;
    return true;
}

/* Somebody has arrived or exited. A phase in which nobody has arrived does not end. */
static bool phase_ends(struct exec_cluster *cluster)
{
    uint32_t arrived = 0;
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        const struct cluster_member *member = &cluster->member[rank];
        if (!has_come(member))
            return false;
        for (uint32_t i = 0; i < member->warp_count; i++)
            arrived |= member->arrived[i];
    }
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        memset(cluster->member[rank].arrived, 0, sizeof cluster->member[rank].arrived);
    return arrived != 0;
}

bool cluster_arrive(struct exec_cluster *cluster, const struct exec_warp *warp, uint32_t index)
{
    cluster->member[warp->cta->cluster_rank].arrived[index] |= warp->barrier_lanes;
    return phase_ends(cluster);
}

uint32_t cluster_pending(const struct exec_warp *warp, uint32_t lanes)
{
    const struct exec_cta *cta = warp->cta;
    uint32_t index = warp->state->first_thread / WARP_LANES;
    return cta->cluster->member[cta->cluster_rank].arrived[index] & lanes;
}

uint32_t cluster_held(const struct exec_warp *warp)
{
    uint32_t lanes = warp->state->cluster_waits & warp->live;
    return lanes ? cluster_pending(warp, lanes) : 0;
}

bool cluster_waits(struct exec_cluster *cluster, const struct exec_warp *warp, uint32_t index)
{
    struct cluster_member *member = &cluster->member[warp->cta->cluster_rank];
    if (!(member->arrived[index] & warp->barrier_lanes))
        return false;
    member->waiting |= UINT64_C(1) << index;
    return true;
}

bool cluster_exit(struct exec_cluster *cluster)
{
    return phase_ends(cluster);
}

uint64_t cluster_take(struct exec_cluster *cluster, uint32_t rank)
{
    uint64_t waiting = cluster->member[rank].waiting;
    cluster->member[rank].waiting = 0;
    return waiting;
}

/* ---- coordinates ---- */

uint32_t cluster_rank(const struct exec_launch *launch, const uint32_t ctaid[3])
{
    uint32_t at[3], extent[3];
    for (int i = 0; i < 3; i++) {
        extent[i] = cluster_extent(launch, i);
        at[i] = ctaid[i] % extent[i];
    }
    return at[0] + extent[0] * (at[1] + extent[1] * at[2]);
}

uint64_t cluster_linear_cta(const struct exec_launch *launch, uint64_t order)
{
    uint32_t size = cluster_size(launch);
    if (size == 1)
        return order;
    uint64_t cluster = order / size, rank = order % size, ctaid[3];
    for (int i = 0; i < 3; i++) {
        uint32_t extent = cluster_extent(launch, i);
        uint32_t clusters = launch->grid[i] / extent;
        ctaid[i] = cluster % clusters * extent + rank % extent;
        cluster /= clusters;
        rank /= extent;
    }
    return ctaid[0] + launch->grid[0] * (ctaid[1] + launch->grid[1] * ctaid[2]);
}

/* ---- addresses: | window | offset | ---- */

static uint64_t window_of(uint64_t address)
{
    return address / EXEC_WINDOW_BYTES;
}

uint64_t cluster_address(const struct exec_cta *cta, uint64_t address)
{
    uint64_t own = EXEC_CLUSTER_FIRST + cta->cluster_rank;
    return window_of(address) == 0 ? own * EXEC_WINDOW_BYTES + address : address;
}

bool cluster_is_own(const struct exec_cta *cta, uint64_t address)
{
    return window_of(address) == EXEC_CLUSTER_FIRST + cta->cluster_rank;
}

uint8_t *cluster_place(const struct exec_cta *cta, uint64_t address, uint64_t bytes)
{
    uint64_t rank = window_of(address) - EXEC_CLUSTER_FIRST, offset = address % EXEC_WINDOW_BYTES;
    const struct exec_cta *holder = NULL;
    if (rank == cta->cluster_rank)
        holder = cta;
    else if (cta->cluster && rank < cta->cluster->size &&
             cta->cluster->member[rank].state == CLUSTER_CTA_RUNS)
        holder = cta->cluster->member[rank].cta;
    bool inside =
        holder && offset <= holder->shared_bytes && bytes <= holder->shared_bytes - offset;
    return inside ? holder->shared + offset : NULL;
}

void cluster_describe(const struct exec_cta *cta, uint64_t address, char *text, size_t size)
{
    uint64_t rank = window_of(address) - EXEC_CLUSTER_FIRST;
    uint32_t ctas = cta->cluster ? cta->cluster->size : 1;
    if (rank >= ctas) {
        snprintf(text, size, "no block of the cluster's %u is there", ctas);
        return;
    }
    enum cluster_state state = cta->cluster ? cta->cluster->member[rank].state : CLUSTER_CTA_RUNS;
    snprintf(text, size, "block %u of the cluster %s", (unsigned)rank,
             state == CLUSTER_CTA_ABSENT  ? "has not started"
             : state == CLUSTER_CTA_ENDED ? "has exited"
                                          : "has no shared memory there");
}
