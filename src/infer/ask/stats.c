/*
 * Sorted samples, two-class splits, and tails of counting distributions. A split follows Otsu's
 * criterion: the threshold with the largest variance between the classes. It counts only when the
 * gap between the classes is wider than their spread, measured by quantiles. So one wide class is
 * never cut in two, and single outliers never make a class.
 */
#include "infer/ask/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/sort.h"

/* Chosen: what bounds of estimates mean everywhere in a dissection. */
static const struct {
    double outside;
} limits = {
    .outside = 0.05, /* probability that a median lies outside of its bounds */
};

int sample_create(struct sample *out, const uint32_t *values, size_t count)
{
    *out = (struct sample){.values = malloc((count ? count : 1) * sizeof *values), .count = count};
    if (!out->values) {
        return error_memory();
    }
    if (count) {
        memcpy(out->values, values, count * sizeof *values);
        sort_u32(out->values, count);
    }
    return 0;
}

int sample_join(struct sample *out, const struct sample *a, const struct sample *b)
{
    size_t count = a->count + b->count;
    *out = (struct sample){.values = malloc((count ? count : 1) * sizeof *a->values)};
    if (!out->values) {
        return error_memory();
    }
    for (size_t i = 0, j = 0; i + j < count;) {
        bool from_a = j == b->count || (i < a->count && a->values[i] <= b->values[j]);
        out->values[out->count++] = from_a ? a->values[i++] : b->values[j++];
    }
    return 0;
}

void sample_free(struct sample *sample)
{
    free(sample->values);
    *sample = (struct sample){0};
}

double sample_quantile(const struct sample *sample, double q)
{
    if (!sample->count) {
        return 0;
    }
    double at = q * (double)(sample->count - 1);
    size_t below = (size_t)at;
    size_t above = below + 1 < sample->count ? below + 1 : below;
    double part = at - (double)below;
    return sample->values[below] * (1 - part) + sample->values[above] * part;
}

/* Of n values k or fewer lie below the median with the probability of so many heads. */
void sample_bound_median(struct attribute *attribute, const struct sample *sample)
{
    double n = (double)sample->count, heads = 0;
    size_t k = 0;
    for (size_t i = 0; 2 * i < sample->count && heads <= limits.outside / 2; i++) {
        k = i > 0 ? i - 1 : 0; /* those before are not too many */
        double at = (double)i;
        heads += exp(lgamma(n + 1) - lgamma(at + 1) - lgamma(n - at + 1) - n * log(2));
    }
    uint32_t low = sample->count ? sample->values[k] : 0;
    uint32_t high = sample->count ? sample->values[sample->count - 1 - k] : 0;
    attribute->low = low < high ? low : 0;
    attribute->high = low < high ? high : 0;
}

/* How many values are <= bound. */
static size_t count_up_to(const struct sample *sample, double bound)
{
    size_t low = 0, high = sample->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sample->values[middle] <= bound) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct sample sample_view(const struct sample *sample, double low, double high)
{
    size_t first = count_up_to(sample, low), end = count_up_to(sample, high);
    return (struct sample){.values = sample->values + first,
                           .count = end > first ? end - first : 0};
}

double sample_share(const struct sample *sample, double low, double high)
{
    return sample->count ? (double)sample_view(sample, low, high).count / (double)sample->count : 0;
}

/* The index of the first value of the upper class, at Otsu's threshold. */
static size_t best_cut(const struct sample *s)
{
    double total = 0, lower = 0, best = -1;
    size_t cut = 0;
    for (size_t i = 0; i < s->count; i++) {
        total += s->values[i];
    }
    for (size_t i = 1; i < s->count; i++) {
        lower += s->values[i - 1];
        if (s->values[i] == s->values[i - 1]) {
            continue;
        }
        double below = (double)i, above = (double)(s->count - i);
        double distance = lower / below - (total - lower) / above;
        double between = below * above * distance * distance;
        if (between > best) {
            best = between;
            cut = i;
        }
    }
    return cut;
}

bool sample_split(double *threshold, const struct sample *sample, double ceiling, double min_share)
{
    struct sample s = {.values = sample->values, .count = count_up_to(sample, ceiling)};
    size_t cut = s.count >= 8 ? best_cut(&s) : 0;
    if (cut == 0) {
        return false;
    }
    struct sample lower = {.values = s.values, .count = cut};
    struct sample upper = {.values = s.values + cut, .count = s.count - cut};
    double least = min_share * (double)s.count;
    if (lower.count < 4 || upper.count < 4 || (double)lower.count < least ||
        (double)upper.count < least) {
        return false;
    }
    double low_edge = sample_quantile(&lower, 0.98), high_edge = sample_quantile(&upper, 0.02);
    double spread_lower = sample_quantile(&lower, 0.9) - sample_quantile(&lower, 0.1);
    double spread_upper = sample_quantile(&upper, 0.75) - sample_quantile(&upper, 0.1);
    double gap = high_edge - low_edge;
    if (gap < 2 || gap <= 0.5 * spread_lower || gap <= 0.5 * fmin(spread_upper, 4 * gap)) {
        return false;
    }
    *threshold = 0.5 * (low_edge + high_edge);
    return true;
}

/*
 * Otsu's cut is no threshold where it falls inside of a broad class (a memory's latencies spread
 * far more than a cache's): then the gap may still be on one side of it, and both sides are looked
 * at.
 */
static void find_thresholds(double *out, size_t *count, size_t max, const struct sample *part,
                            int depth)
{
    double threshold;
    double share = fmax(0.005, 6.0 / (double)(part->count + 1));
    size_t cut = depth > 0 && part->count >= 8 ? best_cut(part) : 0;
    if (cut == 0) {
        return;
    }
    bool split = sample_split(&threshold, part, INFINITY, share);
    double border = split ? threshold : part->values[cut - 1];
    struct sample lower = sample_view(part, -1, border);
    struct sample upper = sample_view(part, border, INFINITY);
    size_t first = *count;
    find_thresholds(out, count, max, &lower, depth - 1);
    if (split && *count < max) {
        out[(*count)++] = threshold;
    }
    size_t before = *count;
    find_thresholds(out, count, max, &upper, depth - 1);
    if (!split && *count > before && *count < max) {
        /* Of two classes, the upper part was too broad; the nearer of them alone may not be. */
        double above = before > first ? out[before - 1] : -1;
        struct sample near = sample_view(part, above, out[before]);
        if (sample_split(&threshold, &near, INFINITY, share) && threshold >= border) {
            memmove(out + before + 1, out + before, (*count - before) * sizeof *out);
            out[before] = threshold;
            ++*count;
        }
    }
}

size_t sample_thresholds(double *out, size_t max, const struct sample *sample)
{
    size_t count = 0;
    find_thresholds(out, &count, max, sample, 5);
    return count;
}

size_t sample_classes(struct latency_class *out, size_t max, const struct sample *sample)
{
    double thresholds[INFER_MAX_LATENCIES + 1];
    if (!sample->count || !max) {
        return 0;
    }
    size_t limit = max < INFER_MAX_LATENCIES ? max : INFER_MAX_LATENCIES;
    size_t cuts = sample_thresholds(thresholds, limit - 1, sample);
    for (size_t i = 0; i <= cuts; i++) {
        struct sample part =
            sample_view(sample, i ? thresholds[i - 1] : -1, i < cuts ? thresholds[i] : INFINITY);
        out[i] = (struct latency_class){
            .cycles = sample_quantile(&part, 0.5),
            .low = sample_quantile(&part, 0.05),
            .high = sample_quantile(&part, 0.95),
            .share = (double)part.count / (double)sample->count,
        };
    }
    return cuts + 1;
}

double poisson_tail(double mean, uint64_t count)
{
    if (count == 0) {
        return 1;
    }
    if (mean <= 0) {
        return 0;
    }
    double sum = 0;
    if ((double)count <= mean) { /* the other side is the shorter one */
        for (uint64_t k = count; k-- > 0;) {
            double term = exp((double)k * log(mean) - mean - lgamma((double)k + 1));
            sum += term;
            if (term < sum * 1e-12) {
                break;
            }
        }
        return fmax(0, 1 - sum);
    }
    double term = exp((double)count * log(mean) - mean - lgamma((double)count + 1));
    for (uint64_t k = count; term > sum * 1e-12; k++) {
        sum += term;
        term *= mean / (double)(k + 1);
    }
    return fmin(1, sum);
}

double binomial_tail(uint64_t trials, double probability, uint64_t count)
{
    if (count == 0) {
        return 1;
    }
    if (probability <= 0 || count > trials) {
        return 0;
    }
    double p = fmin(probability, 1 - 1e-12), n = (double)trials, sum = 0;
    for (uint64_t i = count; i <= trials; i++) {
        double k = (double)i;
        double term = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
                          (n - k) * log1p(-p));
        sum += term;
        if (k > n * p && term < sum * 1e-12) {
            break;
        }
    }
    return fmin(1, sum);
}
