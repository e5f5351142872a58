// Streams: every width from 1 to 16 bytes a lane, reads, writes, both, and strides.
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
#define ALL (gridDim.x * blockDim.x)

template <typename T> __device__ void copy(T *to, const T *from, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        to[i] = from[i];
    }
}

extern "C" {
__global__ void copy1(unsigned char *to, const unsigned char *from, unsigned n) { copy(to, from, n); }
__global__ void copy2(unsigned short *to, const unsigned short *from, unsigned n) { copy(to, from, n); }
__global__ void copy4(unsigned *to, const unsigned *from, unsigned n) { copy(to, from, n); }
__global__ void copy8(uint2 *to, const uint2 *from, unsigned n) { copy(to, from, n); }
__global__ void copy16(uint4 *to, const uint4 *from, unsigned n) { copy(to, from, n); }

__global__ void read4(unsigned *sums, const unsigned *__restrict__ from, unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = AT; i < n; i += ALL) {
        sum += from[i];
    }
    sums[AT] = sum;
}

__global__ void read16(unsigned *sums, const uint4 *__restrict__ from, unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = AT; i < n; i += ALL) {
        uint4 v = from[i];
        sum += v.x + (v.y ^ v.z) + v.w;
    }
    sums[AT] = sum;
}

__global__ void write4(unsigned *to, unsigned n)
{
    for (unsigned i = AT; i < n; i += ALL) {
        to[i] = i * 2654435761u;
    }
}

__global__ void write16(uint4 *to, unsigned n)
{
    for (unsigned i = AT; i < n; i += ALL) {
        to[i] = make_uint4(i, i + 1, i ^ 5, ~i);
    }
}

__global__ void triad(float *a, const float *__restrict__ b, const float *__restrict__ c, float s, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        a[i] = b[i] + s * c[i];
    }
}

__global__ void saxpy_double(double *y, const double *__restrict__ x, double s, unsigned n)
{
    for (unsigned i = AT; i < n; i += ALL) {
        y[i] += s * x[i];
    }
}

__global__ void strided(unsigned *to, const unsigned *__restrict__ from, unsigned stride, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        to[i] = from[i * stride];
    }
}

__global__ void strided_write(unsigned *to, const unsigned *__restrict__ from, unsigned stride, unsigned n)
{
    unsigned i = AT;
    if (i < n) {
        to[i * stride] = from[i];
    }
}

// The same words once more for each pass: what stays in the caches is read from there.
__global__ void reread(unsigned *sums, const unsigned *__restrict__ from, unsigned n, unsigned passes)
{
    unsigned sum = 0;
    for (unsigned p = 0; p < passes; p++) {
        for (unsigned i = AT; i < n; i += ALL) {
            sum = sum * 3 + from[i];
        }
    }
    sums[AT] = sum;
}
}
