// Clusters: distributed shared memory, the barrier, clusters that the kernel or the launch asks for.
// Compiled for sm_90 where it matters; a device without clusters of its own (by its attribute) is left
// alone.
// alone: compute_90
#include <cooperative_groups.h>
#include "check.h"
namespace cg = cooperative_groups;
__global__ void exchange(int *out)
{
#if __CUDA_ARCH__ >= 900
    __shared__ int mine;
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0) mine = 100 + c.block_rank();
    c.sync();
    int *other = c.map_shared_rank(&mine, (c.block_rank() + 1) % c.num_blocks());
    if (threadIdx.x == 0) out[blockIdx.x] = *other;
    c.sync();
#endif
}
// A histogram over the shared memory of four blocks.
#define BINS 256
#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(4, 1, 1) histogram(int *bins, const unsigned char *data, int n)
#else
__global__ void histogram(int *bins, const unsigned char *data, int n)
#endif
{
#if __CUDA_ARCH__ >= 900
    __shared__ int part[BINS / 4];
    cg::cluster_group c = cg::this_cluster();
    for (int i = threadIdx.x; i < BINS / 4; i += blockDim.x) part[i] = 0;
    c.sync();
    for (int i = c.thread_rank() + blockIdx.x / 4 * c.num_threads(); i < n; i += gridDim.x / 4 * c.num_threads())
        atomicAdd(c.map_shared_rank(part, data[i] / (BINS / 4)) + data[i] % (BINS / 4), 1);
    auto token = c.barrier_arrive();
    c.barrier_wait(std::move(token));
    for (int i = threadIdx.x; i < BINS / 4; i += blockDim.x) atomicAdd(&bins[c.block_rank() * (BINS / 4) + i], part[i]);
#endif
}
// A launch that may begin before the one in front of it has ended, and waits for it.
__global__ void before(int *a) { cudaTriggerProgrammaticLaunchCompletion(); a[threadIdx.x] = threadIdx.x; }
__global__ void behind(const int *a, int *b) { cudaGridDependencySynchronize(); b[threadIdx.x] = 2 * a[threadIdx.x]; }
// Every block waits for all: none of them ends unless they are resident together.
__global__ void together(int *arrived)
{
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < (int)gridDim.x) {}
    }
}
// As many clusters as are said to be resident at once are, whatever their size.
static void resident(int *d)
{
    cudaLaunchConfig_t c = {}; cudaLaunchAttribute a[2]; int clusters, largest;
    a[0].id = cudaLaunchAttributeClusterDimension; a[1].id = cudaLaunchAttributeCooperative; a[1].val.cooperative = 1;
    c.blockDim = 1024; c.attrs = a; c.numAttrs = 1;
    for (unsigned size = 1; size <= 5; size++) {
        a[0].val.clusterDim = {size, 1, 1};
        c.gridDim = size; c.numAttrs = 1;
        CHECK(cudaOccupancyMaxActiveClusters(&clusters, together, &c));
        EXPECT(clusters > 0);
        CHECK(cudaMemset(d, 0, 4));
        c.gridDim = clusters * size; c.numAttrs = 2;
        CHECK(cudaLaunchKernelEx(&c, together, d));
        CHECK(cudaDeviceSynchronize());
        c.gridDim = (clusters + 1) * size;
        GIVES(cudaErrorCooperativeLaunchTooLarge, cudaLaunchKernelEx(&c, together, d));
    }
    c.numAttrs = 1; a[0].val.clusterDim = {16, 1, 1};
    GIVES(cudaErrorInvalidClusterSize, cudaOccupancyMaxActiveClusters(&clusters, together, &c));
    a[0].val.clusterDim = {2, 1, 1}; c.dynamicSmemBytes = 1ull << 32; // no SM has that
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, together, &c));
    EXPECT(clusters == 0);
    c.dynamicSmemBytes = 0; a[0].val.clusterDim = {16, 1, 1};
    CHECK(cudaOccupancyMaxPotentialClusterSize(&largest, together, &c));
    EXPECT(largest >= 2 && largest <= 8);
}
PROGRAM
{
    int clusters; CHECK(cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, 0));
    int *d, h[BINS]; CHECK(cudaMalloc(&d, sizeof h));
    cudaFuncAttributes attributes; CHECK(cudaFuncGetAttributes(&attributes, exchange));
    if (!clusters || attributes.ptxVersion < 90) { printf("no clusters on this device\n"); return 0; }
    cudaLaunchConfig_t c = {}; c.gridDim = 4; c.blockDim = 32;
    cudaLaunchAttribute a; a.id = cudaLaunchAttributeClusterDimension; a.val.clusterDim.x = 2; a.val.clusterDim.y = a.val.clusterDim.z = 1;
    c.attrs = &a; c.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&c, exchange, d));
    CHECK(cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 101 && h[1] == 100 && h[2] == 101 && h[3] == 100);
    const int n = 20000; static unsigned char data[n]; int wanted[BINS] = {};
    for (int i = 0; i < n; i++) { data[i] = i * i / 7; wanted[data[i]]++; }
    unsigned char *p; CHECK(cudaMalloc(&p, n)); CHECK(cudaMemcpy(p, data, n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d, 0, sizeof h));
    histogram<<<8, 128>>>(d, p, n);
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(memcmp(h, wanted, sizeof h) == 0);
    c.gridDim = 5;
    EXPECT(cudaLaunchKernelEx(&c, exchange, d) != cudaSuccess);
    CHECK((cudaGetLastError(), cudaDeviceSynchronize()));
    c.gridDim = 1; c.blockDim = 32; a.id = cudaLaunchAttributeProgrammaticStreamSerialization; a.val.programmaticStreamSerializationAllowed = 1;
    before<<<1, 32>>>(d);
    CHECK(cudaLaunchKernelEx(&c, behind, (const int *)d, d + 32));
    CHECK(cudaMemcpy(h, d + 32, 128, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) EXPECT(h[i] == 2 * i);
    resident(d);
}
