/*
 * Single walks over pages (base.c), what the reference lines take by now (reference.c), and the
 * excess of a walk's loads (lines.c), for view.c and what comes before any level.
 *
 *   unit        what an offset counts, TLB_UNIT_BYTES
 *   reference   four lines of the first page; what they take follows a device's drift
 *   excess      cycles that a load takes longer than the same line among few others
 */
#ifndef SONDE_INFER_TLB_WALK_BASE_H
#define SONDE_INFER_TLB_WALK_BASE_H

#include "infer/tlb/tlb.h"

enum {
    TLB_REFERENCE_LINES = 4,
    TLB_GROUP_RECORDS = 16, /* of each line that is measured among few others */
    TLB_MOST_PASSES = 64,   /* of a window */
};

/* ---- base.c ---- */

struct tlb_plan {
    const uint32_t *unit;
    size_t count;
    uint64_t warm;
    uint32_t window, windows;
    bool persist; /* only the first window is warmed */
};

/* The latencies of the windows' records, in order; borrowed from the trace. */
int tlb_measure(struct tlb_lab *tl, const uint32_t **latency, const struct tlb_plan *plan);
/* The quantile of each element's records, at most TLB_MOST_PASSES of them. */
void tlb_quantiles(double *out, const uint32_t *latency, size_t records, size_t count, double q);
void tlb_medians(double *out, const uint32_t *latency, size_t records, size_t count);
/* Sorts the values. */
double tlb_quantile(double *values, size_t count, double q);

/* ---- reference.c ---- */

/* What the reference lines take: the median, what hardly a tenth of the records takes less than,
 * and what 98 % of them lie above the median at most. */
struct tlb_reference {
    double median, soon, above;
};
int tlb_measure_reference(struct tlb_lab *tl, struct tlb_reference *out);
/* The latencies of windows of the lines, in turn. */
int tlb_read_reference(struct tlb_lab *tl, const uint32_t **latency, uint32_t window,
                       uint32_t windows);
/* Once more by many records, where there is noise: other work may have gone on for a while. */
int tlb_settle_reference(struct tlb_lab *tl);
void tlb_take_reference(struct tlb_lab *tl, const struct tlb_reference *reference);
/*
 * What they take by now, as clocks drift. `busy`: other work goes on, which adds to most records
 * and little to the soonest; then these tell.
 */
int tlb_measure_now(struct tlb_lab *tl, double *now, bool *busy);
/*
 * A walk, and what the reference lines take after it. Other work that goes on adds to both, but not
 * alike: so the walk comes again when it rests.
 */
int tlb_measure_quiet(struct tlb_lab *tl, const uint32_t **latency, double *now,
                      const struct tlb_plan *plan);

/* ---- lines.c ---- */

/* Measures the lines of a ring that were not yet. */
int tlb_learn_lines(struct tlb_lab *tl, const struct tlb_ring *ring);
/* What was measured of lines is measured again. */
void tlb_forget_lines(struct tlb_lab *tl);
/* Of a load's cycles, while the reference lines take `now`. */
double tlb_excess_of(const struct tlb_lab *tl, double cycles, uint32_t unit, double now);

#endif
