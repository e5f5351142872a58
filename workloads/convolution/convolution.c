/*
 * Host side of the convolution. Size: the picture's side. The reference is one sum over the square
 * of 17 x 17, in double precision, of pixels that are looked up one by one.
 */
#include "workloads/workload.h"

#include <math.h>

#include "util/error.h"

#define RADIUS 8
#define TAPS (2 * RADIUS + 1)
#define ROW_TILE 128
#define COLUMN_X 16
#define COLUMN_Y 48
#define COLUMN_THREADS 8
#define SIDE_MAX 4096

static double reference(const float *picture, const float *taps, int side, int x, int y)
{
    double sum = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++) {
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            if (y + dy >= 0 && y + dy < side && x + dx >= 0 && x + dx < side) {
                sum += (double)taps[dy + RADIUS] * taps[dx + RADIUS] *
                       picture[(y + dy) * side + x + dx];
            }
        }
    }
    return sum;
}

int workload_convolution(struct workbench *bench)
{
    uint32_t side = bench->size;
    float taps[TAPS];
    uint64_t in, between, out;
    if (side > SIDE_MAX) {
        return error_set(SONDE_EINPUT, "a side of %u, %d at most", side, SIDE_MAX);
    }
    size_t count = (size_t)side * side, bytes = count * sizeof(float);
    float *picture = workbench_floats(bench, count, 0, 1),
          *got = workbench_array(bench, count, sizeof *got);
    double *wanted = workbench_array(bench, count, sizeof *wanted);
    if (!picture || !got || !wanted) {
        return SONDE_ENOMEM;
    }
    for (int i = 0; i < TAPS; i++) {
        taps[i] = expf(-(float)((i - RADIUS) * (i - RADIUS)) / 18);
    }
    for (size_t i = 0; i < count; i++) {
        wanted[i] = reference(picture, taps, (int)side, (int)(i % side), (int)(i / side));
    }
    int rc = workbench_upload(bench, &in, picture, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &between, NULL, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &out, NULL, bytes);
    rc = rc < 0 ? rc : workbench_symbol(bench, "taps", taps, sizeof taps);
    struct workbench_shape rows = {{(side + ROW_TILE - 1) / ROW_TILE, side, 1}, {ROW_TILE, 1, 1}};
    struct workbench_shape columns = {
        {(side + COLUMN_X - 1) / COLUMN_X, (side + COLUMN_Y - 1) / COLUMN_Y, 1},
        {COLUMN_X, COLUMN_THREADS, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "convolution_rows", rows, &between, &in, &side);
    rc = rc < 0 ? rc
                : WORKBENCH_LAUNCH(bench, "convolution_columns", columns, &out, &between, &side);
    rc = rc < 0 ? rc : workbench_download(bench, got, out, bytes);
    return rc < 0 ? rc : workbench_expect_floats(got, wanted, count, 1e-5, 0);
}
