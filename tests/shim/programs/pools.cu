// Memory in the order of a stream, pools and their attributes.
#include "check.h"
__global__ void fill(int *p, int v) { p[threadIdx.x] = v; }
PROGRAM
{
    cudaStream_t s; cudaMemPool_t pool; int *p, h[32];
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaMallocAsync(&p, sizeof h, s));
    fill<<<1, 32, 0, s>>>(p, 6);
    CHECK(cudaMemcpyAsync(h, p, sizeof h, cudaMemcpyDeviceToHost, s));
    CHECK(cudaFreeAsync(p, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT(h[31] == 6);
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long keep = ~0ull, got = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
    EXPECT(got == keep);
    cudaMemPoolProps props = {}; props.allocType = cudaMemAllocationTypePinned; props.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t own; CHECK(cudaMemPoolCreate(&own, &props));
    CHECK(cudaMallocFromPoolAsync(&p, 4096, own, s));
    CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &got)); EXPECT(got == 4096);
    CHECK(cudaFreeAsync(p, s)); CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &got)); EXPECT(got == 0);
    CHECK(cudaMemPoolDestroy(own));
    CHECK(cudaMallocAsync(&p, 4096, s));
    CHECK(cudaFreeAsync(p, s));
    GIVES(cudaErrorInvalidValue, cudaFreeAsync(p, s));
    CHECK(cudaStreamSynchronize(s));
    GIVES(cudaErrorInvalidValue, cudaFreeAsync(p, s));
    GIVES(cudaErrorInvalidValue, cudaFree(p));
}
