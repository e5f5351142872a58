/*
 * What a block does beside the loads whose time is taken: it adds, branches, waits at barriers, and
 * the load/store unit takes so many lanes in a cycle. All of it is part of a load's time from
 * barrier to barrier (outstanding.c), and says how fast loads can follow each other: a structure
 * shows itself only where they leave sooner than answers come back. The values are for who makes a
 * model of the device (export/sonde/units.c); all instructions, with bounds and evidence, are the
 * experiments `instructions` and `sm`.
 */

#include "infer/device/timing.h"
#include "infer/experiments.h"
#include "infer/outstanding/outstanding.h"

/* The kinds in question, another where a device has none such, and which of a latency and a rate
 * each is asked for. */
static const struct {
    const char *op, *otherwise;
    bool has_latency, has_rate, is_barrier;
} kinds[] = {
    /* Adds are done by two pipelines of some. */
    {.op = "logic", .otherwise = "iadd", .has_latency = true, .has_rate = true},
    {.op = "branch", .has_latency = true, .has_rate = true},
    {.op = "barrier", .has_latency = true, .is_barrier = true},
    {.op = "lds4", .has_rate = true}, /* the load/store unit's, as banks do not conflict */
};
enum { KINDS = sizeof kinds / sizeof *kinds };
_Static_assert(KINDS <= INFER_MAX_PACES, "the result has room for each kind");

/* Warps come to a barrier one after the other: what each further one takes. */
static int barrier_rate(struct lab *lab, struct outstanding_pace *pace)
{
    struct timing all = timing_of(pace->op);
    double cycles = 0;
    all.warps = OUT_BLOCK / OUT_WARP;
    int rc = timing_measure(lab, &cycles, &all);
    if (rc == 0 && cycles > pace->cycles) {
        pace->lanes = OUT_WARP * (all.warps - 1) / (cycles - pace->cycles);
        pace->least_lanes = pace->lanes;
    }
    return rc;
}

static int rate(struct lab *lab, struct outstanding_pace *pace)
{
    struct timing full = timing_of(pace->op);
    double cycles = 0;
    int rc = timing_measure_full(lab, &cycles, &full);
    if (rc == 0) {
        pace->lanes = OUT_WARP * full.warps / cycles;
        pace->least_lanes = OUT_WARP * full.warps / full.most_cycles;
    }
    return rc;
}

static int pace_of(struct lab *lab, struct outstanding_pace *pace, size_t kind)
{
    struct timing one = timing_of(pace->op);
    int rc = kinds[kind].has_latency ? timing_measure(lab, &pace->cycles, &one) : 0;
    if (rc == 0 && kinds[kind].is_barrier) {
        rc = barrier_rate(lab, pace);
    } else if (rc == 0 && kinds[kind].has_rate) {
        rc = rate(lab, pace);
    }
    return rc;
}

int around_dissect(struct lab *lab)
{
    struct outstanding_result *out = &lab->out->outstanding;
    for (size_t i = 0; i < KINDS; i++) {
        struct outstanding_pace *pace = &out->paces[out->pace_count];
        *pace = (struct outstanding_pace){.op = kinds[i].op};
        int rc = pace_of(lab, pace, i);
        if (rc && lab_soft(rc) && kinds[i].otherwise && pace->cycles <= 0) {
            *pace = (struct outstanding_pace){.op = kinds[i].otherwise};
            rc = pace_of(lab, pace, i);
        }
        if (rc && !lab_soft(rc)) {
            return rc;
        }
        out->pace_count += pace->cycles > 0 || pace->lanes > 0;
    }
    return 0;
}

void around_refuse(struct dissection *out, const struct refusal *why)
{
    (void)out; /* what was not measured is not there */
    (void)why;
}
