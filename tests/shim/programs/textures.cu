// Texture objects on linear and pitched memory and on arrays; filtering, addressing, formats.
#include <cmath>
#include "check.h"
__global__ void fetch(cudaTextureObject_t t, float *out, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = tex1Dfetch<float>(t, i); }
__global__ void sample(cudaTextureObject_t t, float *out) { int x = threadIdx.x, y = threadIdx.y; out[y * 8 + x] = tex2D<float>(t, x + 0.5f, y + 0.5f); }
__global__ void between(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 1.0f, 0.5f); }
__global__ void bytes(cudaTextureObject_t t, float4 *out) { out[threadIdx.x] = tex2D<float4>(t, threadIdx.x + 0.5f, 0.5f); }
PROGRAM
{
    float h[64], back[64], *d, *out;
    for (int i = 0; i < 64; i++) h[i] = i;
    CHECK(cudaMalloc(&d, sizeof h)); CHECK(cudaMalloc(&out, 64 * 16));
    CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {}; cudaTextureDesc t = {};
    cudaTextureObject_t o;
    r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = d;
    r.res.linear.desc = cudaCreateChannelDesc<float>(); r.res.linear.sizeInBytes = sizeof h;
    CHECK(cudaCreateTextureObject(&o, &r, &t, nullptr));
    fetch<<<1, 32>>>(o, out, 64);
    CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(back[i] == i);
    CHECK(cudaDestroyTextureObject(o));
    cudaArray_t array;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &desc, 8, 8));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, h, 32, 32, 8, cudaMemcpyHostToDevice));
    r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = array;
    t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp;
    CHECK(cudaCreateTextureObject(&o, &r, &t, nullptr));
    sample<<<1, dim3(8, 8)>>>(o, out);
    CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(back[i] == i);
    cudaResourceDesc asked; CHECK(cudaGetTextureObjectResourceDesc(&asked, o));
    EXPECT(asked.res.array.array == array);
    CHECK(cudaDestroyTextureObject(o));
    t.filterMode = cudaFilterModeLinear;
    CHECK(cudaCreateTextureObject(&o, &r, &t, nullptr));
    between<<<1, 7>>>(o, out);
    CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 7; i++) EXPECT(back[i] == i + 0.5f);
    CHECK(cudaDestroyTextureObject(o)); CHECK(cudaFreeArray(array));
    unsigned char c[32]; for (int i = 0; i < 32; i++) c[i] = i * 8;
    unsigned char *dc; CHECK(cudaMalloc(&dc, 512)); CHECK(cudaMemcpy(dc, c, 32, cudaMemcpyHostToDevice));
    r = {}; r.resType = cudaResourceTypePitch2D; r.res.pitch2D.devPtr = dc; r.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
    r.res.pitch2D.width = 8; r.res.pitch2D.height = 1; r.res.pitch2D.pitchInBytes = 512;
    t = {}; t.readMode = cudaReadModeNormalizedFloat;
    CHECK(cudaCreateTextureObject(&o, &r, &t, nullptr));
    bytes<<<1, 8>>>(o, (float4 *)out);
    CHECK(cudaMemcpy(back, out, 128, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) EXPECT(back[i] == c[i] / 255.0f);
    CHECK(cudaDestroyTextureObject(o));
    t.sRGB = 1;
    CHECK(cudaCreateTextureObject(&o, &r, &t, nullptr));
    bytes<<<1, 8>>>(o, (float4 *)out);
    CHECK(cudaMemcpy(back, out, 128, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        float stored = c[i] / 255.0f, light = stored <= 0.04045f ? stored / 12.92f : powf((stored + 0.055f) / 1.055f, 2.4f);
        EXPECT(fabsf(back[i] - (i % 4 == 3 ? stored : light)) < 1e-4f);
    }
}
