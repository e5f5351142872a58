// Page-locked and mapped memory, and memory of the program's own that is registered.
#include "check.h"
__global__ void plus(int *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] += 1; }
PROGRAM
{
    const int n = 5000;
    int *h, *d;
    CHECK(cudaHostAlloc(&h, n * sizeof *h, cudaHostAllocMapped));
    for (int i = 0; i < n; i++) h[i] = i;
    CHECK(cudaHostGetDevicePointer(&d, h, 0));
    plus<<<(n + 127) / 128, 128>>>(d, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(h[i] == i + 1);
    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, h));
    EXPECT(a.type == cudaMemoryTypeHost);
    CHECK(cudaFreeHost(h));
    int *own = (int *)malloc(n * sizeof *own);
    for (int i = 0; i < n; i++) own[i] = 2 * i;
    CHECK(cudaHostRegister(own, n * sizeof *own, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&d, own, 0));
    for (int i = 0; i < n; i++) EXPECT(own[i] == 2 * i);
    plus<<<(n + 127) / 128, 128>>>(d, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(own[i] == 2 * i + 1);
    CHECK(cudaHostUnregister(own));
    GIVES(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own));
    for (int i = 0; i < n; i++) EXPECT(own[i] == 2 * i + 1);
    GIVES(cudaErrorInvalidValue, cudaHostRegister(own, ~(size_t)0, 0));
    free(own);
    CHECK(cudaMallocHost(&h, 64));
    CHECK(cudaFreeHost(h));
    GIVES(cudaErrorInvalidValue, cudaHostGetDevicePointer(&d, &h, 0));
}
