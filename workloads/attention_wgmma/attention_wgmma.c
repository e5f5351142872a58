/* Host side of attention by tensor maps and wgmma. Size: rows of q, k and v, a multiple of 64; from
 * 192 on tiles of the ring are used again. */
#include "workloads/modern.h"

#define SHARED_BYTES 40960 /* a tile of q and two pairs of k and v, of 8 KiB each */

int workload_attention_wgmma(struct workbench *bench)
{
    static const struct modern_box box = {MODERN_DEPTH, 64, 3};
    struct modern_attention run;
    struct modern_map maps[3];
    int rc = modern_attention(bench, &run);
    if (rc < 0) {
        return rc;
    }
    for (int i = 0; i < 3; i++) {
        modern_map(&maps[i], run.at[i], TENSOR_F16, MODERN_DEPTH, run.rows, &box);
    }
    struct workbench_shape shape = {{run.rows / 64, 1, 1}, {160, 1, 1}};
    rc = WORKBENCH_LAUNCH_SHARED(bench, "attention_wgmma", shape, SHARED_BYTES, &run.out.at,
                                 &maps[0], &maps[1], &maps[2], &run.rows);
    return rc < 0 ? rc : modern_expect(bench, &run.out, modern_attention_tolerance);
}
