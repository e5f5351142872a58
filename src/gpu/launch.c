/*
 * Launches. The distributor (distribute.c) hands the CTAs out to the SMs. The machine runs until
 * the last CTA has ended, as a whole or in windows (windows.c). A launch begins when it is called:
 * the host's overhead of launching is not modelled.
 */
#include "gpu/state.h"
#include "util/error.h"

/* Engine steps between two looks at the cancel flag: a step may be thousands of cycles of an SM to
 * which nobody has anything to say, and Ctrl-C should not be felt to wait for them. */
#define STEPS_PER_POLL 16

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

static int prepare(struct gpu *gpu, const struct exec_launch *launch)
{
    uint64_t threads;
    int rc = shape_check(&gpu->cta_count, &threads, launch);
    if (rc == 0 && gpu->wanted_carveout != gpu->carveout) {
        rc = gpu_apply_carveout(gpu);
    }
    struct cta_needs needs;
    needs_of(&needs, gpu, launch, threads);
    for (uint32_t i = 0; rc == 0 && i < gpu->model->sms; i++) {
        rc = sm_launch(gpu->sm[i], launch, &needs);
        if (gpu->l1[i] && gpu->l1_spec.invalidate_on_launch) {
            mem_cache_invalidate(gpu->l1[i]);
        }
    }
    if (rc == 0) {
        gpu_readonly_invalidate(gpu);
        gpu_local_place(gpu, launch);
    }
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        gpu->boundary[i].fault = 0;
    }
    gpu->cta_next = gpu->cta_ended = gpu->last_end_ps = 0;
    gpu->error = 0;
    gpu->stopping = false;
    gpu->lookahead_ps = gpu_lookahead_ps(gpu, launch);
    return rc;
}

/* SMs and memory as one group. */
static int run_whole(struct gpu *gpu)
{
    for (uint64_t step = 1; gpu->cta_ended < gpu->cta_count; step++) {
        bool stepped = engine_step(gpu->engine);
        if (gpu->error < 0) {
            return gpu->error;
        }
        if (!stepped && gpu->cta_ended < gpu->cta_count) {
            int rc = engine_error(gpu->engine);
            return rc < 0 ? rc : gpu_deadlock(gpu);
        }
        if (step % STEPS_PER_POLL == 0 && gpu_cancelled(gpu)) {
            return error_set(SONDE_EINTERRUPTED, "interrupted");
        }
    }
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

int gpu_launch(struct gpu *gpu, const struct exec_launch *launch, uint64_t *cycles)
{
    int rc = prepare(gpu, launch);
    if (rc < 0) {
        return rc;
    }
    gpu->start_ps = clock_align(&gpu->clock, engine_now_ps(gpu->engine));
    rc = gpu->lookahead_ps ? gpu_part(gpu) : 0;
    if (rc == 0) {
        rc = gpu_distribute(gpu);
    }
    if (rc == 0) {
        rc = gpu->parted ? gpu_run_windows(gpu) : run_whole(gpu);
    }
    uint64_t stop_ps = rc == 0 ? gpu->last_end_ps : engine_now_ps(gpu->engine);
    uint64_t end_ps = clock_align(&gpu->clock, stop_ps);
    gpu_join(gpu);
    uint64_t spent = end_ps < gpu->start_ps ? 0 : (end_ps - gpu->start_ps) / gpu->clock.period_ps;
    drain(gpu, rc);
    gpu->launches++;
    gpu->cycles += spent;
    if (cycles) {
        *cycles = spent;
    }
    return rc;
}
