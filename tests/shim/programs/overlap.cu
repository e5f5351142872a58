// Two kernels in two streams, each too small to fill the GPU: together not slower than in a row.
#include "check.h"
__global__ void work(float *p, int n) { float x = threadIdx.x; for (int i = 0; i < n; i++) x = x * 1.0001f + 0.5f; p[threadIdx.x] = x; }
static float time_of(cudaStream_t a, cudaStream_t b, float *p, float *q)
{
    cudaEvent_t begin, mid, end; float ms;
    CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&mid)); CHECK(cudaEventCreate(&end));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(begin, a)); CHECK(cudaStreamWaitEvent(b, begin, 0));
    work<<<1, 128, 0, a>>>(p, 800); work<<<1, 128, 0, b>>>(q, 800);
    CHECK(cudaEventRecord(mid, b)); CHECK(cudaStreamWaitEvent(a, mid, 0)); CHECK(cudaEventRecord(end, a));
    CHECK(cudaEventSynchronize(end)); CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}
PROGRAM
{
    cudaStream_t a, b; float *p, *q;
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking)); CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&p, 512)); CHECK(cudaMalloc(&q, 512));
    time_of(a, b, p, q);
    float together = time_of(a, b, p, q), row = time_of(a, a, p, q);
    printf("together %s in a row\n", together <= row * 1.1f ? "not slower than" : "slower than");
    EXPECT(together <= row * 1.1f + 0.02f);
}
