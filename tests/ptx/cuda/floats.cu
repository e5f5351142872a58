// Floating point that needs no approximation.
extern "C" __global__ void floats(float *out, const float *in, double *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = in[i], b = in[n - 1 - i];
    float r = fmaf(a, b, 1.5f) + fabsf(a) - fminf(a, b) * fmaxf(b, 2.0f) + __fdiv_rn(a, b);
    r += __fsqrt_rn(b) + (a < b ? a : -b) + floorf(a) + truncf(b) + (float)(int)a + (float)(unsigned)b;
    double w = (double)a * d[i] + fma(d[i], 2.0, (double)b) - fabs(d[i]) + __dsqrt_rn(d[i]);
    out[i] = r + (float)w;
    d[i] = w + (double)(long long)w;
}
