/*
 * Launches: CTAs are handed out breadth first, each to the SM that has the fewest (Bakhoda et al.
 * 2009, section 2), as their resources become free; then the engine runs until the last has ended.
 * A launch begins when it is called: the host's overhead of launching is not modelled.
 */
#include "gpu/state.h"
#include "util/error.h"

/* Engine steps between two looks at the cancel flag: a step may be thousands of cycles of an SM to
 * which nobody has anything to say, and Ctrl-C should not be felt to wait for them. */
#define STEPS_PER_POLL 16

#define NO_SM UINT32_MAX

static uint32_t emptiest_sm(const struct gpu *gpu)
{
    uint32_t best = NO_SM;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        struct sm *sm = gpu->sm[i];
        if (sm_cta_fits(sm) && (best == NO_SM || sm_cta_count(sm) < sm_cta_count(gpu->sm[best]))) {
            best = i;
        }
    }
    return best;
}

static void tell_placed(const struct gpu *gpu, uint64_t cta, uint32_t sm, bool ends)
{
    if (gpu->placed) {
        uint64_t now_ps = engine_now_ps(gpu->engine);
        uint64_t spent_ps = now_ps > gpu->start_ps ? now_ps - gpu->start_ps : 0;
        gpu->placed(gpu->placed_ctx, cta, sm, spent_ps / gpu->clock.period_ps, ends);
    }
}

static int distribute(struct gpu *gpu)
{
    while (gpu->cta_next < gpu->cta_count) {
        uint32_t sm = emptiest_sm(gpu);
        if (sm == NO_SM) {
            return 0;
        }
        int rc = sm_cta_start(gpu->sm[sm], gpu->cta_next);
        if (rc < 0) {
            return rc;
        }
        tell_placed(gpu, gpu->cta_next++, sm, false);
    }
    return 0;
}

void gpu_fault(void *ctx, uint32_t sm, int code)
{
    (void)sm;
    struct gpu *gpu = ctx;
    if (gpu->error == 0) {
        gpu->error = code;
    }
}

void gpu_cta_done(void *ctx, uint32_t sm, uint64_t cta)
{
    struct gpu *gpu = ctx;
    gpu->cta_ended++;
    tell_placed(gpu, cta, sm, true);
    int rc = distribute(gpu);
    if (rc < 0) {
        gpu_fault(gpu, sm, rc);
    }
}

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
    gpu->cta_next = gpu->cta_ended = 0;
    gpu->error = 0;
    return rc;
}

/* Nothing is pending and CTAs have not ended. */
static int deadlock(const struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        if (sm_report_stall(gpu->sm[i])) {
            return SONDE_EFAULT;
        }
    }
    return error_set(SONDE_EINTERNAL, "the launch stopped before its last block had ended");
}

static int run(struct gpu *gpu)
{
    for (uint64_t step = 1; gpu->cta_ended < gpu->cta_count; step++) {
        bool stepped = engine_step(gpu->engine);
        if (gpu->error < 0) {
            return gpu->error;
        }
        if (!stepped && gpu->cta_ended < gpu->cta_count) {
            int rc = engine_error(gpu->engine);
            return rc < 0 ? rc : deadlock(gpu);
        }
        if (step % STEPS_PER_POLL == 0 && gpu->cancel && *gpu->cancel) {
            return error_set(SONDE_EINTERRUPTED, "interrupted");
        }
    }
    return 0;
}

/* What is still on its way (replies to nobody, write-backs, prefetches) arrives before the next
 * launch. */
static void drain(struct gpu *gpu, int rc)
{
    for (uint32_t i = 0; rc < 0 && i < gpu->model->sms; i++) {
        sm_abort(gpu->sm[i]);
    }
    engine_run(gpu->engine, ENGINE_NEVER);
}

int gpu_launch(struct gpu *gpu, const struct exec_launch *launch, uint64_t *cycles)
{
    int rc = prepare(gpu, launch);
    if (rc < 0) {
        return rc;
    }
    gpu->start_ps = clock_align(&gpu->clock, engine_now_ps(gpu->engine));
    rc = distribute(gpu);
    if (rc == 0) {
        rc = run(gpu);
    }
    uint64_t end_ps = clock_align(&gpu->clock, engine_now_ps(gpu->engine));
    uint64_t spent = (end_ps - gpu->start_ps) / gpu->clock.period_ps;
    drain(gpu, rc);
    gpu->launches++;
    gpu->cycles += spent;
    if (cycles) {
        *cycles = spent;
    }
    return rc;
}
