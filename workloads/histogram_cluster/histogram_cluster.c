/*
 * Host side of the histogram whose bins lie in the shared memory of a cluster. Size: values, of any
 * number.
 */
#include "workloads/workload.h"

#include "util/error.h"

#define BINS 1024
#define VALUES_MOST (1u << 26)

int workload_histogram_cluster(struct workbench *bench)
{
    uint32_t count = bench->size, wanted[BINS] = {0}, got[BINS];
    uint64_t at_in, at_bins;
    if (count > VALUES_MOST) {
        return error_set(SONDE_EINPUT, "%u values, %u at most", count, VALUES_MOST);
    }
    uint32_t *in = workbench_array(bench, count, sizeof *in);
    if (!in) {
        return SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        in[i] = (uint32_t)rng_below(&bench->rng, UINT64_C(1) << 32);
        wanted[in[i] % BINS]++;
    }
    int rc = workbench_upload(bench, &at_in, in, count * sizeof *in);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_bins, NULL, sizeof got);
    struct workbench_shape shape = {{64, 1, 1}, {256, 1, 1}};
    rc =
        rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "histogram_cluster", shape, &at_bins, &at_in, &count);
    rc = rc < 0 ? rc : workbench_download(bench, got, at_bins, sizeof got);
    return rc < 0 ? rc : workbench_expect_words(got, wanted, BINS);
}
