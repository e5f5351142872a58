// Grid-wide barriers of cooperative groups: each round every block adds what its neighbour wrote in
// the round before. Without a barrier that holds, a block would read what is not there yet.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void rounds(unsigned *cells, unsigned count)
{
    cg::grid_group grid = cg::this_grid();
    unsigned size = (unsigned)grid.size(), rank = (unsigned)grid.thread_rank();
    volatile unsigned *old = cells, *made = cells + size;
    for (unsigned i = 0; i < count; i++) {
        made[rank] = old[rank] + old[(rank + blockDim.x) % size];
        grid.sync();
        volatile unsigned *swap = old;
        old = made;
        made = swap;
    }
}

extern "C" __global__ void facts(unsigned *out)
{
    cg::grid_group grid = cg::this_grid();
    out[0] = grid.is_valid();
    out[1] = (unsigned)grid.size();
    out[2] = grid.group_dim().x;
}

// A barrier over a plane of blocks, and a __syncthreads() between two of them.
extern "C" __global__ void plane(unsigned *out)
{
    __shared__ unsigned first;
    cg::grid_group grid = cg::this_grid();
    unsigned block = blockIdx.y * gridDim.x + blockIdx.x, blocks = gridDim.x * gridDim.y;
    if (threadIdx.x == 0)
        out[block] = block + 1;
    grid.sync();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < blocks; i++)
            sum += ((volatile unsigned *)out)[i];
        first = sum;
    }
    __syncthreads();
    grid.sync();
    if (threadIdx.x == 31)
        out[block] = first;
}
