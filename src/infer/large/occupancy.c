/*
 * The number of sets of a cache that is too large to fill set by set, from how many of lines drawn
 * at random it holds after they were read (the probe `residents`). Of n lines of a set it holds
 * min(n, ways), whatever its policy, once what it held before is driven out; over the sets n is
 * Poisson's. So the share that is found falls as the lines become more, in a way that only the sets
 * decide, for the ways are known (evict.c):
 *
 *     1 |xxxxxxx                lines / (sets ways) = 1 where the knee is; far beyond it the
 *       |       xx              share tells sets x ways, at the knee also how wide it is
 *       |         xxx
 *       +------------->  lines
 *
 * The share is measured around the knee, sets are fitted by least squares, and what the curve
 * misses by widens the interval. A hit is what comes back as late as where few lines were read and
 * all are held.
 *
 * Where the last cache has parts (count.c), an SM keeps copies of another part's lines in its own,
 * under rules of their own: on an H200 they get fewer places than its own lines. So the lines are
 * confined to those of the reader's own part, and the sets are those of one part.
 *
 * An index that gives each set as many lines of memory as another makes n less scattered than
 * Poisson's where a good part of memory is drawn: on an H200 14970 sets came out of 4 GiB, at any
 * number of lines, of 128 MiB 15850 to 17000. So lines are drawn from far more memory than they
 * are.
 *
 * Not told: how a set follows from the address. Sets that are not equally likely show as a curve
 * that does not fit.
 */
#include "infer/fit/fit.h"
#include "infer/experiments.h"
#include "infer/large/occupancy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Fixed by: an H200: 15028 to 15084 sets, 20 shares with a misfit of 0.3 to 1.2. */
static const struct {
    unsigned few, few_seeds, samples, most_helpers, a_part_of, steps, a_sample_of, of_few, passes;
    uint32_t owner;
    double later, hits, held, shared_low, shared_high, knee_low, knee_high, stray, fits, fair;
    uint64_t most_bytes, most_lines;
} limits = {
    .owner = 0,         /* the SM that reads a pool; the first, which every GPU has */
    .few = 4096,        /* lines, of which a large cache holds all */
    .few_seeds = 3,     /* draws of these */
    .samples = 4096,    /* lines that are timed */
    .later = 1.1,       /* times the latency of nearly all hits: no hit */
    .hits = 0.99,       /* quantile of the hits that this is of */
    .held = 0.95,       /* share: lines of the reader are found */
    .most_helpers = 16, /* SMs that are tried as a helper */
    .shared_low =
        0.2, /* share of lines whose place is in the reader's part, where there are several */
    .shared_high = 0.8,              /* the same, at most */
    .most_bytes = UINT64_C(4) << 30, /* bytes that lines are drawn from at most */
    .most_lines = UINT64_C(1) << 21, /* lines of a pool */
    .a_part_of =
        8,       /* one part in so many of memory, that lines are drawn from at most: see above */
    .steps = 12, /* steps to find the knee */
    .knee_low = 0.7,   /* share of the lines that are found at the knee, at least */
    .knee_high = 0.92, /* the same, at most */
    .a_sample_of = 32, /* lines: each sample not found displaces one (probe/residents.c) */
    .of_few = 2,       /* lines, the same where all are found */
    .passes = 2,       /* passes over a pool, as in evict.c */
    .stray = 0.004,    /* part of the sets, by which two fits of one cache differ beside chance */
    .fits = 3.0,       /* times the deviation that chance makes: the curve is another one */
    .fair = 8.0,       /* times the same: the curve fits, but not well */
};
#define SEEDS 4

struct point {
    double lines, samples, found;
};

struct occupancy {
    struct lab *lab;
    const struct level_summary *of;
    struct cache_result *result;
    unsigned ways;
    uint64_t line_bytes, span;
    double threshold;
    uint32_t helper;       /* 0: none */
    double share;          /* of drawn lines that are the reader's own */
    double few, few_found; /* samples where next to all are held: what is not found is noise */
    uint32_t seed;
    struct point points[64];
    size_t count;
    double sets, error, excess; /* fitted; excess: the deviation in units of chance's */
};

double occupancy_share(double lines, double sets, unsigned ways)
{
    double mean = lines / sets, p = exp(-mean), below = 0, held = 0;
    for (unsigned n = 0; n < ways; n++) {
        below += p;
        held += n * p;
        p *= mean / (n + 1);
    }
    return mean > 0 ? (held + ways * (1 - below)) / mean : 1;
}

/* The latencies of every so-manieth of the lines, and how many lines they were. */
static int read_pool(struct occupancy *r, const uint32_t **latency, size_t *count, double *lines,
                     uint64_t pool, uint64_t before, uint64_t a_sample_of)
{
    struct trace_request q;
    const struct trace *trace = NULL;
    size_t one = 0;
    uint64_t samples = pool / a_sample_of < limits.samples ? pool / a_sample_of : limits.samples;
    pool = pool / 32 * 32;
    trace_request_init(&q, "residents");
    int rc = trace_request_set_u64(&q, "pool", pool);
    rc = rc ? rc : trace_request_set_u64(&q, "before", before);
    rc = rc ? rc : trace_request_set_u64(&q, "seed", r->seed++);
    rc = rc ? rc : trace_request_set_u64(&q, "span", r->span);
    rc = rc ? rc : trace_request_set_u64(&q, "unit", r->line_bytes);
    rc = rc ? rc : trace_request_set_u64(&q, "passes", limits.passes);
    rc = rc ? rc : trace_request_set_u64(&q, "samples", samples ? samples : 1);
    if (rc == 0 && r->helper) {
        rc = trace_request_set_u64(&q, "sm", limits.owner);
        rc = rc ? rc : trace_request_set_u64(&q, "helper", r->helper);
        rc = rc ? rc : trace_request_set_u64(&q, "near", (uint64_t)r->threshold);
    }
    rc = rc ? rc : lab_measure(r->lab, &trace, &q);
    if (rc) {
        return rc;
    }
    *latency = trace_u32(trace, "latency", count);
    const uint32_t *own = trace_u32(trace, "lines", &one);
    if (!*latency || *count == 0 || !own || one != 1 || *own == 0) {
        return lab_undecided(r->lab, "a residents trace lacks records");
    }
    r->lab->loads += limits.passes * (pool + before) + *count;
    *lines = *own;
    return 0;
}

/* So many lines of the reader's part, added to the points. */
static int add_point(struct occupancy *r, double lines)
{
    const uint32_t *latency = NULL;
    size_t count = 0;
    uint64_t pool = (uint64_t)(lines / r->share), before = r->helper ? pool : 0;
    struct point *point = &r->points[r->count];
    *point = (struct point){.lines = 0};
    if (pool + before > limits.most_lines || pool * r->line_bytes > r->span / limits.a_part_of) {
        return lab_undecided(r->lab, "%llu lines drawn at random do not fill it",
                             (unsigned long long)pool);
    }
    int rc = read_pool(r, &latency, &count, &point->lines, pool, before, limits.a_sample_of);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        point->found += latency[i] <= r->threshold;
    }
    point->samples = (double)count;
    r->count += rc == 0;
    return rc;
}

static double share_found(const struct point *point)
{
    return point->found / point->samples;
}

/* How many of few lines come within the threshold; the first time it is learnt. */
static int read_few(struct occupancy *r)
{
    const uint32_t *latency = NULL;
    size_t count = 0;
    double lines = 0;
    struct sample sample;
    int rc = read_pool(r, &latency, &count, &lines, limits.few, 0, limits.of_few);
    rc = rc ? rc : sample_create(&sample, latency, count);
    if (rc) {
        return rc;
    }
    if (r->few == 0) {
        double most = floor(limits.later * sample_quantile(&sample, limits.hits));
        r->threshold = most < r->of->timing.threshold ? most : r->of->timing.threshold;
    }
    r->few += (double)count;
    r->few_found += sample_share(&sample, 0, r->threshold) * (double)count;
    sample_free(&sample);
    return 0;
}

/* What a hit takes at most, and how often one takes longer. */
static int learn_hits(struct occupancy *r)
{
    int rc = 0;
    for (unsigned seed = 0; rc == 0 && seed < limits.few_seeds; seed++) {
        rc = read_few(r);
    }
    if (rc == 0 && r->few_found < limits.held * r->few) {
        rc = lab_undecided(r->lab, "of %u lines drawn at random it holds %.0f %%", limits.few,
                           100 * r->few_found / r->few);
    }
    return rc;
}

/* An SM of another part: of the lines that it reads only a share has its place in the reader's. */
static int find_helper(struct occupancy *r)
{
    const uint32_t *latency = NULL;
    size_t count = 0;
    double lines = 0;
    for (uint32_t helper = limits.owner + 1; helper <= limits.most_helpers; helper++) {
        r->helper = helper;
        int rc = read_pool(r, &latency, &count, &lines, limits.few, 0, limits.a_sample_of);
        if (rc && !lab_soft(rc)) {
            return rc;
        }
        r->share = lines / limits.few;
        if (rc == 0 && r->share > limits.shared_low && r->share < limits.shared_high) {
            return 0;
        }
    }
    return lab_undecided(r->lab, "it has parts, and none of %d SMs is of another one than SM %u",
                         limits.most_helpers, limits.owner);
}

/* So many lines that a good part of the sets is full, and another is not. */
static int find_knee(struct occupancy *r, double *lines)
{
    const struct attribute *size = &r->result->size;
    *lines =
        size->status == ATTRIBUTE_MEASURED ? size->value / (double)r->line_bytes : 16 * limits.few;
    for (unsigned step = 0; step < limits.steps; step++) {
        r->count = 0;
        int rc = add_point(r, *lines);
        if (rc) {
            return rc;
        }
        double share = share_found(&r->points[0]);
        if (share >= limits.knee_low && share <= limits.knee_high) {
            return 0;
        }
        *lines *= share > limits.knee_high ? 1.4 : 0.75;
    }
    return lab_undecided(r->lab, "the share of drawn lines that it holds does not fall evenly");
}

/* Of few lines some are not found by noise, as of many. */
static double expected(const struct occupancy *r, const struct point *p, double sets, unsigned ways)
{
    double share = occupancy_share(p->lines, sets, ways);
    double found = r->few_found / r->few / occupancy_share(limits.few, sets, ways);
    return share * fmin(1, found);
}

static double misfit(const struct occupancy *r, double sets, unsigned ways)
{
    double sum = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct point *p = &r->points[i];
        double share = expected(r, p, sets, ways), got = share_found(p);
        sum += (got - share) * (got - share) * p->samples / (share * (1 - share) + 1 / p->samples);
    }
    return sum;
}

/* The sets that fit best with so many ways: by golden section, on a scale of ratios. */
static double best_sets(const struct occupancy *r, unsigned ways, double from, double to)
{
    const double golden = 0.6180339887;
    double low = log(from), high = log(to);
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double at_a = misfit(r, exp(a), ways), at_b = misfit(r, exp(b), ways);
    for (unsigned i = 0; i < 60; i++) {
        if (at_a < at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - golden * (high - low);
            at_a = misfit(r, exp(a), ways);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + golden * (high - low);
            at_b = misfit(r, exp(b), ways);
        }
    }
    return exp((low + high) / 2);
}

/* The fit, and by how much chance may have moved it: one unit of misfit. */
static void fit_sets(struct occupancy *r, double lines)
{
    double around = lines / r->ways;
    r->sets = best_sets(r, r->ways, around / 3, around * 3);
    double least = misfit(r, r->sets, r->ways), step = 0.01;
    double curve = (misfit(r, r->sets * exp(step), r->ways) +
                    misfit(r, r->sets * exp(-step), r->ways) - 2 * least) /
                   (step * step);
    r->excess = least / (double)(r->count - 1);
    r->error = sqrt(2 / curve * fmax(1, r->excess)) * r->sets;
}

static int measure_curve(struct occupancy *r, double knee)
{
    static const double around[] = {0.75, 0.9, 1.1, 1.3, 1.6};
    r->count = 0;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
            int rc = add_point(r, around[i] * knee);
            if (rc) {
                return rc;
            }
        }
    }
    return 0;
}

static void set_bounded(struct attribute *out, double value, double half, const char *unit,
                        double confidence, const char *id)
{
    attribute_set(out, value, unit, confidence, id);
    out->low = value - half;
    out->high = value + half;
}

static int report(struct occupancy *r)
{
    char id[24];
    double half = ceil(2 * r->error + limits.stray * r->sets), sets = round(r->sets);
    double line = (double)r->line_bytes * r->ways;
    const struct point *first = &r->points[0], *last = &r->points[r->count / SEEDS - 1];
    if (r->excess > limits.fair) {
        return lab_undecided(r->lab,
                             "the share of drawn lines that it holds is not that of %u ways in "
                             "sets that are equally likely (misfit %.1f)",
                             r->ways, r->excess);
    }
    lab_evidence(
        r->lab, id, r->of->info->id,
        "residents%s: of %.0f lines drawn at random %.1f %% are found, of %.0f %.1f %%; %zu "
        "shares fit %.0f sets of %u ways, give or take %.0f (95 %%), misfit %.2f",
        r->helper ? ", lines of one part alone" : "", first->lines, 100 * share_found(first),
        last->lines, 100 * share_found(last), r->count, sets, r->ways, half, r->excess);
    double confidence = r->excess > limits.fits ? 0.6 : 0.9;
    set_bounded(&r->result->sets, sets, half, "1", confidence, id);
    set_bounded(&r->result->size, sets * line, half * line, "B", confidence, id);
    return 0;
}

/* Only what evict.c has told the ways of is large in this sense. */
static bool prepare(struct occupancy *r)
{
    const struct cache_result *result = r->result;
    uint64_t bytes = r->lab->options->max_footprint_bytes;
    r->ways = (unsigned)result->ways.value;
    r->line_bytes = (uint64_t)result->line.value;
    r->span = bytes < limits.most_bytes ? bytes : limits.most_bytes;
    r->share = 1;
    return result->present && r->of->known && !r->of->fit.count &&
           result->ways.status == ATTRIBUTE_MEASURED && result->line.status == ATTRIBUTE_MEASURED &&
           result->sets.status != ATTRIBUTE_MEASURED && r->ways > 0 && r->line_bytes > 0;
}

int occupancy_dissect(struct lab *lab)
{
    if (lab->level_count == 0) {
        return lab_undecided(lab, "no cache was examined");
    }
    size_t at = lab->level_count - 1;
    struct occupancy *r = calloc(1, sizeof *r);
    if (!r) {
        return error_memory();
    }
    *r = (struct occupancy){.lab = lab, .of = &lab->levels[at], .result = &lab->out->caches[at]};
    double knee = 0;
    const struct attribute *parts = &r->result->count;
    int rc = prepare(r) ? learn_hits(r) : lab_undecided(lab, "%s", NOT_APPLICABLE);
    if (rc == 0 && parts->status == ATTRIBUTE_MEASURED && parts->value > 1) {
        rc = find_helper(r);
    }
    rc = rc ? rc : find_knee(r, &knee);
    rc = rc ? rc : measure_curve(r, knee);
    if (rc == 0) {
        fit_sets(r, knee);
        rc = report(r);
    }
    free(r);
    return rc;
}

void occupancy_refuse(struct dissection *out, const struct refusal *why)
{
    struct attribute *sets = out->cache_count ? &out->caches[out->cache_count - 1].sets : NULL;
    if (sets) {
        attribute_refuse_open(sets, "1", why);
    }
}
