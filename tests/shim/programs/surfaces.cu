// Surfaces: what a kernel writes, a texture and a copy read.
#include "check.h"
__global__ void write(cudaSurfaceObject_t s) { int x = threadIdx.x, y = threadIdx.y; surf2Dwrite(10.0f * y + x, s, x * 4, y); }
__global__ void twice(cudaSurfaceObject_t s) { int x = threadIdx.x, y = threadIdx.y; float v; surf2Dread(&v, s, x * 4, y); surf2Dwrite(2 * v, s, x * 4, y); }
PROGRAM
{
    cudaArray_t array; cudaSurfaceObject_t s; float h[8][16];
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &desc, 16, 8, cudaArraySurfaceLoadStore));
    cudaResourceDesc r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = array;
    CHECK(cudaCreateSurfaceObject(&s, &r));
    write<<<1, dim3(16, 8)>>>(s);
    twice<<<1, dim3(16, 8)>>>(s);
    CHECK(cudaMemcpy2DFromArray(h, 64, array, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 8; y++) for (int x = 0; x < 16; x++) EXPECT(h[y][x] == 2 * (10.0f * y + x));
    CHECK(cudaDestroySurfaceObject(s)); CHECK(cudaFreeArray(array));
}
