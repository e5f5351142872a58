// Managed memory: both sides use the same pointer; a managed variable; advice and prefetches.
#include "check.h"
__managed__ int total = 3;
__managed__ int list[8];
__global__ void grow(int *p, int n) { int i = threadIdx.x; if (i < n) { p[i] += i; atomicAdd(&total, 1); list[i & 7] = i; } }
PROGRAM
{
    int *p;
    EXPECT(total == 3);
    CHECK(cudaMallocManaged(&p, 64 * sizeof *p));
    for (int i = 0; i < 64; i++) p[i] = 100;
    grow<<<1, 64>>>(p, 64);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) EXPECT(p[i] == 100 + i);
    EXPECT(total == 67);
    EXPECT(list[7] % 8 == 7);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, p));
    EXPECT(attributes.type == cudaMemoryTypeManaged);
    CHECK(cudaFree(p));
}
