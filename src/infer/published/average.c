/*
 * What the older methods make of the same cache. Both time a dependent chain as a whole and see
 * averages only.
 *
 * Saavedra (1995) walks an array of N bytes, more than fits, at every stride s. The average grows
 * with s until each load misses, at s = line (for a sectored cache: at the fetch unit, which
 * averages cannot tell from it). It falls to that of hits when the N / s elements fit into the sets
 * they lie in: then N / s is the number of ways.
 *
 * Wong (2010) keeps the stride and lets N grow beyond what fits. The average leaves that of hits at
 * the size C and reaches that of misses when every set holds a line too many: sets = (N - C) /
 * line.
 *
 * Both assume LRU, sets that are alike, and an index by address bits. They stand beside the
 * fine-grained result, with low confidence, for comparison (Mei and Chu 2014, section 3.2).
 */
#include "infer/published/published.h"
#include "infer/experiments.h"

#include <math.h>

#include "util/error.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned pointer_bytes;
    double near, confidence;
} limits = {
    .pointer_bytes = 8, /* bytes: a link of the chain is a 64-bit pointer */
    .near = 0.05,       /* share of the distance from hits to misses: "as hits", "as misses" */
    .confidence = 0.3,  /* probability: the recipes check nothing */
};

/* grain: one set of many that misses moves an average by little; any move counts that is more than
 * this. */
struct averages {
    double hit, miss, grain;
};

static int measure(struct level *level, double *cycles, uint64_t bytes, uint64_t stride)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    uint64_t count = bytes / stride, loads = count < 512 ? 1024 : 2 * count;
    trace_request_init(&request, "average");
    int rc = trace_request_set_text(&request, "op", level->info->op);
    rc = rc ? rc : trace_request_set_u64(&request, "bytes", bytes);
    rc = rc ? rc : trace_request_set_u64(&request, "stride", stride);
    rc = rc ? rc : trace_request_set_u64(&request, "warm", 2 * count);
    rc = rc ? rc : trace_request_set_u64(&request, "loads", (loads + 15) / 16 * 16);
    if (rc == 0 && level->info->shared_bytes) {
        rc = trace_request_set_u64(&request, "shared", level->info->shared_bytes);
    }
    rc = rc ? rc : lab_measure(level->lab, &trace, &request);
    if (rc) {
        return rc;
    }
    level->lab->loads += 2 * count + loads;
    size_t count_cycles, count_loads;
    const double *total = trace_f64(trace, "cycles", &count_cycles);
    const double *timed = trace_f64(trace, "loads", &count_loads);
    if (!total || !timed || !count_cycles || !count_loads || !(timed[0] > 0) ||
        !isfinite(total[0])) {
        return lab_undecided(level->lab, "an average trace lacks columns");
    }
    *cycles = total[0] / timed[0];
    return 0;
}

/* 0 for an average of hits, 1 for misses. */
static double share(const struct averages *a, double cycles)
{
    return (cycles - a->hit) / (a->miss - a->hit);
}

/* The size by averages: the largest multiple of `step` that takes what hits take. */
static int find_size(struct level *level, const struct averages *a, uint64_t *size, uint64_t step)
{
    uint64_t fits = step, fails = 0;
    while (fails == 0 || fails - fits > step) {
        uint64_t bytes = fails ? fits + (fails - fits) / 2 / step * step : 2 * fits;
        double cycles = 0;
        if (bytes > UINT64_C(1) << 20) {
            return lab_undecided(level->lab, "the average never rises up to 1 MiB");
        }
        int rc = measure(level, &cycles, bytes, step);
        if (rc) {
            return rc;
        }
        if (cycles < a->hit + a->grain) {
            fits = bytes;
        } else {
            fails = bytes;
        }
    }
    *size = fits;
    return 0;
}

/* Wong: the smallest array beyond `size` of which all misses. */
static int find_plateau(struct level *level, const struct averages *a, uint64_t *bytes,
                        uint64_t size, uint64_t step)
{
    uint64_t some = size, all = 2 * size + step;
    double cycles, plateau = 0;
    int rc = measure(level, &plateau, all, step);
    if (rc == 0 && share(a, plateau) < 1 - limits.near) {
        return lab_undecided(level->lab, "the average of twice the size is not that of misses");
    }
    while (rc == 0 && all - some > step) {
        uint64_t middle = some + (all - some) / 2 / step * step;
        rc = measure(level, &cycles, middle, step);
        if (rc == 0 && cycles >= plateau - a->grain) {
            all = middle;
        } else {
            some = middle;
        }
    }
    *bytes = all;
    return rc;
}

static int run_saavedra(struct level *level, struct method_result *method, const struct averages *a,
                        uint64_t size, const char *id)
{
    uint64_t bytes = 1024;
    while (bytes < 2 * size) {
        bytes *= 2;
    }
    bool rose = false;
    for (uint64_t stride = limits.pointer_bytes; stride <= bytes / 2; stride *= 2) {
        double cycles = 0;
        int rc = measure(level, &cycles, bytes, stride);
        if (rc) {
            return rc;
        }
        if (!rose && share(a, cycles) >= 1 - limits.near) {
            attribute_set(&method->line, (double)stride, "B", limits.confidence, id);
            rose = true;
        } else if (rose && share(a, cycles) <= limits.near) {
            uint64_t elements = bytes / stride;
            double ways = (double)elements;
            attribute_set(&method->ways, ways, "1", limits.confidence, id);
            double sets = (double)size / (ways * method->line.value);
            if (sets == floor(sets)) {
                attribute_set(&method->sets, sets, "1", limits.confidence, id);
            }
            break;
        }
    }
    return 0;
}

static int run_wong(struct level *level, struct method_result *method, const struct averages *a,
                    uint64_t size, uint64_t step, const char *id)
{
    uint64_t plateau = size;
    int rc = find_plateau(level, a, &plateau, size, step);
    if (rc == 0) {
        uint64_t lines = (plateau - size) / step;
        double sets = (double)lines;
        attribute_set(&method->line, (double)step, "B", limits.confidence, id);
        attribute_set(&method->sets, sets, "1", limits.confidence, id);
        double ways = (double)size / (sets * (double)step);
        if (ways == floor(ways)) {
            attribute_set(&method->ways, ways, "1", limits.confidence, id);
        }
    }
    return rc == INFER_UNDECIDED ? 0 : rc;
}

int level_average(struct level *level)
{
    if (!level->info->beneath[0]) {
        return lab_undecided(level->lab, "the methods are applied to first-level caches");
    }
    struct averages a = {.miss = 0};
    uint64_t step = level->line.bytes ? level->line.bytes : level->timing.fetch_bytes, size = 0;
    if (step % limits.pointer_bytes != 0) {
        return lab_undecided(level->lab, "a line of %llu B holds no whole number of pointers",
                             (unsigned long long)step);
    }
    int rc = measure(level, &a.hit, 1024, 32);
    /* A miss takes as much more than a hit as in the fine-grained records. */
    a.miss = a.hit + level->timing.miss_cycles - level->timing.hit_cycles;
    a.grain = fmax(0.1, 0.0005 * (a.miss - a.hit));
    rc = rc ? rc : find_size(level, &a, &size, step);
    if (rc) {
        return rc;
    }
    char id[24];
    lab_evidence(level->lab, id, level->info->id,
                 "average op=%s: %.1f cycles a load in 1 KiB; rises beyond %llu B in steps of %llu "
                 "B; averages assume LRU, "
                 "equal sets and an index by address bits",
                 level->info->op, a.hit, (unsigned long long)size, (unsigned long long)step);
    struct method_result *saavedra = level_method(level, "saavedra", "the averages do not show it");
    struct method_result *wong = level_method(level, "wong", "the averages do not show it");
    if (!saavedra || !wong) {
        return 0;
    }
    attribute_set(&saavedra->size, (double)size, "B", limits.confidence, id);
    attribute_set(&wong->size, (double)size, "B", limits.confidence, id);
    rc = run_saavedra(level, saavedra, &a, size, id);
    return rc ? rc : run_wong(level, wong, &a, size, step, id);
}
