/*
 * The CTA distributor. A grid's CTAs are handed out, each to the SM whose turn it is (deal.c),
 * until all SMs are full. A later CTA takes the place of one that has ended, sm.cta_start_cycles
 * after it. The SMs report ends and faults here. While SMs run apart (windows.c), an end is kept in
 * the SM's boundary until the window is over. No more than so many start in some cycles, and of no
 * more it is noted that they have ended (cta_starts, cta_ends): an H200 starts four in a cycle and
 * notes one end in 1.2 (docs/h200.md).
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

static struct gpu_grid *head(const struct gpu *gpu)
{
    struct gpu_grid *grid = gpu->grids;
    while (grid && grid->cta_next == grid->cta_count) {
        grid = grid->next;
    }
    return grid;
}

static void note_placed(struct gpu *gpu, const struct gpu_grid *grid, uint64_t cta, uint32_t sm,
                        bool ends, uint64_t at_ps)
{
    uint64_t spent_ps = at_ps > grid->start_ps ? at_ps - grid->start_ps : 0;
    uint64_t cycle = spent_ps / gpu->clock.period_ps, now = at_ps / gpu->clock.period_ps;
    uint64_t warps = grid->sm.needs.warps;
    gpu->resident_warp_cycles += (ends ? now : -now) * warps;
    gpu->resident_warps += ends ? -warps : warps;
    gpu->placed_cycle = now > gpu->placed_cycle ? now : gpu->placed_cycle;
    if (gpu->placed) {
        gpu->placed(gpu->placed_ctx, cta, sm, cycle, ends);
    }
}

int gpu_sm_prepare(struct gpu *gpu, struct gpu_place *place)
{
    struct gpu_boundary *boundary = place->boundary;
    uint32_t sm = boundary->sm;
    if (place->prepared) {
        return 0;
    }
    bool beside = boundary->period == gpu->period;
    if (!beside && gpu->l1[sm] && gpu->l1_spec.invalidate_on_launch) {
        mem_cache_invalidate(gpu->l1[sm]);
    }
    if (!beside) {
        gpu_readonly_invalidate_sm(gpu, sm);
        boundary->period = gpu->period;
    }
    int rc = sm_launch(gpu->sm[sm], &place->grid->sm, beside);
    place->prepared = rc == 0;
    return rc;
}

static void on_cta_start(void *ctx, uint64_t order)
{
    struct gpu_place *place = ctx;
    struct gpu_boundary *boundary = place->boundary;
    struct gpu *gpu = boundary->gpu;
    bool stops = gpu->stopping || boundary->fault < 0;
    int rc = stops ? 0 : gpu_sm_prepare(gpu, place);
    rc = stops || rc < 0 ? rc
                         : sm_cta_start(gpu->sm[boundary->sm], &place->grid->sm,
                                        cluster_linear_cta(place->grid->sm.launch, order),
                                        gpu_cluster_find(place->grid, order));
    if (rc < 0) {
        gpu_fault(gpu, boundary->sm, rc);
    }
}

/* Somebody else has executed the grid's next CTAs. */
static void skip_some(const struct gpu *gpu, struct gpu_grid *grid, uint64_t at_ps)
{
    if (grid->skips && grid->cta_next < grid->cta_count) {
        uint64_t spent_ps = at_ps > grid->start_ps ? at_ps - grid->start_ps : 0;
        uint64_t count =
            grid->skips->skip(grid->skips->ctx, grid->cta_next, spent_ps / gpu->clock.period_ps);
        grid->cta_next += count;
        grid->cta_ended += count;
    }
}

/* Something comes to an SM from outside, perhaps between two windows. */
static void sm_at(struct gpu *gpu, uint32_t sm, uint64_t at_ps, engine_handler *handler,
                  struct gpu_place *place, uint64_t arg)
{
    gpu_set_add(&gpu->sms_to_look_at, sm);
    engine_at(gpu->boundary[sm].engine, at_ps, gpu->start_source, handler, place, arg);
}

/* The grid's next CTA goes to an SM where its room has been taken, now or later. */
static int place(struct gpu *gpu, struct gpu_grid *grid, uint32_t sm, uint64_t start_ps, bool now)
{
    uint64_t order = grid->cta_next++;
    uint64_t cta = cluster_linear_cta(grid->sm.launch, order);
    note_placed(gpu, grid, cta, sm, false, start_ps);
    gpu->boundary[sm].counts = true;
    if (now) {
        int rc = gpu_sm_prepare(gpu, &grid->place[sm]);
        return rc < 0 ? rc
                      : sm_cta_start(gpu->sm[sm], &grid->sm, cta, gpu_cluster_find(grid, order));
    }
    sm_at(gpu, sm, start_ps, on_cta_start, &grid->place[sm], order);
    return 0;
}

/* When `ctas` more can pass, all at once and no sooner than `wanted_ps`. */
static uint64_t pass(const struct gpu *gpu, struct gpu_gate *gate, const struct cta_rate *rate,
                     uint32_t ctas, uint64_t wanted_ps)
{
    uint64_t interval_ps = rate->interval_cycles * gpu->clock.period_ps;
    if (rate->ctas == 0) {
        return wanted_ps;
    }
    if (wanted_ps >= gate->begin_ps + interval_ps) {
        *gate = (struct gpu_gate){.begin_ps = wanted_ps};
    }
    for (; ctas > 0; ctas--) {
        if (gate->ctas == rate->ctas) {
            gate->begin_ps += interval_ps;
            gate->ctas = 0;
        }
        gate->ctas++;
    }
    return gate->begin_ps > wanted_ps ? gate->begin_ps : wanted_ps;
}

/* The same for all CTAs of the grid's next cluster, of one CTA where the launch has none. */
static int place_cluster(struct gpu *gpu, struct gpu_grid *grid, const uint32_t *sm,
                         uint64_t wanted_ps, bool now)
{
    uint64_t id = grid->cta_next / grid->cluster_size;
    uint64_t start_ps =
        pass(gpu, &gpu->starts, &gpu->model->cta_starts, grid->cluster_size, wanted_ps);
    int rc = grid->has_clusters ? gpu_cluster_begin(grid, id, sm) : 0;
    for (uint32_t rank = 0; rc == 0 && rank < grid->cluster_size; rank++) {
        rc = place(gpu, grid, sm[rank], start_ps, now && start_ps == wanted_ps);
    }
    return rc;
}

/*
 * The next CTA of a grid, or all CTAs of the next cluster, to SMs with room for them. 0: there was
 * none.
 */
static int place_next(struct gpu *gpu, struct gpu_grid *grid, uint64_t start_ps, bool now)
{
    uint32_t sm[EXEC_CLUSTER_MAX] = {0};
    if (grid->cluster_size > 1) {
        if (!gpu_cluster_take(gpu, grid, sm)) {
            return 0;
        }
    } else {
        sm[0] = gpu_deal_next(gpu, grid);
        if (sm[0] == GPU_NO_SM) {
            return 0;
        }
        occupancy_take(&gpu->room[sm[0]], &grid->sm.needs);
        skip_some(gpu, grid, start_ps);
    }
    int rc = place_cluster(gpu, grid, sm, start_ps, now);
    return rc < 0 ? rc : 1;
}

int gpu_distribute(struct gpu *gpu)
{
    int rc = 1;
    for (struct gpu_grid *grid; rc > 0 && (grid = head(gpu));) {
        rc = place_next(gpu, grid, grid->start_ps, true);
    }
    return rc < 0 ? rc : 0;
}

void gpu_distribute_at(struct gpu *gpu, uint64_t start_ps)
{
    int rc = 1;
    for (struct gpu_grid *grid; rc > 0 && (grid = head(gpu));) {
        rc = place_next(gpu, grid, start_ps > grid->start_ps ? start_ps : grid->start_ps, false);
    }
    if (rc < 0) {
        gpu_fault(gpu, 0, rc);
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
 * The next grid at the head may find room anywhere, as may a cluster.
 */
static void fill_again(struct gpu *gpu, uint32_t sm, uint64_t start_ps)
{
    struct gpu_grid *grid = head(gpu);
    while (grid && grid->cluster_size == 1 && gpu_fits(gpu, sm, grid)) {
        occupancy_take(&gpu->room[sm], &grid->sm.needs);
        skip_some(gpu, grid, start_ps);
        int rc = place_cluster(gpu, grid, &sm,
                               start_ps > grid->start_ps ? start_ps : grid->start_ps, false);
        if (rc < 0) {
            gpu_fault(gpu, sm, rc);
            return;
        }
        if (grid->cta_next == grid->cta_count) {
            gpu_distribute_at(gpu, start_ps);
            return;
        }
    }
    if (grid && grid->cluster_size > 1) {
        gpu_distribute_at(gpu, start_ps);
    }
}

/*
 * ---- what a grid waits for beside its CTAs ----
 *
 * L1s that keep what is written (WRITE_BACK_WHOLE) are not coherent, so that what a grid has
 * written must have left them before anybody else reads it: when an SM's last CTA has ended and no
 * other comes, the L1's dirty lines are written to memory, and the grid is over when all of that
 * has been answered. What of several grids at a time is whose is left out: dirty lines go with the
 * grid whose CTA is the SM's last.
 */

static void tell_end(struct gpu *gpu, const struct gpu_cta_end *end);

static void on_settled(void *ctx, uint64_t arg)
{
    struct gpu_place *place = ctx;
    struct gpu_boundary *boundary = place->boundary;
    struct gpu *gpu = boundary->gpu;
    (void)arg;
    if (!gpu->stopping) {
        struct gpu_cta_end end = {.at_ps = engine_now_ps(boundary->engine),
                                  .cta = GPU_NO_CTA,
                                  .sm = boundary->sm,
                                  .grid = place->grid};
        tell_end(gpu, &end);
    }
}

static void on_flush(void *ctx, uint64_t arg)
{
    struct gpu_place *place = ctx;
    struct gpu *gpu = place->boundary->gpu;
    (void)arg;
    if (!gpu->stopping) {
        mem_cache_write_back(gpu->l1[place->boundary->sm], on_settled, place);
    }
}

bool gpu_ends_flush(const struct gpu *gpu)
{
    return gpu->l1_spec.enabled && gpu->l1_spec.write == WRITE_BACK_WHOLE;
}

static void flush_begin(struct gpu *gpu, struct gpu_grid *grid, uint32_t sm, uint64_t at_ps)
{
    bool last = grid->cta_next == grid->cta_count && gpu->room[sm].ctas == 0;
    if (gpu_ends_flush(gpu) && last && mem_cache_is_dirty(gpu->l1[sm])) {
        grid->settling++;
        sm_at(gpu, sm, at_ps, on_flush, &grid->place[sm], 0);
    }
}

/*
 * All CTAs have ended. A grid that has reached device memory is over some time after that is noted,
 * whether it loaded or stored: 450 to 640 cycles on an H200 (docs/h200.md).
 */
static void grid_end_begin(struct gpu *gpu, struct gpu_grid *grid, uint32_t sm, uint64_t soonest_ps)
{
    uint32_t cycles = grid->counts.reaches_memory ? gpu->model->grid_end_cycles : 0;
    uint64_t end_ps = grid->noted_ps + cycles * gpu->clock.period_ps;
    if (end_ps > soonest_ps) {
        grid->settling++;
        sm_at(gpu, sm, end_ps, on_settled, &grid->place[sm], 0);
    }
}

static void settled(struct gpu_grid *grid, uint64_t at_ps)
{
    grid->settling--;
    grid->last_end_ps = at_ps > grid->last_end_ps ? at_ps : grid->last_end_ps;
}

/* ---- ends ---- */

static void count_end(struct gpu *gpu, const struct gpu_cta_end *end)
{
    struct gpu_grid *grid = end->grid;
    grid->cta_ended++;
    if (grid->skips) {
        grid->skips->ended(grid->skips->ctx, end->cta);
    }
    grid->counts.warp_insns += end->counts.warp_insns;
    grid->counts.thread_insns += end->counts.thread_insns;
    grid->counts.reaches_memory |= end->counts.reaches_memory;
    grid->last_end_ps = end->at_ps > grid->last_end_ps ? end->at_ps : grid->last_end_ps;
    note_placed(gpu, grid, end->cta, end->sm, true, end->at_ps);
    occupancy_give(&gpu->room[end->sm], &grid->sm.needs);
    if (grid->has_clusters) {
        gpu_clusters_sweep(grid, false);
    }
    uint64_t answered_ps = clock_align(&gpu->clock, end->at_ps) +
                           gpu->model->sm.cta_start_cycles * gpu->clock.period_ps;
    uint64_t noted_ps = pass(gpu, &gpu->ends, &gpu->model->cta_ends, 1,
                             end->counts.exited_cycle * gpu->clock.period_ps);
    uint64_t free_ps = noted_ps + gpu->model->cta_end_cycles * gpu->clock.period_ps;
    grid->noted_ps = noted_ps > grid->noted_ps ? noted_ps : grid->noted_ps;
    fill_again(gpu, end->sm, free_ps > answered_ps ? free_ps : answered_ps);
    flush_begin(gpu, grid, end->sm, answered_ps);
    if (grid->cta_ended == grid->cta_count) {
        grid_end_begin(gpu, grid, end->sm, answered_ps);
    }
}

void gpu_cta_ended(struct gpu *gpu, const struct gpu_cta_end *end)
{
    struct gpu_grid *grid = end->grid;
    if (end->cta == GPU_NO_CTA) {
        settled(grid, end->at_ps);
    } else {
        count_end(gpu, end);
    }
    if (grid->cta_ended == grid->cta_count && grid->settling == 0) {
        gpu_grid_over(gpu, grid, grid->last_end_ps);
    }
}

void gpu_cta_done(void *ctx, uint32_t sm, const struct sm_grid *grid, uint64_t cta,
                  const struct sm_cta_counts *counts)
{
    struct gpu *gpu = ctx;
    struct gpu_cta_end end = {engine_now_ps(gpu->boundary[sm].engine), cta, sm, grid->owner,
                              *counts};
    tell_end(gpu, &end);
}

static void tell_end(struct gpu *gpu, const struct gpu_cta_end *end)
{
    struct gpu_boundary *boundary = &gpu->boundary[end->sm];
    if (!gpu->parted) {
        gpu_cta_ended(gpu, end);
        return;
    }
    if (boundary->end_count == boundary->end_capacity) {
        uint32_t capacity = boundary->end_capacity ? boundary->end_capacity * 2 : 8;
        struct gpu_cta_end *larger = realloc(boundary->end, capacity * sizeof *larger);
        if (!larger) {
            gpu_fault(gpu, end->sm, error_memory());
            return;
        }
        boundary->end = larger;
        boundary->end_capacity = capacity;
    }
    boundary->end[boundary->end_count++] = *end;
}

/* Nothing is pending and CTAs have not ended. */
int gpu_deadlock(const struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->model->sms; i++) {
        if (sm_report_stall(gpu->sm[i])) {
            return gpu_tell_positions(gpu, SONDE_EFAULT);
        }
    }
    return error_set(SONDE_EINTERNAL, "the launch stopped before its last block had ended");
}
