// Sum of unsigned integers. Each thread adds up elements one grid apart, a block's threads halve
// their partial sums in shared memory, the last warp by shuffles; a second launch of one block adds
// the blocks' sums.

#define BLOCK 256

extern "C" __global__ void reduction(unsigned *sums, const unsigned *values, unsigned count)
{
    __shared__ unsigned partial[BLOCK];
    unsigned thread = threadIdx.x, sum = 0;
    for (unsigned i = blockIdx.x * BLOCK + thread; i < count; i += gridDim.x * BLOCK)
        sum += values[i];
    partial[thread] = sum;
    __syncthreads();
    for (unsigned half = BLOCK / 2; half >= 32; half /= 2) {
        if (thread < half)
            partial[thread] += partial[thread + half];
        __syncthreads();
    }
    if (thread < 32) {
        sum = partial[thread];
        for (unsigned distance = 16; distance > 0; distance /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, distance);
        if (thread == 0)
            sums[blockIdx.x] = sum;
    }
}
