// Two units that nvcc links for the device: functions, variables and a kernel of the other one (units/rdc.cu).
#include "check.h"
extern __device__ int weights[4];
extern __constant__ int shift;
extern __device__ int weigh(int x, int i);
extern __global__ void other(int *p);
extern __device__ int (*chosen)(int);
__device__ int here = 3;
__global__ void mine(int *p) { int i = threadIdx.x; p[i] = weigh(p[i], i) + shift + weights[i & 3] + chosen(i); }
PROGRAM
{
    int *p, h[64], w[4] = {10, 20, 30, 40}, s = 5, got;
    for (int i = 0; i < 64; i++) h[i] = i;
    CHECK(cudaMalloc(&p, sizeof h)); CHECK(cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(weights, w, sizeof w)); CHECK(cudaMemcpyToSymbol(shift, &s, sizeof s));
    mine<<<1, 64>>>(p); CHECK(cudaGetLastError());
    other<<<1, 64>>>(p); CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(h[i] == (i * w[i & 3] + 5 + w[i & 3] + i * i) - 3);
    CHECK(cudaMemcpyFromSymbol(&got, here, sizeof got)); EXPECT(got == 67); // 64 times plus one
}
