/*
 * Host side of the binomial tree. Size: options, of 512 steps each. The reference is the tree's
 * closed form: the expectation over the binomial distribution at expiry, in double precision.
 */
#include "workloads/workload.h"

#include <math.h>

#include "util/error.h"

#define STEPS 512
#define BLOCK 256
#define OPTIONS_MAX 65536
#define RATE 0.02
#define VOLATILITY 0.3
#define TOLERANCE 2e-3 /* absolute; a float's rounding in 512 steps of prices up to 30 */

struct option {
    float price, strike, up, rise, fall;
};

static double reference(struct option *option, double years)
{
    double step = years / STEPS, up = VOLATILITY * sqrt(step), discount = exp(-RATE * step);
    double p = (1 / discount - exp(-up)) / (exp(up) - exp(-up)), sum = 0;
    option->up = (float)up;
    option->rise = (float)(discount * p);
    option->fall = (float)(discount * (1 - p));
    for (int i = 0; i <= STEPS; i++) {
        double end = option->price * exp(up * (2 * i - STEPS)) - option->strike;
        double ways = lgamma(STEPS + 1) - lgamma(i + 1) - lgamma(STEPS - i + 1);
        sum += end > 0 ? end * exp(ways + i * log(p) + (STEPS - i) * log(1 - p)) : 0;
    }
    return sum * exp(-RATE * years);
}

int workload_binomial(struct workbench *bench)
{
    uint32_t count = bench->size;
    if (count > OPTIONS_MAX) {
        return error_set(SONDE_EINPUT, "%u options, %d at most", count, OPTIONS_MAX);
    }
    struct option *options = workbench_array(bench, count, sizeof *options);
    float *got = workbench_array(bench, count, sizeof *got);
    double *wanted = workbench_array(bench, count, sizeof *wanted);
    uint64_t at, values;
    if (!options || !got || !wanted) {
        return SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        options[i].price = (float)(5 + 25 * rng_double(&bench->rng));
        options[i].strike = (float)(1 + 39 * rng_double(&bench->rng));
        wanted[i] = reference(&options[i], 0.25 + 2 * rng_double(&bench->rng));
    }
    int rc = workbench_upload(bench, &at, options, count * sizeof *options);
    rc = rc < 0 ? rc : workbench_upload(bench, &values, NULL, count * sizeof *got);
    struct workbench_shape shape = {{count, 1, 1}, {BLOCK, 1, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "binomial", shape, &values, &at);
    rc = rc < 0 ? rc : workbench_download(bench, got, values, count * sizeof *got);
    return rc < 0 ? rc : workbench_expect_floats(got, wanted, count, 0, TOLERANCE);
}
