// Atomics on global and shared memory, of several types.
#include "check.h"
__device__ unsigned counts[8]; __device__ float real; __device__ double wide; __device__ int low = 1000, high; __device__ unsigned long long big;
__global__ void count(int n)
{
    __shared__ unsigned local[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 8) local[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) { atomicAdd(&local[i & 7], 1); atomicAdd(&real, 1.0f); atomicAdd(&wide, 0.5); atomicMin(&low, i); atomicMax(&high, i); atomicAdd(&big, 1ull << 33); }
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}
PROGRAM
{
    unsigned c[8]; float r; double w; int l, h; unsigned long long b;
    count<<<4, 256>>>(1000);
    CHECK(cudaMemcpyFromSymbol(c, counts, sizeof c)); CHECK(cudaMemcpyFromSymbol(&r, real, 4)); CHECK(cudaMemcpyFromSymbol(&w, wide, 8));
    CHECK(cudaMemcpyFromSymbol(&l, low, 4)); CHECK(cudaMemcpyFromSymbol(&h, high, 4)); CHECK(cudaMemcpyFromSymbol(&b, big, 8));
    for (int i = 0; i < 8; i++) EXPECT(c[i] == 125);
    EXPECT(r == 1000 && w == 500 && l == 0 && h == 999 && b == 1000ull << 33);
}
