/*
 * The CTA distributor. A grid's CTAs are handed out breadth first, each to the SM that has the
 * fewest (Bakhoda et al. 2009, section 2), until all SMs are full. A later CTA takes the place of
 * one that has ended, sm.cta_start_cycles after it. The SMs report ends and faults here. While SMs
 * run apart (windows.c), an end is kept in the SM's boundary until the window is over.
 *
 * Of several grids one is at the head: of those with CTAs left to hand out the one of the highest
 * priority, and of these the oldest. Only when it has none left do CTAs of the next go into the
 * room that remains, so that grids share the GPU mostly where one ends and another begins, or where
 * none fills it. A grid of higher priority that comes later takes the head, and the places of CTAs
 * as they end; nothing is taken from CTAs that run. (Amert et al. 2017, "GPU scheduling on the
 * NVIDIA TX2: hidden details revealed", rules of the execution engine's queue.)
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpu/state.h"
#include "util/error.h"

#define NO_SM UINT32_MAX

static bool fits(const struct gpu *gpu, uint32_t sm, const struct gpu_grid *grid)
{
    return occupancy_fits(&gpu->model->sm, &gpu->room[sm], &grid->sm.needs, gpu->shared_bytes);
}

static uint32_t emptiest_sm(const struct gpu *gpu, const struct gpu_grid *grid)
{
    uint32_t best = NO_SM;
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        if (fits(gpu, i, grid) && (best == NO_SM || gpu->room[i].ctas < gpu->room[best].ctas)) {
            best = i;
        }
    }
    return best;
}

static struct gpu_grid *head(const struct gpu *gpu)
{
    struct gpu_grid *grid = gpu->grids;
    while (grid && grid->cta_next == grid->cta_count) {
        grid = grid->next;
    }
    return grid;
}

static void tell_placed(const struct gpu *gpu, const struct gpu_grid *grid, uint64_t cta,
                        uint32_t sm, bool ends, uint64_t at_ps)
{
    if (gpu->placed) {
        uint64_t spent_ps = at_ps > grid->start_ps ? at_ps - grid->start_ps : 0;
        gpu->placed(gpu->placed_ctx, cta, sm, spent_ps / gpu->clock.period_ps, ends);
    }
}

static void on_cta_start(void *ctx, uint64_t cta)
{
    const struct gpu_place *place = ctx;
    struct gpu_boundary *boundary = place->boundary;
    struct gpu *gpu = boundary->gpu;
    int rc = gpu->stopping || boundary->fault < 0
                 ? 0
                 : sm_cta_start(gpu->sm[boundary->sm], &place->grid->sm, cta);
    if (rc < 0) {
        gpu_fault(gpu, boundary->sm, rc);
    }
}

/* The grid's next CTA goes to an SM that has room for it. */
static void place_later(struct gpu *gpu, struct gpu_grid *grid, uint32_t sm, uint64_t start_ps)
{
    occupancy_take(&gpu->room[sm], &grid->sm.needs);
    engine_at(gpu->boundary[sm].engine, start_ps, gpu->start_source, on_cta_start, &grid->place[sm],
              grid->cta_next);
    tell_placed(gpu, grid, grid->cta_next++, sm, false, start_ps);
}

int gpu_distribute(struct gpu *gpu)
{
    for (struct gpu_grid *grid; (grid = head(gpu));) {
        uint32_t sm = emptiest_sm(gpu, grid);
        if (sm == NO_SM) {
            return 0;
        }
        occupancy_take(&gpu->room[sm], &grid->sm.needs);
        int rc = sm_cta_start(gpu->sm[sm], &grid->sm, grid->cta_next);
        if (rc < 0) {
            return rc;
        }
        tell_placed(gpu, grid, grid->cta_next++, sm, false, grid->start_ps);
    }
    return 0;
}

void gpu_distribute_at(struct gpu *gpu, uint64_t start_ps)
{
    for (struct gpu_grid *grid; (grid = head(gpu));) {
        uint32_t sm = emptiest_sm(gpu, grid);
        if (sm == NO_SM) {
            return;
        }
        uint64_t begin_ps = start_ps > grid->start_ps ? start_ps : grid->start_ps;
        place_later(gpu, grid, sm, begin_ps);
    }
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

/*
 * While a grid is at the head, no SM has room for its next CTA but the one where something ended.
 * The next grid at the head may find room anywhere.
 */
static void fill_again(struct gpu *gpu, uint32_t sm, uint64_t start_ps)
{
    struct gpu_grid *grid = head(gpu);
    while (grid && fits(gpu, sm, grid)) {
        place_later(gpu, grid, sm, start_ps > grid->start_ps ? start_ps : grid->start_ps);
        if (grid->cta_next == grid->cta_count) {
            gpu_distribute_at(gpu, start_ps);
            return;
        }
    }
}

void gpu_cta_ended(struct gpu *gpu, const struct gpu_cta_end *end)
{
    struct gpu_grid *grid = end->grid;
    grid->cta_ended++;
    grid->counts.warp_insns += end->counts.warp_insns;
    grid->counts.thread_insns += end->counts.thread_insns;
    grid->last_end_ps = end->at_ps > grid->last_end_ps ? end->at_ps : grid->last_end_ps;
    tell_placed(gpu, grid, end->cta, end->sm, true, end->at_ps);
    occupancy_give(&gpu->room[end->sm], &grid->sm.needs);
    uint64_t latency_ps = gpu->model->sm.cta_start_cycles * gpu->clock.period_ps;
    fill_again(gpu, end->sm, clock_align(&gpu->clock, end->at_ps) + latency_ps);
    if (grid->cta_ended == grid->cta_count) {
        gpu_grid_over(gpu, grid, grid->last_end_ps);
    }
}

void gpu_cta_done(void *ctx, uint32_t sm, const struct sm_grid *grid, uint64_t cta,
                  const struct sm_cta_counts *counts)
{
    struct gpu *gpu = ctx;
    struct gpu_boundary *boundary = &gpu->boundary[sm];
    struct gpu_cta_end end = {engine_now_ps(boundary->engine), cta, sm, grid->owner, *counts};
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
