/*
 * Host side of the product by tensor maps and wgmma: a bt. Size: the matrices' side, a multiple of
 * 64; from 256 on tiles of the ring are used again. Sums are exact, as in matmul_copy.
 */
#include "workloads/modern.h"

#define SHARED_BYTES 49152 /* a ring of three pairs of tiles of 8 KiB */

int workload_matmul_wgmma(struct workbench *bench)
{
    static const struct modern_box box = {64, 64, 3};
    struct modern_product product;
    struct modern_map a, b;
    int rc = modern_product(bench, &product, true);
    if (rc < 0) {
        return rc;
    }
    uint32_t side = product.side;
    modern_map(&a, product.at_a, TENSOR_F16, side, side, &box);
    modern_map(&b, product.at_b, TENSOR_F16, side, side, &box);
    struct workbench_shape shape = {{side / 64, side / 64, 1}, {160, 1, 1}};
    rc = WORKBENCH_LAUNCH_SHARED(bench, "matmul_wgmma", shape, SHARED_BYTES, &product.c.at, &a, &b,
                                 &side);
    return rc < 0 ? rc : modern_expect(bench, &product.c, 0);
}
