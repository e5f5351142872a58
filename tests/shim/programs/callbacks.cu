// Copies in one stream beside kernels in another, with functions of the host between: each sees what came before.
#include "check.h"
__global__ void fill(int *p, int v) { p[threadIdx.x] = v; }
struct seen { int *h, value, calls; };
static void CUDART_CB look(void *p) { seen *s = (seen *)p; s->value = s->h[31]; s->h[0] = -5; s->calls++; }
static void CUDART_CB told(cudaStream_t, cudaError_t e, void *p) { ((seen *)p)->calls += e == cudaSuccess ? 10 : 1000; }
PROGRAM
{
    cudaStream_t s[2]; int *d[2], *h[2]; seen got[2] = {};
    for (int k = 0; k < 2; k++) {
        CHECK(cudaStreamCreate(&s[k])); CHECK(cudaMalloc(&d[k], 128)); CHECK(cudaMallocHost(&h[k], 128)); got[k].h = h[k];
        fill<<<1, 32, 0, s[k]>>>(d[k], 40 + k);
        CHECK(cudaMemcpyAsync(h[k], d[k], 128, cudaMemcpyDeviceToHost, s[k]));
        CHECK(cudaLaunchHostFunc(s[k], look, &got[k]));
        CHECK(cudaMemcpyAsync(d[k], h[k], 128, cudaMemcpyHostToDevice, s[k]));
        CHECK(cudaStreamAddCallback(s[k], told, &got[k], 0));
    }
    CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < 2; k++) {
        int back[32];
        CHECK(cudaMemcpy(back, d[k], 128, cudaMemcpyDeviceToHost));
        EXPECT(got[k].value == 40 + k && got[k].calls == 11 && back[0] == -5 && back[1] == 40 + k);
        CHECK(cudaStreamDestroy(s[k])); CHECK(cudaFreeHost(h[k])); CHECK(cudaFree(d[k]));
    }
}
