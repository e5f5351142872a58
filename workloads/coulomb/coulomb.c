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
    float *x, *y, *z2, *charge;
};

static int place(struct atoms *atoms, struct workbench *bench)
{
    float extent = (float)bench->size * SPACING;
    atoms->x = workbench_floats(bench, ATOMS, 0, extent);
    atoms->y = workbench_floats(bench, ATOMS, 0, extent);
    atoms->z2 = workbench_floats(bench, ATOMS, 0.1f, 4);
    atoms->charge = workbench_floats(bench, ATOMS, -1, 1);
    return atoms->x && atoms->y && atoms->z2 && atoms->charge ? 0 : SONDE_ENOMEM;
}

static int send(struct workbench *bench, const struct atoms *atoms)
{
    int rc = workbench_symbol(bench, "atom_x", atoms->x, ATOMS * sizeof(float));
    rc = rc < 0 ? rc : workbench_symbol(bench, "atom_y", atoms->y, ATOMS * sizeof(float));
    rc = rc < 0 ? rc : workbench_symbol(bench, "atom_z2", atoms->z2, ATOMS * sizeof(float));
    return rc < 0 ? rc
                  : workbench_symbol(bench, "atom_charge", atoms->charge, ATOMS * sizeof(float));
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
    uint64_t at;
    float spacing = SPACING;
    if (side % TILE || side > SIDE_MAX) {
        return error_set(SONDE_EINPUT, "side %u is no multiple of %d up to %d", side, TILE,
                         SIDE_MAX);
    }
    size_t bytes = (size_t)side * side * sizeof(float);
    float *plane = workbench_array(bench, (size_t)side * side, sizeof *plane);
    int rc = plane ? place(&atoms, bench) : SONDE_ENOMEM;
    rc = rc < 0 ? rc : send(bench, &atoms);
    rc = rc < 0 ? rc : workbench_upload(bench, &at, NULL, bytes);
    struct workbench_shape shape = {{side / TILE, side / BLOCK_Y, 1}, {BLOCK_X, BLOCK_Y, 1}};
    rc = rc < 0 ? rc : WORKBENCH_LAUNCH(bench, "coulomb", shape, &at, &side, &spacing);
    rc = rc < 0 ? rc : workbench_download(bench, plane, at, bytes);
    return rc < 0 ? rc : check(plane, &atoms, side);
}
