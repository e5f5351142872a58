/*
 * Occupancy: the smallest of five quotients. Shared memory is counted in bytes, without the small
 * allocation granule that real SMs have.
 */
#include "core/occupancy.h"

#include <stddef.h>

#include "core/sched/sched.h"
#include "exec/exec.h"

void occupancy_needs(struct cta_needs *out, const struct sm_spec *spec, uint32_t threads,
                     uint32_t register_count, uint64_t shared_bytes)
{
    uint64_t granule = spec->register_granule ? spec->register_granule : 1;
    uint64_t per_warp = (uint64_t)register_count * WARP_LANES;
    per_warp = (per_warp + granule - 1) / granule * granule;
    uint32_t warps = (threads + WARP_LANES - 1) / WARP_LANES;
    *out = (struct cta_needs){.threads = threads,
                              .warps = warps,
                              .registers = per_warp * warps,
                              .shared_bytes = shared_bytes};
}

uint32_t occupancy_ctas(const struct sm_spec *spec, const struct cta_needs *needs,
                        uint64_t sm_shared_bytes, const char **why)
{
    uint32_t max_warps = spec->max_warps < SM_MAX_WARPS ? spec->max_warps : SM_MAX_WARPS;
    const struct {
        uint64_t have, need;
        const char *what;
    } limits[] = {
        {spec->max_ctas, 1, "CTAs"},
        {spec->max_threads, needs->threads, "threads"},
        {max_warps, needs->warps, "warps"},
        {spec->registers, needs->registers, "registers"},
        {sm_shared_bytes, needs->shared_bytes, "shared memory"},
    };
    uint64_t fit = UINT32_MAX;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].need && limits[i].have / limits[i].need < fit) {
            fit = limits[i].have / limits[i].need;
            *why = limits[i].what;
        }
    }
    return (uint32_t)fit;
}

bool occupancy_fits(const struct sm_spec *spec, const struct sm_room *taken,
                    const struct cta_needs *needs, uint64_t sm_shared_bytes)
{
    uint32_t max_warps = spec->max_warps < SM_MAX_WARPS ? spec->max_warps : SM_MAX_WARPS;
    return taken->ctas < spec->max_ctas && taken->threads + needs->threads <= spec->max_threads &&
           taken->warps + needs->warps <= max_warps &&
           taken->registers + needs->registers <= spec->registers &&
           taken->shared_bytes + needs->shared_bytes <= sm_shared_bytes;
}

void occupancy_take(struct sm_room *taken, const struct cta_needs *needs)
{
    taken->ctas++;
    taken->threads += needs->threads;
    taken->warps += needs->warps;
    taken->registers += needs->registers;
    taken->shared_bytes += needs->shared_bytes;
}

void occupancy_give(struct sm_room *taken, const struct cta_needs *needs)
{
    taken->ctas--;
    taken->threads -= needs->threads;
    taken->warps -= needs->warps;
    taken->registers -= needs->registers;
    taken->shared_bytes -= needs->shared_bytes;
}
