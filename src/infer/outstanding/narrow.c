/*
 * Rays of several lanes jump between two numbers of requests that lie some apart. Which of those
 * between it is shows where warps of a few lanes each ask for one request more at a time: so many
 * lanes that a block has them, and no more, for what a warp asks for at once may be overtaken.
 */
#include "infer/outstanding/outstanding.h"

#include <math.h>

/* Thresholds. */
static const struct {
    double as_high, apart;
    unsigned most, warps, least_lanes;
} limits = {
    .as_high = 0.5,   /* of what makes a jump: the step. Chosen */
    .apart = 2,       /* times any other step. Chosen */
    .most = 16,       /* numbers that are left, at most. Chosen */
    .warps = 28,      /* that ask, at most: one more waits for a hit. Chosen */
    .least_lanes = 3, /* of a warp: instructions of fewer leave late. Chosen */
};

int narrow_requests(struct lab *lab, struct bounds *b, const struct yardstick *yard)
{
    uint32_t low = (uint32_t)ceil(b->low - 1e-9), high = (uint32_t)floor(b->high + 1e-9), at = low;
    struct ray ray = {.axis = RAY_REQUESTS, .merge = 1, .share = 1};
    double before = 0, largest = 0, second = 0;
    int rc = 0;
    ray.lanes = (high + limits.warps) / limits.warps;
    ray.lanes = ray.lanes < limits.least_lanes ? limits.least_lanes : ray.lanes;
    if (high <= low || high - low > limits.most || low == 0 || ray.lanes >= OUT_WARP) {
        return 0;
    }
    for (uint32_t x = low; rc == 0 && x <= high + 1; x++) {
        double cycles = 0;
        rc = ray_measure(lab, &cycles, yard, &ray, x, 1);
        double step = x > low ? cycles - before : 0;
        second = fmax(second, fmin(step, largest));
        at = step > largest ? x - 1 : at;
        largest = fmax(largest, step);
        before = cycles;
    }
    if (rc == 0 && largest >= limits.as_high * yard->jump_cycles &&
        largest >= limits.apart * second) {
        b->low = b->high = at;
    }
    return lab_soft(rc) ? 0 : rc; /* not recorded: bounds stand */
}
