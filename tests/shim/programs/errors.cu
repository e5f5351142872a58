// Errors of calls: what they give, that they are kept once, and that the device goes on.
#include "check.h"
__global__ void nothing() {}
__global__ void __launch_bounds__(64) small(int *p) { p[threadIdx.x] = 1; }
PROGRAM
{
    int *p, *q;
    GIVES(cudaErrorInvalidValue, cudaMalloc(nullptr, 4));
    GIVES(cudaErrorMemoryAllocation, cudaMalloc(&p, (size_t)1 << 50));
    CHECK(cudaMalloc(&p, 256));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(p, &q, 512, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(p + 1000000, &q, 4, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaFree(p + 1));
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(7));
    nothing<<<0, 1>>>();
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaSuccess);
    nothing<<<1, 2048>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    nothing<<<1, 32, 1 << 20>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    EXPECT(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    nothing<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(p));
    CHECK(cudaFree(nullptr));
}
