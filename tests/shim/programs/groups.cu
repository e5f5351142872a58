// Cooperative groups below the grid: tiles, reductions, coalesced threads, partitions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include "check.h"
namespace cg = cooperative_groups;
__global__ void tiles(int *sums, int *scans, int *odd, int *labels)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int i = block.thread_rank();
    sums[i] = cg::reduce(tile, i, cg::plus<int>());
    scans[i] = cg::exclusive_scan(tile, 1, cg::plus<int>());
    odd[i] = -1;
    if (i % 3 == 1) {
        auto some = cg::coalesced_threads();
        odd[i] = some.size() * 100 + some.thread_rank();
    }
    auto same = cg::labeled_partition(cg::coalesced_threads(), i / 5 % 2);
    labels[i] = same.size();
    block.sync();
    auto half = cg::tiled_partition<4>(tile);
    int first = half.shfl(i, 0), any = half.any(i == 5);
    if (half.thread_rank() == 3) sums[i] += 1000 * (first == i - 3) + 10000 * any;
}
__global__ void wide(int *out)
{
    __shared__ cg::block_tile_memory<256> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<128>(block);
    int all = cg::reduce(tile, (int)tile.thread_rank(), cg::plus<int>());
    if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = all;
}
PROGRAM
{
    int *d, h[4][64], w[2];
    CHECK(cudaMalloc(&d, sizeof h));
    tiles<<<1, 64>>>(d, d + 64, d + 128, d + 192); CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) {
        int t = i / 8 * 8, sum = 8 * t + 28;
        if (i % 4 == 3) sum += 1000 + (i / 4 == 1) * 10000;
        EXPECT(h[0][i] == sum); EXPECT(h[1][i] == i % 8);
        int size = 0, rank = 0, label = 0;
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++) {
            if (k % 3 == 1) { size++; rank += k < i; }
            label += k / 5 % 2 == i / 5 % 2;
        }
        EXPECT(h[2][i] == (i % 3 == 1 ? size * 100 + rank : -1)); EXPECT(h[3][i] == label);
    }
    wide<<<1, 256>>>(d); CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(w, d, sizeof w, cudaMemcpyDeviceToHost));
    EXPECT(w[0] == 127 * 64 && w[1] == 127 * 64);
}
