/*
 * Occupancy as the driver reports it: what core/occupancy.c computes for the model, with the
 * carve-out that a launch of such blocks would get.
 */
#include "core/occupancy.h"
#include "rt/queue/queue.h"
#include "rt/state.h"
#include "util/error.h"

bool carveout_that_holds(const struct model *model, uint64_t shared_bytes, uint32_t *choice)
{
    const struct carveout_spec *carveout = &model->carveout;
    bool found = false;
    for (uint32_t i = 0; i < carveout->count; i++) {
        uint64_t bytes = carveout->choice[i].shared_bytes;
        if (bytes >= shared_bytes && (!found || bytes < carveout->choice[*choice].shared_bytes)) {
            *choice = i;
            found = true;
        }
    }
    return found;
}

/*
 * The preferred choice if a block fits, else the nearest that holds one: hardware would not refuse
 * a launch over a preference. Where none was given and the driver cares for occupancy, a larger one
 * if more blocks fit an SM with it.
 */
uint32_t carveout_for(const struct rt *rt, const struct cta_needs *needs)
{
    const struct carveout_spec *carveout = &rt->model->carveout;
    const struct sm_spec *sm = &rt->model->sm;
    uint32_t choice = rt->preferred_carveout;
    if (carveout->choice[choice].shared_bytes < needs->shared_bytes) {
        carveout_that_holds(rt->model, needs->shared_bytes, &choice);
    }
    const char *limit;
    uint64_t bytes = carveout->choice[choice].shared_bytes;
    uint32_t most = occupancy_ctas(sm, needs, bytes, &limit);
    bool may_grow = carveout->follows_occupancy && !rt->prefers_carveout;
    for (uint32_t i = 0; may_grow && i < carveout->count; i++) {
        uint64_t other = carveout->choice[i].shared_bytes;
        if (other <= bytes) {
            continue;
        }
        uint32_t fit = occupancy_ctas(sm, needs, other, &limit);
        if (fit > most || (fit == most && other < carveout->choice[choice].shared_bytes)) {
            most = fit;
            choice = i;
        }
    }
    return choice;
}

static uint32_t blocks_of(const struct rt *rt, const struct rt_kernel *kernel, uint32_t threads,
                          uint64_t dynamic_shared_bytes)
{
    const struct model *model = rt->model;
    uint64_t shared = exec_program_shared_bytes(kernel->program) + dynamic_shared_bytes;
    uint64_t sm_shared = model->sm.shared.size_bytes;
    if (model->driver.shared_per_block_bytes && shared > model->driver.shared_per_block_bytes) {
        return 0;
    }
    struct cta_needs needs;
    const char *limit;
    occupancy_needs(&needs, &model->sm, threads, exec_program_register_count(kernel->program),
                    shared);
    if (model->carveout.count > 0) {
        sm_shared = model->carveout.choice[carveout_for(rt, &needs)].shared_bytes;
    }
    return occupancy_ctas(&model->sm, &needs, sm_shared, &limit);
}

int rt_occupancy(struct rt *rt, uint32_t *blocks, const struct rt_kernel *kernel,
                 uint32_t block_threads, uint64_t dynamic_shared_bytes)
{
    *blocks = 0;
    if (block_threads == 0) {
        return error_set(SONDE_EINPUT, "a block of no threads");
    }
    if (block_threads <= RT_BLOCK_THREADS_MAX) {
        *blocks = blocks_of(rt, kernel, block_threads, dynamic_shared_bytes);
    }
    return 0;
}

static uint32_t kernel_limit(const struct ptx_func *func)
{
    uint64_t allowed = RT_BLOCK_THREADS_MAX;
    const uint32_t *most = func->reqntid[0] ? func->reqntid : func->maxntid;
    if (most[0]) {
        uint64_t threads = 1;
        for (int i = 0; i < 3; i++) {
            threads *= most[i] ? most[i] : 1;
        }
        allowed = threads < allowed ? threads : allowed;
    }
    return (uint32_t)allowed;
}

int rt_occupancy_best(struct rt *rt, uint32_t *block_threads, uint32_t *grid,
                      const struct rt_kernel *kernel,
                      uint64_t (*shared)(void *ctx, uint32_t block_threads), void *ctx,
                      uint32_t limit)
{
    uint32_t most = kernel_limit(kernel->func), best_threads = 0, best_block = 0, best_blocks = 0;
    most = limit && limit < most ? limit : most;
    /* The largest first: of several with as many threads, it has the fewest blocks to start. */
    uint32_t block = (most + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    for (; block > 0; block -= WARP_LANES) {
        uint32_t threads = block < most ? block : most;
        uint32_t blocks = blocks_of(rt, kernel, threads, shared ? shared(ctx, threads) : 0);
        if (blocks * threads > best_threads) {
            best_threads = blocks * threads;
            best_block = threads;
            best_blocks = blocks;
        }
    }
    *block_threads = best_block;
    *grid = best_blocks * rt->model->sms;
    return best_block
               ? 0
               : error_set(SONDE_EINPUT, "%s: no block fits a multiprocessor", kernel->func->name);
}
