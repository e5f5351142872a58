/*
 * The statistics that inference rests on. Nothing here knows about caches.
 *
 *   sample      latencies in ascending order
 *   quantile    the value below which a share of the sample lies
 *   threshold   a value between two classes of a sample
 *   tail        the probability of so many events or more
 */
#ifndef SONDE_INFER_STATS_H
#define SONDE_INFER_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "infer/dissection.h"

/* A sorted copy of a sample; `values` is owned. */
struct sample {
    uint32_t *values;
    size_t count;
};

int sample_create(struct sample *out, const uint32_t *values, size_t count);
/* A sorted union of two. */
int sample_join(struct sample *out, const struct sample *a, const struct sample *b);
void sample_free(struct sample *sample);
/* Value below which the share q of the sample lies, interpolated; 0 for an empty one. */
double sample_quantile(const struct sample *sample, double q);
/*
 * The bounds of an attribute that is the sample's median: within them the median lies of what the
 * sample was drawn from, at 95 %. They are two of its values (order statistics, whatever the
 * distribution); of fewer than six the ends, which are less sure. None where both are one value.
 */
void sample_bound_median(struct attribute *attribute, const struct sample *sample);
/* Share of values v with low < v <= high. */
double sample_share(const struct sample *sample, double low, double high);
/* The part with low < v <= high, as a view into `sample`. */
struct sample sample_view(const struct sample *sample, double low, double high);

/*
 * The best threshold between two classes of a sample (largest variance between them), outliers
 * above `ceiling` left out. False when there are no two classes: one of them has less than
 * min_share, or they are not apart: the gap between them must be wider than what the bulk of either
 * spreads.
 */
bool sample_split(double *threshold, const struct sample *sample, double ceiling, double min_share);

/* Cuts a sample into classes, splitting as long as sample_split() finds two. Returns how many. */
size_t sample_classes(struct latency_class *out, size_t max, const struct sample *sample);

/* The thresholds between the classes, ascending. */
size_t sample_thresholds(double *out, size_t max, const struct sample *sample);

/* P(X >= count) for a Poisson variable and for a binomial one. */
double poisson_tail(double mean, uint64_t count);
double binomial_tail(uint64_t trials, double probability, uint64_t count);

#endif
