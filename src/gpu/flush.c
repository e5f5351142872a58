/*
 * The end of a grid where L1s keep what is written (WRITE_BACK_WHOLE). The L1s are not coherent, so
 * that what the grid has written must have left them before anybody else reads it: when an SM's
 * last CTA has ended and no other comes, the L1's dirty lines are written to memory, and the grid
 * is over when all of that has been answered.
 *
 * Leaves out: what of several grids at a time is whose. Dirty lines go with the grid whose CTA is
 * the SM's last.
 */
#include "gpu/state.h"

static void on_written(void *ctx, uint64_t arg)
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
        gpu_tell_end(gpu, &end);
    }
}

static void on_flush(void *ctx, uint64_t arg)
{
    struct gpu_place *place = ctx;
    struct gpu *gpu = place->boundary->gpu;
    (void)arg;
    if (!gpu->stopping) {
        mem_cache_write_back(gpu->l1[place->boundary->sm], on_written, place);
    }
}

void gpu_flush_begin(struct gpu *gpu, struct gpu_grid *grid, uint32_t sm, uint64_t at_ps)
{
    bool keeps = gpu->l1_spec.enabled && gpu->l1_spec.write == WRITE_BACK_WHOLE;
    bool last = grid->cta_next == grid->cta_count && gpu->room[sm].ctas == 0;
    if (keeps && last && mem_cache_is_dirty(gpu->l1[sm])) {
        grid->flushes++;
        engine_at(gpu->boundary[sm].engine, at_ps, gpu->start_source, on_flush, &grid->place[sm],
                  0);
    }
}

void gpu_flush_ended(struct gpu_grid *grid, uint64_t at_ps)
{
    grid->flushes--;
    grid->last_end_ps = at_ps > grid->last_end_ps ? at_ps : grid->last_end_ps;
}
