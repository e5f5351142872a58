/*
 * Host side of the matrix product. Size: the matrices' side, a multiple of 16. The host adds up in
 * the kernel's order with the same fused operation, so both agree to the bit.
 */
#include "workloads/workload.h"

#include <math.h>

#include "util/error.h"

#define TILE 16

static void reference(double *wanted, const float *a, const float *b, uint32_t side)
{
    for (uint32_t row = 0; row < side; row++) {
        for (uint32_t column = 0; column < side; column++) {
            float sum = 0;
            for (uint32_t k = 0; k < side; k++) {
                sum = fmaf(a[row * side + k], b[k * side + column], sum);
            }
            wanted[row * side + column] = sum;
        }
    }
}

int workload_matmul(struct workbench *bench)
{
    uint32_t side = bench->size, count = side * side;
    size_t bytes = count * sizeof(float);
    float *a = workbench_floats(bench, count, -1, 1), *b = workbench_floats(bench, count, -1, 1);
    float *c = workbench_array(bench, count, sizeof *c);
    double *wanted = workbench_array(bench, count, sizeof *wanted);
    uint64_t at_a, at_b, at_c;
    if (!a || !b || !c || !wanted) {
        return SONDE_ENOMEM;
    }
    if (side % TILE) {
        return error_set(SONDE_EINPUT, "side %u is no multiple of %d", side, TILE);
    }
    reference(wanted, a, b, side);
    int rc = workbench_upload(bench, &at_a, a, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_b, b, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_c, NULL, bytes);
    struct workbench_shape shape = {{side / TILE, side / TILE, 1}, {TILE, TILE, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "matmul", shape, &at_c, &at_a, &at_b, &side);
    rc = rc < 0 ? rc : workbench_download(bench, c, at_c, bytes);
    return rc < 0 ? rc : workbench_expect_floats(c, wanted, count, 0, 0);
}
