/* The softmax of each row of 1024 floats. */
#include "../rows.cuh"

extern "C" __global__ void softmax(float *out, const float *in, int rows)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float v[32], most = -INFINITY, sum = 0;
    for (int i = 0; i < 32; i++) most = fmaxf(most, v[i] = in[(size_t)row * 1024 + i * 32 + lane]);
    for (int i = 16; i; i /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, i));
    for (int i = 0; i < 32; i++) sum += v[i] = __expf(v[i] - most);
    float scale = 1 / warp_sum(sum);
    for (int i = 0; i < 32; i++) out[(size_t)row * 1024 + i * 32 + lane] = v[i] * scale;
}
