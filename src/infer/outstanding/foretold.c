/*
 * A number that rays have shown is held against loads of another shape: as many in more warps, of
 * fewer each, which no ray had. What fits there fits here, and one more waits. A table does not
 * know who fills it. But a time may jump at some number of one shape alone, where warps begin late
 * or lines crowd a set of L1, and two rays of few lanes, which are of that shape both, then agree.
 */
#include "infer/outstanding/outstanding.h"

#include <math.h>

/* Thresholds. Fixed by: drawn machines with loads in flight that nothing bounds. */
static const struct {
    double as_high, as_seen;
    unsigned lanes, other_lanes;
} limits = {
    .as_high = 0.5,  /* share of what makes a jump. Chosen */
    .as_seen = 0.25, /* share of the jump that rays showed: what waits does so for a round trip less
                        what requests before it took, which more lanes or warps may make longer.
                        Chosen */
    .lanes = 4,      /* of a warp, where requests count: few instructions. Chosen */
    .other_lanes = 3, /* of a warp, where warps cannot be more: no ray has them. Chosen */
};

/* Fewest loads of a warp with which a block has so many instructions. */
static uint32_t fewest_loads(uint32_t instructions, uint32_t warps)
{
    return (instructions + warps - 1) / warps;
}

/* False: no other shape has so many. */
static bool other_shape(struct ray *ray, const struct yardstick *yard, uint32_t loads,
                        bool by_instructions, uint32_t size)
{
    uint32_t warps = yard->hit ? OUT_WARP - 1 : OUT_WARP;
    *ray = (struct ray){.axis = RAY_INSTRUCTIONS,
                        .lanes = by_instructions || size < limits.lanes ? 1 : limits.lanes,
                        .merge = 1,
                        .share = 1};
    ray->loads = fewest_loads(size / (by_instructions ? 1 : ray->lanes) + 1, warps);
    if (ray->loads >= loads) {
        if (by_instructions && !yard->hit) {
            return false; /* more requests leave later, and would show less */
        }
        ray->loads = loads;
        ray->lanes = limits.other_lanes;
    }
    while (!by_instructions && ray->lanes < OUT_WARP && size / ray->lanes >= warps * loads) {
        ray->lanes++;
    }
    return size / (by_instructions ? 1 : ray->lanes) < warps * ray->loads;
}

/* Times before and after that number of a shape's values: it holds if one more adds `least` cycles.
 */
static int hold(struct lab *lab, bool *holds, const struct yardstick *yard, const struct ray *ray,
                uint32_t x, double least)
{
    double cycles[2] = {0};
    char id[24];
    int rc = ray_measure_both(lab, cycles, yard, ray, x, 1);
    if (rc) {
        return rc;
    }
    /* A hit waits for nothing behind what fits. */
    bool fits = !yard->hit || cycles[0] < yard->one_cycles + yard->jump_cycles;
    *holds = fits && cycles[1] - cycles[0] >= least;
    lab_evidence(lab, id, "outstanding",
                 "threads%s lanes=%u loads=%u: %u requests take %.0f cycles, %u %.0f: %s",
                 yard->hit ? ", a hit behind them," : "", ray->lanes, ray->loads,
                 ray_requests(ray, x), cycles[0], ray_requests(ray, x + 1), cycles[1],
                 *holds ? "as foretold" : "not as foretold");
    return 0;
}

/* Answers of single lanes may be back before a hit comes, and requests of several may leave after
 * it: of instructions either shape tells. */
int foretold_holds(struct lab *lab, bool *holds, const struct yardstick *yard, uint32_t loads,
                   bool by_instructions, uint32_t size, double height)
{
    struct ray ray;
    double least = limits.as_high * yard->jump_cycles;
    /* A hit may come just before the first answer, and wait for little. */
    least = yard->hit ? least : fmax(least, limits.as_seen * height);
    *holds = true;
    if (!other_shape(&ray, yard, loads, by_instructions, size)) {
        return 0;
    }
    uint32_t x = by_instructions ? size : size / ray.lanes;
    int rc = hold(lab, holds, yard, &ray, x, least);
    if (rc == 0 && !*holds && by_instructions && yard->hit && ray.lanes < limits.other_lanes) {
        ray.lanes = limits.other_lanes;
        rc = hold(lab, holds, yard, &ray, x, least);
    }
    return lab_soft(rc) ? 0 : rc; /* not recorded: what rays say stands */
}
