// Several host threads, each with a stream; and each with its own default stream's errors.
#include <thread>
#include <vector>
#include "check.h"
__global__ void count(int *p, int n) { for (int i = 0; i < n; i++) p[threadIdx.x]++; }
static void work(int k)
{
    cudaStream_t s; int *p, h[32];
    CHECK(cudaStreamCreate(&s)); CHECK(cudaMalloc(&p, sizeof h)); CHECK(cudaMemsetAsync(p, 0, sizeof h, s));
    for (int i = 0; i < 20; i++) count<<<1, 32, 0, s>>>(p, k);
    CHECK(cudaMemcpyAsync(h, p, sizeof h, cudaMemcpyDeviceToHost, s)); CHECK(cudaStreamSynchronize(s));
    for (int i = 0; i < 32; i++) EXPECT(h[i] == 20 * k);
    CHECK(cudaFree(p)); CHECK(cudaStreamDestroy(s));
    if (k == 3) { EXPECT(cudaMalloc(nullptr, 4) != cudaSuccess); EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue); } else EXPECT(cudaPeekAtLastError() == cudaSuccess);
}
PROGRAM
{
    std::vector<std::thread> all;
    for (int k = 1; k <= 4; k++) all.emplace_back(work, k);
    for (auto &t : all) t.join();
}
