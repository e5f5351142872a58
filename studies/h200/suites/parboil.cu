// parboil.cu: Throughput programs in the style of Parboil.
#include "host.h"

// Seven points of a grid in three dimensions: a thread walks along z and keeps the planes before
// and behind in registers.
__global__ void stencil7(float c0, float c1, const float *a, float *o, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) {
        return;
    }
    float bot = a[i + nx * j], cur = a[i + nx * (j + ny)];
    for (int k = 1; k < nz - 1; k++) {
        float top = a[i + nx * (j + ny * (k + 1))];
        o[i + nx * (j + ny * k)] =
            c1 * (top + bot + a[i + nx * (j + 1 + ny * k)] + a[i + nx * (j - 1 + ny * k)] +
                  a[i + 1 + nx * (j + ny * k)] + a[i - 1 + nx * (j + ny * k)]) -
            cur * c0;
        bot = cur;
        cur = top;
    }
}

static void run_stencil(bool large)
{
    int nx = large ? 256 : 128, ny = nx, nz = large ? 48 : 24;
    Floats a((size_t)nx * ny * nz, unit), o((size_t)nx * ny * nz, zero<float>);
    stencil7<<<dim3(nx / 32, ny / 4), dim3(32, 4)>>>(1.0f / 6, 1.0f / 36, a.d, o.d, nx, ny, nz);
    finish();
    std::vector<float> r(a.size());
    int p = nx * ny;
    for (int k = 1; k < nz - 1; k++) {
        for (int j = 1; j < ny - 1; j++) {
            for (int i = 1; i < nx - 1; i++) {
                int c = i + nx * j + p * k;
                r[c] = (a[c + p] + a[c - p] + a[c + nx] + a[c - nx] + a[c + 1] + a[c - 1]) / 36 -
                       a[c] / 6;
            }
        }
    }
    check("stencil", o.down(), r);
}

__constant__ float4 ck4[512];

// Sums of sines and cosines over samples in constant memory, with the library's exact functions,
// whose slow path a branch guards.
__global__ void mriq_q(int nk, const float *x, const float *y, const float *z, float *qr, float *qi)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float sx = x[i], sy = y[i], sz = z[i], a = qr[i], b = qi[i];
    for (int k = 0; k < nk; k++) {
        float4 v = ck4[k];
        float e = 6.2831853071795864769252867665590058f * (v.x * sx + v.y * sy + v.z * sz);
        a += v.w * cosf(e);
        b += v.w * sinf(e);
    }
    qr[i] = a;
    qi[i] = b;
}

static void run_mriq(bool large)
{
    int n = large ? 8192 : 2048, nk = large ? 128 : 64;
    std::vector<float4> k(nk);
    for (auto &v : k) {
        v = make_float4(fraction() - 0.5f, fraction() - 0.5f, fraction() - 0.5f, fraction());
    }
    CHECKED(cudaMemcpyToSymbol(ck4, k.data(), nk * sizeof(float4)));
    Floats x(n, centered), y(n, centered), z(n, centered), a(n, zero<float>), b(n, zero<float>);
    mriq_q<<<n / 256, 256>>>(nk, x.d, y.d, z.d, a.d, b.d);
    finish();
    std::vector<float> ra(n), rb(n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < nk; j++) {
            double e = 6.283185307179586 * (k[j].x * x[i] + k[j].y * y[i] + k[j].z * z[i]);
            ra[i] += k[j].w * cos(e);
            rb[i] += k[j].w * sin(e);
        }
    }
    check("mriq r", a.down(), ra);
    check("mriq i", b.down(), rb);
}

// Potential of atoms on a slice of a lattice within a cut-off: atoms in constant memory, four
// points a thread, reciprocal square roots under predicates.
__global__ void cutcp_slice(float *grid, int w, float h, float z, int atoms, float inv2)
{
    int xi = blockIdx.x * 64 + threadIdx.x, yi = blockIdx.y * 8 + threadIdx.y;
    float y = h * yi, x = h * xi, e0 = 0, e1 = 0, e2 = 0, e3 = 0, d = 16 * h;
    for (int a = 0; a < atoms; a++) {
        float4 q = ck4[a];
        float dy = y - q.y, dz = z - q.z, s = dy * dy + dz * dz, x0 = x - q.x, x1 = x0 + d,
              x2 = x1 + d, x3 = x2 + d, r, t;
        r = x0 * x0 + s;
        t = 1 - r * inv2;
        if (t > 0) {
            e0 += q.w * rsqrtf(r) * t * t;
        }
        r = x1 * x1 + s;
        t = 1 - r * inv2;
        if (t > 0) {
            e1 += q.w * rsqrtf(r) * t * t;
        }
        r = x2 * x2 + s;
        t = 1 - r * inv2;
        if (t > 0) {
            e2 += q.w * rsqrtf(r) * t * t;
        }
        r = x3 * x3 + s;
        t = 1 - r * inv2;
        if (t > 0) {
            e3 += q.w * rsqrtf(r) * t * t;
        }
    }
    float *o = grid + yi * w + xi;
    o[0] += e0;
    o[16] += e1;
    o[32] += e2;
    o[48] += e3;
}

static void run_cutcp(bool large)
{
    int w = large ? 256 : 128, na = large ? 96 : 64;
    float h = 0.1f, z = 0.53f, c2 = 36;
    std::vector<float4> q(na);
    for (auto &v : q) {
        v = make_float4(fraction() * w * h, fraction() * w * h, 2 + fraction(), fraction() - 0.5f);
    }
    CHECKED(cudaMemcpyToSymbol(ck4, q.data(), na * sizeof(float4)));
    Floats g(w * w, zero<float>);
    cutcp_slice<<<dim3(w / 64, w / 8), dim3(16, 8)>>>(g.d, w, h, z, na, 1 / c2);
    finish();
    std::vector<float> r(w * w);
    for (int i = 0; i < w * w; i++) {
        for (auto &v : q) {
            double x = h * (i % w) - v.x, y = h * (i / w) - v.y, k = z - v.z,
                   d = x * x + y * y + k * k, t = 1 - d / c2;
            if (t > 0) {
                r[i] += v.w / sqrt(d) * t * t;
            }
        }
    }
    check("cutcp", g.down(), r, 1e-2);
}

// Sums of absolute differences of blocks of 4 by 4 over a search window: 61 threads a block,
// numbers of 16 bits, places that are held inside of the image.
__global__ void sad_4x4(unsigned short *sads, const unsigned short *ref, const unsigned short *cur,
                        int w, int h, int range)
{
    int side = 2 * range + 1, bx = blockIdx.x * 4, by = blockIdx.y * 4;
    __shared__ unsigned short c[16];
    if (threadIdx.x < 16) {
        c[threadIdx.x] = cur[(by + threadIdx.x / 4) * w + bx + threadIdx.x % 4];
    }
    __syncthreads();
    for (int p = threadIdx.x; p < side * side; p += 61) {
        int oy = by + p / side - range, ox = bx + p % side - range;
        unsigned s = 0;
        for (int y = 0; y < 4; y++) {
            for (int x = 0; x < 4; x++) {
                int yy = min(max(oy + y, 0), h - 1), xx = min(max(ox + x, 0), w - 1);
                s += abs((int)ref[yy * w + xx] - (int)c[y * 4 + x]);
            }
        }
        sads[(blockIdx.y * gridDim.x + blockIdx.x) * side * side + p] = s;
    }
}

static void run_sad(bool large)
{
    int w = large ? 176 : 88, h = large ? 144 : 72, rg = large ? 8 : 6, sd = 2 * rg + 1,
        nb = w * h / 16;
    auto f = [](size_t) { return (unsigned short)(draw() & 255); };
    Buffer<unsigned short> a(w * h, f), b(w * h, f), o((size_t)nb * sd * sd, zero<unsigned short>);
    sad_4x4<<<dim3(w / 4, h / 4), 61>>>(o.d, a.d, b.d, w, h, rg);
    finish();
    std::vector<unsigned short> r(o.size());
    auto cl = [](int v, int m) { return std::min(std::max(v, 0), m - 1); };
    for (int q = 0; q < nb; q++) {
        for (int p = 0; p < sd * sd; p++) {
            int bx = q % (w / 4) * 4, by = q / (w / 4) * 4;
            unsigned s = 0;
            for (int y = 0; y < 4; y++) {
                for (int x = 0; x < 4; x++) {
                    s += abs((int)a[cl(by + p / sd - rg + y, h) * w + cl(bx + p % sd - rg + x, w)] -
                             (int)b[(by + y) * w + bx + x]);
                }
            }
            r[(size_t)q * sd * sd + p] = s;
        }
    }
    check("sad", o.down(), r, 0);
}

__constant__ float bins[21];

// Angles between points into a histogram: a binary search in constant memory whose lanes part, then
// atomics in shared memory to a column for each warp.
__global__ void tpacf_hist(const float *x, const float *y, const float *z, int n, unsigned *hist)
{
    __shared__ unsigned h[20][4];
    __shared__ float sx[128], sy[128], sz[128];
    int t = threadIdx.x, w = t / 32, i = blockIdx.x * 128 + t;
    if (t < 80) {
        h[t / 4][t % 4] = 0;
    }
    float a = x[i], b = y[i], c = z[i];
    for (int m = 0; m < n; m += 128) {
        __syncthreads();
        sx[t] = x[m + t];
        sy[t] = y[m + t];
        sz[t] = z[m + t];
        __syncthreads();
        for (int k = 0; k < 128; k++) {
            float d = a * sx[k] + b * sy[k] + c * sz[k];
            int lo = 0, hi = 20;
            while (hi > lo + 1) {
                int mid = (lo + hi) / 2;
                if (d >= bins[mid]) {
                    hi = mid;
                } else {
                    lo = mid;
                }
            }
            atomicAdd(&h[lo][w], 1u);
        }
    }
    __syncthreads();
    if (t < 20) {
        hist[blockIdx.x * 20 + t] = h[t][0] + h[t][1] + h[t][2] + h[t][3];
    }
}

static void run_tpacf(bool large)
{
    int n = large ? 512 : 128, nb = n / 128;
    std::vector<float> X(n), Y(n), Z(n);
    float bn[21];
    for (int i = 0; i < n; i++) {
        float a = fraction() - 0.5f, b = fraction() - 0.5f, c = fraction() + 0.1f,
              l = sqrtf(a * a + b * b + c * c);
        X[i] = a / l;
        Y[i] = b / l;
        Z[i] = c / l;
    }
    // The bins' borders fall.
    for (int i = 0; i < 21; i++) {
        bn[i] = cosf(powf(10, -1.5f + i * 0.1f));
    }
    bn[0] = 2;
    CHECKED(cudaMemcpyToSymbol(bins, bn, sizeof bn));
    Floats x(X), y(Y), z(Z);
    Buffer<unsigned> h(nb * 20, zero<unsigned>);
    tpacf_hist<<<nb, 128>>>(x.d, y.d, z.d, n, h.d);
    finish();
    auto g = h.down();
    std::vector<double> gs(20), rs(20);
    for (int i = 0; i < nb * 20; i++) {
        gs[i % 20] += g[i];
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            float d = X[i] * X[j] + Y[i] * Y[j] + Z[i] * Z[j];
            int lo = 0, hi = 20;
            while (hi > lo + 1) {
                int m = (lo + hi) / 2;
                if (d >= bn[m]) {
                    hi = m;
                } else {
                    lo = m;
                }
            }
            rs[lo]++;
        }
    }
    check("tpacf", gs, rs, 1e-3);
}

HOST_AND_DEVICE void lbm_body(const float *src, float *dst, const unsigned char *flag, int i,
                              int nx, int nxy, int n)
{
    constexpr int cx[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1},
                  cy[19] = {0, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1, 1, 1, -1, -1, 0, 0, 0, 0},
                  cz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1};
    constexpr int op[19] = {0, 2, 1, 4, 3, 6, 5, 10, 9, 8, 7, 14, 13, 12, 11, 18, 17, 16, 15};
    float f[19];
#pragma unroll
    for (int k = 0; k < 19; k++) {
        f[k] = src[k * n + i];
    }
    if (flag[i] & 1) {
#pragma unroll
        for (int k = 0; k < 19; k++) {
            dst[op[k] * n + i + cx[op[k]] + cy[op[k]] * nx + cz[op[k]] * nxy] = f[k];
        }
        return;
    }
    float rho = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
    for (int k = 0; k < 19; k++) {
        rho += f[k];
        ux += cx[k] * f[k];
        uy += cy[k] * f[k];
        uz += cz[k] * f[k];
    }
    ux /= rho;
    uy /= rho;
    uz /= rho;
    if (flag[i] & 2) {
        ux = 0.005f;
        uy = 0.002f;
        uz = 0;
    }
    float u2 = 1.5f * (ux * ux + uy * uy + uz * uz) - 1;
#pragma unroll
    for (int k = 0; k < 19; k++) {
        float w = k == 0  ? 1.0f / 3
                  : k < 7 ? 1.0f / 18
                          : 1.0f / 36,
              c = cx[k] * ux + cy[k] * uy + cz[k] * uz;
        dst[k * n + i + cx[k] + cy[k] * nx + cz[k] * nxy] =
            (1 - 1.95f) * f[k] + 1.95f * w * rho * (c * (4.5f * c + 3) - u2);
    }
}

// One step of a lattice of Boltzmann with 19 velocities: all are read at their place and written to
// the neighbours', with obstacles by a flag.
__global__ void lbm_step(const float *src, float *dst, const unsigned char *flag, int nx, int nxy,
                         int n)
{
    int i = threadIdx.x + 1 + nx * (blockIdx.x + 1) + nxy * (blockIdx.y + 1);
    lbm_body(src, dst, flag, i, nx, nxy, n);
}

static void run_lbm(bool large)
{
    int X = 120, Y = large ? 120 : 40, Z = large ? 10 : 6, nx = X + 8, nxy = nx * (Y + 2),
        n = nxy * (Z + 2);
    Floats s((size_t)19 * n, [](size_t) { return 0.05f + 0.01f * fraction(); }),
        d((size_t)19 * n, zero<float>);
    Buffer<unsigned char> fl(n, [](size_t) {
        return (unsigned char)(draw() % 20 == 0 ? 1 : draw() % 20 == 0 ? 2 : 0);
    });
    lbm_step<<<dim3(Y, Z), X>>>(s.d, d.d, fl.d, nx, nxy, n);
    finish();
    std::vector<float> r((size_t)19 * n);
    for (int z = 0; z < Z; z++) {
        for (int y = 0; y < Y; y++) {
            for (int x = 0; x < X; x++) {
                lbm_body(s.h.data(), r.data(), fl.h.data(), x + 1 + nx * (y + 1) + nxy * (z + 1),
                         nx, nxy, n);
            }
        }
    }
    check("lbm", d.down(), r);
}

// A matrix product with tiles by registers: 128 threads with 16 columns of a row each, and only one
// operand in shared memory.
__global__ void sgemm_tile(const float *A, int lda, const float *B, int ldb, float *C, int ldc,
                           int k, float alpha, float beta)
{
    float c[16];
    for (int i = 0; i < 16; i++) {
        c[i] = 0;
    }
    int mid = threadIdx.y * blockDim.x + threadIdx.x, m = blockIdx.x * 128 + mid,
        n = blockIdx.y * 16 + threadIdx.x;
    __shared__ float bs[8][16];
    for (int i = 0; i < k; i += 8) {
        bs[threadIdx.y][threadIdx.x] = B[n + (i + threadIdx.y) * ldb];
        __syncthreads();
        for (int j = 0; j < 8; j++) {
            float a = A[m + (i + j) * lda];
            for (int l = 0; l < 16; l++) {
                c[l] += a * bs[j][l];
            }
        }
        __syncthreads();
    }
    int t = ldc * blockIdx.y * 16 + m;
    for (int i = 0; i < 16; i++) {
        C[t + i * ldc] = C[t + i * ldc] * beta + alpha * c[i];
    }
}

static void run_sgemm(bool large)
{
    int m = large ? 512 : 256, n = large ? 512 : 128, k = large ? 256 : 128;
    Floats a(m * k, unit), b(n * k, unit), c(m * n, unit);
    sgemm_tile<<<dim3(m / 128, n / 16), dim3(16, 8)>>>(a.d, m, b.d, n, c.d, m, k, 1.0f, 0.5f);
    finish();
    std::vector<float> r = c.h;
    for (auto &x : r) {
        x *= 0.5f;
    }
    for (int j = 0; j < n; j++) {
        for (int q = 0; q < k; q++) {
            for (int i = 0; i < m; i++) {
                r[i + j * m] += a[i + q * m] * b[j + q * n];
            }
        }
    }
    check("sgemm", c.down(), r);
}

static const Case parboil_cases[] = {
    {"stencil", run_stencil}, {"mriq", run_mriq}, {"cutcp", run_cutcp}, {"sad", run_sad},
    {"tpacf", run_tpacf},     {"lbm", run_lbm},   {"sgemm", run_sgemm}, {nullptr, nullptr},
};
