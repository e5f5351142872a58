// Dyadic convolution by Walsh transforms: those of both signals (walsh.cu), multiplied element by
// element, and the same transform again, which is its own inverse but for a factor.

#include "../walsh/walsh.cu"

extern "C" __global__ void dyadic_multiply(float *data, const float *by, float scale, unsigned count)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        data[i] *= by[i] * scale;
}
