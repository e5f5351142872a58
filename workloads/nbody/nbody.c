/*
 * Host side of the n-body accelerations. Size: bodies, a multiple of 128. The host adds up in
 * double precision; the tolerance covers a float's sum of as many terms.
 */
#include "workloads/workload.h"

#include <math.h>

#include "util/error.h"

#define TILE 128
#define SOFTENING 0.01f
#define TOLERANCE 1e-5 /* of the largest acceleration */

/* Returns the largest component's size. */
static double reference(double *wanted, const float *bodies, uint32_t count)
{
    double largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        const float *own = bodies + (size_t)i * 4;
        double *sum = wanted + (size_t)i * 4;
        for (uint32_t j = 0; j < count; j++) {
            const float *other = bodies + (size_t)j * 4;
            double d[3], squared = SOFTENING;
            for (int k = 0; k < 3; k++) {
                d[k] = (double)other[k] - own[k];
                squared += d[k] * d[k];
            }
            double pull = other[3] / (squared * sqrt(squared));
            for (int k = 0; k < 3; k++) {
                sum[k] += d[k] * pull;
            }
        }
        for (int k = 0; k < 3; k++) {
            largest = fabs(sum[k]) > largest ? fabs(sum[k]) : largest;
        }
    }
    return largest;
}

int workload_nbody(struct workbench *bench)
{
    uint32_t count = bench->size;
    float softening = SOFTENING;
    size_t values = (size_t)count * 4, bytes = values * sizeof(float);
    float *bodies = workbench_floats(bench, values, 0, 1);
    float *got = workbench_array(bench, values, sizeof *got);
    double *wanted = workbench_array(bench, values, sizeof *wanted);
    uint64_t at_bodies, at_accelerations;
    if (!bodies || !got || !wanted) {
        return SONDE_ENOMEM;
    }
    if (count == 0 || count % TILE) {
        return error_set(SONDE_EINPUT, "%u bodies are no multiple of %d", count, TILE);
    }
    double largest = reference(wanted, bodies, count);
    int rc = workbench_upload(bench, &at_bodies, bodies, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_accelerations, NULL, bytes);
    struct workbench_shape shape = {{count / TILE, 1, 1}, {TILE, 1, 1}};
    rc = rc < 0 ? rc
                : WORKBENCH_LAUNCH(bench, "nbody", shape, &at_accelerations, &at_bodies, &count,
                                   &softening);
    rc = rc < 0 ? rc : workbench_download(bench, got, at_accelerations, bytes);
    return rc < 0 ? rc : workbench_expect_floats(got, wanted, values, 0, TOLERANCE * largest);
}
