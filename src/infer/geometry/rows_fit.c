/*
 * Which rows do lines of one set lie in? Width and beginning of a row are tried one by one; the
 * period is then the greatest common divisor of the rows' distances. By chance n lines lie in
 * every P-th row with a probability of P^-(n-1), so the longest period is the likeliest, by that
 * much. What several widths explain alike is shared among the numbers of sets that they make.
 */
#include "infer/geometry/rows.h"

#include <math.h>
#include <stdlib.h>

#include "util/divisor.h"

/* Thresholds. Fixed by: drawn rows (unit.infer.rows). */
static const struct {
    size_t least_lines;
    uint32_t most_width, least_period;
    double chance, filled, two, estimated, most_odds, apart;
    size_t many_lines;
} limits = {
    .least_lines = 5,  /* lines: fewer lie in rows by chance */
    .most_width = 512, /* lines of a row: more slices are not looked for */
    .least_period = 8, /* rows: a shorter period needs no rows to be found (index.c) */
    .chance = 1e-4,    /* chance that lines lie so regularly, over all widths that are tried */
    .filled = 0.8,     /* lines for each row of one line: all have theirs, but for noise. Chosen */
    .two = 0.2,        /* chance, before rows are counted, that a row has two: of L2s in parts that
                          are drawn. Chosen */
    .estimated = 0.25, /* spread of an estimate's logarithm; parts, and policies that leave some
                          lines of a crowded set, make it so much. Chosen */
    .most_odds = 5,    /* the logarithm of what an estimate tells at most. Chosen */
    .apart = 1e-4,     /* chance that hashed lines lie so in their rows. Chosen */
    .many_lines = 10,  /* lines: of fewer any width makes rows, now and then. Blind trials */
};

/* The period of the rows of a width that begin `phase` lines early; 0: all lie in one row. */
static uint32_t period_of(const uint32_t *lines, size_t count, uint32_t width, uint32_t phase)
{
    uint32_t first = (lines[0] + phase) / width, period = 0;
    for (size_t i = 1; i < count && period != 1; i++) {
        period = (uint32_t)common_divisor((lines[i] + phase) / width - first, period);
    }
    return period;
}

/* One number of sets, and how likely it is beside others: the logarithm. */
struct candidate {
    struct row_fit fit;
    double weight;
};

static double join(double a, double b)
{
    double most = fmax(a, b);
    return most + log1p(exp(fmin(a, b) - most));
}

static void add_candidate(struct candidate *all, size_t *count, size_t room, uint32_t width,
                          uint32_t period, double weight)
{
    uint64_t sets = (uint64_t)width * period;
    size_t at = 0, least = 0;
    while (at < *count && all[at].fit.sets != sets) {
        least = all[at].weight < all[least].weight ? at : least;
        at++;
    }
    if (at < *count) {
        all[at].weight = join(all[at].weight, weight);
        return;
    }
    at = *count < room ? (*count)++ : least;
    if (at + 1 == *count || all[at].weight < weight) {
        all[at] = (struct candidate){{.width = width, .period = period, .sets = sets}, weight};
    }
}

static size_t collect(struct candidate *all, size_t room, const uint32_t *lines, size_t count)
{
    size_t found = 0;
    for (uint32_t width = 1; width <= limits.most_width; width++) {
        double tried = log((double)width * width);
        for (uint32_t phase = 0; phase < width; phase++) {
            uint32_t period = period_of(lines, count, width, phase);
            if (period >= limits.least_period) {
                double weight = (double)(count - 1) * log(period) - tried;
                add_candidate(all, &found, room, width, period, weight);
            }
        }
    }
    return found;
}

bool rows_fit(struct row_fit *out, const uint32_t *lines, size_t count)
{
    struct candidate all[64];
    double sum = 0; /* that they lie anywhere has a weight of 1 */
    size_t best = 0;
    if (count < limits.least_lines) {
        return false;
    }
    size_t found = collect(all, sizeof all / sizeof *all, lines, count);
    for (size_t i = 0; i < found; i++) {
        sum = join(sum, all[i].weight);
        best = all[i].weight > all[best].weight ? i : best;
    }
    if (found == 0 || all[best].weight < -log(limits.chance)) {
        return false;
    }
    *out = all[best].fit;
    out->share = exp(all[best].weight - sum);
    return true;
}

/* Lines from `first` on that are in its row; those after a descent are of another one. */
static size_t lines_of_row(const struct row_fit *fit, const uint32_t *lines, size_t count,
                           size_t first)
{
    size_t end = first + 1;
    while (end < count && lines[end] > lines[first] && lines[end] - lines[first] < fit->sets / 2) {
        end++;
    }
    return end - first;
}

uint32_t rows_block(const struct row_fit *fit, const uint32_t *lines, size_t count)
{
    uint64_t block = 0;
    for (size_t i = 0, here; i < count; i += here) {
        here = lines_of_row(fit, lines, count, i);
        block = common_divisor(here, block);
    }
    return count ? (uint32_t)block : 1;
}

uint32_t rows_apart(const struct row_fit *fit, const uint32_t *lines, size_t count)
{
    uint64_t apart = fit->width;
    for (size_t i = 1; i < count; i++) {
        apart = common_divisor(lines[i] - lines[0], apart);
    }
    bool is_sure = count > 0 && pow((double)apart, 1 - (double)count) < limits.apart;
    return is_sure ? (uint32_t)apart : 1;
}

/* How much likelier half as many sets make the estimate. */
static double odds_of_half(double sets, double estimate)
{
    double whole = log(sets / estimate), half = whole - log(2);
    double more = (whole * whole - half * half) / (2 * limits.estimated * limits.estimated);
    return exp(fmax(-limits.most_odds, fmin(more, limits.most_odds)));
}

uint32_t rows_each(const struct row_fit *fit, double rows, double lines, double estimate,
                   double *sure)
{
    double odds = limits.two / (1 - limits.two) * exp(lines * log(2) - rows);
    odds *= estimate > 0 ? odds_of_half((double)fit->sets, estimate) : 1;
    *sure = fmax(odds, 1) / (1 + odds);
    return odds > 1 && fit->sets % 2 == 0 ? 2 : 1;
}

bool rows_as_hashed(const struct row_fit *fit, const uint32_t *lines, size_t count, double each)
{
    return count >= limits.many_lines && rows_block(fit, lines, count) == 1 &&
           (fit->width > 1 || each >= limits.filled);
}
