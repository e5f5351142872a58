/* c = a b, of 32 x k and k x n floats: a cluster's four CTAs share k and add up in each other's shared memory. */
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) split_k(float *c, const float *a, const float *b, int n, int k)
{
    __shared__ float sums[32][32];
    cg::cluster_group cluster = cg::this_cluster();
    int rank = cluster.block_rank(), column = blockIdx.x / 4 * 32 + threadIdx.x % 32, part = k / 4;
    for (int row = threadIdx.x / 32; row < 32; row += 8) {
        float sum = 0;
        for (int i = rank * part; i < (rank + 1) * part; i++) sum += a[(size_t)row * k + i] * b[(size_t)i * n + column];
        sums[row][threadIdx.x % 32] = sum;
    }
    cluster.sync();
    int row = rank * 8 + threadIdx.x / 32;
    float sum = 0;
    for (int i = 0; i < 4; i++) sum += *cluster.map_shared_rank(&sums[row][threadIdx.x % 32], i);
    c[(size_t)row * n + column] = sum;
    cluster.sync();
}
