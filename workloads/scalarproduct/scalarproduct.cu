// Scalar products of many pairs of vectors: a block takes one pair after another, its threads add up products of elements
// a block apart, and halve their sums in shared memory.

#define BLOCK 256

extern "C" __global__ void scalarproduct(float *products, const float *a, const float *b, unsigned pairs,
                                         unsigned elements)
{
    __shared__ float partial[BLOCK];
    unsigned thread = threadIdx.x;
    for (unsigned pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
        float sum = 0;
        for (unsigned i = thread; i < elements; i += BLOCK)
            sum = fmaf(a[pair * elements + i], b[pair * elements + i], sum);
        partial[thread] = sum;
        for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
            __syncthreads();
            if (thread < half)
                partial[thread] += partial[thread + half];
        }
        if (thread == 0)
            products[pair] = partial[0];
        __syncthreads();
    }
}
