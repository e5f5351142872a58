// samples.cu: Programs in the style of vendors' samples and of learning.
#include "host.h"

// A transposition by a tile that is padded by a column so that banks do not conflict.
__global__ void transpose_padded(float *o, const float *in, int w, int h)
{
    __shared__ float t[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) {
        t[threadIdx.y + i][threadIdx.x] = in[(y + i) * w + x];
    }
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) {
        o[(y + i) * h + x] = t[threadIdx.x][threadIdx.y + i];
    }
}

static void run_transpose(bool large)
{
    int w = large ? 4096 : 1024, h = large ? 2048 : 1024;
    Floats a((size_t)w * h, unit), o((size_t)w * h, zero<float>);
    transpose_padded<<<dim3(w / 32, h / 32), dim3(32, 8)>>>(o.d, a.d, w, h);
    finish();
    std::vector<float> r((size_t)w * h);
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            r[(size_t)x * h + y] = a[(size_t)y * w + x];
        }
    }
    check("transpose", o.down(), r, 0);
}

__constant__ float taps[17];

// A separable filter along columns: eight results a thread, a halo of one block, taps in constant
// memory, unrolled wholly.
__global__ void conv_columns(float *o, const float *in, int w, int h)
{
    __shared__ float s[16][10 * 8 + 1];
    int x = blockIdx.x * 16 + threadIdx.x, y0 = (blockIdx.y * 8 - 1) * 8 + threadIdx.y;
    in += y0 * w + x;
    o += y0 * w + x;
#pragma unroll
    for (int i = 1; i < 9; i++) {
        s[threadIdx.x][threadIdx.y + i * 8] = in[i * 8 * w];
    }
    s[threadIdx.x][threadIdx.y] = y0 >= 0 ? in[0] : 0;
    s[threadIdx.x][threadIdx.y + 72] = y0 + 72 < h ? in[72 * w] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 1; i < 9; i++) {
        float v = 0;
#pragma unroll
        for (int j = -8; j <= 8; j++) {
            v += taps[8 - j] * s[threadIdx.x][threadIdx.y + i * 8 + j];
        }
        o[i * 8 * w] = v;
    }
}

static void run_conv(bool large)
{
    int n = large ? 1024 : 512;
    Floats a(n * n, unit), o(n * n, zero<float>);
    float t[17];
    for (auto &x : t) {
        x = fraction();
    }
    CHECKED(cudaMemcpyToSymbol(taps, t, sizeof t));
    conv_columns<<<dim3(n / 16, n / 64), dim3(16, 8)>>>(o.d, a.d, n, n);
    finish();
    std::vector<float> r(n * n);
    for (int y = 0; y < n; y++) {
        for (int j = -8; j <= 8; j++) {
            if (y + j >= 0 && y + j < n) {
                for (int x = 0; x < n; x++) {
                    r[y * n + x] += t[8 - j] * a[(y + j) * n + x];
                }
            }
        }
    }
    check("conv", o.down(), r);
}

template <class Op> __device__ float block_reduce(float v, float *s, float zero, Op op)
{
    for (int o = 16; o; o >>= 1) {
        v = op(v, __shfl_xor_sync(~0u, v, o));
    }
    if ((threadIdx.x & 31) == 0) {
        s[threadIdx.x / 32] = v;
    }
    __syncthreads();
    v = threadIdx.x % 32 < blockDim.x / 32 ? s[threadIdx.x % 32] : zero;
    for (int o = 16; o; o >>= 1) {
        v = op(v, __shfl_xor_sync(~0u, v, o));
    }
    __syncthreads();
    return v;
}

// Softmax, a block a row: three passes over global memory with two reductions by shuffles between
// them.
__global__ void softmax_rows(const float *in, float *out, int cols)
{
    __shared__ float s[32];
    const float *x = in + (size_t)blockIdx.x * cols;
    float *y = out + (size_t)blockIdx.x * cols;
    float m = -INFINITY;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        m = fmaxf(m, x[i]);
    }
    m = block_reduce(m, s, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
    float t = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        float e = expf(x[i] - m);
        y[i] = e;
        t += e;
    }
    t = block_reduce(t, s, 0, [](float a, float b) { return a + b; });
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        y[i] /= t;
    }
}

static void run_softmax(bool large)
{
    int rows = large ? 700 : 128, cols = large ? 2000 : 1000;
    Floats a((size_t)rows * cols, [](size_t) { return 8 * fraction(); }),
        o((size_t)rows * cols, zero<float>);
    softmax_rows<<<rows, 256>>>(a.d, o.d, cols);
    finish();
    std::vector<float> r((size_t)rows * cols);
    for (int i = 0; i < rows; i++) {
        double t = 0;
        for (int j = 0; j < cols; j++) {
            t += exp(a[(size_t)i * cols + j]);
        }
        for (int j = 0; j < cols; j++) {
            r[(size_t)i * cols + j] = exp(a[(size_t)i * cols + j]) / t;
        }
    }
    check("softmax", o.down(), r);
}

// Normalisation of rows of 768 that stay in registers: accesses of 16 bytes and two reductions of a
// block.
__global__ void layer_norm(const float4 *__restrict__ in, float4 *__restrict__ out,
                           const float4 *__restrict__ ga, const float4 *__restrict__ be, int n4)
{
    __shared__ float s[32];
    float4 v = in[(size_t)blockIdx.x * n4 + threadIdx.x];
    auto add = [](float a, float b) { return a + b; };
    float mean = block_reduce(v.x + v.y + v.z + v.w, s, 0, add) / (4 * n4);
    v.x -= mean;
    v.y -= mean;
    v.z -= mean;
    v.w -= mean;
    float k = rsqrtf(
        block_reduce(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w, s, 0, add) / (4 * n4) + 1e-5f);
    float4 g = ga[threadIdx.x], b = be[threadIdx.x];
    out[(size_t)blockIdx.x * n4 + threadIdx.x] = make_float4(
        v.x * k * g.x + b.x, v.y * k * g.y + b.y, v.z * k * g.z + b.z, v.w * k * g.w + b.w);
}

static void run_layernorm(bool large)
{
    int rows = large ? 4096 : 512, n = 768;
    Floats a((size_t)rows * n, centered), o((size_t)rows * n, zero<float>), g(n, unit), b(n, unit);
    layer_norm<<<rows, n / 4>>>((float4 *)a.d, (float4 *)o.d, (float4 *)g.d, (float4 *)b.d, n / 4);
    finish();
    std::vector<float> r((size_t)rows * n);
    for (int i = 0; i < rows; i++) {
        double m = 0, v = 0;
        float *p = &a.h[(size_t)i * n];
        for (int j = 0; j < n; j++) {
            m += p[j];
        }
        m /= n;
        for (int j = 0; j < n; j++) {
            v += (p[j] - m) * (p[j] - m);
        }
        v = 1 / sqrt(v / n + 1e-5);
        for (int j = 0; j < n; j++) {
            r[(size_t)i * n + j] = (p[j] - m) * v * g[j] + b[j];
        }
    }
    check("layernorm", o.down(), r);
}

// Rows of a table by identifiers of 64 bits: a warp a row, accesses of 16 bytes, drawn rows.
__global__ void embedding_gather(const float4 *table, const long long *ids, float4 *out, int d4,
                                 int tokens)
{
    int t = blockIdx.x * blockDim.y + threadIdx.y;
    if (t >= tokens) {
        return;
    }
    long long id = ids[t];
    for (int i = threadIdx.x; i < d4; i += blockDim.x) {
        out[(size_t)t * d4 + i] = table[id * d4 + i];
    }
}

static void run_embedding(bool large)
{
    int tok = large ? 16384 : 2048, dim = large ? 512 : 256, voc = 20000;
    Floats t((size_t)voc * dim, [](size_t i) { return (float)(i % 65521); }),
        o((size_t)tok * dim, zero<float>);
    Buffer<long long> id(tok, [=](size_t) { return (long long)(draw() % voc); });
    embedding_gather<<<divide_up(tok, 8), dim3(32, 8)>>>((float4 *)t.d, id.d, (float4 *)o.d,
                                                         dim / 4, tok);
    finish();
    std::vector<float> r((size_t)tok * dim);
    for (int i = 0; i < tok; i++) {
        for (int j = 0; j < dim; j++) {
            r[(size_t)i * dim + j] = t[id[i] * dim + j];
        }
    }
    check("embedding", o.down(), r, 0);
}

// The 50 largest of each row: 1024 pairs sorted by a bitonic network in shared memory, a barrier a
// stage.
__global__ void topk_bitonic(const float *in, float *ov, int *oi, int k)
{
    __shared__ float v[1024];
    __shared__ int ix[1024];
    for (int i = threadIdx.x; i < 1024; i += 512) {
        v[i] = in[blockIdx.x * 1024 + i];
        ix[i] = i;
    }
    for (int size = 2; size <= 1024; size <<= 1) {
        for (int st = size >> 1; st; st >>= 1) {
            __syncthreads();
            int p = 2 * threadIdx.x - (threadIdx.x & (st - 1)), q = p + st;
            bool down = (p & size) == 0;
            if ((v[p] < v[q]) == down) {
                float a = v[p];
                v[p] = v[q];
                v[q] = a;
                int b = ix[p];
                ix[p] = ix[q];
                ix[q] = b;
            }
        }
    }
    __syncthreads();
    if (threadIdx.x < k) {
        ov[blockIdx.x * k + threadIdx.x] = v[threadIdx.x];
        oi[blockIdx.x * k + threadIdx.x] = ix[threadIdx.x];
    }
}

static void run_topk(bool large)
{
    int rows = large ? 132 : 16, k = 50;
    Floats a(rows * 1024, [](size_t i) { return fraction() + i * 1e-9f; }),
        o(rows * k, zero<float>);
    Ints oi(rows * k, zero<int>);
    topk_bitonic<<<rows, 512>>>(a.d, o.d, oi.d, k);
    finish();
    std::vector<float> r;
    auto idx = oi.down();
    auto g = o.down();
    for (int i = 0; i < rows; i++) {
        std::vector<float> s(a.h.begin() + i * 1024, a.h.begin() + (i + 1) * 1024);
        std::sort(s.rbegin(), s.rend());
        r.insert(r.end(), s.begin(), s.begin() + k);
    }
    check("topk", g, r, 0);
    int w = 0;
    for (int i = 0; i < rows * k; i++) {
        w += a[i / k * 1024 + idx[i]] != g[i];
    }
    count_wrong("topk index", w);
}

// Darts at a quarter of a circle: drawn numbers of shifts and exclusive ors, a shuffle's tree, and
// one atomic a warp.
__global__ void mc_pi(unsigned long long *hits, int iters)
{
    unsigned s = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1;
    int h = 0;
    for (int i = 0; i < iters; i++) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        float x = (s >> 8) * (1.0f / 16777216);
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        float y = (s >> 8) * (1.0f / 16777216);
        if (__fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) <= 1.0f) {
            h++;
        }
    }
    for (int o = 16; o; o >>= 1) {
        h += __shfl_down_sync(~0u, h, o);
    }
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(hits, (unsigned long long)h);
    }
}

static void run_montecarlo(bool large)
{
    int nb = large ? 264 : 32, it = large ? 64 : 128;
    Buffer<unsigned long long> h(1, zero<unsigned long long>);
    mc_pi<<<nb, 256>>>(h.d, it);
    finish();
    unsigned long long c = 0;
    for (unsigned t = 0; t < (unsigned)nb * 256; t++) {
        unsigned s = t * 2654435761u + 1;
        auto nx = [&] {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            return (s >> 8) * (1.0f / 16777216);
        };
        for (int i = 0; i < it; i++) {
            volatile float x = nx(), y = nx(), xx = x * x, yy = y * y, z = xx + yy;
            c += z <= 1.0f;
        }
    }
    check("montecarlo", h.down(), std::vector<unsigned long long>{c}, 0);
}

static const Case sample_cases[] = {
    {"transpose", run_transpose},   {"conv", run_conv},           {"softmax", run_softmax},
    {"layernorm", run_layernorm},   {"embedding", run_embedding}, {"topk", run_topk},
    {"montecarlo", run_montecarlo}, {nullptr, nullptr},
};
