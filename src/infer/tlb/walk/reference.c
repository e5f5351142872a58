/*
 * What lines take by now: four of a single page, the reference lines, which are measured with each
 * walk. A device that drifts is followed by them. Behind noise they also tell when other work goes
 * on, which makes most of their records long and leaves the soonest: then the walk waits until it
 * rests.
 */
#include "infer/tlb/walk/base.h"

#include <math.h>

/* Thresholds. Chosen. */
static const struct {
    uint32_t settle_run, later_run;
    unsigned most_waits;
    double soon, quiet, busy_cycles;
} limits = {
    .settle_run = 980000, /* requests: apart from those of all other walks */
    .later_run = 400000,  /* the same, of what is measured when other work rests */
    .most_waits = 24,     /* measurements of the reference lines until it does */
    .quiet = 0.25,        /* quantile of many such measurements: other work rests */
    .soon = 0.1,          /* quantile of a line's records, which other work adds little to */
    .busy_cycles = 2,     /* by which the median then lies farther above these than usual */
};

enum {
    RECORDS = 128, /* of all reference lines together */
    PARTS = 96     /* of so many records, where they are settled */
};

/* Four lines of the first page. */
static const uint32_t units[TLB_REFERENCE_LINES] = {TLB_FIRST_LINE, TLB_FIRST_LINE + 2,
                                                    TLB_FIRST_LINE + 4, TLB_FIRST_LINE + 6};

int tlb_read_reference(struct tlb_lab *tl, const uint32_t **latency, uint32_t window,
                       uint32_t windows)
{
    struct tlb_plan plan = {.unit = units,
                            .count = TLB_REFERENCE_LINES,
                            .warm = RECORDS,
                            .window = window,
                            .windows = windows};
    return tlb_measure(tl, latency, &plan);
}

/* What lines take in the mean, each by that quantile of its records. */
static double mean_of(double of[TLB_REFERENCE_LINES], const uint32_t *latency, double q)
{
    double sum = 0;
    tlb_quantiles(of, latency, RECORDS, TLB_REFERENCE_LINES, q);
    for (size_t i = 0; i < TLB_REFERENCE_LINES; i++) {
        sum += of[i];
    }
    return sum / TLB_REFERENCE_LINES;
}

static void judge_reference(struct tlb_reference *out, const uint32_t *latency)
{
    double of[TLB_REFERENCE_LINES], late[RECORDS];
    out->soon = mean_of(of, latency, limits.soon);
    out->median = mean_of(of, latency, 0.5);
    for (size_t i = 0; i < RECORDS; i++) {
        late[i] = fmax(0, latency[i] - of[i % TLB_REFERENCE_LINES]);
    }
    out->above = tlb_quantile(late, RECORDS, 0.98);
}

int tlb_measure_reference(struct tlb_lab *tl, struct tlb_reference *out)
{
    const uint32_t *latency;
    tl->run++;
    int rc = tlb_read_reference(tl, &latency, RECORDS, 1);
    if (rc == 0) {
        judge_reference(out, latency);
    }
    return rc;
}

void tlb_take_reference(struct tlb_lab *tl, const struct tlb_reference *reference)
{
    tl->reference = reference->median;
    tl->soon = reference->soon;
    tl->usual = reference->median - reference->soon;
    tl->record_noise = reference->above;
}

/* Of all parts: what a quarter of them takes less than, and what records lie above that of their
 * own part, by the median of the parts. */
static void settle_reference(struct tlb_lab *tl, const uint32_t *latency, size_t parts)
{
    double median[PARTS], soon[PARTS], above[PARTS];
    for (size_t i = 0; i < parts; i++) {
        struct tlb_reference part;
        judge_reference(&part, latency + i * RECORDS);
        median[i] = part.median;
        soon[i] = part.soon;
        above[i] = part.above;
    }
    tlb_take_reference(tl,
                       &(struct tlb_reference){.median = tlb_quantile(median, parts, limits.quiet),
                                               .soon = tlb_quantile(soon, parts, limits.quiet),
                                               .above = tlb_quantile(above, parts, 0.5)});
}

int tlb_settle_reference(struct tlb_lab *tl)
{
    const uint32_t run = tl->run, *latency;
    const uint32_t all = PARTS * RECORDS;
    uint32_t most = tlb_most_window(tl) < all ? tlb_most_window(tl) : all;
    uint32_t window = most - most % RECORDS, windows = window ? all / window : 0;
    if (windows == 0) {
        return 0;
    }
    tl->run += limits.settle_run;
    int rc = tlb_read_reference(tl, &latency, window, windows);
    if (rc == 0) {
        settle_reference(tl, latency, (size_t)window * windows / RECORDS);
    }
    return tlb_end_apart(tl, NULL, run, rc);
}

int tlb_measure_now(struct tlb_lab *tl, double *now, bool *busy)
{
    struct tlb_reference reference;
    int rc = tlb_measure_reference(tl, &reference);
    if (rc) {
        return rc;
    }
    *busy = tl->noisy && reference.median - reference.soon > tl->usual + limits.busy_cycles;
    *now = *busy ? tl->reference * (reference.soon / tl->soon) : reference.median;
    return 0;
}

/* The walk once more, when other work rests; what was measured stays where it does not, or a
 * recording has no such walk. */
static int measure_later(struct tlb_lab *tl, const uint32_t **latency, double *now,
                         const struct tlb_plan *plan)
{
    const uint32_t run = tl->run, *later;
    double then;
    bool busy = true;
    int rc = 0;
    tl->run = limits.later_run + tl->waits;
    for (unsigned i = 0; rc == 0 && busy && i < limits.most_waits; i++) {
        rc = tlb_measure_now(tl, &then, &busy);
    }
    if (rc == 0 && !busy) {
        tl->run++;
        rc = tlb_measure(tl, &later, plan);
        rc = rc ? rc : tlb_measure_now(tl, &then, &busy);
        if (rc == 0 && !busy) {
            *latency = later;
            *now = then;
        }
    }
    tl->waits = tl->run - limits.later_run;
    return tlb_end_apart(tl, NULL, run, rc);
}

int tlb_measure_quiet(struct tlb_lab *tl, const uint32_t **latency, double *now,
                      const struct tlb_plan *plan)
{
    bool busy = false;
    tl->run++;
    int rc = tlb_measure(tl, latency, plan);
    *now = tl->reference;
    rc = rc || !tl->noisy ? rc : tlb_measure_now(tl, now, &busy);
    return rc || !busy ? rc : measure_later(tl, latency, now, plan);
}
