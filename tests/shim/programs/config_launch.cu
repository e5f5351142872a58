// Launches by configuration: dynamic shared memory, attributes, clusters where there are any.
#include "check.h"
extern __shared__ int pool[];
__global__ void turn(int *p, int n) { pool[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[threadIdx.x] = pool[n - 1 - threadIdx.x]; }
__global__ void late(int *p, int n) { for (int i = 0; i < n; i++) atomicAdd(p, 1); }
// What waits for the event of a launch's attribute comes after the launch.
static void events(int *d)
{
    cudaStream_t before, behind; cudaEvent_t event; cudaLaunchConfig_t c = {}; cudaLaunchAttribute a; int h;
    CHECK(cudaStreamCreateWithFlags(&before, cudaStreamNonBlocking)); CHECK(cudaStreamCreateWithFlags(&behind, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int kind = 0; kind < 2; kind++) {
        CHECK(cudaMemset(d, 0, 4)); CHECK(cudaDeviceSynchronize());
        a = {};
        if (kind) {
            a.id = cudaLaunchAttributeProgrammaticEvent;
            a.val.programmaticEvent.event = event;
        } else {
            a.id = cudaLaunchAttributeLaunchCompletionEvent;
            a.val.launchCompletionEvent.event = event;
        }
        c.gridDim = 2; c.blockDim = 64; c.stream = before; c.attrs = &a; c.numAttrs = 1;
        CHECK(cudaLaunchKernelEx(&c, late, d, 10));
        CHECK(cudaStreamWaitEvent(behind, event, 0));
        late<<<1, 1, 0, behind>>>(d, 1);
        CHECK(cudaMemcpyAsync(&h, d, 4, cudaMemcpyDeviceToHost, behind));
        CHECK(cudaStreamSynchronize(behind));
        if (kind) EXPECT(h == 1281); // it says nothing before it ends
        CHECK(cudaEventSynchronize(event)); CHECK(cudaStreamSynchronize(before));
    }
    CHECK(cudaEventDestroy(event));
    GIVES(cudaErrorInvalidResourceHandle, cudaLaunchKernelEx(&c, late, d, 10));
    CHECK(cudaStreamDestroy(before)); CHECK(cudaStreamDestroy(behind));
}
PROGRAM
{
    int *d, h[128];
    for (int i = 0; i < 128; i++) h[i] = i;
    CHECK(cudaMalloc(&d, sizeof h)); CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    cudaLaunchConfig_t c = {}; c.gridDim = 1; c.blockDim = 128; c.dynamicSmemBytes = sizeof h;
    CHECK(cudaLaunchKernelEx(&c, turn, d, 128));
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 128; i++) EXPECT(h[i] == 127 - i);
    CHECK(cudaFuncSetAttribute(turn, cudaFuncAttributeMaxDynamicSharedMemorySize, 32768));
    turn<<<1, 128, 32768>>>(d, 128);
    CHECK(cudaDeviceSynchronize());
    GIVES(cudaErrorInvalidValue, cudaFuncSetAttribute(turn, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 24));
    events(d);
}
