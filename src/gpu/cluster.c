/*
 * Clusters of CTAs on the GPU. All CTAs of a cluster start together, on SMs of one of the model's
 * clusters (a GPC), each on the SM there that has the fewest. Of the GPCs with room the one with
 * the fewest CTAs takes it. A GPU's own choice among GPCs is not published. Left out: that SMs of a
 * GPC without partners stay empty on real GPUs, which have GPCs of unequal size.
 */
#include <stdlib.h>

#include "exec/cluster.h"
#include "gpu/state.h"
#include "util/error.h"

static uint64_t ctas_of_gpc(const struct model *model, uint32_t gpc, uint64_t ctas_of_sm)
{
    uint64_t ctas = 0;
    for (uint32_t i = 0; i < model->sms; i++) {
        ctas += gpu_cluster_of(model, i) == gpc ? ctas_of_sm : 0;
    }
    return ctas;
}

uint64_t gpu_resident_clusters(const struct model *model, uint32_t ctas_of_sm, uint32_t size)
{
    uint64_t clusters = 0;
    for (uint32_t gpc = 0; gpc < model->clusters; gpc++) {
        clusters += ctas_of_gpc(model, gpc, ctas_of_sm) / size;
    }
    return clusters;
}

int gpu_cluster_check(const struct gpu *gpu, const struct gpu_grid *grid)
{
    const struct model *model = gpu->model;
    const char *limit = "";
    uint64_t fit = 0, each = occupancy_ctas(&model->sm, &grid->sm.needs, gpu->shared_bytes, &limit);
    for (uint32_t gpc = 0; gpc < model->clusters; gpc++) {
        uint64_t here = ctas_of_gpc(model, gpc, each);
        fit = here > fit ? here : fit;
    }
    return grid->cluster_size <= fit
               ? 0
               : error_set(SONDE_EINPUT,
                           "a cluster of %u blocks, of which at most %llu can be resident together "
                           "(limited by %s)",
                           grid->cluster_size, (unsigned long long)fit, limit);
}

/* Takes room for all on the SMs of one GPC, or none. */
static bool take_in(struct gpu *gpu, const struct gpu_grid *grid, uint32_t sm[EXEC_CLUSTER_MAX],
                    uint32_t gpc)
{
    uint32_t got = 0;
    for (; got < grid->cluster_size; got++) {
        sm[got] = gpu_emptiest_sm(gpu, grid, gpc);
        if (sm[got] == GPU_NO_SM) {
            break;
        }
        occupancy_take(&gpu->room[sm[got]], &grid->sm.needs);
    }
    if (got == grid->cluster_size) {
        return true;
    }
    while (got > 0) {
        occupancy_give(&gpu->room[sm[--got]], &grid->sm.needs);
    }
    return false;
}

static uint64_t ctas_in(const struct gpu *gpu, uint32_t gpc)
{
    uint64_t ctas = 0;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        ctas += gpu_cluster_of(gpu->model, i) == gpc ? gpu->room[i].ctas : 0;
    }
    return ctas;
}

static void give(struct gpu *gpu, const struct gpu_grid *grid, const uint32_t *sm)
{
    for (uint32_t i = 0; i < grid->cluster_size; i++) {
        occupancy_give(&gpu->room[sm[i]], &grid->sm.needs);
    }
}

bool gpu_cluster_take(struct gpu *gpu, const struct gpu_grid *grid, uint32_t sm[EXEC_CLUSTER_MAX])
{
    const struct model *model = gpu->model;
    uint64_t fewest = UINT64_MAX;
    bool found = false;
    for (uint32_t gpc = 0; gpc < model->clusters; gpc++) {
        uint32_t here[EXEC_CLUSTER_MAX];
        uint64_t ctas = ctas_in(gpu, gpc);
        if (ctas >= fewest || !take_in(gpu, grid, here, gpc)) {
            continue;
        }
        if (found) {
            give(gpu, grid, sm);
        }
        for (uint32_t i = 0; i < grid->cluster_size; i++) {
            sm[i] = here[i];
        }
        fewest = ctas;
        found = true;
    }
    return found;
}

int gpu_cluster_begin(struct gpu_grid *grid, uint64_t id, const uint32_t *sm)
{
    struct gpu_cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster || !(cluster->exec = cluster_create(grid->cluster_size))) {
        free(cluster);
        return error_memory();
    }
    cluster->exec->owner = cluster;
    cluster->id = id;
    for (uint32_t i = 0; i < grid->cluster_size; i++) {
        cluster->sm[i] = sm[i];
    }
    cluster->next = grid->clusters;
    grid->clusters = cluster;
    return 0;
}

struct exec_cluster *gpu_cluster_find(const struct gpu_grid *grid, uint64_t order)
{
    const struct gpu_cluster *cluster = grid->clusters;
    while (cluster && cluster->id != order / grid->cluster_size) {
        cluster = cluster->next;
    }
    return cluster ? cluster->exec : NULL;
}

void gpu_clusters_sweep(struct gpu_grid *grid, bool all)
{
    for (struct gpu_cluster **at = &grid->clusters; *at;) {
        struct gpu_cluster *cluster = *at;
        if (!all && cluster->exec->ended < cluster->exec->size) {
            at = &cluster->next;
            continue;
        }
        *at = cluster->next;
        cluster_destroy(cluster->exec);
        free(cluster);
    }
}

void gpu_cluster_phase(void *ctx, struct exec_cluster *exec)
{
    const struct gpu *gpu = ctx;
    const struct gpu_cluster *cluster = exec->owner;
    for (uint32_t rank = 0; rank < exec->size; rank++) {
        if (exec->member[rank].state == CLUSTER_CTA_RUNS) {
            sm_cluster_go(gpu->sm[cluster->sm[rank]], exec, rank);
        }
    }
}

void gpu_cluster_barriers(void *ctx, struct exec_cluster *exec, uint32_t sm, uint32_t cycles)
{
    const struct gpu *gpu = ctx;
    const struct gpu_cluster *cluster = exec->owner;
    for (uint32_t rank = 0; rank < exec->size; rank++) {
        if (exec->member[rank].state == CLUSTER_CTA_RUNS && cluster->sm[rank] != sm) {
            sm_barriers_changed(gpu->sm[cluster->sm[rank]], cycles);
        }
    }
}
