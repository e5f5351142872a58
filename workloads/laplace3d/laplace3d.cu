// One Jacobi iteration of Laplace's equation on a grid of nx x ny x nz points: an inner point becomes
// the mean of its six neighbours, the surface stays. A block owns 32 x 4 columns and walks along z with
// three planes in shared memory, each with a border that the block's warps load: the first two a row
// each, the last two a column each. Threads beyond the grid walk along for the barriers' sake. Few
// registers, so that shared memory is what limits the blocks of a core: 16 KiB hold six, and so do
// 16384 registers if a thread has no more than 21.

#define BLOCK_X 32
#define BLOCK_Y 4
#define ROW (BLOCK_X + 2)
#define PLANE (ROW * (BLOCK_Y + 2))

extern "C" __global__ void laplace3d(float *next, const float *now, unsigned nx, unsigned ny,
                                     unsigned nz)
{
    __shared__ float planes[3 * PLANE];
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
    float *own = planes + (ty + 1) * ROW + tx + 1, *edge = planes + border_y * ROW + border_x;
    unsigned here = 0; // the plane of this step; the next one follows it, the last one goes before
    if (active)
        own[0] = now[at];
    if (border)
        edge[0] = now[from];
    // Left as a loop: the compilers of the paper's time unrolled none of unknown length.
#pragma unroll 1
    for (; nz > 0; nz--) {
        unsigned above = here == 2 * PLANE ? 0 : here + PLANE;
        if (nz > 1) {
            if (active)
                own[above] = now[at + area];
            if (border)
                edge[above] = now[from + area];
        }
        __syncthreads();
        if (active) {
            float value = own[here];
            if (!side && at >= area && nz > 1) {
                unsigned below = here == 0 ? 2 * PLANE : here - PLANE;
                value = (own[here - 1] + own[here + 1] + own[here - ROW] + own[here + ROW] +
                         own[below] + own[above]) *
                        (1.0f / 6.0f);
            }
            next[at] = value;
        }
        __syncthreads();
        at += area;
        from += area;
        here = above;
    }
}
