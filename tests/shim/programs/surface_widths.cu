// Surfaces of texels of 1, 2, 4, 8 and 16 bytes, of one dimension and of three; what lies outside is zero.
#include "check.h"
template <class T> __device__ T of(int v);
template <> __device__ unsigned char of(int v) { return v; }
template <> __device__ unsigned short of(int v) { return 300 * v; }
template <> __device__ int of(int v) { return -70000 * v; }
template <> __device__ uint2 of(int v) { return make_uint2(v, ~v); }
template <> __device__ float4 of(int v) { return make_float4(v, v + 0.25f, -v, 1e10f); }
template <class T> __global__ void line(cudaSurfaceObject_t s) { surf1Dwrite(of<T>(threadIdx.x), s, threadIdx.x * sizeof(T)); }
template <class T> __global__ void check(cudaSurfaceObject_t s, T *out) { T v; surf1Dread(&v, s, (threadIdx.x ^ 1) * sizeof(T), cudaBoundaryModeZero); out[threadIdx.x] = v; T w = of<T>(threadIdx.x ^ 1); out[34 + threadIdx.x] = w; }
__global__ void solid(cudaSurfaceObject_t s) { surf3Dwrite((int)(100 * threadIdx.z + 10 * threadIdx.y + threadIdx.x), s, threadIdx.x * 4, threadIdx.y, threadIdx.z); }
template <class T> static void width()
{
    cudaArray_t a; cudaSurfaceObject_t s; T *d; unsigned char h[68 * sizeof(T)]; cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>(); cudaResourceDesc r = {}; r.resType = cudaResourceTypeArray;
    CHECK(cudaMallocArray(&a, &desc, 33, 0, cudaArraySurfaceLoadStore)); r.res.array.array = a; CHECK(cudaCreateSurfaceObject(&s, &r)); CHECK(cudaMalloc(&d, sizeof h));
    line<T><<<1, 33>>>(s); check<T><<<1, 34>>>(s, d);
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(!memcmp(h, h + 34 * sizeof(T), 32 * sizeof(T))); // lane 32 reads texel 33, which is not there
    for (size_t i = 0; i < sizeof(T); i++) EXPECT(h[32 * sizeof(T) + i] == 0);
    CHECK(cudaDestroySurfaceObject(s)); CHECK(cudaFreeArray(a)); CHECK(cudaFree(d));
}
PROGRAM
{
    width<unsigned char>(); width<unsigned short>(); width<int>(); width<uint2>(); width<float4>();
    cudaArray_t a; cudaSurfaceObject_t s; int h[3][4][5]; cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>(); cudaResourceDesc r = {}; r.resType = cudaResourceTypeArray;
    CHECK(cudaMalloc3DArray(&a, &desc, make_cudaExtent(5, 4, 3), cudaArraySurfaceLoadStore)); r.res.array.array = a; CHECK(cudaCreateSurfaceObject(&s, &r));
    solid<<<1, dim3(5, 4, 3)>>>(s);
    cudaMemcpy3DParms p = {}; p.srcArray = a; p.dstPtr = make_cudaPitchedPtr(h, 20, 5, 4); p.extent = make_cudaExtent(5, 4, 3); p.kind = cudaMemcpyDeviceToHost; CHECK(cudaMemcpy3D(&p));
    for (int z = 0; z < 3; z++) for (int y = 0; y < 4; y++) for (int x = 0; x < 5; x++) EXPECT(h[z][y][x] == 100 * z + 10 * y + x);
}
