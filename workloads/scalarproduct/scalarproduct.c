/*
 * Host side of the scalar products. Size: pairs of vectors, each of 4096 elements. Elements are
 * small whole numbers, so that every sum is exact whatever its order.
 */
#include "workloads/workload.h"

#include "util/error.h"

#define ELEMENTS 4096
#define BLOCK 256
#define BLOCKS_MAX 128
#define PAIRS_MAX 65536

static void fill(struct workbench *bench, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)rng_below(&bench->rng, 33) - 16;
    }
}

int workload_scalarproduct(struct workbench *bench)
{
    uint32_t pairs = bench->size, elements = ELEMENTS;
    if (pairs > PAIRS_MAX) {
        return error_set(SONDE_EINPUT, "%u pairs, %d at most", pairs, PAIRS_MAX);
    }
    size_t count = (size_t)pairs * ELEMENTS;
    float *a = workbench_array(bench, count, sizeof *a),
          *b = workbench_array(bench, count, sizeof *b);
    float *got = workbench_array(bench, pairs, sizeof *got);
    double *wanted = workbench_array(bench, pairs, sizeof *wanted);
    uint64_t at_a, at_b, at;
    if (!a || !b || !got || !wanted) {
        return SONDE_ENOMEM;
    }
    fill(bench, a, count);
    fill(bench, b, count);
    for (size_t i = 0; i < count; i++) {
        wanted[i / ELEMENTS] += (double)a[i] * b[i];
    }
    int rc = workbench_upload(bench, &at_a, a, count * sizeof *a);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_b, b, count * sizeof *b);
    rc = rc < 0 ? rc : workbench_upload(bench, &at, NULL, pairs * sizeof *got);
    struct workbench_shape shape = {{pairs < BLOCKS_MAX ? pairs : BLOCKS_MAX, 1, 1}, {BLOCK, 1, 1}};
    rc = rc < 0 ? rc
                : WORKBENCH_LAUNCH(bench, "scalarproduct", shape, &at, &at_a, &at_b, &pairs,
                                   &elements);
    rc = rc < 0 ? rc : workbench_download(bench, got, at, pairs * sizeof *got);
    return rc < 0 ? rc : workbench_expect_floats(got, wanted, pairs, 0, 0);
}
