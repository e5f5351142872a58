/*
 * The size of L2 by the copy kernel (Lashgar et al. 2015, section 3.3): the time of a copy right
 * after the same copy, over its time when a copy from the host came between. While L2 holds the
 * data, read and written, the former is less. The size is where this gap closes: the ratio is well
 * above the least or, at the latest, half-way between the least and 1 on a scale of ratios. This is
 * a published recipe beside the general inference. It supposes that the host's copies pass through
 * L2, and it sees no line, set or slice.
 */
#include "infer/experiments.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Thresholds. Fixed by: an H200 and four shipped models (sim:m2070, k20, gtx560ti, gtx780), where a
 * member does not say that it was chosen. */
static const struct {
    uint64_t smallest, largest;
    unsigned flush_times, a_share;
    double closes, closes_from, no_gap;
} limits = {
    .smallest = UINT64_C(64) << 10, /* bytes: any L2 holds so many. Chosen */
    .largest = UINT64_C(256) << 20, /* bytes: a flush of 4 MiB displaces nothing on an H200 */
    .flush_times = 4,               /* times the copy. Chosen */
    .a_share = 64,                  /* of the caches' loads, one in so many lines. Chosen */
    .closes = 1.5,                  /* times the least ratio: the gap has closed */
    .closes_from = 0.35,            /* ratio, the same at least */
    .no_gap = 0.8,                  /* ratio: from there on nothing was gained */
};

static int measure(struct lab *lab, double *cycles, uint64_t bytes, uint64_t flush_bytes)
{
    struct trace_request r;
    const struct trace *trace = NULL;
    trace_request_init(&r, "copy");
    int rc = trace_request_set_u64(&r, "bytes", bytes);
    rc = rc ? rc : trace_request_set_u64(&r, "flush_bytes", flush_bytes);
    rc = rc ? rc : trace_request_set_u64(&r, "runs", 1);
    rc = rc ? rc : lab_measure(lab, &trace, &r);
    if (rc) {
        return rc;
    }
    size_t count;
    const double *all = trace_f64(trace, "cycles", &count);
    *cycles = INFINITY; /* the least: what comes on top is noise */
    for (size_t i = 0; all && i < count; i++) {
        *cycles = fmin(*cycles, all[i]);
    }
    lab->loads += bytes / 128;
    return isfinite(*cycles) && *cycles > 0 ? 0
                                            : lab_undecided(lab, "a trace of copy has no times");
}

/* Time after itself over time after a flush. */
static int ratio_of(struct lab *lab, double *ratio, uint64_t bytes, uint64_t least_flush)
{
    double plain, flushed;
    uint64_t flush = limits.flush_times * bytes;
    flush = flush < least_flush ? least_flush : flush > limits.largest ? limits.largest : flush;
    int rc = measure(lab, &plain, bytes, 0);
    rc = rc ? rc : measure(lab, &flushed, bytes, flush);
    *ratio = rc ? 0 : plain / flushed;
    return rc;
}

static bool closes(double ratio, double least)
{
    return ratio > fmin(fmax(limits.closes * least, limits.closes_from), sqrt(least));
}

/* Largest size with a gap and smallest without, an eighth apart. */
static int find_edge(struct lab *lab, uint64_t *open, uint64_t *closed, double least,
                     uint64_t flush)
{
    uint64_t most = lab->options->max_footprint_bytes;
    double ratio = 0;
    most = most < limits.largest ? most : limits.largest;
    *open = limits.smallest;
    for (*closed = 0; *closed == 0;) {
        if (2 * *open > most) {
            return lab_undecided(lab, "the gap is still open at %llu KiB",
                                 (unsigned long long)(*open >> 10));
        }
        int rc = ratio_of(lab, &ratio, 2 * *open, flush);
        if (rc) {
            return rc;
        }
        *closed = closes(ratio, least) ? 2 * *open : 0;
        *open = *closed ? *open : 2 * *open;
        least = fmin(least, ratio);
    }
    while (*closed - *open > *open / 8) {
        uint64_t middle = *open + (*closed - *open) / 2;
        int rc = ratio_of(lab, &ratio, middle, flush);
        if (rc) {
            return rc;
        }
        *(closes(ratio, least) ? closed : open) = middle;
        least = fmin(least, ratio);
    }
    return 0;
}

static struct method_result *add_method(struct dissection *d, const struct refusal *why)
{
    if (d->method_count == INFER_MAX_METHODS) {
        return NULL;
    }
    struct method_result *method = &d->methods[d->method_count++];
    snprintf(method->name, sizeof method->name, "lashgar");
    snprintf(method->cache, sizeof method->cache, "l2");
    attribute_refuse_as(&method->size, "B", why);
    attribute_refuse(&method->line, "B", "the method does not tell");
    attribute_refuse(&method->sets, "1", "the method does not tell");
    attribute_refuse(&method->ways, "1", "the method does not tell");
    attribute_refuse(&method->periodic, "1", "the method does not tell");
    return method;
}

static int copy_edge(struct lab *lab)
{
    /* The second displaces what any L2 of today holds, and takes long to simulate. */
    const uint64_t flushes[] = {UINT64_C(4) << 20, limits.largest};
    double smallest = 1;
    uint64_t open, closed, flush = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && smallest > limits.no_gap && i < sizeof flushes / sizeof *flushes;
         i++) {
        flush = flushes[i];
        rc = ratio_of(lab, &smallest, limits.smallest, flush);
    }
    if (rc == 0 && smallest > limits.no_gap) {
        rc = lab_undecided(lab, "a copy of 64 KiB takes %.2f of what it takes after a flush",
                           smallest);
    }
    rc = rc ? rc : find_edge(lab, &open, &closed, smallest, flush);
    struct method_result *method = rc ? NULL : add_method(lab->out, &(struct refusal){0});
    if (method) {
        char id[24];
        lab_evidence(
            lab, id, "copy",
            "copy: after itself it takes %.2f of what it takes after a flush for 64 KiB; the "
            "gap closes between %llu and %llu KiB",
            smallest, (unsigned long long)(open >> 10), (unsigned long long)(closed >> 10));
        attribute_set(&method->size, (double)open, "B", 0.8, id);
    }
    return rc;
}

/* Where loads are dear, a recipe beside the inference may take few. */
int copy_dissect(struct lab *lab)
{
    uint64_t all = lab->options->max_cache_loads;
    lab->most_loads = all ? lab->loads + all / limits.a_share : 0;
    int rc = copy_edge(lab);
    lab->most_loads = 0;
    return rc;
}

void copy_refuse(struct dissection *out, const struct refusal *why)
{
    for (size_t i = 0; i < out->method_count; i++) {
        if (strcmp(out->methods[i].name, "lashgar") == 0) {
            return;
        }
    }
    add_method(out, why);
}
