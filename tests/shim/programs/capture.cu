// Capture: a stream's work becomes a graph; forks and joins by events; what is forbidden meanwhile.
#include "check.h"
__global__ void plus(int *p, int v) { p[threadIdx.x] += v; }
PROGRAM
{
    int *a, *b, h[32]; cudaStream_t s, t; cudaEvent_t fork, join; cudaGraph_t g; cudaGraphExec_t e;
    CHECK(cudaMalloc(&a, sizeof h)); CHECK(cudaMalloc(&b, sizeof h)); CHECK(cudaMemset(a, 0, sizeof h)); CHECK(cudaMemset(b, 0, sizeof h));
    CHECK(cudaStreamCreate(&s)); CHECK(cudaStreamCreate(&t)); CHECK(cudaEventCreate(&fork)); CHECK(cudaEventCreate(&join));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    plus<<<1, 32, 0, s>>>(a, 1);
    CHECK(cudaEventRecord(fork, s)); CHECK(cudaStreamWaitEvent(t, fork, 0));
    plus<<<1, 32, 0, t>>>(b, 10);
    CHECK(cudaEventRecord(join, t));
    plus<<<1, 32, 0, s>>>(a, 2);
    CHECK(cudaStreamWaitEvent(s, join, 0));
    cudaStreamCaptureStatus status; CHECK(cudaStreamIsCapturing(s, &status)); EXPECT(status == cudaStreamCaptureStatusActive);
    CHECK(cudaMemcpyAsync(h, b, sizeof h, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost)); EXPECT(h[0] == 0);
    CHECK(cudaGraphInstantiate(&e, g, 0));
    for (int i = 0; i < 3; i++) CHECK(cudaGraphLaunch(e, s));
    CHECK(cudaStreamSynchronize(s)); EXPECT(h[31] == 30);
    CHECK(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost)); EXPECT(h[5] == 9);
    size_t n = 0; CHECK(cudaGraphGetNodes(g, nullptr, &n)); EXPECT(n == 4);
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    GIVES(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s));
    cudaGraph_t none; GIVES(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &none));
    GIVES(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    CHECK(cudaGraphExecDestroy(e)); CHECK(cudaGraphDestroy(g));
}
