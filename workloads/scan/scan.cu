// Inclusive sums of a large array of unsigned integers (Blelloch, 1990): a block scans its 512 elements in shared memory,
// up a tree and down again, and leaves its total; the totals are scanned by one more launch, and a third adds
// to each block what stands before it.

#define SHARE 512 // elements of a block of half as many threads

extern "C" __global__ void scan_block(unsigned *sums, unsigned *totals, const unsigned *values)
{
    __shared__ unsigned tree[SHARE];
    unsigned thread = threadIdx.x, first = blockIdx.x * SHARE;
    unsigned low = values[first + thread], high = values[first + thread + SHARE / 2];
    tree[thread] = low;
    tree[thread + SHARE / 2] = high;
    unsigned step = 1;
    for (unsigned nodes = SHARE / 2; nodes > 0; nodes /= 2, step *= 2) {
        __syncthreads();
        if (thread < nodes)
            tree[step * (2 * thread + 2) - 1] += tree[step * (2 * thread + 1) - 1];
    }
    __syncthreads();
    if (thread == 0) {
        totals[blockIdx.x] = tree[SHARE - 1];
        tree[SHARE - 1] = 0;
    }
    for (unsigned nodes = 1; nodes < SHARE; nodes *= 2) {
        step /= 2;
        __syncthreads();
        if (thread < nodes) {
            unsigned a = step * (2 * thread + 1) - 1, b = step * (2 * thread + 2) - 1, sum = tree[a];
            tree[a] = tree[b];
            tree[b] += sum;
        }
    }
    __syncthreads();
    sums[first + thread] = tree[thread] + low;
    sums[first + thread + SHARE / 2] = tree[thread + SHARE / 2] + high;
}

extern "C" __global__ void scan_add(unsigned *sums, const unsigned *totals)
{
    unsigned at = blockIdx.x * SHARE + threadIdx.x;
    unsigned before = blockIdx.x ? totals[blockIdx.x - 1] : 0;
    sums[at] += before;
    sums[at + SHARE / 2] += before;
}
