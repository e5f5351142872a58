/*
 * Host side of the Laplace solver: one Jacobi iteration, as Bakhoda et al. (ISPASS 2009) run it on
 * a grid of 100 x 100 x 100 in CTAs of 32 x 4. Size: points along x and y, any number; depth: along
 * z, as many as `size` where none is given. The host adds up in the kernel's order: both agree to
 * the bit.
 */
#include "workloads/workload.h"

#include "util/error.h"

#define BLOCK_X 32
#define BLOCK_Y 4
#define SIDE_MAX 1024
#define POINTS_MAX (1u << 27)

static bool on_surface(uint32_t i, uint32_t side, uint32_t depth)
{
    uint32_t x = i % side, y = i / side % side, z = i / side / side;
    return x == 0 || x == side - 1 || y == 0 || y == side - 1 || z == 0 || z == depth - 1;
}

static void reference(double *wanted, const float *now, uint32_t side, uint32_t depth)
{
    uint32_t area = side * side;
    for (uint32_t i = 0; i < area * depth; i++) {
        const float *at = now + i;
        if (on_surface(i, side, depth)) {
            wanted[i] = *at;
            continue;
        }
        float sum = at[-1] + at[1] + at[-(ptrdiff_t)side] + at[side];
        sum = sum + at[-(ptrdiff_t)area] + at[area];
        wanted[i] = sum * (1.0f / 6.0f);
    }
}

int workload_laplace3d(struct workbench *bench)
{
    uint32_t side = bench->size, depth = bench->settings->depth ? bench->settings->depth : side;
    if (side == 0 || side > SIDE_MAX || depth > POINTS_MAX / (side * side)) {
        return error_set(SONDE_EINPUT,
                         "a grid of %u x %u x %u: sides are 1 to %d, points %u at most", side, side,
                         depth, SIDE_MAX, POINTS_MAX);
    }
    uint32_t count = side * side * depth;
    size_t bytes = count * sizeof(float);
    float *now = workbench_floats(bench, count, 0, 1);
    float *got = workbench_array(bench, count, sizeof *got);
    double *wanted = workbench_array(bench, count, sizeof *wanted);
    uint64_t at_now, at_next;
    if (!now || !got || !wanted) {
        return SONDE_ENOMEM;
    }
    int rc = workbench_upload(bench, &at_now, now, bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &at_next, NULL, bytes);
    struct workbench_shape shape = {
        {(side + BLOCK_X - 1) / BLOCK_X, (side + BLOCK_Y - 1) / BLOCK_Y, 1}, {BLOCK_X, BLOCK_Y, 1}};
    rc = rc < 0
             ? rc
             : WORKBENCH_LAUNCH(bench, "laplace3d", shape, &at_next, &at_now, &side, &side, &depth);
    rc = rc < 0 ? rc : workbench_download(bench, got, at_next, bytes);
    reference(wanted, now, side, depth);
    return rc < 0 ? rc : workbench_expect_floats(got, wanted, count, 0, 0);
}
