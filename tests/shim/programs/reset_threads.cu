// cudaDeviceReset() while other threads launch: CUDA leaves open what they get, but all of them come to an end.
#include <atomic>
#include <thread>
#include <vector>
#include "check.h"
__device__ int counted;
__global__ void count() { atomicAdd(&counted, 1); }
static std::atomic<int> started;
static void work()
{
    started++;
    for (int i = 0; i < 100; i++) {
        cudaStream_t s = 0; void *p = nullptr;
        cudaStreamCreate(&s);
        count<<<2, 32, 0, s>>>();
        count<<<1, 32>>>();
        cudaMalloc(&p, 1000);
        if (i % 8 == 0) cudaDeviceSynchronize();
        cudaFree(p);
    }
}
PROGRAM
{
    std::vector<std::thread> all;
    for (int k = 0; k < 3; k++) all.emplace_back(work);
    while (started < 3) std::this_thread::yield();
    for (int i = 0; i < 10; i++) { cudaFree(0); cudaDeviceReset(); }
    for (auto &t : all) t.join();
    CHECK(cudaDeviceReset());
    cudaGetLastError();
    int n = 0; // a device as on the first day
    count<<<3, 32>>>();
    CHECK(cudaMemcpyFromSymbol(&n, counted, sizeof n));
    EXPECT(n == 96);
}
