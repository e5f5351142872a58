// Atomics of 16 bits, of two halves, and of 64 bits: neighbours stay as they are.
#include <cuda_fp16.h>
#include "check.h"
__device__ unsigned short word[4] = {5, 0, 7, 0xfffe};
__device__ __half2 pair; __device__ __half real;
__device__ unsigned long long wide[2] = {0, ~0ull};
__global__ void all()
{
    // Each of 64 threads adds 1 to the second word by compare and swap.
    unsigned short seen = word[1], was;
    do { was = seen; seen = atomicCAS(&word[1], was, (unsigned short)(was + 1)); } while (seen != was);
    atomicAdd(&pair, __floats2half2_rn(1, 0.5f)); atomicAdd(&real, __float2half(2));
    atomicOr(&wide[0], 1ull << threadIdx.x); atomicAnd(&wide[1], ~(1ull << threadIdx.x));
}
__global__ void once(unsigned short *out) { out[0] = atomicCAS(&word[2], (unsigned short)6, (unsigned short)1); out[1] = atomicCAS(&word[3], (unsigned short)0xfffe, (unsigned short)3); }
PROGRAM
{
    unsigned short w[4], *d, o[2]; __half2 p; __half r; unsigned long long b[2];
    CHECK(cudaMalloc(&d, 4));
    all<<<1, 64>>>(); once<<<1, 1>>>(d);
    CHECK(cudaMemcpyFromSymbol(w, word, sizeof w)); CHECK(cudaMemcpyFromSymbol(&p, pair, sizeof p)); CHECK(cudaMemcpyFromSymbol(&r, real, sizeof r));
    CHECK(cudaMemcpyFromSymbol(b, wide, sizeof b)); CHECK(cudaMemcpy(o, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(w[0] == 5 && w[1] == 64 && w[2] == 7 && w[3] == 3 && o[0] == 7 && o[1] == 0xfffe);
    EXPECT(__low2float(p) == 64 && __high2float(p) == 32 && __half2float(r) == 128);
    EXPECT(b[0] == ~0ull && b[1] == 0);
}
