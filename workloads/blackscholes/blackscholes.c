/*
 * Host side of the option prices. Size: options; block: threads of a CTA. The host uses the exact
 * normal distribution in double precision; the tolerance covers the kernel's polynomial (7.5e-8 of
 * a price up to 100) and its approximate functions.
 */
#include "workloads/workload.h"

#include <math.h>

#include "util/error.h"

#define BLOCK 128
#define BLOCK_MAX 1024
#define THREADS_MAX 65536 /* of the grid; the kernel's threads take one option after another */
#define TOLERANCE 2e-4

struct market {
    float rate, volatility;
};

static double normal_cdf(double d)
{
    return 0.5 * erfc(-d / sqrt(2));
}

static void reference(double *call, double *put, struct market market, double price, double strike,
                      double years)
{
    double rate = market.rate, volatility = market.volatility;
    double spread = volatility * sqrt(years);
    double d1 = (log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / spread;
    double d2 = d1 - spread, discounted = strike * exp(-rate * years);
    *call = price * normal_cdf(d1) - discounted * normal_cdf(d2);
    *put = discounted * normal_cdf(-d2) - price * normal_cdf(-d1);
}

static int check(struct workbench *bench, const uint64_t at[2], double *const wanted[2],
                 uint32_t count)
{
    float *got = workbench_array(bench, count, sizeof *got);
    int rc = got ? 0 : SONDE_ENOMEM;
    for (int i = 0; rc == 0 && i < 2; i++) {
        rc = workbench_download(bench, got, at[i], count * sizeof *got);
        rc = rc < 0 ? rc : workbench_expect_floats(got, wanted[i], count, 0, TOLERANCE);
    }
    return rc;
}

int workload_blackscholes(struct workbench *bench)
{
    uint32_t block = bench->settings->block ? bench->settings->block : BLOCK;
    if (block > BLOCK_MAX) {
        return error_set(SONDE_EINPUT, "CTAs of %u threads, %d at most", block, BLOCK_MAX);
    }
    uint32_t count = bench->size, blocks = (count + block - 1) / block, most = THREADS_MAX / block;
    struct market market = {0.02f, 0.3f};
    size_t bytes = count * sizeof(float);
    float *price = workbench_floats(bench, count, 5, 30);
    float *strike = workbench_floats(bench, count, 1, 100);
    float *years = workbench_floats(bench, count, 0.25f, 10);
    double *wanted[2] = {workbench_array(bench, count, sizeof(double)),
                         workbench_array(bench, count, sizeof(double))};
    uint64_t out[2], at_price, at_strike, at_years;
    if (!price || !strike || !years || !wanted[0] || !wanted[1]) {
        return SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        reference(&wanted[0][i], &wanted[1][i], market, price[i], strike[i], years[i]);
    }
    int rc = workbench_upload(bench, &at_price, price, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_strike, strike, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_years, years, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &out[0], NULL, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &out[1], NULL, bytes);
    struct workbench_shape shape = {{blocks < most ? blocks : most, 1, 1}, {block, 1, 1}};
    rc = rc < 0 ? rc
                : WORKBENCH_LAUNCH(bench, "blackscholes", shape, &out[0], &out[1], &at_price,
                                   &at_strike, &at_years, &market.rate, &market.volatility, &count);
    return rc < 0 ? rc : check(bench, out, wanted, count);
}
