/*
 * Host side of the stencil. Size: the cube's side, a multiple of 32. Two steps, back and forth
 * between two cubes. The host adds up in the kernel's order: both agree to the bit.
 */
#include "workloads/workload.h"

#include <math.h>

#include "util/error.h"

#define BLOCK_X 32
#define BLOCK_Y 8
#define CENTRE 0.4f
#define NEIGHBOUR 0.1f
#define STEPS 2

static bool on_surface(uint32_t x, uint32_t y, uint32_t z, uint32_t side)
{
    uint32_t last = side - 1;
    return x == 0 || x == last || y == 0 || y == last || z == 0 || z == last;
}

static void step(float *next, const float *now, uint32_t side)
{
    uint32_t row = side, plane = side * side;
    for (uint32_t i = 0; i < side * side * side; i++) {
        const float *at = now + i;
        if (on_surface(i % side, i / row % side, i / plane, side)) {
            next[i] = *at;
            continue;
        }
        float sum =
            at[-1] + at[1] + at[-(ptrdiff_t)row] + at[row] + at[-(ptrdiff_t)plane] + at[plane];
        next[i] = fmaf(NEIGHBOUR, sum, CENTRE * *at);
    }
}

static int launch_steps(struct workbench *bench, const uint64_t at[2], uint32_t side)
{
    float centre = CENTRE, neighbour = NEIGHBOUR;
    struct workbench_shape shape = {{side / BLOCK_X, side / BLOCK_Y, 1}, {BLOCK_X, BLOCK_Y, 1}};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < STEPS; i++) {
        rc = WORKBENCH_LAUNCH(bench, "stencil", shape, &at[(i + 1) % 2], &at[i % 2], &side, &centre,
                              &neighbour);
    }
    return rc;
}

int workload_stencil(struct workbench *bench)
{
    uint32_t side = bench->size;
    if (side == 0 || side % BLOCK_X || side > 512) {
        return error_set(SONDE_EINPUT, "side %u is no multiple of %d up to 512", side, BLOCK_X);
    }
    uint32_t count = side * side * side;
    size_t bytes = count * sizeof(float);
    float *cube[2] = {workbench_floats(bench, count, 0, 1),
                      workbench_array(bench, count, sizeof(float))};
    float *got = workbench_array(bench, count, sizeof *got);
    double *wanted = workbench_array(bench, count, sizeof *wanted);
    uint64_t at[2];
    if (!cube[0] || !cube[1] || !got || !wanted) {
        return SONDE_ENOMEM;
    }
    int rc = workbench_upload(bench, &at[0], cube[0], bytes);
    rc = rc < 0 ? rc : workbench_upload(bench, &at[1], NULL, bytes);
    rc = rc < 0 ? rc : launch_steps(bench, at, side);
    rc = rc < 0 ? rc : workbench_download(bench, got, at[STEPS % 2], bytes);
    for (uint32_t i = 0; i < STEPS; i++) {
        step(cube[(i + 1) % 2], cube[i % 2], side);
    }
    for (uint32_t i = 0; i < count; i++) {
        wanted[i] = cube[STEPS % 2][i];
    }
    return rc < 0 ? rc : workbench_expect_floats(got, wanted, count, 0, 0);
}
