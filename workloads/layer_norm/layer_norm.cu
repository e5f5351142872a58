/* Each row of 1024 floats less its mean, by its deviation. */
#include "../rows.cuh"

extern "C" __global__ void layer_norm(float *out, const float *in, int rows)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float v[32], sum = 0, squares = 0;
    for (int i = 0; i < 32; i++) sum += v[i] = in[(size_t)row * 1024 + i * 32 + lane];
    float mean = warp_sum(sum) / 1024;
    for (int i = 0; i < 32; i++) squares += (v[i] - mean) * (v[i] - mean);
    float scale = rsqrtf(warp_sum(squares) / 1024 + 1e-5f);
    for (int i = 0; i < 32; i++) out[(size_t)row * 1024 + i * 32 + lane] = (v[i] - mean) * scale;
}
