/*
 * Host side of the five points whose tiles a tensor map brings. Size: the plane's side, a multiple
 * of 32. Outside the plane is 0; values are whole numbers, so that sums are exact.
 */
#include "workloads/modern.h"

#include "util/error.h"

#define SIDE_MOST 8192

static double at_point(const float *in, int64_t side, int64_t x, int64_t y)
{
    return x < 0 || y < 0 || x >= side || y >= side ? 0 : in[y * side + x];
}

static void reference(double *wanted, const float *in, int64_t side)
{
    for (int64_t i = 0; i < side * side; i++) {
        int64_t x = i % side, y = i / side;
        wanted[i] = at_point(in, side, x - 1, y) + at_point(in, side, x + 1, y) +
                    at_point(in, side, x, y - 1) + at_point(in, side, x, y + 1) - 4 * in[i];
    }
}

int workload_stencil_box(struct workbench *bench)
{
    static const struct modern_box box = {40, 34, 0};
    uint32_t side = bench->size;
    size_t count = (size_t)side * side;
    struct modern_output out;
    struct modern_map map;
    uint64_t at_in;
    int rc = modern_check_size("side", side, 32, SIDE_MOST);
    float *in = rc < 0 ? NULL : workbench_array(bench, count, sizeof *in);
    rc = rc < 0 || in ? rc : SONDE_ENOMEM;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        in[i] = (float)rng_below(&bench->rng, 1024);
    }
    rc = rc < 0 ? rc : workbench_upload(bench, &at_in, in, count * sizeof *in);
    rc = rc < 0 ? rc : modern_output(bench, &out, count);
    if (rc < 0) {
        return rc;
    }
    reference(out.wanted, in, side);
    modern_map(&map, at_in, TENSOR_F32, side, side, &box);
    struct workbench_shape shape = {{side / 32, side / 32, 1}, {256, 1, 1}};
    rc = WORKBENCH_LAUNCH(bench, "stencil_box", shape, &out.at, &map, &side);
    return rc < 0 ? rc : modern_expect(bench, &out, 0);
}
