// Vector addition: one element a thread, the simplest streaming kernel.

extern "C" __global__ void vectoradd(float *sum, const float *a, const float *b, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        sum[i] = a[i] + b[i];
}
