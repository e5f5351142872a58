/*
 * Host side of the product whose tiles cp.async brings. Size: the matrices' side, a multiple of 64.
 * Halves are whole numbers, so that sums are exact in any order.
 */
#include "workloads/modern.h"

int workload_matmul_copy(struct workbench *bench)
{
    struct modern_product product;
    int rc = modern_product(bench, &product, false);
    if (rc < 0) {
        return rc;
    }
    struct workbench_shape shape = {{product.side / 64, product.side / 64, 1}, {128, 1, 1}};
    rc = WORKBENCH_LAUNCH(bench, "matmul_copy", shape, &product.c.at, &product.at_a, &product.at_b,
                          &product.side);
    return rc < 0 ? rc : modern_expect(bench, &product.c, 0);
}
