// Memory that a graph takes and gives, and updates of an instance.
#include "check.h"
__global__ void fill(int *p, int v) { p[threadIdx.x] = v + threadIdx.x; }
static cudaGraph_t capture(cudaStream_t s, int *h, int v)
{
    cudaGraph_t g; int *p;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&p, 128, s)); fill<<<1, 32, 0, s>>>(p, v);
    CHECK(cudaMemcpyAsync(h, p, 128, cudaMemcpyDeviceToHost, s)); CHECK(cudaFreeAsync(p, s));
    CHECK(cudaStreamEndCapture(s, &g));
    return g;
}
PROGRAM
{
    cudaStream_t s; int *h; cudaGraphExec_t e; CHECK(cudaStreamCreate(&s)); CHECK(cudaMallocHost(&h, 128));
    cudaGraph_t g = capture(s, h, 100);
    CHECK(cudaGraphInstantiate(&e, g, 0)); CHECK(cudaGraphLaunch(e, s)); CHECK(cudaStreamSynchronize(s)); EXPECT(h[31] == 131);
    CHECK(cudaGraphLaunch(e, s)); CHECK(cudaStreamSynchronize(s)); EXPECT(h[0] == 100);
    CHECK(cudaGraphExecDestroy(e)); CHECK(cudaGraphDestroy(g));
}
