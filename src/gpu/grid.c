/*
 * Grids: what a launch needs, the grids that are on the GPU in their order, and what is counted
 * when one is over.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/positions.h"
#include "gpu/state.h"
#include "util/error.h"
#include "util/progress.h"

#define POLLS_PER_REPORT 16

static int shape_check(uint64_t *cta_count, uint64_t *threads, const struct exec_launch *launch)
{
    *cta_count = *threads = 1;
    for (int i = 0; i < 3; i++) {
        if (launch->grid[i] == 0 || launch->block[i] == 0) {
            return error_set(SONDE_EINPUT, "a grid or a block of no extent");
        }
        *cta_count *= launch->grid[i];
        *threads *= launch->block[i];
        if (*cta_count > UINT32_MAX || *threads > UINT32_MAX) {
            return error_set(SONDE_EINPUT, "too many blocks or threads");
        }
    }
    return 0;
}

static void needs_of(struct cta_needs *needs, const struct gpu *gpu,
                     const struct exec_launch *launch, uint64_t threads)
{
    occupancy_needs(
        needs, &gpu->model->sm, (uint32_t)threads, exec_program_register_count(launch->program),
        (uint64_t)exec_program_shared_bytes(launch->program) + launch->dynamic_shared_bytes);
}

uint64_t gpu_resident_ctas(const struct gpu *gpu, const struct exec_launch *launch,
                           const char **limit)
{
    const struct model *model = gpu->model;
    struct cache_spec l1 = model->l1_data;
    uint64_t shared_bytes = model->sm.shared.size_bytes;
    struct cta_needs needs;
    if (model->carveout.count > 0) {
        model_carve(&l1, &shared_bytes, model, gpu->wanted_carveout);
    }
    needs_of(&needs, gpu, launch, (uint64_t)launch->block[0] * launch->block[1] * launch->block[2]);
    return (uint64_t)occupancy_ctas(&model->sm, &needs, shared_bytes, limit) * model->sms;
}

void gpu_grid_free(struct gpu_grid *grid)
{
    if (grid) {
        gpu_clusters_sweep(grid, true);
        free(grid->place);
        free(grid);
    }
}

int gpu_grid_create(struct gpu_grid **out, struct gpu *gpu, const struct exec_launch *launch)
{
    uint64_t threads, cta_count;
    int rc = shape_check(&cta_count, &threads, launch);
    if (rc < 0) {
        return rc;
    }
    struct gpu_grid *grid = calloc(1, sizeof *grid);
    if (!grid || !(grid->place = calloc(gpu->model->sms, sizeof *grid->place))) {
        gpu_grid_free(grid);
        return error_memory();
    }
    grid->cta_count = cta_count;
    grid->sm.launch = launch;
    grid->sm.owner = grid;
    grid->cluster_size = cluster_size(launch);
    grid->has_clusters = grid->cluster_size > 1 || exec_program_uses_clusters(launch->program);
    needs_of(&grid->sm.needs, gpu, launch, threads);
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        grid->place[i] = (struct gpu_place){.grid = grid, .boundary = &gpu->boundary[i]};
    }
    *out = grid;
    return 0;
}

void gpu_grid_insert(struct gpu *gpu, struct gpu_grid *grid)
{
    struct gpu_grid **at = &gpu->grids;
    while (*at && (*at)->priority <= grid->priority) {
        at = &(*at)->next;
    }
    for (struct gpu_grid *other = gpu->grids; other; other = other->next) {
        other->shared = grid->shared = true;
    }
    grid->next = *at;
    *at = grid;
}

/* A time of overlapping grids is counted once. */
static void count_cycles(struct gpu *gpu, const struct gpu_grid *grid)
{
    uint64_t from_ps = grid->start_ps > gpu->counted_ps ? grid->start_ps : gpu->counted_ps;
    if (grid->end_ps > from_ps) {
        gpu->cycles += (grid->end_ps - from_ps) / gpu->clock.period_ps;
        gpu->counted_ps = grid->end_ps;
    }
}

void gpu_grid_over(struct gpu *gpu, struct gpu_grid *grid, uint64_t at_ps)
{
    uint64_t end_ps = clock_align(&gpu->clock, at_ps);
    struct gpu_grid **at = &gpu->grids;
    while (*at != grid) {
        at = &(*at)->next;
    }
    *at = grid->next;
    grid->over = true;
    grid->end_ps = end_ps > grid->start_ps ? end_ps : grid->start_ps;
    gpu->launches++;
    gpu->grid_is_over = true;
    count_cycles(gpu, grid);
}

bool gpu_grid_is_over(const struct gpu_grid *grid)
{
    return grid->over;
}

void gpu_grid_end(struct gpu_grid *grid, struct gpu_grid_result *result)
{
    *result = (struct gpu_grid_result){.begin_ps = grid->start_ps,
                                       .end_ps = grid->end_ps,
                                       .shared = grid->shared,
                                       .warp_insns = grid->counts.warp_insns,
                                       .thread_insns = grid->counts.thread_insns};
    gpu_grid_free(grid);
}

bool gpu_cancelled(const struct gpu *gpu)
{
    return gpu->cancel && *gpu->cancel;
}

int gpu_tell_positions(const struct gpu *gpu, int code)
{
    struct positions *positions = calloc(1, sizeof *positions);
    for (uint32_t i = 0; positions && i < gpu->model->sms; i++) {
        sm_positions(gpu->sm[i], positions);
    }
    code = positions ? positions_tell(positions, code) : code;
    free(positions);
    return code;
}

static void tell_progress(const struct gpu *gpu, uint64_t now_ps)
{
    char what[128];
    uint64_t ended = 0, all = 0, first_ps = now_ps;
    for (const struct gpu_grid *grid = gpu->grids; grid; grid = grid->next) {
        ended += grid->cta_ended;
        all += grid->cta_count;
        first_ps = grid->start_ps < first_ps ? grid->start_ps : first_ps;
    }
    snprintf(what, sizeof what, "%" PRIu64 " of %" PRIu64 " blocks, %" PRIu64 " cycles", ended, all,
             (now_ps - first_ps) / gpu->clock.period_ps);
    progress_report(gpu->progress, all ? (double)ended / (double)all : 0, what);
}

int gpu_check_time(struct gpu *gpu, uint64_t now_ps)
{
    if (gpu->progress && ++gpu->polls % POLLS_PER_REPORT == 0) {
        tell_progress(gpu, now_ps);
    }
    for (const struct gpu_grid *grid = gpu->grids; grid; grid = grid->next) {
        uint64_t cycles =
            now_ps > grid->start_ps ? (now_ps - grid->start_ps) / gpu->clock.period_ps : 0;
        if (grid->max_cycles > 0 && cycles > grid->max_cycles) {
            error_set(SONDE_EFAULT, "the kernel was stopped after %llu cycles",
                      (unsigned long long)grid->max_cycles);
            return gpu_tell_positions(gpu, SONDE_EFAULT);
        }
    }
    bool asks = gpu->grids && now_ps >= gpu->endless.next_ps;
    if (!gpu_cancelled(gpu)) {
        int rc = asks ? gpu_endless_check(gpu, now_ps) : 0;
        return rc < 0 ? gpu_tell_positions(gpu, rc) : 0;
    }
    int rc = error_set(SONDE_EINTERRUPTED, "interrupted");
    return gpu->tells_cancelled ? gpu_tell_positions(gpu, rc) : rc;
}

/* Not while the grids are to be stopped: gpu_check_time() ends them first, and tells them. */
bool gpu_pauses(const struct gpu *gpu)
{
    bool wanted = gpu->pause && atomic_load(gpu->pause) > 0;
    return gpu->grid_is_over || (wanted && !gpu_cancelled(gpu));
}

void gpu_return_soon(struct gpu *gpu)
{
    gpu->asked = true;
}

void gpu_set_alone(struct gpu *gpu, bool (*alone)(const void *ctx), const void *ctx)
{
    gpu->alone = alone;
    gpu->alone_ctx = ctx;
}

void gpu_set_pause(struct gpu *gpu, const atomic_uint *pause)
{
    gpu->pause = pause;
}
