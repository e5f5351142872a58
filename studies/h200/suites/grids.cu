// grids.cu: Grids, dynamic programs and eliminations in the style of Rodinia.
#include "host.h"

// Two time steps of heat in a chip. Tiles of 16 by 16 in shared memory overlap by a border as wide
// as the steps that are taken in one launch; threads of the border drop out step after step.
__global__ void hotspot_pyramid(int steps, const float *power, const float *in, float *out,
                                int cols, int rows, int border, float stepdiv, float rx, float ry,
                                float rz)
{
    __shared__ float t_on[16][16], p_on[16][16], t_next[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, inner = 16 - 2 * border;
    int x0 = inner * blockIdx.x - border, y0 = inner * blockIdx.y - border;
    int x = x0 + tx, y = y0 + ty;
    bool inside = x >= 0 && x < cols && y >= 0 && y < rows;
    if (inside) {
        t_on[ty][tx] = in[y * cols + x];
        p_on[ty][tx] = power[y * cols + x];
    }
    __syncthreads();
    int xlo = x0 < 0 ? -x0 : 0, xhi = x0 + 15 > cols - 1 ? 15 - (x0 + 15 - cols + 1) : 15;
    int ylo = y0 < 0 ? -y0 : 0, yhi = y0 + 15 > rows - 1 ? 15 - (y0 + 15 - rows + 1) : 15;
    int n = ty - 1 < ylo ? ylo : ty - 1, s = ty + 1 > yhi ? yhi : ty + 1;
    int w = tx - 1 < xlo ? xlo : tx - 1, e = tx + 1 > xhi ? xhi : tx + 1;
    bool did = false;
    for (int i = 0; i < steps; i++) {
        did = false;
        if (tx >= i + 1 && tx <= 14 - i && ty >= i + 1 && ty <= 14 - i && inside) {
            did = true;
            float c = t_on[ty][tx];
            t_next[ty][tx] =
                c + stepdiv * (p_on[ty][tx] + (t_on[s][tx] + t_on[n][tx] - 2.0f * c) * ry +
                               (t_on[ty][e] + t_on[ty][w] - 2.0f * c) * rx + (80.0f - c) * rz);
        }
        __syncthreads();
        if (i == steps - 1) {
            break;
        }
        if (did) {
            t_on[ty][tx] = t_next[ty][tx];
        }
        __syncthreads();
    }
    if (did) {
        out[y * cols + x] = t_next[ty][tx];
    }
}

static void run_hotspot(bool large)
{
    int n = large ? 512 : 256, steps = 2, b = 2;
    Floats p(n * n, [](size_t) { return fraction() * 0.01f; }),
        a(n * n, [](size_t) { return 320 + 20 * fraction(); }), o(n * n, zero<float>);
    dim3 g(divide_up(n, 16 - 2 * b), divide_up(n, 16 - 2 * b)), t(16, 16);
    hotspot_pyramid<<<g, t>>>(steps, p.d, a.d, o.d, n, n, b, 0.3f, 0.1f, 0.1f, 0.0001f);
    finish();
    std::vector<float> r = a.h, q(n * n);
    for (int s = 0; s < steps; s++) {
        for (int y = 0; y < n; y++) {
            for (int x = 0; x < n; x++) {
                float c = r[y * n + x], N = r[std::max(y - 1, 0) * n + x],
                      S = r[std::min(y + 1, n - 1) * n + x], W = r[y * n + std::max(x - 1, 0)],
                      E = r[y * n + std::min(x + 1, n - 1)];
                q[y * n + x] = c + 0.3f * (p[y * n + x] + (S + N - 2 * c) * 0.1f +
                                           (E + W - 2 * c) * 0.1f + (80 - c) * 0.0001f);
            }
        }
        std::swap(r, q);
    }
    check("hotspot", o.down(), r);
}

// Derivatives and the coefficient of a diffusion that spares edges. Each of four neighbours has a
// tile of its own in shared memory, and tests of the block's place choose where a border's values
// come from.
__global__ void srad_coefficient(float *dE, float *dW, float *dN, float *dS, const float *J,
                                 float *C, int cols, int rows, float q0)
{
    __shared__ float mid[16][16], no[16][16], so[16][16], ea[16][16], we[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x, by = blockIdx.y;
    int i = cols * 16 * by + 16 * bx + cols * ty + tx;
    int in = by == 0 ? 16 * bx + tx : cols * 16 * by + 16 * bx + tx - cols;
    int is = by == gridDim.y - 1 ? cols * (rows - 1) + 16 * bx + tx
                                 : cols * 16 * (by + 1) + 16 * bx + tx;
    int iw = bx == 0 ? cols * 16 * by + cols * ty : cols * 16 * by + 16 * bx + cols * ty - 1;
    int ie = bx == gridDim.x - 1 ? cols * 16 * by + cols * ty + cols - 1
                                 : cols * 16 * by + 16 * (bx + 1) + cols * ty;
    no[ty][tx] = J[in];
    so[ty][tx] = J[is];
    we[ty][tx] = J[iw];
    ea[ty][tx] = J[ie];
    __syncthreads();
    mid[ty][tx] = J[i];
    __syncthreads();
    float c = mid[ty][tx];
    float n = (ty == 0 ? no[ty][tx] : mid[ty - 1][tx]) - c,
          s = (ty == 15 ? so[ty][tx] : mid[ty + 1][tx]) - c;
    float w = (tx == 0 ? we[ty][tx] : mid[ty][tx - 1]) - c,
          e = (tx == 15 ? ea[ty][tx] : mid[ty][tx + 1]) - c;
    float g2 = (n * n + s * s + w * w + e * e) / (c * c), l = (n + s + w + e) / c;
    float num = 0.5f * g2 - (1.0f / 16.0f) * (l * l), den = 1 + 0.25f * l;
    float q = num / (den * den);
    den = (q - q0) / (q0 * (1 + q0));
    float k = 1.0f / (1.0f + den);
    C[i] = k < 0 ? 0 : k > 1 ? 1 : k;
    dE[i] = e;
    dW[i] = w;
    dS[i] = s;
    dN[i] = n;
}

static void run_srad(bool large)
{
    int n = large ? 768 : 256;
    Floats J(n * n, [](size_t) { return expf(fraction()); }), c(n * n, zero<float>),
        e(n * n, zero<float>), w(n * n, zero<float>), no(n * n, zero<float>), s(n * n, zero<float>);
    srad_coefficient<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(e.d, w.d, no.d, s.d, J.d, c.d, n, n,
                                                             0.05f);
    finish();
    std::vector<float> r(n * n), rn(n * n);
    for (int y = 0; y < n; y++) {
        for (int x = 0; x < n; x++) {
            float k = J[y * n + x], N = J[std::max(y - 1, 0) * n + x] - k,
                  S = J[std::min(y + 1, n - 1) * n + x] - k, W = J[y * n + std::max(x - 1, 0)] - k,
                  E = J[y * n + std::min(x + 1, n - 1)] - k;
            float g2 = (N * N + S * S + W * W + E * E) / (k * k), l = (N + S + W + E) / k,
                  num = 0.5f * g2 - l * l / 16, den = 1 + 0.25f * l, q = num / (den * den);
            den = (q - 0.05f) / (0.05f * 1.05f);
            r[y * n + x] = std::min(1.0f, std::max(0.0f, 1 / (1 + den)));
            rn[y * n + x] = N;
        }
    }
    check("srad N", no.down(), rn);
    auto g = c.down();
    int wrong = 0;
    for (int i = 0; i < n * n; i++) {
        wrong += !(fabsf(g[i] - r[i]) < 0.01f);
    }
    checksum("srad c", g);
    count_wrong("srad c", wrong, 4);
}

// Blocks of 16 threads fill tiles on one anti-diagonal of an alignment's matrix: half a warp, a
// barrier after each of 31 wavefronts, columns that are read at a stride of a row.
__global__ void nw_diagonal(const int *ref, int *m, int cols, int penalty, int tiles)
{
    __shared__ int t[17][17], rf[16][16];
    int tx = threadIdx.x, bx = blockIdx.x, by = tiles - 1 - bx;
    int base = cols * 16 * by + 16 * bx;
    int idx = base + tx + cols + 1, idxn = base + tx + 1, idxw = base + cols, idxnw = base;
    if (tx == 0) {
        t[0][0] = m[idxnw];
    }
    for (int i = 0; i < 16; i++) {
        rf[i][tx] = ref[idx + cols * i];
    }
    __syncthreads();
    t[tx + 1][0] = m[idxw + cols * tx];
    __syncthreads();
    t[0][tx + 1] = m[idxn];
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        if (tx <= k) {
            int x = tx + 1, y = k - tx + 1;
            t[y][x] = max(t[y - 1][x - 1] + rf[y - 1][x - 1],
                          max(t[y][x - 1] - penalty, t[y - 1][x] - penalty));
        }
        __syncthreads();
    }
    for (int k = 14; k >= 0; k--) {
        if (tx <= k) {
            int x = tx + 16 - k, y = 16 - tx;
            t[y][x] = max(t[y - 1][x - 1] + rf[y - 1][x - 1],
                          max(t[y][x - 1] - penalty, t[y - 1][x] - penalty));
        }
        __syncthreads();
    }
    for (int i = 0; i < 16; i++) {
        m[idx + i * cols] = t[i + 1][tx + 1];
    }
}

static void run_nw(bool large)
{
    int n = large ? 4096 : 512, c = n + 1, tiles = n / 16;
    Ints ref((size_t)c * c, [](size_t) { return int(draw() % 15) - 5; }),
        m((size_t)c * c, [](size_t) { return int(draw() % 200) - 100; });
    nw_diagonal<<<tiles, 16>>>(ref.d, m.d, c, 10, tiles);
    finish();
    std::vector<int> r = m.h;
    // No tile of one anti-diagonal reads what another one writes.
    for (int bx = 0; bx < tiles; bx++) {
        int by = tiles - 1 - bx;
        for (int y = 1; y <= 16; y++) {
            for (int x = 1; x <= 16; x++) {
                size_t i = (size_t)(by * 16 + y) * c + bx * 16 + x;
                r[i] = std::max(r[i - c - 1] + ref[i], std::max(r[i - 1] - 10, r[i - c] - 10));
            }
        }
    }
    check("nw", m.down(), r, 0);
}

template <int B> __device__ void lud_diag_body(float *m, int n, int off)
{
    __shared__ float s[B][B];
    int t = threadIdx.x, at = off * n + off;
    for (int i = 0; i < B; i++) {
        s[i][t] = m[at + t];
        at += n;
    }
    __syncthreads();
    for (int i = 0; i < B - 1; i++) {
        if (t > i) {
            for (int j = 0; j < i; j++) {
                s[t][i] -= s[t][j] * s[j][i];
            }
            s[t][i] /= s[i][i];
        }
        __syncthreads();
        if (t > i) {
            for (int j = 0; j < i + 1; j++) {
                s[i + 1][t] -= s[i + 1][j] * s[j][t];
            }
        }
        __syncthreads();
    }
    at = (off + 1) * n + off;
    for (int i = 1; i < B; i++) {
        m[at + t] = s[i][t];
        at += n;
    }
}

// LU decomposition of a diagonal block by one CTA: a triangle of loops over shared memory, whose
// divergence and chain of dependent steps nothing hides.
__global__ void lud_diagonal16(float *m, int n, int off)
{
    lud_diag_body<16>(m, n, off);
}

__global__ void lud_diagonal64(float *m, int n, int off)
{
    lud_diag_body<64>(m, n, off);
}

static float dominant(size_t i, int n)
{
    return fraction() + ((int)(i / n) == (int)(i % n) ? n * 0.2f : 0);
}

static void run_lud_diagonal(bool large)
{
    int n = 256, b = large ? 64 : 16, off = 64;
    Floats m(n * n, [=](size_t i) { return dominant(i, n); });
    if (large) {
        lud_diagonal64<<<1, 64>>>(m.d, n, off);
    } else {
        lud_diagonal16<<<1, 16>>>(m.d, n, off);
    }
    finish();
    std::vector<float> r = m.h;
    auto A = [&](int i, int j) -> float & { return r[(off + i) * n + off + j]; };
    for (int k = 0; k < b; k++) {
        for (int i = k + 1; i < b; i++) {
            A(i, k) /= A(k, k);
            for (int j = k + 1; j < b; j++) {
                A(i, j) -= A(i, k) * A(k, j);
            }
        }
    }
    check("lud_diagonal", m.down(), r);
}

// The blocks right of and below the diagonal block: half of the warp solves for rows, the other
// half for columns.
__global__ void lud_perimeter16(float *m, int n, int off)
{
    __shared__ float dia[16][16], row[16][16], col[16][16];
    int i, at, t;
    if (threadIdx.x < 16) {
        t = threadIdx.x;
        at = off * n + off;
        for (i = 0; i < 8; i++) {
            dia[i][t] = m[at + t];
            at += n;
        }
        at = off * n + off;
        for (i = 0; i < 16; i++) {
            row[i][t] = m[at + (blockIdx.x + 1) * 16 + t];
            at += n;
        }
    } else {
        t = threadIdx.x - 16;
        at = (off + 8) * n + off;
        for (i = 8; i < 16; i++) {
            dia[i][t] = m[at + t];
            at += n;
        }
        at = (off + (blockIdx.x + 1) * 16) * n + off;
        for (i = 0; i < 16; i++) {
            col[i][t] = m[at + t];
            at += n;
        }
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        t = threadIdx.x;
        for (i = 1; i < 16; i++) {
            for (int j = 0; j < i; j++) {
                row[i][t] -= dia[i][j] * row[j][t];
            }
        }
    } else {
        t = threadIdx.x - 16;
        for (i = 0; i < 16; i++) {
            for (int j = 0; j < i; j++) {
                col[t][i] -= col[t][j] * dia[j][i];
            }
            col[t][i] /= dia[i][i];
        }
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        t = threadIdx.x;
        at = (off + 1) * n + off;
        for (i = 1; i < 16; i++) {
            m[at + (blockIdx.x + 1) * 16 + t] = row[i][t];
            at += n;
        }
    } else {
        t = threadIdx.x - 16;
        at = (off + (blockIdx.x + 1) * 16) * n + off;
        for (i = 0; i < 16; i++) {
            m[at + t] = col[i][t];
            at += n;
        }
    }
}

static void run_lud_perimeter(bool large)
{
    int n = large ? 4096 : 512, nb = n / 16 - 1;
    Floats m((size_t)n * n, [=](size_t i) { return dominant(i, n); });
    lud_perimeter16<<<nb, 32>>>(m.d, n, 0);
    finish();
    std::vector<float> r = m.h;
    for (int x = 16; x < n; x++) {
        for (int i = 1; i < 16; i++) {
            for (int j = 0; j < i; j++) {
                r[i * n + x] -= r[i * n + j] * r[j * n + x];
            }
        }
    }
    for (int y = 16; y < n; y++) {
        for (int i = 0; i < 16; i++) {
            for (int j = 0; j < i; j++) {
                r[y * n + i] -= r[y * n + j] * r[j * n + i];
            }
            r[y * n + i] /= r[i * n + i];
        }
    }
    check("lud_perimeter", m.down(), r);
}

// The remaining blocks: one product of two tiles that are read once, unrolled wholly.
__global__ void lud_internal16(float *m, int n, int off)
{
    __shared__ float row[16][16], col[16][16];
    int gr = off + (blockIdx.y + 1) * 16, gc = off + (blockIdx.x + 1) * 16;
    row[threadIdx.y][threadIdx.x] = m[(off + threadIdx.y) * n + gc + threadIdx.x];
    col[threadIdx.y][threadIdx.x] = m[(gr + threadIdx.y) * n + off + threadIdx.x];
    __syncthreads();
    float s = 0;
    for (int i = 0; i < 16; i++) {
        s += col[threadIdx.y][i] * row[i][threadIdx.x];
    }
    m[(gr + threadIdx.y) * n + gc + threadIdx.x] -= s;
}

static void run_lud_internal(bool large)
{
    int n = large ? 1024 : 256, nb = n / 16 - 1;
    Floats m((size_t)n * n, [=](size_t i) { return dominant(i, n); });
    lud_internal16<<<dim3(nb, nb), dim3(16, 16)>>>(m.d, n, 0);
    finish();
    std::vector<float> r = m.h;
    for (int y = 16; y < n; y++) {
        for (int x = 16; x < n; x++) {
            float s = 0;
            for (int k = 0; k < 16; k++) {
                s += m[y * n + k] * m[k * n + x];
            }
            r[y * n + x] -= s;
        }
    }
    check("lud_internal", m.down(), r);
}

// Twenty rows of a dynamic program in one launch: a ghost zone at both ends of a block that shrinks
// by one a row, two barriers a row.
__global__ void pathfinder_rows(int iters, const int *wall, const int *src, int *dst, int cols,
                                int start, int border)
{
    __shared__ int prev[256], res[256];
    int tx = threadIdx.x, inner = 256 - iters * 2, x0 = inner * blockIdx.x - border, x = x0 + tx;
    int lo = x0 < 0 ? -x0 : 0, hi = x0 + 255 > cols - 1 ? 255 - (x0 + 255 - cols + 1) : 255;
    int w = tx - 1 < lo ? lo : tx - 1, e = tx + 1 > hi ? hi : tx + 1;
    bool valid = tx >= lo && tx <= hi, did = false;
    if (x >= 0 && x < cols) {
        prev[tx] = src[x];
    }
    __syncthreads();
    for (int i = 0; i < iters; i++) {
        did = false;
        if (tx >= i + 1 && tx <= 254 - i && valid) {
            did = true;
            int s = min(prev[w], min(prev[tx], prev[e]));
            res[tx] = s + wall[cols * (start + i) + x];
        }
        __syncthreads();
        if (i == iters - 1) {
            break;
        }
        if (did) {
            prev[tx] = res[tx];
        }
        __syncthreads();
    }
    if (did) {
        dst[x] = res[tx];
    }
}

static void run_pathfinder(bool large)
{
    int cols = large ? 100000 : 10000, it = 20;
    Ints wall((size_t)cols * it, [](size_t) { return int(draw() % 10); }),
        s(cols, [](size_t) { return int(draw() % 10); }), d(cols, zero<int>);
    pathfinder_rows<<<divide_up(cols, 256 - 2 * it), 256>>>(it, wall.d, s.d, d.d, cols, 0, it);
    finish();
    std::vector<int> r = s.h, q(cols);
    for (int i = 0; i < it; i++) {
        for (int x = 0; x < cols; x++) {
            q[x] = wall[(size_t)cols * i + x] +
                   std::min(r[x], std::min(r[std::max(x - 1, 0)], r[std::min(x + 1, cols - 1)]));
        }
        std::swap(r, q);
    }
    check("pathfinder", d.down(), r, 0);
}

// Multipliers of one column of a Gaussian elimination: a thread a row, each access a line of its
// own.
__global__ void gauss_fan1(float *m, float *a, int n, int t)
{
    if (threadIdx.x + blockIdx.x * blockDim.x >= n - 1 - t) {
        return;
    }
    *(m + n * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t) =
        *(a + n * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t) / *(a + n * t + t);
}

// The elimination's update of the matrix in blocks of 4 by 4 threads, half a warp, whose neighbours
// go down a column.
__global__ void gauss_fan2(float *m, float *a, float *b, int n, int j1, int t)
{
    if (threadIdx.x + blockIdx.x * blockDim.x >= n - 1 - t) {
        return;
    }
    if (threadIdx.y + blockIdx.y * blockDim.y >= n - t) {
        return;
    }
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    a[n * (x + 1 + t) + (y + t)] -= m[n * (x + 1 + t) + t] * a[n * t + (y + t)];
    if (y == 0) {
        b[x + 1 + t] -= m[n * (x + 1 + t) + (y + t)] * b[t];
    }
}

static void run_fan1(bool large)
{
    int n = large ? 4096 : 1024, t = 3;
    Floats a((size_t)n * n, [=](size_t i) { return dominant(i, n); }),
        m((size_t)n * n, zero<float>);
    gauss_fan1<<<divide_up(n, 512), 512>>>(m.d, a.d, n, t);
    finish();
    std::vector<float> r((size_t)n * n);
    for (int i = t + 1; i < n; i++) {
        r[(size_t)i * n + t] = a[(size_t)i * n + t] / a[(size_t)t * n + t];
    }
    check("fan1", m.down(), r);
}

static void run_fan2(bool large)
{
    int n = large ? 768 : 256, t = 1;
    Floats a(n * n, [=](size_t i) { return dominant(i, n); }), m(n * n, unit), b(n, unit);
    gauss_fan2<<<dim3(divide_up(n, 4), divide_up(n, 4)), dim3(4, 4)>>>(m.d, a.d, b.d, n, n, t);
    finish();
    auto r = a.h;
    for (int i = t + 1; i < n; i++) {
        for (int j = t; j < n; j++) {
            r[i * n + j] -= m[i * n + t] * a[t * n + j];
        }
    }
    check("fan2", a.down(), r);
}

static const Case grid_cases[] = {
    {"hotspot", run_hotspot},
    {"srad", run_srad},
    {"nw", run_nw},
    {"lud_diagonal", run_lud_diagonal},
    {"lud_perimeter", run_lud_perimeter},
    {"lud_internal", run_lud_internal},
    {"pathfinder", run_pathfinder},
    {"fan1", run_fan1},
    {"fan2", run_fan2},
    {nullptr, nullptr},
};
