// Cooperative groups: tiles, reductions, and a barrier of the whole grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include "check.h"
namespace cg = cooperative_groups;
__global__ void tiles(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int sum = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());
    if (tile.thread_rank() == 0) out[threadIdx.x / 8] = sum;
}
__global__ void phases(int *a, int *out)
{
    cg::grid_group grid = cg::this_grid();
    a[grid.thread_rank()] = grid.thread_rank();
    grid.sync();
    out[grid.thread_rank()] = a[grid.size() - 1 - grid.thread_rank()];
}
PROGRAM
{
    int *a, *b, h[512];
    CHECK(cudaMalloc(&a, sizeof h)); CHECK(cudaMalloc(&b, sizeof h));
    tiles<<<1, 64>>>(a);
    CHECK(cudaMemcpy(h, a, 32, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++) EXPECT(h[i] == 64 * i + 28);
    void *args[] = {&a, &b};
    CHECK(cudaLaunchCooperativeKernel(phases, 4, 128, args, 0, 0));
    CHECK(cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 512; i++) EXPECT(h[i] == 511 - i);
    GIVES(cudaErrorCooperativeLaunchTooLarge, cudaLaunchCooperativeKernel(phases, 1 << 20, 128, args, 0, 0));
}
