/* Host side of the scan. Size: elements, a multiple of 512 up to 512 x 512. */
#include "workloads/workload.h"

#include "util/error.h"

#define SHARE 512

int workload_scan(struct workbench *bench)
{
    uint32_t count = bench->size, blocks = count / SHARE, sum = 0;
    if (count % SHARE || blocks > SHARE) {
        return error_set(SONDE_EINPUT, "%u elements: a multiple of %d, %d at most", count, SHARE,
                         SHARE * SHARE);
    }
    size_t bytes = count * sizeof(uint32_t), totals_bytes = SHARE * sizeof(uint32_t);
    uint32_t *values = workbench_array(bench, count, sizeof *values);
    uint32_t *wanted = workbench_array(bench, count, sizeof *wanted);
    uint64_t at, sums, totals, scanned, unused;
    if (!values || !wanted) {
        return SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        values[i] = (uint32_t)rng_below(&bench->rng, 1000);
        wanted[i] = sum += values[i];
    }
    int rc = workbench_upload(bench, &at, values, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &sums, NULL, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &totals, NULL, totals_bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &scanned, NULL, totals_bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &unused, NULL, totals_bytes);
    struct workbench_shape all = {{blocks, 1, 1}, {SHARE / 2, 1, 1}},
                           one = {{1, 1, 1}, {SHARE / 2, 1, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "scan_block", all, &sums, &totals, &at);
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "scan_block", one, &scanned, &unused, &totals);
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "scan_add", all, &sums, &scanned);
    rc = rc < 0 ? rc : workbench_download(bench, values, sums, bytes);
    return rc < 0 ? rc : workbench_expect_words(values, wanted, count);
}
