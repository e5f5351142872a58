// The thread's own default stream: it does not wait for other streams, and each thread has one.
// alone: its definition stands in front of the headers
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include <thread>
#include "check.h"
__global__ void add(int *p, int v) { p[threadIdx.x] += v; }
static void work(int k)
{
    int *d, h[32]; cudaStream_t s; cudaEvent_t e;
    CHECK(cudaMalloc(&d, sizeof h)); CHECK(cudaMemset(d, 0, sizeof h));
    for (int i = 0; i < 10; i++) add<<<1, 32, 0, cudaStreamPerThread>>>(d, k);
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    CHECK(cudaEventRecord(e, cudaStreamPerThread)); CHECK(cudaStreamWaitEvent(s, e, 0));
    add<<<1, 32, 0, s>>>(d, 1);
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, cudaStreamPerThread)); CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    for (int i = 0; i < 32; i++) EXPECT(h[i] == 10 * k + 1);
    CHECK(cudaStreamDestroy(s)); CHECK(cudaEventDestroy(e)); CHECK(cudaFree(d));
}
PROGRAM
{
    unsigned long long mine, other = 0;
    CHECK(cudaStreamGetId(cudaStreamPerThread, &mine));
    std::thread([&] { CHECK(cudaStreamGetId(cudaStreamPerThread, &other)); }).join();
    EXPECT(mine != other);
    std::thread a(work, 3), b(work, 5); work(7); a.join(); b.join();
}
