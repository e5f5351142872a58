// Attributes of functions, occupancy, and launches by what it suggests.
#include "check.h"
__global__ void __launch_bounds__(128) bounded(int *p) { __shared__ int s[256]; s[threadIdx.x] = p[0]; __syncthreads(); p[threadIdx.x] = s[threadIdx.x ^ 1]; }
__global__ void free_size(int *p) { p[threadIdx.x] = 1; }
PROGRAM
{
    cudaFuncAttributes a; int blocks, grid, block, big;
    CHECK(cudaFuncGetAttributes(&a, bounded));
    EXPECT(a.sharedSizeBytes == 1024 && a.maxThreadsPerBlock == 128 && a.numRegs > 0);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0));
    EXPECT(blocks >= 1 && blocks <= 32);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, free_size, 0, 0));
    EXPECT(block % 32 == 0 && block >= 32 && grid >= 1);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&big, bounded, 128, 20000));
    EXPECT(big <= blocks);
    size_t shared;
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, bounded, 1, 128));
    EXPECT(shared >= 16384);
    CHECK(cudaFuncSetCacheConfig(free_size, cudaFuncCachePreferL1));
    GIVES(cudaErrorInvalidResourceHandle, cudaFuncGetAttributes(&a, (const void *)abort));
}
