/* Host side of the reduction. Size: elements. Sums wrap, so every order gives the same one. */
#include "workloads/workload.h"

#include "util/error.h"

#define BLOCK 256
#define BLOCKS 64

int workload_reduction(struct workbench *bench)
{
    uint32_t count = bench->size, blocks = BLOCKS, sum = 0, wanted = 0;
    uint32_t *values = workbench_array(bench, count, sizeof *values);
    uint64_t at_values, at_sums, at_sum;
    if (!values) {
        return SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        values[i] = (uint32_t)rng_u64(&bench->rng);
        wanted += values[i];
    }
    int rc = workbench_upload(bench, &at_values, values, count * sizeof *values);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_sums, NULL, BLOCKS * sizeof *values);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_sum, NULL, sizeof sum);
    struct workbench_shape many = {{BLOCKS, 1, 1}, {BLOCK, 1, 1}}, one = {{1, 1, 1}, {BLOCK, 1, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "reduction", many, &at_sums, &at_values, &count);
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "reduction", one, &at_sum, &at_sums, &blocks);
    rc = rc < 0 ? rc : workbench_download(bench, &sum, at_sum, sizeof sum);
    return rc < 0 ? rc : workbench_expect_words(&sum, &wanted, 1);
}
