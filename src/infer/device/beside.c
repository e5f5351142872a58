/*
 * The size of a cache of constants that holds more than one kernel can name, 64 KiB: kernels that
 * run beside each other on one SM, each with constants of its own, walk these in turn (the probe
 * `beside`). They fit together as long as nobody misses but now and then. Equal parts of n kernels
 * fill a set by n lines at a time, so that the most that fits is right for some n alone: the
 * largest of all counts.
 */
#include "infer/experiments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Fixed by: an H200, where a member does not say that it was chosen. */
static const struct {
    unsigned least_kernels, most_kernels, stray;
    uint64_t most_bytes, first_bytes, stride;
    double beyond, alike, confidence, alone;
} limits = {
    .least_kernels = 2,
    .most_kernels = 8,   /* of the probe */
    .stray = 2,          /* misses of a kernel that the walk's own instructions may cause */
    .most_bytes = 65536, /* that a kernel can name */
    .first_bytes = 4096, /* of each of two kernels: beyond the cache in front, and fits. Chosen */
    .stride = 64,        /* where it is not known what a miss fetches. Chosen */
    .beyond = 1.5,       /* times a hit, that a miss takes at least: L2 is farther away. Chosen */
    .alike = 0.03,       /* share by which two counts of kernels may differ, to agree. Chosen */
    .confidence = 0.9,   /* when two agree. Chosen */
    .alone = 0.6,        /* of the largest, when none agrees. Chosen */
};

struct beside {
    struct lab *lab;
    uint64_t stride;
    double threshold;
    uint64_t fits[9]; /* bytes in all, by the number of kernels; 0: less than of others */
    bool fails[9];    /* more than that does not fit */
};

static int walk(struct beside *b, const uint32_t **latency, size_t *count, unsigned kernels,
                uint64_t bytes)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    trace_request_init(&request, "beside");
    int rc = trace_request_set_u64(&request, "kernels", kernels);
    rc = rc ? rc : trace_request_set_u64(&request, "bytes", bytes);
    rc = rc ? rc : trace_request_set_u64(&request, "stride", b->stride);
    rc = rc ? rc : lab_measure(b->lab, &trace, &request);
    if (rc) {
        return rc;
    }
    *latency = trace_u32(trace, "latency", count);
    b->lab->loads += kernels * (bytes / b->stride);
    return *latency && *count == kernels * (bytes / b->stride)
               ? 0
               : lab_undecided(b->lab, "a trace of beside lacks records");
}

static int find_threshold(struct beside *b)
{
    const uint32_t *latency;
    size_t count;
    int rc = walk(b, &latency, &count, limits.least_kernels, limits.first_bytes);
    uint32_t *sorted = rc ? NULL : malloc(count * sizeof *sorted);
    if (!sorted) {
        return rc ? rc : error_memory();
    }
    memcpy(sorted, latency, count * sizeof *sorted);
    sort_u32(sorted, count);
    size_t middle = count / 2;
    b->threshold = limits.beyond * sorted[middle];
    free(sorted);
    return 0;
}

static int fit_together(struct beside *b, bool *fits, unsigned kernels, uint64_t bytes)
{
    const uint32_t *latency;
    size_t count;
    int rc = walk(b, &latency, &count, kernels, bytes);
    *fits = rc == 0;
    size_t loads = rc ? 0 : count / kernels;
    for (unsigned k = 0; rc == 0 && k < kernels; k++) {
        unsigned misses = 0;
        for (size_t i = 0; i < loads; i++) {
            misses += latency[k * loads + i] > b->threshold;
        }
        *fits = *fits && misses <= limits.stray;
    }
    return rc;
}

/* Between a part that fits and one that does not. */
static int bisect(struct beside *b, unsigned kernels, uint64_t fits_bytes, uint64_t fails_bytes)
{
    int rc = 0;
    bool fits;
    while (rc == 0 && fails_bytes - fits_bytes > b->stride) {
        uint64_t middle = fits_bytes + (fails_bytes - fits_bytes) / 2 / b->stride * b->stride;
        rc = fit_together(b, &fits, kernels, middle);
        *(fits ? &fits_bytes : &fails_bytes) = middle;
    }
    b->fits[kernels] = rc ? 0 : kernels * fits_bytes;
    b->fails[kernels] = true;
    return rc;
}

/* The longest part of each of so many kernels that fits with the others', if all of them are more
 * than `best`, or as much; 0: less. */
static int find_edge(struct beside *b, unsigned kernels, uint64_t best)
{
    bool fits;
    uint64_t part = best / kernels / b->stride * b->stride;
    int rc = fit_together(b, &fits, kernels, limits.most_bytes);
    if (rc == 0 && fits) {
        b->fits[kernels] = kernels * limits.most_bytes;
        return 0;
    }
    rc = rc || best == 0 ? rc : fit_together(b, &fits, kernels, part + b->stride);
    if (rc || best == 0 || fits) {
        return rc ? rc : bisect(b, kernels, best ? part + b->stride : 0, limits.most_bytes);
    }
    rc = part ? fit_together(b, &fits, kernels, part) : 0;
    b->fits[kernels] = rc == 0 && fits ? kernels * part : 0;
    b->fails[kernels] = true;
    return rc;
}

static unsigned largest(const struct beside *b)
{
    unsigned best = limits.least_kernels;
    for (unsigned n = best; n <= limits.most_kernels; n++) {
        bool more = b->fits[n] > b->fits[best];
        best = more || (b->fits[n] == b->fits[best] && b->fails[n]) ? n : best;
    }
    return best;
}

static int conclude(struct beside *b, struct attribute *size, const char *cache)
{
    unsigned best = largest(b), agree = 0;
    char id[24], text[160] = "";
    for (unsigned n = limits.least_kernels; n <= limits.most_kernels; n++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%llu", length ? ", " : "",
                 (unsigned long long)b->fits[n]);
        agree += n != best && (double)b->fits[n] >= (1 - limits.alike) * (double)b->fits[best];
    }
    if (!b->fails[best]) {
        return lab_undecided(b->lab, "%llu B of constants of %u kernels fit, all that were asked",
                             (unsigned long long)b->fits[best], best);
    }
    lab_evidence(b->lab, id, cache,
                 "beside stride=%llu: of %u to %u kernels at once %s B fit together",
                 (unsigned long long)b->stride, limits.least_kernels, limits.most_kernels, text);
    attribute_set(size, (double)b->fits[best], "B", agree ? limits.confidence : limits.alone, id);
    return 0;
}

static int measure(struct lab *lab, struct cache_result *result, const char *cache)
{
    const struct attribute *fetch = &result->fetch_granularity;
    bool known = fetch->status == ATTRIBUTE_MEASURED && fetch->value >= (double)limits.stride;
    struct beside b = {.lab = lab, .stride = known ? (uint64_t)fetch->value : limits.stride};
    int rc = find_threshold(&b);
    for (unsigned n = limits.least_kernels; rc == 0 && n <= limits.most_kernels; n++) {
        rc = find_edge(&b, n, b.fits[largest(&b)]);
    }
    rc = lab_soft(rc) && b.fits[limits.least_kernels] ? 0 : rc; /* so many do not run at once */
    return rc ? rc : conclude(&b, &result->size, cache);
}

/* A cache that one kernel has filled has its size. */
int beside_dissect(struct lab *lab)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < lab->level_count; i++) {
        struct cache_result *result = &lab->out->caches[i];
        bool open = result->present && result->size.status != ATTRIBUTE_MEASURED;
        if (strcmp(lab->levels[i].info->id, "constant_l15") != 0 || !open) {
            continue;
        }
        lab->why.reason[0] = '\0';
        rc = measure(lab, result, lab->levels[i].info->id);
        if (rc && lab_soft(rc)) {
            struct refusal why = lab_refusal(lab);
            attribute_refuse_as(&result->size, "B", &why);
            rc = 0;
        }
    }
    return rc;
}

/* What it looked for has a reason of its own already. */
void beside_refuse(struct dissection *out, const struct refusal *why)
{
    (void)out, (void)why;
}
