/*
 * Grids, from their begin to their end. The distributor (distribute.c) hands the CTAs out to the
 * SMs; the machine runs, as a whole or in windows (windows.c), until a grid's last CTA has ended.
 * Grids begin when they are given; the host's overhead of launching is not modelled.
 *
 * Those that are given while the GPU is idle begin together with the first gpu_run(). Another may
 * come while they run, unless it needs what only an idle GPU can give: another division of L1 and
 * shared memory, a place for local memory, or that SMs do not run apart. How SMs run is decided
 * when the first grids begin. Between two idle times caches start no launch empty: what the model
 * invalidates is invalidated when a grid finds the GPU idle.
 */
#include "gpu/state.h"
#include "util/error.h"

/* Engine steps between two looks at the cancel flag: a step may be thousands of cycles of an SM to
 * which nobody has anything to say, and Ctrl-C should not be felt to wait for them. */
#define STEPS_PER_POLL 16

/* ---- begin ---- */

/* What an error has left behind. */
static void clear_faults(struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        gpu->boundary[i].fault = 0;
        gpu->room[i] = (struct sm_room){0};
    }
    gpu->error = 0;
    gpu->spoilt = false;
}

/*
 * As empty and as unspoilt as a launch finds it. What an SM has of its own is emptied when a CTA
 * comes to it (gpu_sm_prepare()): a launch of few CTAs takes no longer on a GPU of many SMs.
 */
static int make_ready(struct gpu *gpu)
{
    int rc = gpu->wanted_carveout != gpu->carveout ? gpu_apply_carveout(gpu) : 0;
    if (gpu->spoilt) {
        clear_faults(gpu);
    }
    gpu->period++;
    gpu_readonly_invalidate(gpu);
    gpu->stopping = false;
    return rc;
}

/* Whether the grids on the GPU let another one come. */
static bool may_come(const struct gpu *gpu, const struct exec_launch *launch)
{
    bool joined = exec_program_calls_runtime(launch->program) || cluster_size(launch) > 1;
    return gpu->wanted_carveout == gpu->carveout && !(gpu->parted && joined) &&
           gpu_local_is_placed(gpu, launch);
}

/* SMs that run apart have come to different times, no further than the last window. */
uint64_t gpu_now_ps(const struct gpu *gpu)
{
    uint64_t now_ps = engine_now_ps(gpu->engine);
    return gpu->parted && gpu->window_ps > now_ps ? gpu->window_ps : now_ps;
}

int gpu_grid_begin(struct gpu *gpu, struct gpu_grid **out, const struct exec_launch *launch,
                   const struct gpu_grid_options *options)
{
    *out = NULL;
    bool beside = gpu->grids != NULL;
    if (beside && !may_come(gpu, launch)) {
        return GPU_LATER;
    }
    struct gpu_grid *grid = NULL;
    int rc = gpu_grid_create(&grid, gpu, launch);
    if (rc == 0 && !beside) {
        rc = make_ready(gpu);
    }
    if (rc == 0) {
        rc = sm_launch_check(gpu->sm[0], &grid->sm);
    }
    if (rc == 0 && grid->cluster_size > 1) {
        rc = gpu_cluster_check(gpu, grid);
    }
    if (rc < 0) {
        gpu_grid_free(grid);
        return rc;
    }
    if (!beside) {
        gpu_local_place(gpu, launch, options->shares);
    }
    grid->priority = options->priority;
    grid->max_cycles = options->max_cycles;
    grid->skips = options->skips;
    if (!gpu->running && options->not_before_ps > engine_now_ps(gpu->engine)) {
        engine_advance(gpu->engine, options->not_before_ps);
    }
    uint64_t now_ps = gpu_now_ps(gpu);
    uint64_t start_ps = options->not_before_ps > now_ps ? options->not_before_ps : now_ps;
    grid->start_ps = grid->last_end_ps = clock_align(&gpu->clock, start_ps);
    gpu_grid_insert(gpu, grid);
    if (!beside) {
        gpu_endless_begin(gpu, grid->start_ps);
    }
    if (gpu->running) {
        gpu_distribute_at(gpu, grid->start_ps);
    }
    *out = grid;
    return 0;
}

/* What is still on its way (replies to nobody, write-backs, prefetches) arrives before the next
 * launch. */
static void drain(struct gpu *gpu, int rc)
{
    gpu->stopping = true;
    for (uint32_t i = 0; rc < 0 && i < gpu->model->sms; i++) {
        sm_abort(gpu->sm[i]);
    }
    engine_run(gpu->engine, ENGINE_NEVER);
    if (engine_error(gpu->engine) == 0 && engine_now_ps(gpu->engine) < gpu->latest_ps) {
        engine_advance(gpu->engine, gpu->latest_ps);
    }
}

/* No grid is left, or none can go on. */
static void stop(struct gpu *gpu, int rc)
{
    gpu->spoilt |= rc < 0;
    uint64_t stop_ps = gpu_now_ps(gpu);
    gpu_endless_end(gpu);
    gpu_stats_drop_resident(gpu);
    while (gpu->grids) {
        gpu_grid_over(gpu, gpu->grids, stop_ps);
    }
    gpu_join(gpu);
    drain(gpu, rc);
    gpu->running = false;
}

/* ---- between them ---- */

static int start(struct gpu *gpu)
{
    gpu->running = true;
    gpu->window_ps = 0;
    gpu->lookahead_ps = gpu_lookahead_ps(gpu);
    int rc = gpu->lookahead_ps ? gpu_part(gpu) : 0;
    return rc == 0 ? gpu_distribute(gpu) : rc;
}

/* SMs and memory as one group. */
static int run_whole(struct gpu *gpu, uint64_t until_ps)
{
    for (uint64_t step = 1; !gpu->grid_is_over && !gpu->asked; step++) {
        uint64_t next_ps = engine_next_ps(gpu->engine);
        if (next_ps >= until_ps && next_ps != ENGINE_NEVER) {
            gpu->reached = true;
            return 0;
        }
        bool stepped = engine_step_before(gpu->engine, until_ps);
        if (gpu->error < 0) {
            return gpu->error;
        }
        if (!stepped && !gpu->grid_is_over) {
            int rc = engine_error(gpu->engine);
            return rc < 0 ? rc : gpu_deadlock(gpu);
        }
        if (step % STEPS_PER_POLL == 0) {
            int rc = gpu_check_time(gpu, engine_now_ps(gpu->engine));
            if (rc < 0 || gpu_pauses(gpu)) {
                return rc;
            }
        }
    }
    return 0;
}

/*
 * One CTA is left, and no other can come: windows of one SM cost more than they give. So it goes on
 * with memory as one group. A probe asks for blocks on every SM, of which one works.
 */
static void join_the_last(struct gpu *gpu)
{
    if (gpu->parted && gpu_is_last_cta(gpu) && !gpu->grid_is_over && !gpu->reached &&
        !gpu_pauses(gpu)) {
        gpu_join(gpu);
    }
}

static int run_until(struct gpu *gpu, uint64_t until_ps)
{
    if (!gpu->grids) {
        return 0;
    }
    gpu->grid_is_over = gpu->reached = gpu->asked = false;
    gpu->stats_version++;
    int rc = gpu->running ? 0 : start(gpu);
    if (rc == 0 && gpu->parted) {
        rc = gpu_run_windows(gpu, until_ps);
        if (rc == 0) {
            join_the_last(gpu);
        }
    }
    if (rc == 0 && !gpu->parted && gpu->grids) {
        rc = run_whole(gpu, until_ps);
    }
    if (rc < 0 || !gpu->grids) {
        stop(gpu, rc);
    }
    return rc;
}

int gpu_run(struct gpu *gpu, uint64_t until_ps)
{
    int rc = 0;
    gpu_endless_again(gpu);
    while (gpu->sample && gpu->next_sample_ps < until_ps) {
        rc = run_until(gpu, gpu->next_sample_ps);
        if (rc < 0 || !gpu->reached) {
            return rc;
        }
        gpu->next_sample_ps += gpu->sample_interval_ps;
        gpu->sample(gpu->sample_ctx, gpu->next_sample_ps - gpu->sample_interval_ps);
    }
    return run_until(gpu, until_ps);
}

bool gpu_has_reached(const struct gpu *gpu)
{
    return gpu->reached;
}

void gpu_abandon(struct gpu *gpu)
{
    if (gpu->grids) {
        stop(gpu, SONDE_EINTERRUPTED);
    }
}

int gpu_launch(struct gpu *gpu, const struct exec_launch *launch, uint64_t max_cycles,
               uint64_t *cycles)
{
    if (gpu->grids) {
        return error_set(SONDE_EUSAGE, "grids are on the GPU");
    }
    struct gpu_grid *grid;
    struct gpu_grid_options options = {.max_cycles = max_cycles};
    int rc = gpu_grid_begin(gpu, &grid, launch, &options);
    if (rc != 0) {
        return rc;
    }
    gpu->is_only_grid = true;
    while (rc == 0 && !gpu_grid_is_over(grid)) {
        rc = gpu_run(gpu, ENGINE_NEVER);
    }
    gpu->is_only_grid = false;
    struct gpu_grid_result result;
    gpu_grid_end(grid, &result);
    if (cycles) {
        *cycles = (result.end_ps - result.begin_ps) / gpu->clock.period_ps;
    }
    return rc;
}
