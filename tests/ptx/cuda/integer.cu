// Integer arithmetic, bit fields, shared memory, atomics, warp primitives.
typedef unsigned long long u64;

extern "C" __global__ void bits(unsigned *out, const unsigned *in, u64 *wide, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = in[i], b = in[n - 1 - i];
    unsigned r = __popc(a) + __clz(b) + __brev(a ^ b) + __ffs(a | b) + __byte_perm(a, b, 0x3715);
    r += __funnelshift_l(a, b, a & 31) + __umulhi(a, b) + (unsigned)__mul24((int)a, (int)b);
    r ^= (a << (b & 31)) | (b >> 7) | ((int)a >> 3);
    r += a / (b | 1) + a % 17 + (unsigned)((int)a / 5) + (unsigned)((int)b % 11);
    u64 w = (u64)a * b + ((u64)a << 13);
    wide[i] = w / 10 + __umul64hi(w, w) + __popcll(w) + __clzll(w);
    out[i] = min(max((int)r, -100), 1000) + abs((int)b) + (unsigned char)a + (short)b;
}

extern "C" __global__ void histogram(unsigned *bins, const unsigned char *data, int n)
{
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], local[i]);
}

extern "C" __global__ void warp(int *out, const int *in)
{
    int lane = threadIdx.x & 31, v = in[threadIdx.x];
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    v += __shfl_up_sync(0xffffffffu, v, 1) + __shfl_down_sync(0xffffffffu, v, 2) +
         __shfl_sync(0xffffffffu, v, lane ^ 1);
    unsigned m = __ballot_sync(0xffffffffu, v & 1);
    if (__any_sync(m, v > 3) && !__all_sync(m, v < 9))
        v += __activemask();
    __syncwarp();
    out[threadIdx.x] = v + __match_any_sync(__activemask(), v);
}

extern "C" __global__ void atomics(int *a, unsigned *u, u64 *w, float *f, double *d)
{
    atomicMin(&a[0], (int)threadIdx.x);
    atomicMax(&a[1], (int)threadIdx.x);
    atomicExch(&a[2], 7);
    atomicInc(&u[0], 100);
    atomicDec(&u[1], 100);
    atomicAnd(&u[2], 0xff00ff00u);
    atomicOr(&u[3], 1u << (threadIdx.x & 31));
    atomicXor(&u[4], threadIdx.x);
    a[3] = atomicCAS(&a[4], 0, (int)threadIdx.x);
    w[1] = atomicAdd(&w[0], (u64)threadIdx.x);
    atomicMax(&w[2], (u64)threadIdx.x);
    atomicAdd(f, 1.0f);
    atomicAdd(d, 1.0);
    atomicAdd_system(&u[5], 1u);
}
