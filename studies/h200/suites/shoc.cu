// shoc.cu: Molecules, sorting and sparse matrices in the style of SHOC.
#include "host.h"

HOST_AND_DEVICE void lj(float4 a, float4 b, float cut, float4 &f)
{
    float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z, r2 = dx * dx + dy * dy + dz * dz;
    if (r2 < cut) {
        r2 = 1.0f / r2;
        float r6 = r2 * r2 * r2, g = r2 * r6 * (1.5f * r6 - 2.0f);
        f.x += dx * g;
        f.y += dy * g;
        f.z += dz * g;
    }
}

// Lennard-Jones forces by a list of neighbours: each lane gathers positions of 16 bytes at drawn
// places near its own; a branch at the cut-off.
__global__ void md_lj(float4 *force, const float4 *pos, const int nei, const int *list, float cut,
                      int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = pos[i], f = {0, 0, 0, 0};
    for (int j = 0; j < nei; j++) {
        float4 q = pos[list[j * n + i]];
        lj(p, q, cut, f);
    }
    force[i] = f;
}

static void run_md(bool large)
{
    int n = large ? 24576 : 12288, nei = large ? 128 : 64;
    Buffer<float4> p(n,
                     [](size_t i) {
                         return make_float4(i % 16 + 0.4f * fraction(),
                                            i / 16 % 16 + 0.4f * fraction(),
                                            i / 256 + 0.4f * fraction(), 0);
                     }),
        f(n, [](size_t) { return make_float4(0, 0, 0, 0); });
    Ints l((size_t)n * nei, [=](size_t k) {
        int i = k % n, v;
        do {
            v = (i + int(draw() % 1400) - 700 + n) % n;
        } while (v == i);
        return v;
    });
    md_lj<<<n / 256, 256>>>(f.d, p.d, nei, l.d, 16.0f, n);
    finish();
    auto g = f.down();
    std::vector<float> gx(n), rx(n);
    for (int i = 0; i < n; i++) {
        float4 a = {0, 0, 0, 0};
        for (int j = 0; j < nei; j++) {
            lj(p[i], p[l[(size_t)j * n + i]], 16.0f, a);
        }
        rx[i] = a.x;
        gx[i] = g[i].x;
    }
    check("md", gx, rx, 1e-2);
}

__device__ unsigned scan_block(unsigned v, unsigned *ws, unsigned &total)
{
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    unsigned x = v;
    for (int o = 1; o < 32; o <<= 1) {
        unsigned y = __shfl_up_sync(~0u, x, o);
        if (lane >= o) {
            x += y;
        }
    }
    if (lane == 31) {
        ws[w] = x;
    }
    __syncthreads();
    unsigned before = 0;
    total = 0;
    for (int i = 0; i < 8; i++) {
        unsigned k = ws[i];
        if (i < w) {
            before += k;
        }
        total += k;
    }
    __syncthreads();
    return before + x - v;
}

// One pass of a radix sort over four bits: each block sorts 1024 keys by four splits with scans of
// shuffles, then scatters them to where its digits' places begin.
__global__ void radix_pass(const uint4 *in, unsigned *out, const unsigned *offset, int shift)
{
    __shared__ unsigned key[1024], ws[8], first[16];
    int t = threadIdx.x;
    uint4 k = in[blockIdx.x * 256 + t];
    for (int b = 0; b < 4; b++) {
        unsigned z0 = !(k.x >> (shift + b) & 1), z1 = !(k.y >> (shift + b) & 1),
                 z2 = !(k.z >> (shift + b) & 1), z3 = !(k.w >> (shift + b) & 1), zeros;
        unsigned r = scan_block(z0 + z1 + z2 + z3, ws, zeros), at = 4 * t;
        key[z0 ? r : zeros + at - r] = k.x;
        r += z0;
        key[z1 ? r : zeros + at + 1 - r] = k.y;
        r += z1;
        key[z2 ? r : zeros + at + 2 - r] = k.z;
        r += z2;
        key[z3 ? r : zeros + at + 3 - r] = k.w;
        __syncthreads();
        k = make_uint4(key[4 * t], key[4 * t + 1], key[4 * t + 2], key[4 * t + 3]);
        __syncthreads();
    }
    for (int i = t; i < 1024; i += 256) {
        unsigned d = key[i] >> shift & 15;
        if (i == 0 || (key[i - 1] >> shift & 15) != d) {
            first[d] = i;
        }
    }
    __syncthreads();
    for (int i = t; i < 1024; i += 256) {
        unsigned d = key[i] >> shift & 15;
        out[offset[d * gridDim.x + blockIdx.x] + i - first[d]] = key[i];
    }
}

static void run_radix(bool large)
{
    int nb = large ? 512 : 64, n = nb * 1024, sh = 8;
    Buffer<unsigned> a(n, [](size_t) { return draw() ^ draw() << 12; }), o(n, zero<unsigned>);
    std::vector<unsigned> c(16 * nb), off(16 * nb);
    for (int i = 0; i < n; i++) {
        c[(a[i] >> sh & 15) * nb + i / 1024]++;
    }
    for (int i = 1; i < 16 * nb; i++) {
        off[i] = off[i - 1] + c[i - 1];
    }
    Buffer<unsigned> of(off);
    radix_pass<<<nb, 256>>>((const uint4 *)a.d, o.d, of.d, sh);
    finish();
    auto r = a.h;
    std::stable_sort(r.begin(), r.end(),
                     [=](unsigned x, unsigned y) { return (x >> sh & 15) < (y >> sh & 15); });
    check("radix", o.down(), r, 0);
}

// A sparse matrix in compressed rows times a vector, a thread a row: lanes wait for the longest row
// and read far apart.
__global__ void spmv_scalar(const float *val, const int *cols, const int *rows, int dim,
                            const float *vec, float *out)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < dim) {
        float t = 0;
        int s = rows[r], e = rows[r + 1];
        for (int j = s; j < e; j++) {
            t += val[j] * vec[cols[j]];
        }
        out[r] = t;
    }
}

// The same, a warp a row, with a tree over volatile shared memory at the end.
__global__ void spmv_vector(const float *__restrict__ val, const int *__restrict__ cols,
                            const int *__restrict__ rows, int dim, const float *__restrict__ vec,
                            float *__restrict__ out)
{
    int id = threadIdx.x & 31, r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    __shared__ volatile float part[128];
    part[threadIdx.x] = 0;
    if (r < dim) {
        int s = rows[r], e = rows[r + 1];
        float m = 0;
        for (int j = s + id; j < e; j += 32) {
            m += val[j] * vec[cols[j]];
        }
        part[threadIdx.x] = m;
        __syncwarp();
        for (int o = 16; o; o >>= 1) {
            if (id < o) {
                part[threadIdx.x] += part[threadIdx.x + o];
            }
            __syncwarp();
        }
        if (id == 0) {
            out[r] = part[threadIdx.x];
        }
    }
}

static void spmv(int n, bool vec, const char *w)
{
    std::vector<int> rows(n + 1);
    for (int i = 0; i < n; i++) {
        rows[i + 1] = rows[i] + 8 + draw() % 48;
    }
    int nnz = rows[n];
    Floats val(nnz, unit), x(n, unit), o(n, zero<float>);
    Ints c(nnz, [=](size_t) { return int(draw() % n); }), R(rows);
    if (vec) {
        spmv_vector<<<divide_up(n, 4), 128>>>(val.d, c.d, R.d, n, x.d, o.d);
    } else {
        spmv_scalar<<<divide_up(n, 128), 128>>>(val.d, c.d, R.d, n, x.d, o.d);
    }
    finish();
    std::vector<float> r(n);
    for (int i = 0; i < n; i++) {
        for (int j = rows[i]; j < rows[i + 1]; j++) {
            r[i] += val[j] * x[c[j]];
        }
    }
    check(w, o.down(), r);
}

static void run_spmv_scalar(bool large)
{
    spmv(large ? 40000 : 12000, false, "spmv_scalar");
}

static void run_spmv_vector(bool large)
{
    spmv(large ? 32768 : 6000, true, "spmv_vector");
}

static const Case shoc_cases[] = {
    {"md", run_md},
    {"radix", run_radix},
    {"spmv_scalar", run_spmv_scalar},
    {"spmv_vector", run_spmv_vector},
    {nullptr, nullptr},
};
