// Launches by configuration: dynamic shared memory, attributes, clusters where there are any.
#include "check.h"
extern __shared__ int pool[];
__global__ void turn(int *p, int n) { pool[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[threadIdx.x] = pool[n - 1 - threadIdx.x]; }
PROGRAM
{
    int *d, h[128];
    for (int i = 0; i < 128; i++) h[i] = i;
    CHECK(cudaMalloc(&d, sizeof h)); CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    cudaLaunchConfig_t c = {}; c.gridDim = 1; c.blockDim = 128; c.dynamicSmemBytes = sizeof h;
    CHECK(cudaLaunchKernelEx(&c, turn, d, 128));
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 128; i++) EXPECT(h[i] == 127 - i);
    CHECK(cudaFuncSetAttribute(turn, cudaFuncAttributeMaxDynamicSharedMemorySize, 32768));
    turn<<<1, 128, 32768>>>(d, 128);
    CHECK(cudaDeviceSynchronize());
    GIVES(cudaErrorInvalidValue, cudaFuncSetAttribute(turn, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 24));
}
