/*
 * The CTA distributor. CTAs are handed out breadth first, each to the SM that has the fewest
 * (Bakhoda et al. 2009, section 2), until all SMs are full. A later CTA takes the place of one that
 * has ended, sm.cta_start_cycles after it. The SMs report ends and faults here. While SMs run apart
 * (windows.c), an end is kept in the SM's boundary until the window is over.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpu/state.h"
#include "util/error.h"

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

int gpu_distribute(struct gpu *gpu)
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
    struct gpu_boundary *boundary = &gpu->boundary[sm];
    if (boundary->fault == 0) {
        boundary->fault = code;
        boundary->fault_ps = engine_now_ps(boundary->engine);
        snprintf(boundary->fault_text, sizeof boundary->fault_text, "%s", error_text());
    }
    if (!gpu->parted && gpu->error == 0) {
        gpu->error = code;
    }
}

static void on_cta_start(void *ctx, uint64_t cta)
{
    struct gpu_boundary *boundary = ctx;
    struct gpu *gpu = boundary->gpu;
    int rc = gpu->stopping || boundary->fault < 0 ? 0 : sm_cta_start(gpu->sm[boundary->sm], cta);
    if (rc < 0) {
        gpu_fault(gpu, boundary->sm, rc);
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
        struct gpu_boundary *boundary = &gpu->boundary[end->sm];
        uint64_t latency_ps = gpu->model->sm.cta_start_cycles * gpu->clock.period_ps;
        uint64_t start_ps = clock_align(&gpu->clock, end->at_ps) + latency_ps;
        engine_at(boundary->engine, start_ps, gpu->start_source, on_cta_start, boundary,
                  gpu->cta_next);
        tell_placed(gpu, gpu->cta_next++, end->sm, false, start_ps);
    }
}

void gpu_cta_done(void *ctx, uint32_t sm, uint64_t cta)
{
    struct gpu *gpu = ctx;
    struct gpu_boundary *boundary = &gpu->boundary[sm];
    struct gpu_cta_end end = {engine_now_ps(boundary->engine), cta, sm};
    if (!gpu->parted) {
        gpu_cta_ended(gpu, &end);
        return;
    }
    if (boundary->end_count == boundary->end_capacity) {
        uint32_t capacity = boundary->end_capacity ? boundary->end_capacity * 2 : 8;
        struct gpu_cta_end *larger = realloc(boundary->end, capacity * sizeof *larger);
        if (!larger) {
            gpu_fault(gpu, sm, error_memory());
            return;
        }
        boundary->end = larger;
        boundary->end_capacity = capacity;
    }
    boundary->end[boundary->end_count++] = end;
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
