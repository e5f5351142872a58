// Many small launches.
#include "check.h"
__global__ void plus(int *p) { if (threadIdx.x == 0) ++*p; }
PROGRAM
{
    int *d, h, n = 2000;
    CHECK(cudaMalloc(&d, 4)); CHECK(cudaMemset(d, 0, 4));
    for (int i = 0; i < n; i++) plus<<<1, 32>>>(d);
    CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == n);
}
