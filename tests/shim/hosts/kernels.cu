// Kernels of the hosts in C. `sh regenerate.sh` makes the PTX of it that is committed.
#include <cuda_runtime.h>
extern "C" {
__device__ int offset = 5;
__constant__ int table[4];
__global__ void scale(int *p, int n, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = p[i] * factor + offset;
}
__global__ void count(int *p) { atomicAdd(p, 1); }
__global__ void wait_for(volatile int *flag, int *seen) { while (*flag == 0) {} *seen = *flag; }
__global__ void look_up(int *out) { out[threadIdx.x] = table[threadIdx.x % 4]; }
__global__ void reverse(int *p)
{
    extern __shared__ int s[];
    s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void fetch(cudaTextureObject_t t, float *out, float step)
{
    out[threadIdx.y * blockDim.x + threadIdx.x] = tex2D<float>(t, threadIdx.x * step + 0.5f, threadIdx.y * step + 0.5f);
}
__global__ void fetch_linear(cudaTextureObject_t t, int *out) { out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x); }
__global__ void paint(cudaSurfaceObject_t s) { surf2Dwrite(threadIdx.x + 10.0f * threadIdx.y, s, threadIdx.x * 4, threadIdx.y); }
}
