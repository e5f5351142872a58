// Host functions and callbacks: in the stream's order, with what was copied before them there.
#include "check.h"
static int seen[4], at;
static int value;
static void CUDART_CB note(void *p) { seen[at++] = *(int *)p; }
static void CUDART_CB told(cudaStream_t, cudaError_t e, void *p) { seen[at++] = e == cudaSuccess ? *(int *)p + 1 : -1; }
__global__ void set(int *p) { *p = 42; }
PROGRAM
{
    cudaStream_t s; int *d, *h;
    CHECK(cudaStreamCreate(&s)); CHECK(cudaMalloc(&d, 4)); CHECK(cudaMallocHost(&h, 4));
    value = 1;
    CHECK(cudaLaunchHostFunc(s, note, &value));
    set<<<1, 1, 0, s>>>(d);
    CHECK(cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, s));
    CHECK(cudaLaunchHostFunc(s, note, h));
    CHECK(cudaStreamAddCallback(s, told, h, 0));
    CHECK(cudaStreamSynchronize(s));
    EXPECT(at == 3 && seen[0] == 1 && seen[1] == 42 && seen[2] == 43);
}
