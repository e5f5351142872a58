/* A measurement of the probe `instruction`, as the experiments on an SM ask for it. */
#ifndef SONDE_INFER_DEVICE_TIMING_H
#define SONDE_INFER_DEVICE_TIMING_H

#include "infer/ask/lab.h"

struct timing {
    const char *op;
    uint32_t chains, warps, active, lines, lanes, group, stride, spread; /* as the probe has them */
    /* Measured: lines of a warp, what they take beyond as many, and what twice as many take with
     * all that surrounds them. */
    double lines_timed, difference, longer;
    double least_cycles, most_cycles; /* of timing_measure_full: bounds of what a line takes */
};

/* One chain of one warp. */
struct timing timing_of(const char *op);
/* Cycles that a further line of each warp takes. */
int timing_measure(struct lab *lab, double *cycles, struct timing *timing);
/* The same with as many chains and warps as do most in a cycle; sets them. */
int timing_measure_full(struct lab *lab, double *cycles, struct timing *timing);

#endif
