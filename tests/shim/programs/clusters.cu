// Clusters: distributed shared memory, where the device has them.
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
int main()
{
    int clusters; CHECK(cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, 0));
    int *d, h[4]; CHECK(cudaMalloc(&d, sizeof h));
    if (!clusters) { printf("no clusters on this device\n"); return 0; }
    cudaLaunchConfig_t c = {}; c.gridDim = 4; c.blockDim = 32;
    cudaLaunchAttribute a; a.id = cudaLaunchAttributeClusterDimension; a.val.clusterDim.x = 2; a.val.clusterDim.y = a.val.clusterDim.z = 1;
    c.attrs = &a; c.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&c, exchange, d));
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 101 && h[1] == 100 && h[2] == 101 && h[3] == 100);
}
