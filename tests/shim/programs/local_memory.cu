// Local memory: arrays by computed index, frames of a recursion, pointers to locals through functions.
#include "check.h"
__device__ __noinline__ void put(int *p, int i, int v) { p[i] = v; }
__device__ __noinline__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
__device__ __noinline__ int depth(int n) { volatile int mine[8]; mine[n & 7] = n; int below = n ? depth(n - 1) : 0; return below + mine[n & 7]; }
__global__ void sorted(int *out, const int *in)
{
    int a[16];
    for (int i = 0; i < 16; i++) put(a, (i * 7) & 15, in[16 * threadIdx.x + i]);
    for (int i = 1; i < 16; i++) { int v = a[i], j = i; for (; j > 0 && a[j - 1] > v; j--) a[j] = a[j - 1]; a[j] = v; }
    for (int i = 0; i < 16; i++) out[16 * threadIdx.x + i] = a[i];
}
__global__ void deep(int *out) { out[threadIdx.x] = threadIdx.x < 2 ? ackermann(2, threadIdx.x + 1) : depth(threadIdx.x); }
PROGRAM
{
    static int h[1024]; int *in, *out, r[12];
    for (int i = 0; i < 1024; i++) h[i] = (i % 16 * 5 + i / 16) % 16 + 100 * (i / 16);
    CHECK(cudaMalloc(&in, sizeof h)); CHECK(cudaMalloc(&out, sizeof h)); CHECK(cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice));
    sorted<<<1, 64>>>(out, in); CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 1024; i++) EXPECT(h[i] == i % 16 + 100 * (i / 16));
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    deep<<<1, 12>>>(out); CHECK(cudaMemcpy(r, out, sizeof r, cudaMemcpyDeviceToHost));
    EXPECT(r[0] == 5 && r[1] == 7);
    for (int i = 2; i < 12; i++) EXPECT(r[i] == i * (i + 1) / 2);
}
