// libcu++: atomics with orders and scopes, a barrier, asynchronous copies, a semaphore.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/array>
#include <cuda/std/tuple>
#include "check.h"
__device__ cuda::atomic<int, cuda::thread_scope_device> total;
__global__ void add(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    __shared__ int stage[64];
    if (threadIdx.x == 0) init(&ready, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&stage[threadIdx.x], &out[threadIdx.x], sizeof(int), ready);
    ready.arrive_and_wait();
    int mine = stage[63 - threadIdx.x];
    total.fetch_add(mine, cuda::memory_order_relaxed);
    ready.arrive_and_wait();
    cuda::std::array<int, 2> pair = {mine, total.load(cuda::memory_order_acquire)};
    auto [a, b] = cuda::std::make_tuple(pair[0], pair[1]);
    out[threadIdx.x] = a * 10000 + b;
}
__global__ void most(int *p) { cuda::atomic_ref<int, cuda::thread_scope_system> r(*p); r.fetch_max(threadIdx.x * 37 % 64); }
PROGRAM
{
    int *d, h[64];
    for (int i = 0; i < 64; i++) h[i] = i;
    CHECK(cudaMalloc(&d, sizeof h)); CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    add<<<1, 64>>>(d); CHECK(cudaGetLastError()); CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(h[i] == (63 - i) * 10000 + 2016);
    CHECK(cudaMemset(d, 0, 4)); most<<<1, 64>>>(d); CHECK(cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost)); EXPECT(h[0] == 63);
}
