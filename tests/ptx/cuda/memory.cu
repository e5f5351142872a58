// State spaces: constants, initialised tables with addresses, local arrays, dynamic shared memory, vectors.
__constant__ int weights[8] = {1, -2, 3, -4, 5, -6, 7, -8};
__constant__ float scale = 0.5f;
__device__ int counter = 42;
__device__ int *pointers[3] = {&counter, &counter + 2, 0};
__device__ const char text[] = "sonde";
__managed__ int shared_with_host;
struct params { int n; float f; double d; char c[5]; short s; long long l; };

extern "C" __global__ void spaces(int *out, params p, int k)
{
    extern __shared__ int dynamic[];
    __shared__ short fixed[4][8];
    int stack[16];
    for (int i = 0; i < 16; i++)
        stack[i] = weights[i & 7] * p.n;
    dynamic[threadIdx.x] = stack[k & 15];
    fixed[threadIdx.x & 3][k & 7] = (short)(p.s + p.c[k % 5]);
    __syncthreads();
    out[threadIdx.x] = dynamic[k] + fixed[k & 3][1] + *pointers[k & 1] + text[k % 5] + (int)p.l;
    counter = (int)(p.f * scale + p.d);
    shared_with_host = k;
}

extern "C" __global__ void vectors(int4 *out, const int4 *in, const float2 *f, const uchar4 *b, double2 *d)
{
    int i = threadIdx.x;
    int4 v = __ldg(&in[i]);
    float2 x = f[i];
    uchar4 c = b[i];
    v.x += c.x;
    v.y -= c.w;
    v.z = (int)x.x;
    v.w = __float_as_int(x.y);
    out[i] = v;
    d[i] = make_double2(x.x, x.y);
}

extern "C" __global__ void hints(int *out, const int *in, volatile int *flag)
{
    int i = threadIdx.x;
    int a = __ldca(in + i) + __ldcg(in + i + 32) + __ldcs(in + i + 64) + __ldcv(in + i + 96);
    __stcg(out + i, a);
    __stcs(out + i + 32, a);
    __stwt(out + i + 64, a);
    __threadfence();
    *flag = 1;
    __threadfence_block();
    __threadfence_system();
    while (*flag == 1)
        ;
}

extern "C" __global__ void clocks(unsigned *out, long long *wide)
{
    unsigned id, n;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(n));
    long long t = clock64();
    out[threadIdx.x] = clock() + id + n;
    wide[threadIdx.x] = clock64() - t;
    __nanosleep(20);
}
