/* Host side of the vector addition. Size: elements. Additions of floats are exact to the bit. */
#include "workloads/workload.h"

#include "util/error.h"

#define BLOCK 256

int workload_vectoradd(struct workbench *bench)
{
    uint32_t count = bench->size;
    size_t bytes = count * sizeof(float);
    float *a = workbench_floats(bench, count, -1, 1), *b = workbench_floats(bench, count, -1, 1);
    float *sum = workbench_array(bench, count, sizeof *sum);
    double *wanted = workbench_array(bench, count, sizeof *wanted);
    uint64_t at_a, at_b, at_sum;
    if (!a || !b || !sum || !wanted) {
        return SONDE_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        wanted[i] = a[i] + b[i];
    }
    int rc = workbench_upload(bench, &at_a, a, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_b, b, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_sum, NULL, bytes);
    struct workbench_shape shape = {{(count + BLOCK - 1) / BLOCK, 1, 1}, {BLOCK, 1, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "vectoradd", shape, &at_sum, &at_a, &at_b, &count);
    rc = rc < 0 ? rc : workbench_download(bench, sum, at_sum, bytes);
    return rc < 0 ? rc : workbench_expect_floats(sum, wanted, count, 0, 0);
}
