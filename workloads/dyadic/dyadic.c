/*
 * Host side of the dyadic convolution: of a signal with a short one, out[i] is the sum of
 * by[j] * data[i ^ j]. Size: the logarithm of the signal's length. The reference is that sum. All
 * are small whole numbers: what is added at any level is a whole number, times a power of two, of
 * 20 bits or so (n / 2 and the bits of a sum of 128 products), so that nothing is rounded.
 */
#include "workloads/walsh/walsh.h"

#include "util/error.h"

#define SHORT 128 /* elements of the short signal */
#define BLOCK 256
#define GRID_MAX 512

struct signals {
    float *data, *by;
    double *wanted;
};

static int make(struct signals *out, struct workbench *bench, uint32_t count)
{
    *out = (struct signals){.data = workbench_array(bench, count, sizeof(float)),
                            .by = workbench_array(bench, count, sizeof(float)),
                            .wanted = workbench_array(bench, count, sizeof(double))};
    if (!out->data || !out->by || !out->wanted) {
        return SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        out->data[i] = (float)rng_below(&bench->rng, 5) - 2;
    }
    for (uint32_t j = 0; j < SHORT; j++) {
        out->by[j] = (float)rng_below(&bench->rng, 5) - 2;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < SHORT; j++) {
            out->wanted[i] += (double)out->by[j] * (double)out->data[i ^ j];
        }
    }
    return 0;
}

static int convolve(struct workbench *bench, uint64_t data, uint64_t by, uint32_t count)
{
    uint32_t blocks = count / BLOCK < GRID_MAX ? count / BLOCK : GRID_MAX;
    struct workbench_shape shape = {{blocks, 1, 1}, {BLOCK, 1, 1}};
    float scale = 1.0f / (float)count;
    int rc = walsh_transform(bench, data, count);
    rc = rc < 0 ? rc : walsh_transform(bench, by, count);
    rc =
        rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "dyadic_multiply", shape, &data, &by, &scale, &count);
    return rc < 0 ? rc : walsh_transform(bench, data, count);
}

int workload_dyadic(struct workbench *bench)
{
    struct signals signals;
    uint64_t data, by;
    int rc = walsh_check_size(bench);
    uint32_t count = 1u << (bench->size % 32);
    rc = rc < 0 ? rc : make(&signals, bench, count);
    rc = rc < 0 ? rc : workbench_upload(bench, &data, signals.data, count * sizeof *signals.data);
    rc = rc < 0 ? rc : workbench_upload(bench, &by, signals.by, count * sizeof *signals.by);
    rc = rc < 0 ? rc : convolve(bench, data, by, count);
    rc = rc < 0 ? rc : workbench_download(bench, signals.data, data, count * sizeof(float));
    return rc < 0 ? rc : workbench_expect_floats(signals.data, signals.wanted, count, 0, 0);
}
