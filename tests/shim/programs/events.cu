// Events: times in order, a query of what was never recorded, errors.
#include "check.h"
__global__ void spin(int *p, int n) { int x = threadIdx.x; for (int i = 0; i < n; i++) x = x * 3 + 1; p[threadIdx.x] = x; }
PROGRAM
{
    cudaEvent_t a, b, c, none;
    int *p;
    float first, both;
    CHECK(cudaMalloc(&p, 4096));
    CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b)); CHECK(cudaEventCreate(&c));
    CHECK(cudaEventCreateWithFlags(&none, cudaEventDisableTiming));
    CHECK(cudaEventQuery(a));
    CHECK(cudaEventRecord(a));
    spin<<<1, 64>>>(p, 100);
    CHECK(cudaEventRecord(b));
    spin<<<1, 64>>>(p, 1000);
    CHECK(cudaEventRecord(c));
    CHECK(cudaEventSynchronize(c));
    CHECK(cudaEventElapsedTime(&first, a, b));
    CHECK(cudaEventElapsedTime(&both, a, c));
    EXPECT(first >= 0 && both >= first);
    CHECK(cudaEventRecord(none));
    CHECK(cudaEventSynchronize(none));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&first, a, none));
    CHECK(cudaEventDestroy(a)); CHECK(cudaEventDestroy(b)); CHECK(cudaEventDestroy(c));
}
