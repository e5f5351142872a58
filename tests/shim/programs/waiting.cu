// Threads of a warp that wait for each other, on a GPU that promises nothing; kernels that wait by the clock.
#include "check.h"
__device__ int lock, counter, next_one;
__global__ void take_lock() { while (atomicCAS(&lock, 0, 1) != 0) {} counter++; __threadfence(); atomicExch(&lock, 0); }
__global__ void in_order() { while (atomicAdd(&next_one, 0) != threadIdx.x) {} counter++; __threadfence(); atomicAdd(&next_one, 1); }
__global__ void spend(long long cycles) { long long begin = clock64(); while (clock64() - begin < cycles) {} counter = 5; }
PROGRAM
{
    int n = 0; take_lock<<<1, 32>>>(); in_order<<<1, 32>>>();
    CHECK(cudaMemcpyFromSymbol(&n, counter, 4)); EXPECT(n == 64);
    spend<<<1, 1>>>(1000000);
    CHECK(cudaMemcpyFromSymbol(&n, counter, 4)); EXPECT(n == 5);
}
