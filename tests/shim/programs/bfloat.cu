// bfloat16 and pairs of halves: conversions, arithmetic, comparisons, fused operations.
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "check.h"
__global__ void brain(const float *in, float *out)
{
    int i = threadIdx.x;
    __nv_bfloat16 x = __float2bfloat16(in[i]), one = __float2bfloat16(1.0f), y = __float2bfloat16(2.0f);
    out[i] = __bfloat162float(__hadd(__hmul(x, y), one));
    __nv_bfloat162 p = __floats2bfloat162_rn(in[i], -in[i]), q = __hmul2(p, __bfloat162bfloat162(y));
    out[32 + i] = __low2float(q) - __high2float(q);
    out[64 + i] = __hgt(x, y) ? 1.0f : 0.0f;
}
__global__ void pairs(const float *in, float *out)
{
    int i = threadIdx.x;
    __half2 a = __floats2half2_rn(in[i], 0.5f), b = __float2half2_rn(3.0f), c = __hfma2(a, b, __half2half2(__float2half(1.0f)));
    out[i] = __low2float(c); out[32 + i] = __high2float(c);
    out[64 + i] = __half2float(hsqrt(__float2half(in[i]))) + __half2float(__hadd(__low2half(a), __high2half(a)));
    __half2 s = h2exp(__float2half2_rn(0.0f)); out[96 + i] = __low2float(s) + __high2float(__hneg2(s));
}
PROGRAM
{
    float in[32], out[128], *d;
    for (int i = 0; i < 32; i++) in[i] = i * 0.25f;
    CHECK(cudaMalloc(&d, 32 * 4 + sizeof out)); CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
    brain<<<1, 32>>>(d, d + 32); CHECK(cudaMemcpy(out, d + 32, 96 * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) { EXPECT(out[i] == 2 * in[i] + 1); EXPECT(out[32 + i] == 4 * in[i]); EXPECT(out[64 + i] == (in[i] > 2)); }
    pairs<<<1, 32>>>(d, d + 32); CHECK(cudaMemcpy(out, d + 32, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        EXPECT(out[i] == 3 * in[i] + 1); EXPECT(out[32 + i] == 2.5f); EXPECT(fabsf(out[64 + i] - (sqrtf(in[i]) + in[i] + 0.5f)) < 0.01f); EXPECT(out[96 + i] == 0);
    }
}
