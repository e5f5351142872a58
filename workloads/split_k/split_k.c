/*
 * Host side of the product whose depth a cluster shares: c, of 32 rows, is a b. Size: c's columns,
 * a multiple of 32; the depth is four times as many. Values are whole numbers from 0 to 15, so that
 * sums are exact.
 */
#include "workloads/modern.h"

#include "util/error.h"

#define ROWS 32
#define COLUMNS_MOST 4096

static void reference(double *wanted, const float *a, const float *b, uint32_t columns,
                      uint32_t depth)
{
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t k = 0; k < depth; k++) {
            for (size_t column = 0; column < columns; column++) {
                wanted[row * columns + column] +=
                    (double)a[row * depth + k] * b[k * columns + column];
            }
        }
    }
}

static int numbers(struct workbench *bench, float **values, uint64_t *at, size_t count)
{
    *values = workbench_array(bench, count, sizeof **values);
    if (!*values) {
        return SONDE_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        (*values)[i] = (float)rng_below(&bench->rng, 16);
    }
    return workbench_upload(bench, at, *values, count * sizeof **values);
}

int workload_split_k(struct workbench *bench)
{
    uint32_t columns = bench->size, depth = columns * 4;
    struct modern_output c;
    float *a, *b;
    uint64_t at_a, at_b;
    int rc = modern_check_size("columns", columns, 32, COLUMNS_MOST);
    rc = rc < 0 ? rc : numbers(bench, &a, &at_a, (size_t)ROWS * depth);
    rc = rc < 0 ? rc : numbers(bench, &b, &at_b, (size_t)depth * columns);
    rc = rc < 0 ? rc : modern_output(bench, &c, (size_t)ROWS * columns);
    if (rc < 0) {
        return rc;
    }
    reference(c.wanted, a, b, columns, depth);
    struct workbench_shape shape = {{columns / 32 * 4, 1, 1}, {256, 1, 1}};
    rc = WORKBENCH_LAUNCH(bench, "split_k", shape, &c.at, &at_a, &at_b, &columns, &depth);
    return rc < 0 ? rc : modern_expect(bench, &c, 0);
}
