/*
 * Host side of the Walsh transform. Size: the logarithm of the number of elements. They are small
 * whole numbers, so that every sum is exact.
 */
#include "workloads/walsh/walsh.h"

#include "util/error.h"

#define SHARE 1024 /* elements of a block of walsh_block */
#define LEVEL_BLOCK 256
/* WALSH_LOG_MAX: sums of 2^20 numbers of up to 8 are exact in a float. */

static void reference(double *data, uint32_t count)
{
    for (uint32_t half = count / 2; half > 0; half /= 2) {
        for (uint32_t i = 0; i < count; i++) {
            if (i & half) {
                continue;
            }
            double a = data[i], b = data[i + half];
            data[i] = a + b;
            data[i + half] = a - b;
        }
    }
}

int walsh_transform(struct workbench *bench, uint64_t at, uint32_t count)
{
    uint32_t pairs = count / 2;
    struct workbench_shape level = {{(pairs + LEVEL_BLOCK - 1) / LEVEL_BLOCK, 1, 1},
                                    {LEVEL_BLOCK, 1, 1}};
    struct workbench_shape block = {{count / SHARE, 1, 1}, {SHARE / 2, 1, 1}};
    int rc = 0;
    for (uint32_t half = count / 2; rc == 0 && half >= SHARE; half /= 2) {
        rc = WORKBENCH_LAUNCH(bench, "walsh_level", level, &at, &half, &pairs);
    }
    return rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "walsh_block", block, &at);
}

int walsh_check_size(const struct workbench *bench)
{
    return bench->size >= WALSH_LOG_MIN && bench->size <= WALSH_LOG_MAX
               ? 0
               : error_set(SONDE_EINPUT, "size %u is not in %d to %d", bench->size, WALSH_LOG_MIN,
                           WALSH_LOG_MAX);
}

int workload_walsh(struct workbench *bench)
{
    int rc = walsh_check_size(bench);
    if (rc < 0) {
        return rc;
    }
    uint32_t count = 1u << bench->size;
    float *data = workbench_array(bench, count, sizeof *data);
    double *wanted = workbench_array(bench, count, sizeof *wanted);
    uint64_t at;
    if (!data || !wanted) {
        return SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        data[i] = (float)rng_below(&bench->rng, 17) - 8;
        wanted[i] = data[i];
    }
    reference(wanted, count);
    rc = workbench_upload(bench, &at, data, count * sizeof *data);
    rc = rc < 0 ? rc : walsh_transform(bench, at, count);
    rc = rc < 0 ? rc : workbench_download(bench, data, at, count * sizeof *data);
    return rc < 0 ? rc : workbench_expect_floats(data, wanted, count, 0, 0);
}
