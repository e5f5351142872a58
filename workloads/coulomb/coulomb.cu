// Coulombic potential on a plane of points: each thread adds up, over all atoms, the charge divided by the distance,
// for two points of a row that lie half of a block's row apart. Positions and charges are in constant memory, the
// square of an atom's distance from the plane computed beforehand. The loop over atoms is unrolled.

#define ATOMS 200

__constant__ float atom_x[ATOMS], atom_y[ATOMS], atom_z2[ATOMS], atom_charge[ATOMS];

extern "C" __global__ void coulomb(float *plane, unsigned side, float spacing)
{
    unsigned column = blockIdx.x * 2 * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    float x = column * spacing, y = row * spacing, apart = blockDim.x * spacing;
    float first = 0, second = 0;
#pragma unroll 8
    for (unsigned i = 0; i < ATOMS; i++) {
        float dx = x - atom_x[i], dy = y - atom_y[i];
        float across = fmaf(dy, dy, atom_z2[i]), charge = atom_charge[i];
        first = fmaf(charge, rsqrtf(fmaf(dx, dx, across)), first);
        dx += apart;
        second = fmaf(charge, rsqrtf(fmaf(dx, dx, across)), second);
    }
    plane[row * side + column] = first;
    plane[row * side + column + blockDim.x] = second;
}
