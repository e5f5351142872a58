/*
 * What a streaming multiprocessor does with instructions.
 *
 *   latency      from an instruction to the next that needs its result
 *   rate         results of lanes in a cycle, of one SM, with as many warps as a block may have
 *   sub-core     a part of an SM whose warps take no issue slots from those of another
 *   curve        what a warp's instruction takes, over something that is varied
 */
#ifndef SONDE_INFER_DISSECTION_SM_H
#define SONDE_INFER_DISSECTION_SM_H

#include "infer/dissection/attribute.h"

#define INFER_MAX_INSTRUCTIONS 96
struct instruction_result {
    const char *op, *group, *doc; /* of trace/instructions.def */
    struct attribute latency;     /* cycles */
    struct attribute rate;        /* lanes a cycle */
};

#define INFER_MAX_CURVES 24
#define INFER_MAX_CURVE_POINTS 16
struct sm_curve {
    const char *name, *of; /* "barrier", and what is varied: "warps" */
    struct {
        double x, cycles;
    } points[INFER_MAX_CURVE_POINTS];
    size_t count;
    char evidence[24];
};

struct sm_result {
    bool asked;
    struct attribute sub_cores;
    struct attribute issue_per_sub_core; /* instructions a cycle */
    struct attribute issue;              /* the same, of an SM */
    struct attribute warps_to_saturate;  /* with fp32 multiply-adds that wait for each other */
    struct attribute divergence;       /* cycles of a branch that parts a warp, beside its sides */
    struct attribute shared_bandwidth; /* bytes a cycle, of one SM */
    struct attribute l1_bandwidth;
    struct instruction_result instructions[INFER_MAX_INSTRUCTIONS];
    size_t instruction_count;
    struct sm_curve curves[INFER_MAX_CURVES];
    size_t curve_count;
};

#endif
