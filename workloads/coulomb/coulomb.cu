// Coulombic potential on a plane of points: each thread adds up, over all atoms, the charge divided by the distance,
// for two points of a row that lie half of a block's row apart. Positions and charges are in constant memory, the
// square of an atom's distance from the plane computed beforehand. The loop over atoms is unrolled. One address leads
// through all of constant memory and parameters are loaded where they are used: with 16 registers a thread, a core of
// 16384 takes eight blocks.

#define ATOMS 200
#define BLOCK_X 16

__constant__ struct {
    float x[ATOMS], y[ATOMS], z2[ATOMS], charge[ATOMS];
} atoms;

struct points {
    float *plane;
    unsigned side;
    float spacing;
};

extern "C" __global__ void coulomb(const __grid_constant__ struct points points)
{
    unsigned column = blockIdx.x * 2 * BLOCK_X + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    float x = column * points.spacing, y = row * points.spacing, apart = BLOCK_X * points.spacing;
    float first = 0, second = 0;
#pragma unroll 8
    for (unsigned i = 0; i < ATOMS; i++) {
        float dx = x - atoms.x[i], dy = y - atoms.y[i];
        float across = fmaf(dy, dy, atoms.z2[i]), charge = atoms.charge[i];
        first = fmaf(charge, rsqrtf(fmaf(dx, dx, across)), first);
        dx += apart;
        second = fmaf(charge, rsqrtf(fmaf(dx, dx, across)), second);
    }
    points.plane[row * points.side + column] = first;
    points.plane[row * points.side + column + BLOCK_X] = second;
}
