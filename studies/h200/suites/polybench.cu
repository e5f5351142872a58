// polybench.cu: Linear algebra in the style of PolyBench on GPUs: a textbook's loops.
#include "host.h"

// A matrix times a vector, a thread a row: neighbours read a row apart, and the sum is kept in
// global memory at every step.
__global__ void atax_rows(int nx, int ny, float *A, float *x, float *tmp)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nx) {
        tmp[i] = 0;
        for (int j = 0; j < ny; j++) {
            tmp[i] += A[i * ny + j] * x[j];
        }
    }
}

static void run_atax(bool large)
{
    int n = large ? 1536 : 384;
    Floats A(n * n, unit), x(n, unit), t(n, zero<float>);
    atax_rows<<<divide_up(n, 256), 256>>>(n, n, A.d, x.d, t.d);
    finish();
    std::vector<float> r(n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            r[i] += A[i * n + j] * x[j];
        }
    }
    check("atax", t.down(), r);
}

// A transposed matrix times a vector, a thread a column: neighbours read neighbours, with the sum
// in global memory, too.
__global__ void bicg_columns(int nx, int ny, float *A, float *r, float *s)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < ny) {
        s[j] = 0.0f;
        for (int i = 0; i < nx; i++) {
            s[j] += r[i] * A[i * ny + j];
        }
    }
}

static void run_bicg(bool large)
{
    int n = large ? 512 : 128;
    Floats A(n * n, unit), x(n, unit), s(n, zero<float>);
    bicg_columns<<<divide_up(n, 256), 256>>>(n, n, A.d, x.d, s.d);
    finish();
    std::vector<float> r(n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            r[j] += A[i * n + j] * x[i];
        }
    }
    check("bicg", s.down(), r);
}

// A matrix times a vector with restrict pointers: the sum stays in a register, rows are still read
// a row apart.
__global__ void mvt_rows(int n, const float *__restrict__ a, float *__restrict__ x,
                         const float *__restrict__ y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float s = x[i];
        for (int j = 0; j < n; j++) {
            s += a[i * n + j] * y[j];
        }
        x[i] = s;
    }
}

static void run_mvt(bool large)
{
    int n = large ? 1024 : 256;
    Floats A(n * n, unit), y(n, unit), x(n, unit);
    mvt_rows<<<divide_up(n, 256), 256>>>(n, A.d, x.d, y.d);
    finish();
    auto r = x.h;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            r[i] += A[i * n + j] * y[j];
        }
    }
    check("mvt", x.down(), r);
}

// Two outer products that are added to a matrix: a stream in blocks of 32 by 8.
__global__ void gemver_update(int n, float *a, float *v1, float *v2, float *u1, float *u2)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) {
        a[i * n + j] += u1[i] * v1[j] + u2[i] * v2[j];
    }
}

static void run_gemver(bool large)
{
    int n = large ? 1536 : 512;
    Floats A(n * n, unit), a(n, unit), b(n, unit), c(n, unit), d(n, unit);
    gemver_update<<<dim3(divide_up(n, 32), divide_up(n, 8)), dim3(32, 8)>>>(n, A.d, a.d, b.d, c.d,
                                                                            d.d);
    finish();
    auto r = A.h;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            r[i * n + j] += c[i] * a[j] + d[i] * b[j];
        }
    }
    check("gemver", A.down(), r);
}

// A symmetric product without a tile whose sum is read and written in global memory at every step.
__global__ void syrk_naive(int ni, int nj, float alpha, float beta, float *a, float *c)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < ni) {
        c[i * ni + j] *= beta;
        for (int k = 0; k < nj; k++) {
            c[i * ni + j] += alpha * a[i * nj + k] * a[j * nj + k];
        }
    }
}

static void run_syrk(bool large)
{
    int n = large ? 192 : 96;
    Floats a(n * n, unit), c(n * n, unit);
    syrk_naive<<<dim3(divide_up(n, 32), divide_up(n, 8)), dim3(32, 8)>>>(n, n, 1.5f, 0.5f, a.d,
                                                                         c.d);
    finish();
    auto r = c.h;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            r[i * n + j] *= 0.5f;
            for (int k = 0; k < n; k++) {
                r[i * n + j] += 1.5f * a[i * n + k] * a[j * n + k];
            }
        }
    }
    check("syrk", c.down(), r);
}

// The first of two matrix products: no tile, the sum in a register; one operand is read by all
// lanes at one place.
__global__ void mm2_first(int ni, int nj, int nk, float alpha, float *tmp,
                          const float *__restrict__ A, const float *__restrict__ B)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < nj) {
        float s = 0;
        for (int k = 0; k < nk; k++) {
            s += alpha * A[i * nk + k] * B[k * nj + j];
        }
        tmp[i * nj + j] = s;
    }
}

static void run_mm2(bool large)
{
    int n = large ? 256 : 128;
    Floats a(n * n, unit), b(n * n, unit), c(n * n, zero<float>);
    mm2_first<<<dim3(divide_up(n, 32), divide_up(n, 8)), dim3(32, 8)>>>(n, n, n, 1.5f, c.d, a.d,
                                                                        b.d);
    finish();
    std::vector<float> r(n * n);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            for (int j = 0; j < n; j++) {
                r[i * n + j] += 1.5f * a[i * n + k] * b[k * n + j];
            }
        }
    }
    check("mm2", c.down(), r);
}

// Correlations of all pairs of columns: a thread a column, loops of unequal length, sums in global
// memory, few threads in all.
__global__ void correlation_pairs(int m, int n, float *sym, float *data)
{
    int j1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (j1 < m - 1) {
        sym[j1 * m + j1] = 1.0f;
        for (int j2 = j1 + 1; j2 < m; j2++) {
            sym[j1 * m + j2] = 0.0f;
            for (int i = 0; i < n; i++) {
                sym[j1 * m + j2] += data[i * m + j1] * data[i * m + j2];
            }
            sym[j2 * m + j1] = sym[j1 * m + j2];
        }
    }
}

static void run_correlation(bool large)
{
    int m = large ? 64 : 32, n = large ? 32 : 16;
    Floats d(m * n, centered), s(m * m, zero<float>);
    correlation_pairs<<<divide_up(m, 256), 256>>>(m, n, s.d, d.d);
    finish();
    std::vector<float> r(m * m);
    for (int a = 0; a < m - 1; a++) {
        r[a * m + a] = 1;
        for (int b = a + 1; b < m; b++) {
            float t = 0;
            for (int i = 0; i < n; i++) {
                t += d[i * m + a] * d[i * m + b];
            }
            r[a * m + b] = r[b * m + a] = t;
        }
    }
    check("correlation", s.down(), r);
}

// One column's projection taken off the others: two loops down columns, few threads, each waiting
// for its own load.
__global__ void gramschmidt_project(int ni, int nj, float *a, float *r, float *q, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j > k && j < nj) {
        r[k * nj + j] = 0.0f;
        for (int i = 0; i < ni; i++) {
            r[k * nj + j] += q[i * nj + k] * a[i * nj + j];
        }
        for (int i = 0; i < ni; i++) {
            a[i * nj + j] -= q[i * nj + k] * r[k * nj + j];
        }
    }
}

static void run_gramschmidt(bool large)
{
    int n = large ? 384 : 96, k = 2;
    Floats a(n * n, unit), q(n * n, centered), r(n * n, zero<float>);
    gramschmidt_project<<<divide_up(n, 256), 256>>>(n, n, a.d, r.d, q.d, k);
    finish();
    std::vector<float> o = a.h;
    for (int j = k + 1; j < n; j++) {
        float s = 0;
        for (int i = 0; i < n; i++) {
            s += q[i * n + k] * a[i * n + j];
        }
        for (int i = 0; i < n; i++) {
            o[i * n + j] -= q[i * n + k] * s;
        }
    }
    check("gramschmidt", a.down(), o);
}

// The magnetic field's step of a finite-difference method: five reads at places that do not lie on
// sectors' borders.
__global__ void fdtd_step3(int nx, int ny, float *ex, float *ey, float *hz)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < nx && j < ny) {
        hz[i * ny + j] -= 0.7f * (ex[i * (ny + 1) + j + 1] - ex[i * (ny + 1) + j] +
                                  ey[(i + 1) * ny + j] - ey[i * ny + j]);
    }
}

static void run_fdtd(bool large)
{
    int n = large ? 1536 : 500;
    Floats x(n * (n + 1), unit), y((n + 1) * n, unit), h(n * n, unit);
    fdtd_step3<<<dim3(divide_up(n, 32), divide_up(n, 8)), dim3(32, 8)>>>(n, n, x.d, y.d, h.d);
    finish();
    auto r = h.h;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            r[i * n + j] -= 0.7f * (x[i * (n + 1) + j + 1] - x[i * (n + 1) + j] +
                                    y[(i + 1) * n + j] - y[i * n + j]);
        }
    }
    check("fdtd", h.down(), r);
}

static const Case polybench_cases[] = {
    {"atax", run_atax},
    {"bicg", run_bicg},
    {"mvt", run_mvt},
    {"gemver", run_gemver},
    {"syrk", run_syrk},
    {"mm2", run_mm2},
    {"correlation", run_correlation},
    {"gramschmidt", run_gramschmidt},
    {"fdtd", run_fdtd},
    {nullptr, nullptr},
};
