/*
 * Numbers of many launches: errors and how they are put together.
 */
#include <math.h>
#include <stdlib.h>

#include "study/kernels/compare.h"
#include "util/error.h"
#include "util/sort.h"

/* An H200's L2, as its driver tells it: a kernel is larger if DRAM moved more than that. */
#define L2_BYTES 62914560.0

double kernel_error(double predicted, double measured)
{
    return measured > 0 ? fabs(predicted - measured) / measured : predicted > 0;
}

bool kernel_is_large(const struct kernel_counts *measured)
{
    return measured->dram_bytes > L2_BYTES;
}

static bool is_selected(const struct kernel_pair *pair, const struct kernel_selection *selection)
{
    return pair->set_aside == selection->set_aside &&
           (selection->class < 0 ? kernel_class_is_among_all(pair->row->class)
                                 : (int)pair->row->class == selection->class);
}

/* The error of a value that is a list's; negative: the pair has none. */
static double pair_error(const struct kernel_pair *pair, enum kernel_value value)
{
    const struct kernel_counts *here = &pair->predicted.counts, *there = &pair->measured;
    bool large = kernel_is_large(there);
    switch (value) {
    case KERNEL_MAPE:
    case KERNEL_MEDIAN:
    case KERNEL_MOST:
        return kernel_error(here->cycles, there->cycles);
    case KERNEL_INSTRUCTIONS:
    case KERNEL_INSTRUCTIONS_MOST:
        return kernel_error(here->warp_insns, there->warp_insns);
    case KERNEL_L2_SECTORS:
        return large ? kernel_error(here->l2_sectors, there->l2_sectors) : -1;
    case KERNEL_DRAM_BYTES:
        return large ? kernel_error(here->dram_bytes, there->dram_bytes) : -1;
    default:
        return -1;
    }
}

/* Of errors, in ascending order: their mean, the largest or the median. */
static double summary(const double *errors, size_t count, enum kernel_value value)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += errors[i];
    }
    bool most = value == KERNEL_INSTRUCTIONS_MOST || value == KERNEL_MOST;
    return value == KERNEL_MAPE ? sum / (double)count
           : most               ? errors[count - 1]
                                : (errors[(count - 1) / 2] + errors[count / 2]) / 2;
}

/* Pearson's, of the logarithms. */
static double correlation(const struct kernel_pair *pairs, size_t count,
                          const struct kernel_selection *selection)
{
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_selected(&pairs[i], selection) && !pairs[i].why) {
            double a = log(pairs[i].measured.cycles), b = log(pairs[i].predicted.counts.cycles);
            n++, x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
        }
    }
    double spread = (n * xx - x * x) * (n * yy - y * y);
    return n > 2 && spread > 0 ? (n * xy - x * y) / sqrt(spread) : NAN;
}

static double wrong_results(const struct kernel_pair *pairs, size_t count,
                            const struct kernel_selection *selection)
{
    size_t wrong = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        const struct kernel_pair *pair = &pairs[i];
        if (is_selected(pair, selection)) {
            all++;
            wrong += pair->why ||
                     !kernel_result_agrees(&pair->measured.result, &pair->predicted.counts.result);
        }
    }
    return all > 0 ? (double)wrong : NAN;
}

double kernel_value(const struct kernel_pair *pairs, size_t count, enum kernel_value value,
                    const struct kernel_selection *selection)
{
    if (value == KERNEL_CORRELATION) {
        return correlation(pairs, count, selection);
    }
    if (value == KERNEL_WRONG_RESULTS) {
        return wrong_results(pairs, count, selection);
    }
    double *errors = calloc(count + 1, sizeof(*errors));
    size_t found = 0;
    if (!errors) {
        return NAN;
    }
    for (size_t i = 0; i < count; i++) {
        double error = pair_error(&pairs[i], value);
        if (is_selected(&pairs[i], selection) && error >= 0) {
            errors[found++] = error;
        }
    }
    sort_double(errors, found);
    double result = found > 0 ? 100 * summary(errors, found, value) : NAN;
    free(errors);
    return result;
}
