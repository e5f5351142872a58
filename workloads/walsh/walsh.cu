// Fast Walsh-Hadamard transform in natural order, of a power of two of elements in place. A level adds
// and subtracts elements one half apart. Levels wider than a block's share are one launch of
// walsh_level each; the narrow ones all happen in shared memory in one launch of walsh_block.

#define SHARE 1024 // elements of a block of walsh_block, which has half as many threads

extern "C" __global__ void walsh_level(float *data, unsigned half, unsigned pairs)
{
    unsigned pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs)
        return;
    unsigned low = (pair & (half - 1)) + 2 * (pair & ~(half - 1)), high = low + half;
    float a = data[low], b = data[high];
    data[low] = a + b;
    data[high] = a - b;
}

extern "C" __global__ void walsh_block(float *data)
{
    __shared__ float share[SHARE];
    unsigned thread = threadIdx.x;
    float *mine = data + blockIdx.x * SHARE;
    share[thread] = mine[thread];
    share[thread + SHARE / 2] = mine[thread + SHARE / 2];
    for (unsigned half = SHARE / 2; half > 0; half /= 2) {
        unsigned low = (thread & (half - 1)) + 2 * (thread & ~(half - 1)), high = low + half;
        __syncthreads();
        float a = share[low], b = share[high];
        share[low] = a + b;
        share[high] = a - b;
    }
    __syncthreads();
    mine[thread] = share[thread];
    mine[thread + SHARE / 2] = share[thread + SHARE / 2];
}
