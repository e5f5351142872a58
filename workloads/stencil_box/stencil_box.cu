/* Five points of a plane of n x n, 32 x 32 by a CTA, whose tile with its border a tensor map brings. */
#include "../modern.cuh"

extern "C" __global__ void stencil_box(float *out, const __grid_constant__ tensor_map map, int n)
{
    __shared__ __align__(128) float tile[34][40];
    __shared__ __align__(8) uint64_t bar;
    int x = blockIdx.x * 32, y = blockIdx.y * 32, tx = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        barrier_init(&bar, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        barrier_expect(&bar, sizeof tile);
        load_box(tile, &map, x - 4, y - 1, &bar);
    }
    __syncthreads();
    barrier_wait(&bar, 0);
    for (int ty = threadIdx.x / 32; ty < 32; ty += blockDim.x / 32) {
        float sum = tile[ty + 1][tx + 3] + tile[ty + 1][tx + 5] + tile[ty][tx + 4] + tile[ty + 2][tx + 4];
        out[(size_t)(y + ty) * n + x + tx] = sum - 4 * tile[ty + 1][tx + 4];
    }
}
