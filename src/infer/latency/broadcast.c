/*
 * Constant broadcast: lanes of a warp that want the same word get it at once, other words are
 * served one after the other (CUDA C Programming Guide 6.0, section 5.3.2.4). One warp loads 1 to
 * 32 different words that are all cached. If the times lie on a line, its slope is the cost of each
 * further word.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "infer/experiments.h"
#include "util/error.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned loads;
    double straight;
} limits = {
    .loads = 256,     /* loads of a measurement */
    .straight = 0.05, /* share of the time, or two cycles: so near a line lies a point of it */
};
enum { DEGREES = 6 }; /* 1, 2, 4 .. 32 */

static int measure(struct lab *lab, double *cycles, uint32_t addresses)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    size_t count, counted;
    trace_request_init(&request, "constant");
    int rc = trace_request_set_u64(&request, "addresses", addresses);
    rc = rc ? rc : trace_request_set_u64(&request, "loads", limits.loads);
    rc = rc ? rc : trace_request_set_u64(&request, "repeats", 3);
    rc = rc ? rc : lab_measure(lab, &trace, &request);
    if (rc) {
        return rc;
    }
    const double *all = trace_f64(trace, "cycles", &count);
    const double *loads = trace_f64(trace, "loads", &counted);
    *cycles = INFINITY; /* the least: what comes on top is noise */
    for (size_t i = 0; all && loads && count == counted && i < count; i++) {
        *cycles = loads[i] > 0 ? fmin(*cycles, all[i] / loads[i]) : *cycles;
    }
    lab->loads += 3 * limits.loads;
    return isfinite(*cycles) ? 0 : lab_undecided(lab, "a trace of constants has no loads");
}

bool broadcast_applies(const struct level *level)
{
    bool applies = !level->info->behind[0] && strcmp(level->info->op, "const") == 0;
    if (!applies) {
        lab_absent(level->lab, NOT_APPLICABLE);
    }
    return applies;
}

int level_broadcast(struct level *level)
{
    double cycles[DEGREES];
    char told[160] = "", id[24];
    for (uint32_t i = 0; i < DEGREES; i++) {
        int rc = measure(level->lab, &cycles[i], 1u << i);
        if (rc) {
            return rc;
        }
        size_t length = strlen(told);
        snprintf(told + length, sizeof told - length, "%s%u: %.1f", i ? ", " : "", 1u << i,
                 cycles[i]);
    }
    double slope = (cycles[DEGREES - 1] - cycles[0]) / 31;
    for (uint32_t i = 0; i < DEGREES; i++) {
        double line = cycles[0] + slope * ((1u << i) - 1);
        if (fabs(cycles[i] - line) > fmax(2, limits.straight * line)) {
            return lab_undecided(level->lab, "cycles by different words are on no line: %s", told);
        }
    }
    lab_evidence(level->lab, id, level->info->id,
                 "constant: cycles a load of a warp takes by the number of different words: %s",
                 told);
    attribute_set(&level->result->address_penalty, slope < 0 ? 0 : slope, "cycles", 0.95, id);
    return 0;
}
