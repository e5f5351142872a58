// One step of a seven-point stencil on a cube. A thread owns a column along z: it keeps its own three
// values in registers and reads its neighbours of the same plane from shared memory, which holds one
// plane of the block with a border. Cells on the cube's surface are left as they are.

#define BLOCK_X 32
#define BLOCK_Y 8

extern "C" __global__ void stencil(float *next, const float *now, unsigned side, float centre,
                                   float neighbour)
{
    __shared__ float plane[BLOCK_Y + 2][BLOCK_X + 2];
    unsigned tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    unsigned x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    unsigned area = side * side, at = y * side + x;
    bool inner = x > 0 && x < side - 1 && y > 0 && y < side - 1;
    float below = now[at], here = now[at + area];
    next[at] = below;
    for (unsigned z = 1; z < side - 1; z++) {
        at += area;
        float above = now[at + area];
        plane[ty][tx] = here;
        if (threadIdx.x == 0 && x > 0)
            plane[ty][0] = now[at - 1];
        if (threadIdx.x == BLOCK_X - 1 && x < side - 1)
            plane[ty][BLOCK_X + 1] = now[at + 1];
        if (threadIdx.y == 0 && y > 0)
            plane[0][tx] = now[at - side];
        if (threadIdx.y == BLOCK_Y - 1 && y < side - 1)
            plane[BLOCK_Y + 1][tx] = now[at + side];
        __syncthreads();
        float sum = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] +
                    below + above;
        next[at] = inner ? fmaf(neighbour, sum, centre * here) : here;
        __syncthreads();
        below = here;
        here = above;
    }
    next[at + area] = here;
}
