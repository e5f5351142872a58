// Managed memory: advice, prefetches, what was said of it; copies between peers of which both are this device.
#include "check.h"
__global__ void add_one(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x]++; }
PROGRAM
{
    const int n = 1 << 16; int *p, said = -9, by[2]; CHECK(cudaMallocManaged(&p, 4 * n));
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
    for (int i = 0; i < n; i++) p[i] = i;
    CHECK(cudaMemAdvise(p, 4 * n, cudaMemAdviseSetReadMostly, device)); CHECK(cudaMemAdvise(p, 4 * n, cudaMemAdviseSetPreferredLocation, device));
    CHECK(cudaMemAdvise(p, 4 * n, cudaMemAdviseSetAccessedBy, host)); CHECK(cudaMemPrefetchAsync(p, 4 * n, device, 0, 0));
    add_one<<<n / 256, 256>>>(p); CHECK(cudaMemPrefetchAsync(p, 4 * n, host, 0, 0)); CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(p[i] == i + 1);
    CHECK(cudaMemRangeGetAttribute(&said, 4, cudaMemRangeAttributeReadMostly, p, 4 * n)); EXPECT(said == 1);
    CHECK(cudaMemRangeGetAttribute(&said, 4, cudaMemRangeAttributeLastPrefetchLocation, p, 4 * n)); EXPECT(said == cudaCpuDeviceId);
    CHECK(cudaMemRangeGetAttribute(by, 8, cudaMemRangeAttributeAccessedBy, p, 4 * n)); EXPECT(by[0] == cudaCpuDeviceId && by[1] == cudaInvalidDeviceId);
    cudaPitchedPtr a, b; cudaExtent box = make_cudaExtent(33, 7, 5); char from[33 * 7 * 5], to[sizeof from];
    for (int i = 0; i < (int)sizeof from; i++) from[i] = (char)(7 * i);
    CHECK(cudaMalloc3D(&a, box)); CHECK(cudaMalloc3D(&b, box));
    cudaMemcpy3DParms in = {}, out = {}; in.srcPtr = make_cudaPitchedPtr(from, 33, 33, 7); in.dstPtr = a; in.extent = box; in.kind = cudaMemcpyHostToDevice; CHECK(cudaMemcpy3D(&in));
    cudaMemcpy3DPeerParms peers = {}; peers.srcPtr = a; peers.dstPtr = b; peers.extent = box; CHECK(cudaMemcpy3DPeer(&peers)); CHECK(cudaMemcpy3DPeerAsync(&peers));
    peers.srcDevice = 1; GIVES(cudaErrorInvalidDevice, cudaMemcpy3DPeer(&peers));
    out.srcPtr = b; out.dstPtr = make_cudaPitchedPtr(to, 33, 33, 7); out.extent = box; out.kind = cudaMemcpyDeviceToHost; CHECK(cudaMemcpy3D(&out));
    EXPECT(memcmp(from, to, sizeof to) == 0);
}
