/*
 * Instructions: what one takes that waits for the one before, and how many of a kind an SM does in
 * a cycle. The probe `instruction` runs a loop and one of twice as many lines; the difference is
 * the lines alone. A chain in one warp gives the latency; several chains in as many warps as a
 * block may have, the rate. (The way of Wong et al. 2010 and of those after them.)
 */
#include "infer/device/timing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "infer/experiments.h"
#include "util/error.h"

/* Thresholds. */
static const struct {
    unsigned repeats, lines_most;
    double enough, brief, undisturbed, latency_confidence, rate_confidence, rough;
} limits = {
    .lines_most = 512, /* of a loop: instructions that a GPU's caches hold. Chosen */
    .enough = 600, /* cycles that further lines take together: a beginning of 20 counts little */
    .brief =
        0.42, /* of the longer loop's time, what further lines take: half, without what surrounds
                 them. On an H200, with less the rate came out up to a third too high */
    .undisturbed =
        0.36,     /* the same, of long loops: with less the shorter one was disturbed. H200 */
    .repeats = 3, /* launches, of which the least counts */
    .latency_confidence = 0.95, /* a chain is regular. Chosen */
    .rate_confidence = 0.9,     /* what bounds it may be something else than the unit. Chosen */
    .rough = 0.5,               /* of two lines in turn only the mean is known. Chosen */
};

/* What is asked of a kind. */
struct kind {
    const char *op, *group, *doc;
    bool has_pair;           /* two kinds of lines in turn */
    uint32_t stride, spread; /* of its accesses to global memory; 0: none */
};

static const struct kind kinds[] = {
#define INSTRUCTION(op, group, sm, lines, stride, spread, x, y, start, other, init, first, second, \
                    doc)                                                                           \
    {#op, #group, doc, sizeof(second) > 1, stride, spread},
#include "trace/instructions.def"
};
enum { KINDS = sizeof kinds / sizeof *kinds };
_Static_assert(KINDS <= INFER_MAX_INSTRUCTIONS, "the result has room for each kind");

struct timing timing_of(const char *op)
{
    return (struct timing){
        .op = op, .chains = 1, .warps = 1, .lanes = 32, .group = 32, .stride = 8};
}

static int set_numbers(struct trace_request *request, const struct timing *t)
{
    const struct {
        const char *name;
        uint64_t value, unasked;
    } numbers[] = {{"chains", t->chains, 1}, {"warps", t->warps, 1},  {"active", t->active, 0},
                   {"lines", t->lines, 0},   {"lanes", t->lanes, 32}, {"group", t->group, 32},
                   {"stride", t->stride, 8}, {"spread", t->spread, 0}};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].value != numbers[i].unasked) {
            rc = trace_request_set_u64(request, numbers[i].name, numbers[i].value);
        }
    }
    return rc;
}

int timing_measure(struct lab *lab, double *cycles, struct timing *t)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    trace_request_init(&request, "instruction");
    int rc = trace_request_set_text(&request, "op", t->op);
    rc = rc ? rc : set_numbers(&request, t);
    rc = rc ? rc : trace_request_set_u64(&request, "repeats", limits.repeats);
    rc = rc ? rc : lab_measure(lab, &trace, &request);
    if (rc) {
        return rc;
    }
    size_t count, longer_count, line_count;
    const double *shorter = trace_f64(trace, "shorter", &count);
    const double *longer = trace_f64(trace, "longer", &longer_count);
    const double *lines = trace_f64(trace, "lines", &line_count);
    if (!shorter || !longer || !lines || count == 0 || count != longer_count || lines[0] < 1) {
        return lab_undecided(lab, "a trace of instruction lacks columns");
    }
    double least[2] = {INFINITY, INFINITY};
    for (size_t i = 0; i < count; i++) {
        least[0] = fmin(least[0], shorter[i]);
        least[1] = fmin(least[1], longer[i]);
    }
    t->difference = least[1] - least[0];
    t->lines_timed = lines[0];
    t->longer = least[1];
    *cycles = t->difference / lines[0];
    return *cycles > 0 ? 0 : lab_undecided(lab, "more %s take no longer than fewer", t->op);
}

/* Chains and warps with which a unit may be full. Few warps of many chains do not disturb each
 * other on an H200: with more, registers of different warps are in each other's way. A simulated SM
 * may need as many instructions under way as there can be; a block of so many warps may have too
 * few registers. */
static const struct {
    uint32_t chains, warps;
} shapes[] = {{8, 4}, {8, 8}, {4, 32}, {4, 16}, {4, 8}};
enum { SHAPES = sizeof shapes / sizeof *shapes, FIRST_FALLBACK = 3 };

/* Of the shapes, the one that does most in a cycle, with all that surrounds the lines. */
static int choose_shape(struct lab *lab, struct timing *t)
{
    struct timing best = *t;
    double most = 0, taken;
    int rc = 0;
    for (size_t i = 0; i < SHAPES && (i < FIRST_FALLBACK || (rc && lab_soft(rc))); i++) {
        t->chains = shapes[i].chains;
        t->warps = shapes[i].warps;
        rc = timing_measure(lab, &taken, t);
        if (rc && !lab_soft(rc)) {
            return rc;
        }
        if (rc == 0 && t->warps * t->lines_timed / t->longer > most) {
            most = t->warps * t->lines_timed / t->longer;
            best = *t;
        }
    }
    *t = best;
    return most > 0 ? 0 : rc;
}

/* Cycles of a line, and whether its share of the loops is large enough to go by. */
static bool is_clean(double *cycles, const struct timing *t, double share)
{
    *cycles = t->difference / t->lines_timed;
    return t->difference >= share * t->longer;
}

/* Short loops are rough, and long ones may not fit into the caches of instructions: of both, the
 * faster one is what the unit can do. */
int timing_measure_full(struct lab *lab, double *cycles, struct timing *t)
{
    int rc = choose_shape(lab, t);
    if (rc) {
        return rc;
    }
    struct timing more = *t;
    double brief = INFINITY, taken = INFINITY;
    bool is_good = is_clean(&brief, t, limits.brief);
    if (t->longer < 2 * limits.enough) {
        double lines = ceil(t->lines_timed * 2 * limits.enough / t->longer);
        more.lines = lines < limits.lines_most ? (uint32_t)lines : limits.lines_most;
        rc = timing_measure(lab, &taken, &more);
        if (rc && !lab_soft(rc)) {
            return rc;
        }
    }
    bool is_long = rc == 0 && is_clean(&taken, &more, limits.undisturbed);
    double least = fmin(is_good ? brief : INFINITY, is_long ? taken : INFINITY);
    double most = t->longer / (2 * t->lines_timed);
    if (is_good && (!is_long || brief <= taken)) {
        *cycles = brief;
    } else {
        *t = rc == 0 ? more : *t;
        *cycles = is_long ? taken : most;
    }
    t->least_cycles = fmin(least, *cycles);
    t->most_cycles = fmax(most, *cycles);
    return 0;
}

/* What is a number of its own, and what is a curve (sm.c) alone. */
static bool has_latency(const struct kind *kind)
{
    return strcmp(kind->group, "STORE") != 0 && strcmp(kind->group, "MIX") != 0 &&
           strcmp(kind->op, "diverge") != 0;
}

static bool has_rate(const struct kind *kind)
{
    return strcmp(kind->group, "BARRIER") != 0 && strcmp(kind->group, "MIX") != 0 &&
           strcmp(kind->op, "diverge") != 0;
}

/* Global accesses as wide as they are, beside each other, each warp's at its own place but for
 * those that L1 is to hold. */
static struct timing begin(const struct kind *kind)
{
    struct timing t = timing_of(kind->op);
    if (kind->stride) {
        t.stride = kind->stride;
        t.spread = kind->spread;
    }
    return t;
}

static int measure_latency(struct lab *lab, struct instruction_result *out, const struct kind *kind)
{
    double cycles = 0;
    char id[24];
    struct timing t = begin(kind);
    int rc = has_latency(kind) ? timing_measure(lab, &cycles, &t)
                               : lab_absent(lab, "nothing waits for it");
    if (rc == 0) {
        lab_evidence(lab, id, "instruction",
                     "instruction op=%s, a chain of one warp: %.4g cycles%s", kind->op, cycles,
                     kind->has_pair ? ", the mean of two lines in turn" : "");
        attribute_set(&out->latency, cycles, "cycles", limits.latency_confidence, id);
    }
    return rc;
}

static int measure_rate(struct lab *lab, struct instruction_result *out, const struct kind *kind)
{
    double cycles = 0;
    char id[24];
    struct timing t = begin(kind);
    int rc = has_rate(kind) ? timing_measure_full(lab, &cycles, &t)
                            : lab_absent(lab, "a rate says nothing of it");
    if (rc == 0) {
        double rate = 32.0 * t.warps / cycles;
        lab_evidence(lab, id, "instruction",
                     "instruction op=%s chains=%u warps=%u: %.4g cycles for a line of every warp",
                     kind->op, t.chains, t.warps, cycles);
        attribute_set(&out->rate, rate, "1/cycle",
                      kind->has_pair ? limits.rough : limits.rate_confidence, id);
        out->rate.low = 32.0 * t.warps / t.most_cycles;
        out->rate.high = 32.0 * t.warps / t.least_cycles;
    }
    return rc;
}

int instructions_dissect(struct lab *lab)
{
    struct sm_result *sm = &lab->out->sm;
    int rc = 0;
    for (size_t i = 0; i < KINDS; i++) {
        if (!has_latency(&kinds[i]) && !has_rate(&kinds[i])) {
            continue; /* what sm.c asks for */
        }
        struct instruction_result *out = &sm->instructions[sm->instruction_count++];
        *out = (struct instruction_result){kinds[i].op, kinds[i].group, kinds[i].doc, {0}, {0}};
        rc = measure_latency(lab, out, &kinds[i]);
        if (rc && !lab_soft(rc)) {
            return rc;
        }
        struct refusal why = lab_refusal(lab);
        if (rc) {
            attribute_refuse_as(&out->latency, "cycles", &why);
        }
        rc = measure_rate(lab, out, &kinds[i]);
        if (rc && !lab_soft(rc)) {
            return rc;
        }
        why = lab_refusal(lab);
        if (rc) {
            attribute_refuse_as(&out->rate, "1/cycle", &why);
        }
    }
    sm->asked = true;
    return 0;
}

void instructions_refuse(struct dissection *out, const struct refusal *why)
{
    out->sm.asked = out->sm.asked || why->status != ATTRIBUTE_NOT_ASKED;
}
