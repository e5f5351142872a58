// One Jacobi iteration of Laplace's equation on a grid of nx x ny x nz points: an inner point becomes
// the mean of its six neighbours, the surface stays. A block owns 32 x 4 columns and walks along z with
// three planes in shared memory, each with a border that the block's warps load: the first two a row
// each, the last two a column each. Threads beyond the grid walk along for the barriers' sake.

#define BLOCK_X 32
#define BLOCK_Y 4

extern "C" __global__ void laplace3d(float *next, const float *now, unsigned nx, unsigned ny,
                                     unsigned nz)
{
    __shared__ float planes[3][BLOCK_Y + 2][BLOCK_X + 2];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned x = blockIdx.x * BLOCK_X + tx, y = blockIdx.y * BLOCK_Y + ty;
    bool active = x < nx && y < ny;
    bool side = x == 0 || x == nx - 1 || y == 0 || y == ny - 1;

    // The border's cell that this thread loads, if any: where it lies in the plane and in the grid.
    unsigned border_x = ty < 2 ? tx + 1 : ty == 2 ? 0 : BLOCK_X + 1;
    unsigned border_y = ty == 0 ? 0 : ty == 1 ? BLOCK_Y + 1 : tx + 1;
    unsigned from_x = blockIdx.x * BLOCK_X + border_x - 1, from_y = blockIdx.y * BLOCK_Y + border_y - 1;
    bool border = (ty < 2 || tx < BLOCK_Y) && from_x < nx && from_y < ny;

    unsigned area = nx * ny, at = y * nx + x, from = from_y * nx + from_x;
    unsigned below = 2, here = 0, above = 1;
    if (active)
        planes[here][ty + 1][tx + 1] = now[at];
    if (border)
        planes[here][border_y][border_x] = now[from];
    // Left as a loop: the compilers of the paper's time unrolled none of unknown length.
#pragma unroll 1
    for (unsigned z = 0; z < nz; z++) {
        if (z + 1 < nz) {
            if (active)
                planes[above][ty + 1][tx + 1] = now[at + area];
            if (border)
                planes[above][border_y][border_x] = now[from + area];
        }
        __syncthreads();
        if (active) {
            float value = planes[here][ty + 1][tx + 1];
            if (!side && z > 0 && z + 1 < nz) {
                value = (planes[here][ty + 1][tx] + planes[here][ty + 1][tx + 2] +
                         planes[here][ty][tx + 1] + planes[here][ty + 2][tx + 1] +
                         planes[below][ty + 1][tx + 1] + planes[above][ty + 1][tx + 1]) *
                        (1.0f / 6.0f);
            }
            next[at] = value;
        }
        __syncthreads();
        at += area;
        from += area;
        unsigned free = below;
        below = here;
        here = above;
        above = free;
    }
}
