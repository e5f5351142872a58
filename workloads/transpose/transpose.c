/* Host side of the transpose. Size: the matrix' side, a multiple of 16. */
#include "workloads/workload.h"

#include "util/error.h"

#define TILE 16
#define SIDE_MAX 8192

int workload_transpose(struct workbench *bench)
{
    uint32_t side = bench->size;
    if (side % TILE || side > SIDE_MAX) {
        return error_set(SONDE_EINPUT, "side %u is no multiple of %d up to %d", side, TILE,
                         SIDE_MAX);
    }
    size_t count = (size_t)side * side, bytes = count * sizeof(float);
    float *matrix = workbench_floats(bench, count, -1, 1);
    double *wanted = workbench_array(bench, count, sizeof *wanted);
    uint64_t in, out;
    if (!matrix || !wanted) {
        return SONDE_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        wanted[i % side * side + i / side] = matrix[i];
    }
    int rc = workbench_upload(bench, &in, matrix, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &out, NULL, bytes);
    struct workbench_shape shape = {{side / TILE, side / TILE, 1}, {TILE, TILE, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "transpose", shape, &out, &in, &side);
    rc = rc < 0 ? rc : workbench_download(bench, matrix, out, bytes);
    return rc < 0 ? rc : workbench_expect_floats(matrix, wanted, count, 0, 0);
}
