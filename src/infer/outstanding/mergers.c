/*
 * How many loads of a line wait for its fill: as many as load it before one has to come again.
 */
#include "infer/outstanding/outstanding.h"

#include <math.h>

/* Thresholds. */
static const struct {
    double jump_share, fine_share;
    unsigned jump;
} limits = {
    .jump_share = 0.08, /* share of a single load's time: a jump, where lines are shared */
    .fine_share = 0.04, /* and where loads of another shape do so, too; */
    .jump = 10,         /* and so many cycles. Both chosen */
};

/* Does the time rise half as high between the same numbers of warps of another shape? */
static int rises_too(struct lab *lab, const struct yardstick *yard, bool *rises,
                     const struct ray *ray, const struct ray_result *shared)
{
    double cycles[2] = {0};
    int rc = ray_measure_both(lab, cycles, yard, ray, shared->fits, 1);
    *rises =
        rc == 0 && cycles[1] - cycles[0] > 0.5 * (shared->after_cycles - shared->before_cycles);
    return rc;
}

/* As it does where each warp loads a line of its own? */
static int try_apart(struct lab *lab, const struct yardstick *yard, bool *apart_too,
                     const struct ray_result *shared)
{
    struct ray ray = shared->ray;
    ray.share = 1;
    return rises_too(lab, yard, apart_too, &ray, shared);
}

/*
 * Who found no place waits for the line and then may hit it: that is less than a round trip, and
 * little where hits are quick. A small jump may be of turns; as high a one of warps that load two
 * lines each is not.
 */
static int hold_small_merger(struct lab *lab, const struct yardstick *yard, bool *holds,
                             const struct ray_result *shared)
{
    struct ray ray = shared->ray;
    double height = shared->after_cycles - shared->before_cycles;
    *holds = !shared->jumped || height >= limits.jump_share * yard->one_cycles;
    if (*holds) {
        return 0;
    }
    ray.lanes = 2;
    return rises_too(lab, yard, holds, &ray, shared);
}

/* Small jumps where they were recorded and hold, else large ones; then the same by lanes. */
static int follow_mergers(struct lab *lab, const struct yardstick *yard,
                          struct ray_result *by_warps, struct ray_result *by_lanes)
{
    const struct ray warps = {.axis = RAY_INSTRUCTIONS,
                              .loads = 1,
                              .lanes = 1,
                              .merge = 1,
                              .share = OUT_WARP,
                              .last = OUT_WARP};
    const struct ray lanes = {
        .axis = RAY_LANES, .loads = 1, .merge = OUT_WARP, .share = 1, .last = OUT_WARP};
    struct yardstick own = *yard;
    bool holds = false;
    own.jump_cycles = fmax(limits.jump, limits.fine_share * yard->one_cycles);
    int rc = tell_ray(lab, by_warps, &own, &warps);
    rc = rc ? rc : hold_small_merger(lab, yard, &holds, by_warps);
    if (rc ? lab_soft(rc) : !holds) {
        own.jump_cycles = limits.jump_share * yard->one_cycles;
        rc = tell_ray(lab, by_warps, &own, &warps);
    }
    return rc ? rc : tell_ray(lab, by_lanes, &own, &lanes);
}

int mergers_tell(struct lab *lab, const struct yardstick *yard)
{
    struct outstanding_result *out = &lab->out->outstanding;
    struct ray_result by_warps, by_lanes;
    char id[24];
    int rc = follow_mergers(lab, yard, &by_warps, &by_lanes);
    if (rc) {
        return rc;
    }
    out->lanes_merge_known = true;
    out->lanes_merge_in_table = by_lanes.jumped;
    bool apart_too = false;
    rc = by_warps.jumped ? try_apart(lab, yard, &apart_too, &by_warps) : 0;
    if (rc || !by_warps.jumped || apart_too) {
        tell_least(&out->mergers, &out->mergers_least, by_warps.fits - 1.0, "1",
                   apart_too ? "what keeps all loads is full before"
                             : "warps that load the same line showed no jump");
        return rc;
    }
    bool alike = !by_lanes.jumped || by_lanes.fits == by_warps.fits;
    lab_evidence(lab, id, "outstanding",
                 "threads share=32 lanes=1: %u warps that load one line take %.0f cycles, one more "
                 "%.0f; lanes of one warp that do %s",
                 by_warps.fits, by_warps.before_cycles, by_warps.after_cycles,
                 !by_lanes.jumped ? "show no jump: they are one request"
                 : alike          ? "jump at the same number"
                                  : "jump elsewhere");
    attribute_set(&out->mergers, by_warps.fits - 1.0, "1", alike ? 0.97 : 0.6, id);
    return 0;
}
