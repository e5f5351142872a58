/*
 * An SM as a whole: its sub-cores and what they issue, how many warps fill it, what passes shared
 * memory and L1 in a cycle, what barriers, atomics, parted lanes and scattered accesses take.
 *
 * Sub-cores: four warps whose numbers lie `distance` apart share one if that divides the distance,
 * and then get as little as four warps can. The shortest distance at which that happens is their
 * number. Two kinds of instructions in turn, so that no one unit bounds what is measured.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "infer/device/timing.h"
#include "infer/experiments.h"

/* Thresholds. */
static const struct {
    unsigned together, chains, farthest;
    double least, apart, full, confidence, unseen;
} limits = {
    .together = 4,     /* warps at a distance: on a sub-core their chains fill it */
    .chains = 8,       /* of each, two instructions in each: 64 under way */
    .farthest = 10,    /* distance: 32 warps have room for three of it. Chosen */
    .least = 0.05,     /* share by which the least rates may differ. Chosen */
    .apart = 0.15,     /* share by which warps on one sub-core are slower, at least. Chosen */
    .full = 0.97,      /* share of the highest rate. Chosen */
    .confidence = 0.9, /* Chosen */
    .unseen = 0.6,     /* of one sub-core, when none shows: a shared unit may hide them. Chosen */
};
enum { DISTANCES = 10, LINE_INSTRUCTIONS = 2 }; /* of the kind "mix" */

static uint32_t warps_apart(uint32_t distance, uint32_t count)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < count; i++) {
        mask |= UINT32_C(1) << i * distance;
    }
    return mask;
}

/* Instructions a cycle of four warps at each distance; *count: how many were measured. */
static int measure_distances(struct lab *lab, double rate[DISTANCES], uint32_t *count,
                             uint32_t chains)
{
    int rc = 0;
    for (*count = 0; *count < limits.farthest; ++*count) {
        struct timing t = timing_of("mix");
        double cycles;
        t.chains = chains;
        t.warps = 3 * (*count + 1) + 1;
        t.active = warps_apart(*count + 1, limits.together);
        rc = timing_measure(lab, &cycles, &t);
        if (rc) {
            break;
        }
        rate[*count] = limits.together * LINE_INSTRUCTIONS / cycles;
    }
    return *count >= limits.together && lab_soft(rc) ? 0 : rc;
}

static int dissect_sub_cores(struct lab *lab)
{
    struct sm_result *sm = &lab->out->sm;
    double rate[DISTANCES], least = INFINITY, most = 0;
    uint32_t count, sub_cores = 0, chains = limits.chains;
    char id[24], text[160] = "";
    int rc = measure_distances(lab, rate, &count, chains);
    if (rc && lab_soft(rc)) { /* a block may have too few registers for so many */
        chains /= 2;
        rc = measure_distances(lab, rate, &count, chains);
    }
    if (rc) {
        return rc;
    }
    for (uint32_t i = 0; i < count; i++) {
        size_t length = strlen(text);
        least = fmin(least, rate[i]);
        most = fmax(most, rate[i]);
        snprintf(text + length, sizeof text - length, "%s%.3g", i ? " " : "", rate[i]);
    }
    for (uint32_t i = 0; i < count && sub_cores == 0; i++) {
        sub_cores = rate[i] <= least * (1 + limits.least) ? i + 1 : 0;
    }
    bool shows = least < most * (1 - limits.apart);
    lab_evidence(lab, id, "sm",
                 "instruction op=mix chains=%u, four warps at distances 1 to %u: %s instructions a "
                 "cycle",
                 chains, count, text);
    attribute_set(&sm->sub_cores, shows ? sub_cores : 1, "1",
                  shows ? limits.confidence : limits.unseen, id);
    for (uint32_t warps = 1; warps < limits.together;
         warps++) { /* fewer may disturb each other less */
        double cycles;
        struct timing t = timing_of("mix");
        t.chains = chains;
        t.warps = sub_cores * (warps - 1) + 1;
        t.active = warps_apart(sub_cores, warps);
        rc = timing_measure(lab, &cycles, &t);
        if (rc && !lab_soft(rc)) {
            return rc;
        }
        least = rc ? least : fmax(least, warps * LINE_INSTRUCTIONS / cycles);
    }
    attribute_set(&sm->issue_per_sub_core, least, "1/cycle",
                  shows ? limits.confidence : limits.unseen, id);
    return 0;
}

static int dissect_issue(struct lab *lab)
{
    struct timing t = timing_of("mix");
    double cycles = 0;
    char id[24];
    int rc = timing_measure_full(lab, &cycles, &t);
    if (rc == 0) {
        double rate = t.warps * LINE_INSTRUCTIONS / cycles;
        lab_evidence(lab, id, "sm",
                     "instruction op=mix chains=%u warps=%u: %.4g instructions a cycle", t.chains,
                     t.warps, rate);
        attribute_set(&lab->out->sm.issue, rate, "1/cycle", limits.confidence, id);
    }
    return rc;
}

/* ---- curves ---- */

/* What is varied. */
enum varied { WARPS, LANES, GROUP, SECTORS, STRIDE };
static const char *const varied_names[] = {"warps", "lanes_a_word", "lines", "sectors", "stride"};

struct plan {
    const char *name, *op;
    enum varied varied;
    struct timing timing; /* but for what is varied */
    uint32_t values[INFER_MAX_CURVE_POINTS];
};

/* A curve's points have their warps' instructions one after the other: cycles of one of them. */
static const struct plan plans[] = {
    {"saturate", "ffma", WARPS, {.warps = 1}, {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32}},
    {"barrier", "barrier", WARPS, {.warps = 1}, {1, 2, 4, 8, 16, 32}},
    {"shared_atomic", "atoms", LANES, {.warps = 1}, {1, 2, 4, 8, 16, 32}},
    {"shared_atomic_8_warps", "atoms", LANES, {.warps = 8}, {1, 2, 4, 8, 16, 32}},
    {"global_atomic", "atomg", LANES, {.warps = 1}, {1, 2, 4, 8, 16, 32}},
    {"global_red_8_warps", "redg", LANES, {.warps = 8, .chains = 4}, {1, 2, 4, 8, 16, 32}},
    {"l1_lines", "ldg8", GROUP, {.warps = 4, .chains = 2}, {2, 4, 8, 16, 32}},
    {"l1_stride_4", "ldg4", STRIDE, {.warps = 8, .chains = 2}, {0, 4, 8, 16, 32, 64, 128}},
    {"l2_sectors", "ldcg8", SECTORS, {.warps = 16, .chains = 4, .spread = 1}, {1, 2, 4}},
    {"store_sectors", "stg4", SECTORS, {.warps = 16, .chains = 4, .spread = 1}, {1, 2, 4}},
    {"red_sectors", "redg", SECTORS, {.warps = 16, .chains = 4, .spread = 1}, {1, 2, 4}},
};
enum { PLANS = sizeof plans / sizeof *plans };
_Static_assert(PLANS <= INFER_MAX_CURVES, "the result has room for each curve");

/* The request of one point. */
static struct timing point_timing(const struct plan *plan, uint32_t value)
{
    struct timing t = timing_of(plan->op);
    t.warps = plan->timing.warps;
    t.chains = plan->timing.chains ? plan->timing.chains : 1;
    t.spread = plan->timing.spread;
    switch (plan->varied) {
    case WARPS:
        t.warps = value;
        break;
    case LANES:
        t.lanes = 32 / value;
        if (strchr(plan->op, 'g')) { /* neighbours at one address, the next ones in another line */
            t.lanes = 32;
            t.group = value;
            t.stride = 0;
        }
        break;
    case GROUP:
        t.group = 32 / value;
        break;
    case SECTORS: /* neighbours a sector apart, the next ones in another line */
        t.group = value;
        t.stride = 32;
        break;
    case STRIDE:
        t.stride = value;
        break;
    }
    return t;
}

static int dissect_curve(struct lab *lab, const struct plan *plan)
{
    struct sm_curve curve = {.name = plan->name, .of = varied_names[plan->varied]};
    int rc = 0;
    for (size_t i = 0; i < INFER_MAX_CURVE_POINTS && (i == 0 || plan->values[i]); i++) {
        struct timing t = point_timing(plan, plan->values[i]);
        double cycles;
        rc = timing_measure(lab, &cycles, &t);
        if (rc) {
            break;
        }
        curve.points[curve.count].x = plan->values[i];
        curve.points[curve.count++].cycles = cycles;
    }
    if (curve.count > 0) {
        lab_evidence(lab, curve.evidence, "sm", "instruction op=%s warps=%u chains=%u over %s",
                     plan->op, plan->timing.warps, plan->timing.chains ? plan->timing.chains : 1,
                     curve.of);
        lab->out->sm.curves[lab->out->sm.curve_count++] = curve;
    }
    return rc && !lab_soft(rc) ? rc : 0;
}

/* The fewest warps that do as much in a cycle as any number. */
static void conclude_saturation(struct sm_result *sm)
{
    for (size_t i = 0; i < sm->curve_count; i++) {
        const struct sm_curve *curve = &sm->curves[i];
        double most = 0;
        if (strcmp(curve->name, "saturate") != 0) {
            continue;
        }
        for (size_t k = 0; k < curve->count; k++) {
            most = fmax(most, curve->points[k].x / curve->points[k].cycles);
        }
        for (size_t k = 0; k < curve->count; k++) {
            double warps = curve->points[k].x;
            bool is_last = k + 1 == curve->count;
            if (warps / curve->points[k].cycles >= limits.full * most && !is_last) {
                attribute_set(&sm->warps_to_saturate, warps, "1", limits.confidence,
                              curve->evidence);
                return;
            }
        }
    }
}

/* Beyond its two sides, which are eight stores each: what parting takes. */
static int dissect_divergence(struct lab *lab)
{
    struct timing parted = timing_of("diverge"), side = timing_of("sts4");
    double cycles, store;
    char id[24];
    side.chains = 4;
    int rc = timing_measure(lab, &cycles, &parted);
    rc = rc ? rc : timing_measure(lab, &store, &side);
    if (rc == 0) {
        enum { STORES = 16 };
        lab_evidence(lab, id, "sm", "instruction op=diverge: %.4g cycles, of which %d stores %.4g",
                     cycles, STORES, STORES * store);
        attribute_set(&lab->out->sm.divergence, fmax(0, cycles - STORES * store), "cycles",
                      limits.unseen, id);
    }
    return rc;
}

/* Of 16 bytes a lane. */
static int dissect_bandwidth(struct lab *lab, struct attribute *out, const char *op)
{
    struct timing t = timing_of(op);
    double cycles = 0;
    char id[24];
    t.stride = 16;
    int rc = timing_measure_full(lab, &cycles, &t);
    if (rc == 0) {
        enum { BYTES = 32 * 16 };
        lab_evidence(lab, id, "sm",
                     "instruction op=%s chains=%u warps=%u: %.4g cycles for a line of each", op,
                     t.chains, t.warps, cycles);
        attribute_set(out, t.warps * BYTES / cycles, "B/cycle", limits.confidence, id);
        out->low = t.warps * BYTES / t.most_cycles;
        out->high = t.warps * BYTES / t.least_cycles;
    }
    return rc;
}

static int part(struct lab *lab, int rc, struct attribute *attribute, const char *unit)
{
    if (!rc || !lab_soft(rc)) {
        return rc;
    }
    struct refusal why = lab_refusal(lab);
    attribute_refuse_as(attribute, unit, &why);
    return 0;
}

/* One part after the other, whatever came of those before: a value or its own reason. */
int sm_dissect(struct lab *lab)
{
    struct sm_result *sm = &lab->out->sm;
    sm->asked = true;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < PLANS; i++) {
        rc = dissect_curve(lab, &plans[i]);
    }
    conclude_saturation(sm);
    rc = rc ? rc : part(lab, dissect_sub_cores(lab), &sm->sub_cores, "1");
    rc = rc ? rc : part(lab, dissect_issue(lab), &sm->issue, "1/cycle");
    rc = rc ? rc : part(lab, dissect_divergence(lab), &sm->divergence, "cycles");
    rc = rc ? rc
            : part(lab, dissect_bandwidth(lab, &sm->shared_bandwidth, "lds16"),
                   &sm->shared_bandwidth, "B/cycle");
    return rc ? rc
              : part(lab, dissect_bandwidth(lab, &sm->l1_bandwidth, "ldg16"), &sm->l1_bandwidth,
                     "B/cycle");
}

void sm_refuse(struct dissection *out, const struct refusal *why)
{
    struct sm_result *sm = &out->sm;
    sm->asked = sm->asked || why->status != ATTRIBUTE_NOT_ASKED;
    attribute_refuse_open(&sm->sub_cores, "1", why);
    attribute_refuse_open(&sm->issue_per_sub_core, "1/cycle", why);
    attribute_refuse_open(&sm->issue, "1/cycle", why);
    attribute_refuse_open(&sm->warps_to_saturate, "1", why);
    attribute_refuse_open(&sm->divergence, "cycles", why);
    attribute_refuse_open(&sm->shared_bandwidth, "B/cycle", why);
    attribute_refuse_open(&sm->l1_bandwidth, "B/cycle", why);
}
