// Arrays of several formats and shapes: one dimension, layers, depth, cubes, mipmaps.
#include "check.h"
__global__ void deep(cudaTextureObject_t t, int *out) { out[threadIdx.x] = tex3D<int>(t, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 % 4 + 0.5f, threadIdx.x / 16 + 0.5f); }
__global__ void layers(cudaTextureObject_t t, short2 *out) { out[threadIdx.x] = tex2DLayered<short2>(t, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 % 4 + 0.5f, threadIdx.x / 16); }
__global__ void level(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2DLod<float>(t, (threadIdx.x + 0.5f) / 4, 0.125f, 1.0f); }
__global__ void halve(cudaTextureObject_t from, cudaSurfaceObject_t to) { surf2Dwrite(2 * tex2D<float>(from, threadIdx.x + 0.5f, threadIdx.y + 0.5f), to, threadIdx.x * 4, threadIdx.y); }
PROGRAM
{
    int h[64], back[64], *out; for (int i = 0; i < 64; i++) h[i] = i * 7 - 100; CHECK(cudaMalloc(&out, 4096));
    cudaArray_t a; cudaTextureObject_t o; cudaResourceDesc r = {}; cudaTextureDesc d = {};
    cudaChannelFormatDesc f = cudaCreateChannelDesc<int>(); CHECK(cudaMalloc3DArray(&a, &f, make_cudaExtent(4, 4, 4)));
    cudaMemcpy3DParms c = {}; c.srcPtr = make_cudaPitchedPtr(h, 16, 4, 4); c.dstArray = a; c.extent = make_cudaExtent(4, 4, 4); c.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&c)); r.resType = cudaResourceTypeArray; r.res.array.array = a; CHECK(cudaCreateTextureObject(&o, &r, &d, nullptr));
    deep<<<1, 64>>>(o, out); CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost)); for (int i = 0; i < 64; i++) EXPECT(back[i] == h[i]);
    CHECK(cudaDestroyTextureObject(o)); CHECK(cudaFreeArray(a));
    f = cudaCreateChannelDesc<short2>(); CHECK(cudaMalloc3DArray(&a, &f, make_cudaExtent(4, 4, 4), cudaArrayLayered)); c.dstArray = a; CHECK(cudaMemcpy3D(&c));
    cudaExtent e; unsigned flags; cudaChannelFormatDesc g; CHECK(cudaArrayGetInfo(&g, &e, &flags, a)); EXPECT(e.width == 4 && e.height == 4 && e.depth == 4 && flags == cudaArrayLayered && g.x == 16 && g.y == 16 && g.z == 0);
    r.res.array.array = a; CHECK(cudaCreateTextureObject(&o, &r, &d, nullptr)); layers<<<1, 64>>>(o, (short2 *)out);
    CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost)); for (int i = 0; i < 64; i++) EXPECT(back[i] == h[i]);
    CHECK(cudaDestroyTextureObject(o)); CHECK(cudaFreeArray(a));
    cudaMipmappedArray_t m; f = cudaCreateChannelDesc<float>(); CHECK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(8, 8, 0), 4)); CHECK(cudaGetMipmappedArrayLevel(&a, m, 1));
    float l[16]; for (int i = 0; i < 16; i++) l[i] = i + 0.25f; CHECK(cudaMemcpy2DToArray(a, 0, 0, l, 16, 16, 4, cudaMemcpyHostToDevice));
    r = {}; r.resType = cudaResourceTypeMipmappedArray; r.res.mipmap.mipmap = m; d.normalizedCoords = 1; d.maxMipmapLevelClamp = 3; d.mipmapFilterMode = cudaFilterModePoint;
    CHECK(cudaCreateTextureObject(&o, &r, &d, nullptr)); level<<<1, 4>>>(o, (float *)out); float lb[4]; CHECK(cudaMemcpy(lb, out, 16, cudaMemcpyDeviceToHost)); for (int i = 0; i < 4; i++) EXPECT(lb[i] == i + 0.25f);
    CHECK(cudaDestroyTextureObject(o)); CHECK(cudaFreeMipmappedArray(m));
    // A level by itself, read by a texture and written by a surface.
    CHECK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(8, 8, 0), 4, cudaArraySurfaceLoadStore)); CHECK(cudaGetMipmappedArrayLevel(&a, m, 1)); cudaArray_t b; CHECK(cudaGetMipmappedArrayLevel(&b, m, 2));
    CHECK(cudaMemcpy2DToArray(a, 0, 0, l, 16, 16, 4, cudaMemcpyHostToDevice)); r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = a; d = {}; CHECK(cudaCreateTextureObject(&o, &r, &d, nullptr));
    cudaSurfaceObject_t s; r.res.array.array = b; CHECK(cudaCreateSurfaceObject(&s, &r)); halve<<<1, dim3(2, 2)>>>(o, s); CHECK(cudaMemcpy2DFromArray(lb, 8, b, 0, 0, 8, 2, cudaMemcpyDeviceToHost));
    EXPECT(lb[0] == 0.5f && lb[1] == 2.5f && lb[2] == 8.5f && lb[3] == 10.5f); CHECK(cudaDestroySurfaceObject(s)); CHECK(cudaFreeMipmappedArray(m));
}
