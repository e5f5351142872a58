/* Host side of the histogram. Size: bytes, a multiple of 4; sums of two dice, so that bins differ.
 */
#include "workloads/workload.h"

#include "util/error.h"

#define BINS 64
#define BLOCK 64
#define BLOCK_WORDS (BLOCK * 63)
#define MERGE_BLOCK 256
#define SIZE_LIMIT (1u << 28)

int workload_histogram(struct workbench *bench)
{
    uint32_t bytes = bench->size, words = bytes / 4;
    uint32_t blocks = (words + BLOCK_WORDS - 1) / BLOCK_WORDS, wanted[BINS] = {0}, got[BINS];
    if (bytes % 4 || bytes > SIZE_LIMIT) {
        return error_set(SONDE_EINPUT, "%u bytes: a multiple of 4, %u at most", bytes, SIZE_LIMIT);
    }
    uint8_t *data = workbench_array(bench, bytes, 1);
    uint64_t at, partial, bins;
    if (!data) {
        return SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)(rng_below(&bench->rng, 128) + rng_below(&bench->rng, 129));
        wanted[data[i] / 4]++;
    }
    int rc = workbench_upload(bench, &at, data, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &partial, NULL, (size_t)blocks * BINS * 4);
    rc = rc < 0 ? rc : workbench_upload(bench, &bins, NULL, sizeof got);
    struct workbench_shape count = {{blocks, 1, 1}, {BLOCK, 1, 1}},
                           merge = {{BINS, 1, 1}, {MERGE_BLOCK, 1, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "histogram_block", count, &partial, &at, &words);
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "histogram_merge", merge, &bins, &partial, &blocks);
    rc = rc < 0 ? rc : workbench_download(bench, got, bins, sizeof got);
    return rc < 0 ? rc : workbench_expect_words(got, wanted, BINS);
}
