/* Host side of attention with tiles that cp.async brings. Size: rows of q, k and v, a multiple of
 * 64. */
#include "workloads/modern.h"

/* Rows of q, k and v (twice 64 each) and weights as halves, of scores and sums as floats. */
#define SHARED_BYTES ((32 + 128 + 128 + 32) * (MODERN_DEPTH + 8) * 2 + 64 * (MODERN_DEPTH + 4) * 4)

int workload_attention(struct workbench *bench)
{
    struct modern_attention run;
    int rc = modern_attention(bench, &run);
    if (rc < 0) {
        return rc;
    }
    struct workbench_shape shape = {{run.rows / 32, 1, 1}, {128, 1, 1}};
    rc = WORKBENCH_LAUNCH_SHARED(bench, "attention", shape, SHARED_BYTES, &run.out.at, &run.at[0],
                                 &run.at[1], &run.at[2], &run.rows);
    return rc < 0 ? rc : modern_expect(bench, &run.out, modern_attention_tolerance);
}
