/* Counts of 1024 values; each of a cluster's four CTAs has a quarter of the bins. */
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) histogram_cluster(unsigned *bins, const unsigned *in, int n)
{
    __shared__ unsigned mine[256];
    cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned bin = in[i] % 1024;
        atomicAdd(cluster.map_shared_rank(mine, bin / 256) + bin % 256, 1u);
    }
    cluster.sync();
    atomicAdd(&bins[cluster.block_rank() * 256 + threadIdx.x], mine[threadIdx.x]);
}
