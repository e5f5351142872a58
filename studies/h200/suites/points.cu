// points.cu: Points, particles, graphs and networks in the style of Rodinia.
#include "host.h"

__constant__ float kc[5 * 34];

// The nearest of five centers for each point: features are stored one after another, so that
// neighbours read neighbours, and centers lie in constant memory.
__global__ void kmeans_point(const float *f, int nf, int n, int k, int *member)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) {
        return;
    }
    int best = -1;
    float least = 3.4e38f;
    for (int c = 0; c < k; c++) {
        float d = 0;
        int base = c * nf;
        for (int j = 0; j < nf; j++) {
            float x = f[p + j * n] - kc[base + j];
            d += x * x;
        }
        if (d < least) {
            least = d;
            best = c;
        }
    }
    member[p] = best;
}

static void run_kmeans(bool large)
{
    int n = large ? 65536 : 16384, nf = 34, k = 5;
    Floats f((size_t)n * nf, unit);
    float c[5 * 34];
    for (auto &x : c) {
        x = fraction();
    }
    CHECKED(cudaMemcpyToSymbol(kc, c, sizeof c));
    Ints m(n, zero<int>);
    kmeans_point<<<divide_up(n, 256), 256>>>(f.d, nf, n, k, m.d);
    finish();
    auto g = m.down();
    int wrong = 0;
    for (int p = 0; p < n; p++) {
        double d[5] = {}, l = 1e30;
        for (int q = 0; q < k; q++) {
            for (int j = 0; j < nf; j++) {
                double x = f[p + (size_t)j * n] - c[q * nf + j];
                d[q] += x * x;
            }
            l = std::min(l, d[q]);
        }
        wrong += !(g[p] >= 0 && g[p] < 5 && d[g[p]] <= l + 1e-4);
    }
    checksum("kmeans", g);
    count_wrong("kmeans", wrong);
}

struct Node {
    int start, degree;
};

// One level of a breadth-first search: a thread a node, flags of one byte, edges in a loop whose
// length the node decides, scattered reads and writes.
__global__ void bfs_level(const Node *nodes, const int *edges, char *mask, char *updating,
                          const char *visited, int *cost, int n)
{
    int t = blockIdx.x * 512 + threadIdx.x;
    if (t < n && mask[t]) {
        mask[t] = 0;
        for (int i = nodes[t].start; i < nodes[t].start + nodes[t].degree; i++) {
            int id = edges[i];
            if (!visited[id]) {
                cost[id] = cost[t] + 1;
                updating[id] = 1;
            }
        }
    }
}

static void run_bfs(bool large)
{
    int n = large ? 262144 : 65536;
    std::vector<Node> nd(n);
    std::vector<int> ed;
    for (int i = 0; i < n; i++) {
        int d = 2 + draw() % 9;
        nd[i] = {(int)ed.size(), d};
        for (int j = 0; j < d; j++) {
            ed.push_back(((draw() << 12) ^ draw()) % n);
        }
    }
    std::vector<int> cost(n, -1), cur = {0};
    cost[0] = 0;
    for (;;) {
        if ((int)cur.size() > n / 4) {
            break;
        }
        std::vector<int> nx;
        for (int u : cur) {
            for (int e = 0; e < nd[u].degree; e++) {
                int v = ed[nd[u].start + e];
                if (cost[v] < 0) {
                    cost[v] = cost[u] + 1;
                    nx.push_back(v);
                }
            }
        }
        if (nx.empty()) {
            break;
        }
        cur = nx;
    }
    std::vector<char> mask(n), upd(n), vis(n);
    for (int u : cur) {
        mask[u] = 1;
    }
    for (int i = 0; i < n; i++) {
        vis[i] = cost[i] >= 0;
    }
    Buffer<Node> N(nd);
    Ints E(ed), C(cost);
    Buffer<char> M(mask), U(upd), V(vis);
    bfs_level<<<divide_up(n, 512), 512>>>(N.d, E.d, M.d, U.d, V.d, C.d, n);
    finish();
    for (int u : cur) {
        for (int e = 0; e < nd[u].degree; e++) {
            int v = ed[nd[u].start + e];
            if (!vis[v]) {
                cost[v] = cost[u] + 1;
            }
        }
    }
    check("bfs", C.down(), cost, 0);
}

// A layer of a neural network forward: products in a tile, then a tree over the tile's rows by a
// remainder that leaves fewer threads of every warp at each step; the tile is written back too.
__global__ void backprop_forward(const float *in, float *w, float *partial, int hid)
{
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * 16 * by + (hid + 1) * ty + tx + 1 + hid + 1, indexin = 16 * by + ty + 1;
    __shared__ float node[16];
    __shared__ float mat[16][16];
    if (tx == 0) {
        node[ty] = in[indexin];
    }
    __syncthreads();
    mat[ty][tx] = w[index];
    __syncthreads();
    mat[ty][tx] = mat[ty][tx] * node[ty];
    __syncthreads();
    for (int i = 1; i <= 4; i++) {
        int p = 1 << i;
        if (ty % p == 0) {
            mat[ty][tx] = mat[ty][tx] + mat[ty + p / 2][tx];
        }
        __syncthreads();
    }
    w[index] = mat[ty][tx];
    __syncthreads();
    if (tx == 0) {
        partial[by * hid + ty] = mat[tx][ty];
    }
}

static void run_backprop(bool large)
{
    int n = large ? 32768 : 4096, hid = 16;
    Floats in(n + 1, unit), w((size_t)(n + 1) * (hid + 1), centered), p(n / 16 * hid, zero<float>);
    backprop_forward<<<dim3(1, n / 16), dim3(16, 16)>>>(in.d, w.d, p.d, hid);
    finish();
    std::vector<float> r(n / 16 * hid);
    for (int b = 0; b < n / 16; b++) {
        for (int x = 0; x < 16; x++) {
            float s = 0;
            for (int y = 0; y < 16; y++) {
                s += w[(hid + 1) * (16 * b + y + 1) + x + 1] * in[16 * b + y + 1];
            }
            r[b * hid + x] = s;
        }
    }
    check("backprop", p.down(), r);
}

struct P4 {
    double v, x, y, z;
};

struct Box {
    int n, nei[27];
};

// Forces between particles of neighbouring boxes in double precision: structures of four doubles in
// shared memory, an exponential a pair, sums that are kept in global memory.
__global__ void lava_boxes(double a2, const Box *box, const P4 *rv, const double *qv, P4 *fv,
                           int par)
{
    __shared__ P4 ra[100], rb[100];
    __shared__ double qb[100];
    int bx = blockIdx.x, tx = threadIdx.x, first = bx * par;
    for (int w = tx; w < par; w += blockDim.x) {
        ra[w] = rv[first + w];
    }
    __syncthreads();
    for (int k = 0; k < 1 + box[bx].n; k++) {
        int at = k == 0 ? bx : box[bx].nei[k - 1];
        for (int w = tx; w < par; w += blockDim.x) {
            rb[w] = rv[at * par + w];
            qb[w] = qv[at * par + w];
        }
        __syncthreads();
        for (int w = tx; w < par; w += blockDim.x) {
            for (int j = 0; j < par; j++) {
                double r2 =
                    ra[w].v + rb[j].v - (ra[w].x * rb[j].x + ra[w].y * rb[j].y + ra[w].z * rb[j].z);
                double vij = exp(-(a2 * r2)), fs = 2 * vij, dx = ra[w].x - rb[j].x,
                       dy = ra[w].y - rb[j].y, dz = ra[w].z - rb[j].z;
                fv[first + w].v += qb[j] * vij;
                fv[first + w].x += qb[j] * fs * dx;
                fv[first + w].y += qb[j] * fs * dy;
                fv[first + w].z += qb[j] * fs * dz;
            }
        }
        __syncthreads();
    }
}

static void run_lavamd(bool large)
{
    int X = 2, Y = large ? 2 : 1, Z = large ? 2 : 1, nb = X * Y * Z, par = 100;
    std::vector<Box> bo(nb);
    for (int b = 0; b < nb; b++) {
        bo[b].n = 0;
        for (int c = 0; c < nb; c++) {
            if (c != b) {
                bo[b].nei[bo[b].n++] = c;
            }
        }
    }
    auto f = [](size_t) { return (draw() % 10 + 1) / 10.0; };
    Buffer<Box> B(bo);
    Buffer<P4> R(nb * par,
                 [&](size_t i) {
                     return P4{f(i), f(i), f(i), f(i)};
                 }),
        V(nb * par, [](size_t) {
            return P4{0, 0, 0, 0};
        });
    Doubles Q(nb * par, f);
    lava_boxes<<<nb, 128>>>(0.5, B.d, R.d, Q.d, V.d, par);
    finish();
    auto g = V.down();
    std::vector<double> gx, rx;
    for (int i = 0; i < nb * par; i++) {
        double v = 0, x = 0;
        for (int j = 0; j < nb * par; j++) {
            double e =
                exp(-0.5 * (R[i].v + R[j].v - R[i].x * R[j].x - R[i].y * R[j].y - R[i].z * R[j].z));
            v += Q[j] * e;
            x += Q[j] * 2 * e * (R[i].x - R[j].x);
        }
        rx.push_back(v);
        rx.push_back(x);
        gx.push_back(g[i].v);
        gx.push_back(g[i].x);
    }
    check("lavamd", gx, rx, 1e-9);
}

struct Pt {
    float weight;
    int assign;
    float cost;
};

// What a new center would save each point: a distance over features that are stored one after
// another, then one of two writes to a row of its own.
__global__ void stream_cost(int num, int dim, int x, const Pt *p, int K, int stride,
                            const float *coord, float *work, const int *center, char *sw)
{
    const int t = blockDim.x * blockIdx.x + threadIdx.x;
    if (t >= num) {
        return;
    }
    float *lower = &work[t * stride];
    float d = 0;
    for (int i = 0; i < dim; i++) {
        float a = coord[i * num + t], b = coord[i * num + x];
        d += (a - b) * (a - b);
    }
    float xc = d * p[t].weight, cc = p[t].cost;
    if (xc < cc) {
        sw[t] = '1';
        lower[K] += xc - cc;
    } else {
        lower[center[p[t].assign]] += cc - xc;
    }
}

static void run_streamcluster(bool large)
{
    int n = large ? 65536 : 8192, dim = large ? 64 : 32, K = 10, st = 11, x = 77;
    Floats co((size_t)n * dim, unit), w((size_t)n * st, zero<float>);
    Ints ce(n, [=](size_t) { return int(draw() % K); });
    Buffer<Pt> p(n, [=](size_t) { return Pt{1.0f, int(draw() % n), fraction() * dim / 3}; });
    Buffer<char> s(n, zero<char>);
    stream_cost<<<divide_up(n, 512), 512>>>(n, dim, x, p.d, K, st, co.d, w.d, ce.d, s.d);
    finish();
    std::vector<float> r((size_t)n * st);
    for (int t = 0; t < n; t++) {
        float d = 0;
        for (int i = 0; i < dim; i++) {
            float a = co[(size_t)i * n + t] - co[(size_t)i * n + x];
            d += a * a;
        }
        if (d < p[t].cost) {
            r[t * st + K] = d - p[t].cost;
        } else {
            r[t * st + ce[p[t].assign]] = p[t].cost - d;
        }
    }
    check("streamcluster", w.down(), r);
}

struct V3 {
    float x, y, z;
};

HOST_AND_DEVICE void fluxes(V3 m, V3 me, float p, float ed, V3 v, V3 &fx, V3 &fy, V3 &fz, V3 &fe)
{
    fx = {v.x * m.x + p, v.x * m.y, v.x * m.z};
    fy = {fx.y, v.y * m.y + p, v.y * m.z};
    fz = {fx.z, fy.z, v.z * m.z + p};
    float q = ed + p;
    fe = {v.x * q, v.y * q, v.z * q};
}

HOST_AND_DEVICE void cfd_body(int i, int n, const int *nb, const float *nm, const float *va,
                              float *out)
{
    const float G = 1.4f;
    float d = va[i];
    V3 m = {va[i + n], va[i + 2 * n], va[i + 3 * n]};
    float e = va[i + 4 * n];
    V3 v = {m.x / d, m.y / d, m.z / d};
    float s2 = v.x * v.x + v.y * v.y + v.z * v.z, sp = sqrtf(s2);
    float p = (G - 1) * (e - 0.5f * d * s2), c = sqrtf(G * p / d);
    V3 fx, fy, fz, fe;
    fluxes(m, v, p, e, v, fx, fy, fz, fe);
    float od = 0, oe = 0;
    V3 om = {0, 0, 0};
    for (int j = 0; j < 4; j++) {
        int k = nb[i + j * n];
        V3 no = {nm[i + (j + 0 * 4) * n], nm[i + (j + 1 * 4) * n], nm[i + (j + 2 * 4) * n]};
        float len = sqrtf(no.x * no.x + no.y * no.y + no.z * no.z);
        if (k >= 0) {
            float dk = va[k];
            V3 mk = {va[k + n], va[k + 2 * n], va[k + 3 * n]};
            float ek = va[k + 4 * n];
            V3 vk = {mk.x / dk, mk.y / dk, mk.z / dk};
            float s2k = vk.x * vk.x + vk.y * vk.y + vk.z * vk.z;
            float pk = (G - 1) * (ek - 0.5f * dk * s2k), ck = sqrtf(G * pk / dk);
            V3 gx, gy, gz, ge;
            fluxes(mk, vk, pk, ek, vk, gx, gy, gz, ge);
            float f = -len * 0.2f * 0.5f * (sp + sqrtf(s2k) + c + ck);
            od += f * (d - dk);
            oe += f * (e - ek);
            om.x += f * (m.x - mk.x);
            om.y += f * (m.y - mk.y);
            om.z += f * (m.z - mk.z);
            f = 0.5f * no.x;
            od += f * (mk.x + m.x);
            oe += f * (ge.x + fe.x);
            om.x += f * (gx.x + fx.x);
            om.y += f * (gy.x + fy.x);
            om.z += f * (gz.x + fz.x);
            f = 0.5f * no.y;
            od += f * (mk.y + m.y);
            oe += f * (ge.y + fe.y);
            om.x += f * (gx.y + fx.y);
            om.y += f * (gy.y + fy.y);
            om.z += f * (gz.y + fz.y);
            f = 0.5f * no.z;
            od += f * (mk.z + m.z);
            oe += f * (ge.z + fe.z);
            om.x += f * (gx.z + fx.z);
            om.y += f * (gy.z + fy.z);
            om.z += f * (gz.z + fz.z);
        } else if (k == -1) {
            om.x += no.x * p;
            om.y += no.y * p;
            om.z += no.z * p;
        } else {
            float f = 0.5f * no.x;
            od += f * (1.2f + m.x);
            oe += f * (0.7f + fe.x);
            om.x += f * (0.9f + fx.x);
            om.y += f * fy.x;
            om.z += f * fz.x;
        }
    }
    out[i] = od;
    out[i + n] = om.x;
    out[i + 2 * n] = om.y;
    out[i + 3 * n] = om.z;
    out[i + 4 * n] = oe;
}

// Flux of a compressible fluid over four neighbours of each cell: indirect reads, three kinds of
// neighbours by branches, many registers, square roots and divisions.
__global__ void cfd_flux(int n, const int *nb, const float *nm, const float *va, float *out)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    cfd_body(i, n, nb, nm, va, out);
}

static void run_cfd(bool large)
{
    int n = 192 * (large ? 500 : 80), side = 300;
    Ints nb(n * 4, [=](size_t k) {
        int i = k % n, j = k / n;
        int off[4] = {-1, 1, -side, side};
        int v = i + off[j] + (draw() % 16 == 0 ? int(draw() % 2000) - 1000 : 0);
        return v < 0 ? -1 : v >= n ? -2 : v;
    });
    Floats nm(n * 12, centered),
        va(n * 5,
           [=](size_t k) {
               int f = k / n;
               return f == 0 ? 1 + fraction() : f == 4 ? 5 + fraction() : fraction() - 0.5f;
           }),
        o(n * 5, zero<float>);
    cfd_flux<<<n / 192, 192>>>(n, nb.d, nm.d, va.d, o.d);
    finish();
    std::vector<float> r(n * 5);
    for (int i = 0; i < n; i++) {
        cfd_body(i, n, nb.h.data(), nm.h.data(), va.h.data(), r.data());
    }
    check("cfd", o.down(), r);
}

struct LL {
    float lat, lng;
};

// The distance of each record to a place: a stream of pairs, a square root, no reuse at all.
__global__ void nn_euclid(const LL *l, float *d, int n, float lat, float lng)
{
    int g = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    const LL *q = l + g;
    float *o = d + g;
    if (g < n) {
        *o = (float)sqrt((lat - q->lat) * (lat - q->lat) + (lng - q->lng) * (lng - q->lng));
    }
}

static void run_nn(bool large)
{
    int n = large ? 3000000 : 42764;
    Buffer<LL> l(n, [](size_t) { return LL{fraction() * 90, fraction() * 180}; });
    Floats d(n, zero<float>);
    nn_euclid<<<divide_up(n, 256), 256>>>(l.d, d.d, n, 30, 90);
    finish();
    std::vector<float> r(n);
    for (int i = 0; i < n; i++) {
        r[i] = sqrtf((30 - l[i].lat) * (30 - l[i].lat) + (90 - l[i].lng) * (90 - l[i].lng));
    }
    check("nn", d.down(), r);
}

// The likelihood of each particle by bytes of an image that it looks up, an exponential in double
// precision, and a tree over the block in shared memory.
__global__ void pf_sum(const double *ax, const double *ay, const unsigned char *im, const int *obj,
                       int ones, int dim, double *w, double *part, int n)
{
    __shared__ double b[512];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    b[t] = 0;
    __syncthreads();
    if (i < n) {
        double l = 0;
        for (int k = 0; k < ones; k++) {
            int x = (int)(ax[i] + 0.5) + obj[2 * k + 1], y = (int)(ay[i] + 0.5) + obj[2 * k];
            int id = abs(x * dim + y);
            if (id >= dim * dim) {
                id = 0;
            }
            double a = im[id] - 100, c = im[id] - 228;
            l += (a * a - c * c) / 50.0;
        }
        l = l / ones;
        w[i] = w[i] * exp(l * 0.001);
        b[t] = w[i];
    }
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) {
            b[t] += b[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = b[0];
    }
}

static void run_pf_sum(bool large)
{
    int n = large ? 32768 : 4000, dim = 256, ones = 49, nb = divide_up(n, 512);
    Doubles x(n, [](size_t) { return 128 + 20.0 * (fraction() - 0.5f); }),
        y(n, [](size_t) { return 128 + 20.0 * (fraction() - 0.5f); }),
        w(n, [=](size_t) { return 1.0 / n; }), p(nb, zero<double>);
    Buffer<unsigned char> im(dim * dim, [](size_t) { return (unsigned char)draw(); });
    Ints ob(2 * ones, [](size_t i) { return int(i % 2 ? i / 14 : (i / 2) % 7) - 3; });
    pf_sum<<<nb, 512>>>(x.d, y.d, im.d, ob.d, ones, dim, w.d, p.d, n);
    finish();
    std::vector<double> r(nb);
    for (int i = 0; i < n; i++) {
        double l = 0;
        for (int k = 0; k < ones; k++) {
            int u = (int)(x[i] + 0.5) + ob[2 * k + 1], v = (int)(y[i] + 0.5) + ob[2 * k],
                id = abs(u * dim + v);
            if (id >= dim * dim) {
                id = 0;
            }
            double a = im[id] - 100, c = im[id] - 228;
            l += (a * a - c * c) / 50.0;
        }
        r[i / 512] += w[i] * exp(l / ones * 0.001);
    }
    check("pf_sum", p.down(), r, 1e-6);
}

// A template correlated with a window for each tracked point, one block a point: two loops whose
// bounds the output's place decides, integer divisions, then the place of the maximum by a tree.
__global__ void heart_correlate(const float *win, const float *tem, float *conv, int *peak, int iw,
                                int it)
{
    const float *in = win + blockIdx.x * iw * iw, *te = tem + blockIdx.x * it * it;
    int oc = iw + it - 1, tx = threadIdx.x;
    float *o = conv + blockIdx.x * oc * oc;
    __shared__ float bv[256];
    __shared__ int bi[256];
    float mx = -1e30f;
    int mi = 0;
    for (int e = tx; e < oc * oc; e += 256) {
        int row = e / oc, col = e % oc;
        int r0 = row - it + 1 > 0 ? row - it + 1 : 0, r1 = row < iw - 1 ? row : iw - 1;
        int c0 = col - it + 1 > 0 ? col - it + 1 : 0, c1 = col < iw - 1 ? col : iw - 1;
        float s = 0;
        for (int c = c0; c <= c1; c++) {
            for (int r = r0; r <= r1; r++) {
                s += in[c * iw + r] * te[(col - c) * it + row - r];
            }
        }
        o[col * oc + row] = s;
        if (s > mx) {
            mx = s;
            mi = col * oc + row;
        }
    }
    bv[tx] = mx;
    bi[tx] = mi;
    __syncthreads();
    for (int s = 128; s; s >>= 1) {
        if (tx < s && bv[tx + s] > bv[tx]) {
            bv[tx] = bv[tx + s];
            bi[tx] = bi[tx + s];
        }
        __syncthreads();
    }
    if (tx == 0) {
        peak[blockIdx.x] = bi[0];
    }
}

static void run_heartwall(bool large)
{
    int np = large ? 51 : 10, iw = 21, it = 11, oc = iw + it - 1;
    Floats w(np * iw * iw, unit), t(np * it * it, unit), o(np * oc * oc, zero<float>);
    Ints pk(np, zero<int>);
    heart_correlate<<<np, 256>>>(w.d, t.d, o.d, pk.d, iw, it);
    finish();
    std::vector<float> r(np * oc * oc);
    for (int p = 0; p < np; p++) {
        for (int a = 0; a < iw; a++) {
            for (int b = 0; b < iw; b++) {
                for (int c = 0; c < it; c++) {
                    for (int d = 0; d < it; d++) {
                        r[p * oc * oc + (a + c) * oc + b + d] +=
                            w[p * iw * iw + a * iw + b] * t[p * it * it + c * it + d];
                    }
                }
            }
        }
    }
    check("heartwall", o.down(), r);
    checksum("heartwall peak", pk.down());
}

static const Case point_cases[] = {
    {"kmeans", run_kmeans},
    {"bfs", run_bfs},
    {"backprop", run_backprop},
    {"lavamd", run_lavamd},
    {"streamcluster", run_streamcluster},
    {"cfd", run_cfd},
    {"nn", run_nn},
    {"pf_sum", run_pf_sum},
    {"heartwall", run_heartwall},
    {nullptr, nullptr},
};
