/*
 * Host side of the LIBOR market model. Size: paths, a multiple of 64. The reference follows each
 * path in double precision and takes the derivative by moving today's last rate up and down: it
 * knows no adjoint.
 */
#include "workloads/workload.h"

#include <math.h>
#include <string.h>

#include "util/error.h"

#define RATES 80
#define STEPS 40
#define OPTIONS 15
#define DELTA 0.25
#define BLOCK 64
#define PATHS_MAX 65536
#define BUMP 1e-6
#define VALUE_TOLERANCE 2e-4 /* of a value up to hundreds: 40 steps of a float's exponentials */
#define VALUE_ABSOLUTE 2e-2  /* of 100 in nominal, where options are nearly worthless */
#define DELTA_TOLERANCE 2e-3
#define DELTA_ABSOLUTE 2e-2

struct option {
    int32_t maturity;
    float rate;
};

struct market {
    float volatility[RATES], today[RATES];
    struct option options[OPTIONS];
};

static void make_market(struct market *market)
{
    static const int maturities[OPTIONS / 3] = {4, 8, 20, 28, 40};
    for (int i = 0; i < RATES; i++) {
        market->volatility[i] = 0.15f + 0.1f * expf(-0.05f * (float)i);
        market->today[i] = 0.05f;
    }
    for (int i = 0; i < OPTIONS; i++) {
        market->options[i].maturity = maturities[i / 3];
        market->options[i].rate = 0.045f + 0.005f * (float)(i % 3);
    }
}

/* A path's value where today's last rate is moved by `bump`. */
static double value_of(const struct market *market, const float *normals, uint32_t paths,
                       double bump)
{
    double rate[RATES], value = 0, discount = 1;
    for (int i = 0; i < RATES; i++) {
        rate[i] = market->today[i] + (i == RATES - 1 ? bump : 0);
    }
    for (int n = 0; n < STEPS; n++) {
        double drift = 0, shock = sqrt(DELTA) * normals[(size_t)n * paths];
        for (int i = n + 1; i < RATES; i++) {
            double lambda = market->volatility[i - n - 1];
            drift += DELTA * lambda * rate[i] / (1 + DELTA * rate[i]);
            rate[i] *= exp(DELTA * lambda * drift + lambda * shock - 0.5 * DELTA * lambda * lambda);
        }
        discount /= 1 + DELTA * rate[n];
    }
    for (int k = 0; k < OPTIONS; k++) {
        double bond = 1, annuity = 0;
        for (int i = 0; i < market->options[k].maturity; i++) {
            bond /= 1 + DELTA * rate[STEPS + i];
            annuity += DELTA * bond;
        }
        value += fmax(0, 100 * (1 - bond - market->options[k].rate * annuity));
    }
    return value * discount;
}

/* Standard normals of Box and Muller. */
static float *draw(struct workbench *bench, size_t count)
{
    float *normals = workbench_array(bench, count, sizeof *normals);
    for (size_t i = 0; normals && i < count; i++) {
        double radius = sqrt(-2 * log(1 - rng_double(&bench->rng)));
        normals[i] = (float)(radius * cos(2 * 3.14159265358979 * rng_double(&bench->rng)));
    }
    return normals;
}

static int send(struct workbench *bench, const struct market *market)
{
    int rc = workbench_symbol(bench, "volatility", market->volatility, sizeof market->volatility);
    rc = rc < 0 ? rc : workbench_symbol(bench, "today", market->today, sizeof market->today);
    return rc < 0 ? rc
                  : workbench_symbol(bench, "options", market->options, sizeof market->options);
}

static int check(struct workbench *bench, uint64_t at, const double *wanted, double relative,
                 double absolute)
{
    float *got = workbench_array(bench, bench->size, sizeof *got);
    int rc = got ? workbench_download(bench, got, at, bench->size * sizeof *got) : SONDE_ENOMEM;
    return rc < 0 ? rc : workbench_expect_floats(got, wanted, bench->size, relative, absolute);
}

int workload_libor(struct workbench *bench)
{
    uint32_t paths = bench->size;
    struct market market;
    uint64_t at, out[3];
    if (paths % BLOCK || paths > PATHS_MAX) {
        return error_set(SONDE_EINPUT, "%u paths: a multiple of %d, %d at most", paths, BLOCK,
                         PATHS_MAX);
    }
    make_market(&market);
    float *normals = draw(bench, (size_t)paths * STEPS);
    double *values = workbench_array(bench, paths, sizeof *values);
    double *deltas = workbench_array(bench, paths, sizeof *deltas);
    if (!normals || !values || !deltas) {
        return SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < paths; i++) {
        values[i] = value_of(&market, normals + i, paths, 0);
        deltas[i] = (value_of(&market, normals + i, paths, BUMP) -
                     value_of(&market, normals + i, paths, -BUMP)) /
                    (2 * BUMP);
    }
    int rc = workbench_upload(bench, &at, normals, (size_t)paths * STEPS * sizeof *normals);
    for (int i = 0; rc == 0 && i < 3; i++) {
        rc = workbench_upload(bench, &out[i], NULL, paths * sizeof(float));
    }
    rc = rc < 0 ? rc : send(bench, &market);
    struct workbench_shape shape = {{paths / BLOCK, 1, 1}, {BLOCK, 1, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "libor_value", shape, &out[0], &at, &paths);
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "libor_delta", shape, &out[1], &out[2], &at, &paths);
    rc = rc < 0 ? rc : check(bench, out[0], values, VALUE_TOLERANCE, VALUE_ABSOLUTE);
    rc = rc < 0 ? rc : check(bench, out[1], values, VALUE_TOLERANCE, VALUE_ABSOLUTE);
    return rc < 0 ? rc : check(bench, out[2], deltas, DELTA_TOLERANCE, DELTA_ABSOLUTE);
}
