/*
 * Launches: CTAs are handed out breadth first, each to the SM that has the fewest (Bakhoda et al.
 * 2009, section 2), until all SMs are full; later ones take the places of those that end, some
 * cycles after. The machine runs until the last has ended, as a whole or in windows (windows.c).
 * A launch begins when it is called: the host's overhead of launching is not modelled.
 */
#include <stdio.h>
#include <stdlib.h>

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

static void tell_placed(const struct gpu *gpu, uint64_t cta, uint32_t sm, bool ends, uint64_t at_ps)
{
    if (gpu->placed) {
        uint64_t spent_ps = at_ps > gpu->start_ps ? at_ps - gpu->start_ps : 0;
        gpu->placed(gpu->placed_ctx, cta, sm, spent_ps / gpu->clock.period_ps, ends);
    }
}

/* As many as fit at once. */
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
        tell_placed(gpu, gpu->cta_next++, sm, false, gpu->start_ps);
    }
    return 0;
}

void gpu_fault(void *ctx, uint32_t sm, int code)
{
    struct gpu *gpu = ctx;
    struct gpu_side *side = &gpu->side[sm];
    if (side->fault == 0) {
        side->fault = code;
        side->fault_ps = engine_now_ps(side->engine);
        snprintf(side->fault_text, sizeof side->fault_text, "%s", error_text());
    }
    if (!gpu->parted && gpu->error == 0) {
        gpu->error = code;
    }
}

static void on_cta_start(void *ctx, uint64_t cta)
{
    struct gpu_side *side = ctx;
    struct gpu *gpu = side->gpu;
    int rc = gpu->stopping || side->fault < 0 ? 0 : sm_cta_start(gpu->sm[side->sm], cta);
    if (rc < 0) {
        gpu_fault(gpu, side->sm, rc);
    }
}

/* While CTAs are left to start, all SMs are full: the next takes the place of the one that ended.
 */
void gpu_cta_ended(struct gpu *gpu, const struct gpu_cta_end *end)
{
    gpu->cta_ended++;
    gpu->last_end_ps = end->at_ps > gpu->last_end_ps ? end->at_ps : gpu->last_end_ps;
    tell_placed(gpu, end->cta, end->sm, true, end->at_ps);
    if (gpu->cta_next < gpu->cta_count) {
        struct gpu_side *side = &gpu->side[end->sm];
        uint64_t latency_ps = gpu->model->sm.cta_start_cycles * gpu->clock.period_ps;
        uint64_t start_ps = clock_align(&gpu->clock, end->at_ps) + latency_ps;
        engine_at(side->engine, start_ps, gpu->start_source, on_cta_start, side, gpu->cta_next);
        tell_placed(gpu, gpu->cta_next++, end->sm, false, start_ps);
    }
}

void gpu_cta_done(void *ctx, uint32_t sm, uint64_t cta)
{
    struct gpu *gpu = ctx;
    struct gpu_side *side = &gpu->side[sm];
    struct gpu_cta_end end = {engine_now_ps(side->engine), cta, sm};
    if (!gpu->parted) {
        gpu_cta_ended(gpu, &end);
        return;
    }
    if (side->end_count == side->end_capacity) {
        uint32_t capacity = side->end_capacity ? side->end_capacity * 2 : 8;
        struct gpu_cta_end *larger = realloc(side->end, capacity * sizeof *larger);
        if (!larger) {
            gpu_fault(gpu, sm, error_memory());
            return;
        }
        side->end = larger;
        side->end_capacity = capacity;
    }
    side->end[side->end_count++] = end;
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
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        gpu->side[i].fault = 0;
    }
    gpu->cta_next = gpu->cta_ended = gpu->last_end_ps = 0;
    gpu->error = 0;
    gpu->stopping = false;
    gpu->lookahead_ps = gpu_lookahead_ps(gpu, launch);
    return rc;
}

/* Nothing is pending and CTAs have not ended. */
int gpu_deadlock(const struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        if (sm_report_stall(gpu->sm[i])) {
            return SONDE_EFAULT;
        }
    }
    return error_set(SONDE_EINTERNAL, "the launch stopped before its last block had ended");
}

bool gpu_cancelled(const struct gpu *gpu)
{
    return gpu->cancel && *gpu->cancel;
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
        rc = distribute(gpu);
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
