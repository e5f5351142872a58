/*
 * Host side of the Coulombic potential. Size: points of a side, a multiple of 32. The reference
 * sums in double precision; a potential is held against the sum of its shares' magnitudes, since
 * those of charges of both signs nearly cancel here and there.
 */
#include "workloads/workload.h"

#include <math.h>

#include "util/error.h"

#define ATOMS 200
#define BLOCK_X 16
#define BLOCK_Y 8
#define TILE 32 /* points of a CTA's row */
#define SPACING 0.1f
#define TOLERANCE 1e-5 /* of the sum of magnitudes: a float's rounding of 200 terms */
#define SIDE_MAX 4096

struct atoms {
    float x[ATOMS], y[ATOMS], z2[ATOMS], charge[ATOMS];
};

/* What the kernel takes. */
struct points {
    uint64_t plane;
    uint32_t side;
    float spacing;
};

static void scatter(float *out, struct workbench *bench, float low, float high)
{
    for (int i = 0; i < ATOMS; i++) {
        out[i] = low + (high - low) * (float)rng_double(&bench->rng);
    }
}

static int place(struct atoms *atoms, struct workbench *bench)
{
    float extent = (float)bench->size * SPACING;
    scatter(atoms->x, bench, 0, extent);
    scatter(atoms->y, bench, 0, extent);
    scatter(atoms->z2, bench, 0.1f, 4);
    scatter(atoms->charge, bench, -1, 1);
    return workbench_symbol(bench, "atoms", atoms, sizeof *atoms);
}

static int check(const float *got, const struct atoms *atoms, uint32_t side)
{
    int rc = 0;
    for (size_t point = 0; rc == 0 && point < (size_t)side * side; point++) {
        double x = (double)(point % side) * SPACING, y = (double)(point / side) * SPACING;
        double sum = 0, magnitudes = 0;
        for (int i = 0; i < ATOMS; i++) {
            double dx = x - atoms->x[i], dy = y - atoms->y[i];
            double share = atoms->charge[i] / sqrt(dx * dx + dy * dy + atoms->z2[i]);
            sum += share;
            magnitudes += fabs(share);
        }
        rc = workbench_expect_floats(&got[point], &sum, 1, 0, TOLERANCE * magnitudes);
    }
    return rc;
}

int workload_coulomb(struct workbench *bench)
{
    uint32_t side = bench->size;
    struct atoms atoms;
    struct points points = {.side = side, .spacing = SPACING};
    if (side % TILE || side > SIDE_MAX) {
        return error_set(SONDE_EINPUT, "side %u is no multiple of %d up to %d", side, TILE,
                         SIDE_MAX);
    }
    size_t bytes = (size_t)side * side * sizeof(float);
    float *plane = workbench_array(bench, (size_t)side * side, sizeof *plane);
    int rc = plane ? place(&atoms, bench) : SONDE_ENOMEM;
    rc = rc < 0 ? rc : workbench_upload(bench, &points.plane, NULL, bytes);
    struct workbench_shape shape = {{side / TILE, side / BLOCK_Y, 1}, {BLOCK_X, BLOCK_Y, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "coulomb", shape, &points);
    rc = rc < 0 ? rc : workbench_download(bench, plane, points.plane, bytes);
    return rc < 0 ? rc : check(plane, &atoms, side);
}
