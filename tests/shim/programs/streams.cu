// Streams: order inside of one, the null stream between, events across, destruction with work left.
#include "check.h"
__global__ void set(int *p, int v) { p[threadIdx.x] = v; }
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
__global__ void plus(int *p, const int *q) { p[threadIdx.x] += q[threadIdx.x]; }
PROGRAM
{
    cudaStream_t s, t, n;
    cudaEvent_t e;
    int *a, *b, h[64];
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreate(&t));
    CHECK(cudaStreamCreateWithFlags(&n, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    CHECK(cudaMalloc(&a, sizeof h));
    CHECK(cudaMalloc(&b, sizeof h));
    set<<<1, 64, 0, s>>>(a, 5);
    twice<<<1, 64, 0, s>>>(a);
    CHECK(cudaEventRecord(e, s));
    set<<<1, 64, 0, t>>>(b, 1);
    CHECK(cudaStreamWaitEvent(t, e, 0));
    plus<<<1, 64, 0, t>>>(b, a);
    CHECK(cudaStreamSynchronize(t));
    CHECK(cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(h[i] == 11);
    twice<<<1, 64>>>(a);
    CHECK(cudaMemcpyAsync(h, a, sizeof h, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT(h[63] == 20);
    unsigned flags;
    CHECK(cudaStreamGetFlags(n, &flags));
    EXPECT(flags == cudaStreamNonBlocking);
    CHECK(cudaStreamQuery(n));
    int least, greatest;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(greatest <= least);
    cudaStream_t p;
    CHECK(cudaStreamCreateWithPriority(&p, cudaStreamDefault, greatest));
    int priority;
    CHECK(cudaStreamGetPriority(p, &priority));
    EXPECT(priority == greatest);
    set<<<1, 64, 0, p>>>(a, 9);
    CHECK(cudaStreamDestroy(p));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 9);
    CHECK(cudaStreamDestroy(s)); CHECK(cudaStreamDestroy(t)); CHECK(cudaStreamDestroy(n));
}
