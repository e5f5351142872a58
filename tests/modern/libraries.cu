// Kernels as libraries and tutorials have them, by the C++ headers of the toolkit: cuda::barrier, cuda::pipeline, cuda::atomic_ref, cooperative groups, WMMA, cuRAND.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <curand_kernel.h>
#include <mma.h>

#include "modern.cuh"

namespace cg = cooperative_groups;
using namespace nvcuda;

// ---- a product whose blocks go by groups of rows, leaky relu behind it, through a pipeline of two stages ----

#define TILE 64
#define DEEP 32
__global__ void __launch_bounds__(128) grouped_relu(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    const int rows = m / TILE, columns = n / TILE, group = 2, per = group * columns, id = blockIdx.x;
    const int first = id / per * group, size = min(rows - first, group);
    const int row = first + id % per % size, column = id % per / size;
    __shared__ alignas(32) __half as[2][TILE][DEEP + 8], bs[2][DEEP][TILE + 8];
    __shared__ alignas(32) float cs[4][16][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> shared;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &shared);
    auto fetch = [&](int step) {
        pipe.producer_acquire();
        for (int i = threadIdx.x; i < TILE * DEEP / 8; i += 128)
            cuda::memcpy_async(&as[step & 1][i / 4][i % 4 * 8], &a[(size_t)(row * TILE + i / 4) * k + step * DEEP + i % 4 * 8], cuda::aligned_size_t<16>(16), pipe);
        for (int i = threadIdx.x; i < TILE * DEEP / 8; i += 128)
            cuda::memcpy_async(&bs[step & 1][i / 8][i % 8 * 8], &b[(size_t)(step * DEEP + i / 8) * n + column * TILE + i % 8 * 8], cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
    };
    const int warp = threadIdx.x / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4];
    for (auto &s : sums) wmma::fill_fragment(s, 0.0f);
    fetch(0);
    for (int step = 0; step < k / DEEP; step++) {
        if (step + 1 < k / DEEP) fetch(step + 1);
        pipe.consumer_wait();
        for (int e = 0; e < DEEP; e += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
            wmma::load_matrix_sync(fa, &as[step & 1][warp * 16][e], DEEP + 8);
            for (int j = 0; j < 4; j++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
                wmma::load_matrix_sync(fb, &bs[step & 1][e][j * 16], TILE + 8);
                wmma::mma_sync(sums[j], fa, fb, sums[j]);
            }
        }
        pipe.consumer_release();
    }
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < sums[j].num_elements; i++) sums[j].x[i] = sums[j].x[i] >= 0 ? sums[j].x[i] : 0.01f * sums[j].x[i];
        wmma::store_matrix_sync(&cs[warp][0][j * 16], sums[j], TILE, wmma::mem_row_major);
    }
    __syncwarp();
    for (int i = threadIdx.x % 32; i < 16 * TILE; i += 32)
        c[(size_t)(row * TILE + warp * 16 + i / TILE) * n + column * TILE + i % TILE] = __float2half(cs[warp][i / TILE][i % TILE]);
}
static void run_grouped()
{
    const int m = 192, n = 128, k = 160;
    buffer<__half> a(m * k), b(k * n), c(m * n);
    a.real_numbers(), b.real_numbers();
    std::vector<double> want = product(a, k, b, n, m, n, k, true);
    for (double &v : want) v = v >= 0 ? v : 0.01 * v;
    grouped_relu<<<m / TILE * (n / TILE), 128>>>(c.device, a.device, b.device, m, n, k);
    tell("grouped_relu", c, want, 2e-3);
}

// ---- dropout by a counter's random numbers ----

__global__ void dropout(float *out, const float *in, int n, float p, unsigned long long seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t s;
    curand_init(seed, i, 0, &s);
    float4 r = curand_uniform4(&s);
    for (int e = 0; e < 4; e++) {
        float u = e == 0 ? r.x : e == 1 ? r.y : e == 2 ? r.z : r.w;
        if (4 * i + e < n) out[4 * i + e] = u > p ? in[4 * i + e] / (1 - p) : 0;
    }
}
static void philox(uint32_t out[4], uint64_t seed, uint64_t sequence)
{
    uint32_t c[4] = {0, 0, (uint32_t)sequence, (uint32_t)(sequence >> 32)}, k[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int i = 0; i < 10; i++) {
        uint64_t x = (uint64_t)0xD2511F53u * c[0], y = (uint64_t)0xCD9E8D57u * c[2];
        uint32_t d[4] = {(uint32_t)(y >> 32) ^ c[1] ^ k[0], (uint32_t)y, (uint32_t)(x >> 32) ^ c[3] ^ k[1], (uint32_t)x};
        memcpy(c, d, sizeof d);
        k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u;
    }
    memcpy(out, c, sizeof c);
}
static void run_dropout()
{
    const int n = 5000;
    buffer<float> in(n), out(n);
    in.real_numbers();
    std::vector<double> want(n);
    for (int i = 0; i < n; i++) {
        uint32_t r[4];
        philox(r, 1234, i / 4);
        float u = r[i % 4] * 2.3283064e-10f + 2.3283064e-10f / 2;
        want[i] = u > 0.3f ? in.host[i] / (1 - 0.3f) : 0;
    }
    dropout<<<(n / 4 + 127) / 128, 128>>>(out.device, in.device, n, 0.3f, 1234);
    tell("dropout", out, want, 1e-6);
}

// ---- layer norm, there and back, the weights' gradients behind locks ----

__global__ void norm_forward(float *y, float *mean, float *rstd, const float *x, const float *w, const float *b, int n)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    x += (size_t)row * n, y += (size_t)row * n;
    float s = 0, q = 0;
    for (int i = warp.thread_rank(); i < n; i += 32) s += x[i];
    const float mu = cg::reduce(warp, s, cg::plus<float>()) / n;
    for (int i = warp.thread_rank(); i < n; i += 32) q += (x[i] - mu) * (x[i] - mu);
    const float r = rsqrtf(cg::reduce(warp, q, cg::plus<float>()) / n + 1e-5f);
    for (int i = warp.thread_rank(); i < n; i += 32) y[i] = (x[i] - mu) * r * w[i] + b[i];
    if (warp.thread_rank() == 0) mean[row] = mu, rstd[row] = r;
}
__global__ void norm_backward(float *dx, float *dw, float *db, int *locks, const float *dy, const float *x, const float *w, const float *mean, const float *rstd, int n)
{
    __shared__ float parts[2][4];
    const int row = blockIdx.x;
    const float mu = mean[row], r = rstd[row];
    float c1 = 0, c2 = 0;
    for (int i = threadIdx.x; i < n; i += 128) {
        float h = (x[(size_t)row * n + i] - mu) * r, g = w[i] * dy[(size_t)row * n + i];
        c1 += h * g, c2 += g;
    }
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    c1 = cg::reduce(warp, c1, cg::plus<float>()), c2 = cg::reduce(warp, c2, cg::plus<float>());
    if (warp.thread_rank() == 0) parts[0][threadIdx.x / 32] = c1, parts[1][threadIdx.x / 32] = c2;
    __syncthreads();
    c1 = (parts[0][0] + parts[0][1] + parts[0][2] + parts[0][3]) / n;
    c2 = (parts[1][0] + parts[1][1] + parts[1][2] + parts[1][3]) / n;
    for (int i = threadIdx.x; i < n; i += 128) {
        float h = (x[(size_t)row * n + i] - mu) * r;
        dx[(size_t)row * n + i] = (w[i] * dy[(size_t)row * n + i] - (h * c1 + c2)) * r;
    }
    cuda::atomic_ref<int, cuda::thread_scope_device> lock(locks[row % 2]);
    if (threadIdx.x == 0)
        for (int free = 0; !lock.compare_exchange_weak(free, 1, cuda::memory_order_acquire); free = 0) __nanosleep(100);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 128) {
        float h = (x[(size_t)row * n + i] - mu) * r, g = dy[(size_t)row * n + i];
        __stcg(&dw[row % 2 * n + i], __ldcg(&dw[row % 2 * n + i]) + g * h);
        __stcg(&db[row % 2 * n + i], __ldcg(&db[row % 2 * n + i]) + g);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) lock.store(0, cuda::memory_order_release);
}
static void run_norm()
{
    const int rows = 16, n = 300;
    buffer<float> x(rows * n), y(rows * n), w(n), b(n), mean(rows), rstd(rows), dy(rows * n), dx(rows * n), dw(2 * n), db(2 * n);
    buffer<int> locks(2);
    x.real_numbers(), w.real_numbers(), b.real_numbers(), dy.real_numbers();
    locks.fill([](size_t) { return 0; });
    dw.fill([](size_t) { return 0.0f; }), db.fill([](size_t) { return 0.0f; });
    norm_forward<<<rows / 4, 128>>>(y.device, mean.device, rstd.device, x.device, w.device, b.device, n);
    norm_backward<<<rows, 128>>>(dx.device, dw.device, db.device, locks.device, dy.device, x.device, w.device, mean.device, rstd.device, n);
    std::vector<double> wy(rows * n), wdx(rows * n), wdw(2 * n), wdb(2 * n);
    for (int row = 0; row < rows; row++) {
        double mu = 0, var = 0, c1 = 0, c2 = 0;
        const float *xr = &x.host[row * n], *dr = &dy.host[row * n];
        for (int i = 0; i < n; i++) mu += xr[i] / (double)n;
        for (int i = 0; i < n; i++) var += (xr[i] - mu) * (xr[i] - mu) / n;
        double r = 1 / sqrt(var + 1e-5);
        for (int i = 0; i < n; i++) {
            double h = (xr[i] - mu) * r, g = w.host[i] * (double)dr[i];
            wy[row * n + i] = h * w.host[i] + b.host[i];
            c1 += h * g / n, c2 += g / n;
            wdw[row % 2 * n + i] += dr[i] * h, wdb[row % 2 * n + i] += dr[i];
        }
        for (int i = 0; i < n; i++) wdx[row * n + i] = (w.host[i] * (double)dr[i] - ((xr[i] - mu) * r * c1 + c2)) * r;
    }
    tell("norm_forward", y, wy, 1e-5);
    tell("norm_backward", dx, wdx, 1e-5);
    tell("norm_weights", dw, wdw, 1e-5);
    tell("norm_biases", db, wdb, 1e-5);
}

// ---- a whole grid that meets: power iteration ----

__global__ void power(float *v, float *next, float *norm, const float *a, int n, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    for (int round = 0; round < rounds; round++) {
        for (int row = grid.thread_rank() / 32; row < n; row += grid.size() / 32) {
            auto warp = cg::tiled_partition<32>(cg::this_thread_block());
            float s = 0;
            for (int i = warp.thread_rank(); i < n; i += 32) s += a[(size_t)row * n + i] * v[i];
            s = cg::reduce(warp, s, cg::plus<float>());
            if (warp.thread_rank() == 0) next[row] = s, atomicAdd(&norm[round], fabsf(s));
        }
        grid.sync();
        for (int i = grid.thread_rank(); i < n; i += grid.size()) v[i] = next[i] / norm[round];
        grid.sync();
    }
}
static void run_power()
{
    int n = 96, rounds = 4;
    buffer<float> a(n * n), v(n), next(n), norm(rounds);
    a.fill([](size_t) { return real() + 1; }), v.fill([](size_t) { return 1.0f; }), norm.fill([](size_t) { return 0.0f; });
    std::vector<double> want(v.host.begin(), v.host.end());
    for (int round = 0; round < rounds; round++) {
        std::vector<double> to(n);
        double all = 0;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) to[i] += a.host[i * n + j] * want[j];
            all += fabs(to[i]);
        }
        for (int i = 0; i < n; i++) want[i] = to[i] / all;
    }
    void *args[] = {&v.device, &next.device, &norm.device, &a.device, &n, &rounds};
    OK(cudaLaunchCooperativeKernel((void *)power, dim3(8), dim3(128), args, 0, nullptr));
    tell("power", v, want, 1e-6);
}

// ---- decode over pages of keys and values, split along them, made one by the last block ----

__global__ void __launch_bounds__(128) paged(float *out, float *part, unsigned *arrived, const __half *q, const __half *pages, const int *table, const int *length, int most, float scale)
{
    const int batch = blockIdx.x, split = blockIdx.y, splits = gridDim.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    __shared__ float top_of[4], sum_of[4], acc_of[4][64];
    __shared__ bool last;
    float2 query = __half22float2(((const __half2 *)q)[batch * 32 + lane]), acc = {0, 0};
    float top = -INFINITY, sum = 0;
    for (int t = split * 4 + warp; t < length[batch]; t += splits * 4) {
        const __half2 *page = (const __half2 *)(pages + (size_t)table[batch * most + t / 16] * 2 * 16 * 64);
        float2 key = __half22float2(page[t % 16 * 32 + lane]), value = __half22float2(page[(16 + t % 16) * 32 + lane]);
        float s = query.x * key.x + query.y * key.y;
        for (int i = 16; i; i /= 2) s += __shfl_xor_sync(~0u, s, i);
        s *= scale;
        float high = fmaxf(top, s), shrink = __expf(top - high), p = __expf(s - high);
        acc.x = acc.x * shrink + p * value.x, acc.y = acc.y * shrink + p * value.y;
        sum = sum * shrink + p, top = high;
    }
    if (lane == 0) top_of[warp] = top, sum_of[warp] = sum;
    acc_of[warp][2 * lane] = acc.x, acc_of[warp][2 * lane + 1] = acc.y;
    __syncthreads();
    float *mine = part + (size_t)(batch * splits + split) * 66;
    if (threadIdx.x < 64) {
        float high = fmaxf(fmaxf(top_of[0], top_of[1]), fmaxf(top_of[2], top_of[3])), total = 0, value = 0;
        for (int w = 0; w < 4; w++) {
            float f = top_of[w] == -INFINITY ? 0 : __expf(top_of[w] - high);
            total += f * sum_of[w], value += f * acc_of[w][threadIdx.x];
        }
        mine[2 + threadIdx.x] = value;
        if (threadIdx.x == 0) mine[0] = high, mine[1] = total;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&arrived[batch], splits - 1) == splits - 1;
    __syncthreads();
    if (!last || threadIdx.x >= 64) return;
    __threadfence();
    float high = -INFINITY, total = 0, value = 0;
    for (int s = 0; s < splits; s++) high = fmaxf(high, __ldcg(&part[(size_t)(batch * splits + s) * 66]));
    for (int s = 0; s < splits; s++) {
        const float *of = part + (size_t)(batch * splits + s) * 66;
        float f = __ldcg(&of[0]) == -INFINITY ? 0 : __expf(__ldcg(&of[0]) - high);
        total += f * __ldcg(&of[1]), value += f * __ldcg(&of[2 + threadIdx.x]);
    }
    out[batch * 64 + threadIdx.x] = value / total;
}
static void run_paged()
{
    const int batches = 3, most = 8, pages = 24, splits = 3;
    buffer<__half> q(batches * 64), cache(pages * 2 * 16 * 64);
    buffer<int> table(batches * most), length(batches);
    buffer<unsigned> arrived(batches);
    buffer<float> part(batches * splits * 66), out(batches * 64);
    q.real_numbers(), cache.real_numbers();
    table.fill([](size_t i) { return (int)(i * 7 % 24); }), length.fill([](size_t i) { return i == 0 ? 3 : i == 1 ? 77 : 128; });
    arrived.fill([](size_t) { return 0u; });
    std::vector<double> want(batches * 64);
    for (int b = 0; b < batches; b++) {
        double sum = 0;
        for (int t = 0; t < length.host[b]; t++) {
            const __half *page = &cache.host[(size_t)table.host[b * most + t / 16] * 2048];
            double s = 0;
            for (int e = 0; e < 64; e++) s += number(q.host[b * 64 + e]) * number(page[t % 16 * 64 + e]);
            double p = exp(s * 0.125);
            sum += p;
            for (int e = 0; e < 64; e++) want[b * 64 + e] += p * number(page[(16 + t % 16) * 64 + e]);
        }
        for (int e = 0; e < 64; e++) want[b * 64 + e] /= sum;
    }
    for (int i = 0; i < 2; i++)
        paged<<<dim3(batches, splits), 128>>>(out.device, part.device, arrived.device, q.device, cache.device, table.device, length.device, most, 0.125f);
    tell("paged", out, want, 1e-4);
}

// ---- a barrier's bulk copies, by the library; warps that hand over by numbered barriers, with registers moved between them ----

__global__ void __launch_bounds__(256, 1) handed(int *out, const int *in, int rounds)
{
    __shared__ alignas(128) int ring[2][1024];
    __shared__ cuda::barrier<cuda::thread_scope_block> full[2];
    namespace cde = cuda::device::experimental;
    if (threadIdx.x == 0) {
        for (auto &bar : full) init(&bar, 1);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        for (int round = 0; round < rounds; round++) {
            if (round > 1) asm volatile("barrier.sync %0, 256;" ::"r"(2 + (round & 1)) : "memory");
            if (threadIdx.x == 0) {
                cuda::memcpy_async(ring[round & 1], in + (size_t)(blockIdx.x * rounds + round) * 1024, cuda::aligned_size_t<16>(4096), full[round & 1]);
                full[round & 1].arrive();
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
        int sum = 0;
        for (int round = 0; round < rounds; round++) {
            full[round & 1].wait_parity(round / 2 & 1);
            for (int i = threadIdx.x - 128; i < 1024; i += 128) sum += ring[round & 1][i] * (round + 1);
            if (round + 2 < rounds) asm volatile("barrier.arrive %0, 256;" ::"r"(2 + (round & 1)) : "memory");
        }
        out[blockIdx.x * 128 + threadIdx.x - 128] = sum;
    }
}
static void run_handed()
{
    const int blocks = 3, rounds = 7;
    buffer<int> in(blocks * rounds * 1024), out(blocks * 128);
    in.fill([](size_t) { return (int)(draw() % 1000); });
    std::vector<double> want(blocks * 128);
    for (int i = 0; i < blocks * rounds * 1024; i++) want[i / (rounds * 1024) * 128 + i % 128] += in.host[i] * (i / 1024 % rounds + 1);
    handed<<<blocks, 256>>>(out.device, in.device, rounds);
    tell("handed", out, want, 0);
}

// ---- a scan of the grid by the groups' own, with memcpy_async of a group ----

__global__ void group_scan(int *out, const int *in)
{
    __shared__ alignas(16) int tile[256];
    __shared__ int sums[8];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in + blockIdx.x * 256, sizeof tile);
    cg::wait(block);
    auto warp = cg::tiled_partition<32>(block);
    int value = cg::inclusive_scan(warp, tile[block.thread_rank()], cg::plus<int>());
    if (warp.thread_rank() == 31) sums[warp.meta_group_rank()] = value;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        auto few = cg::tiled_partition<8>(warp);
        if (few.meta_group_rank() == 0) sums[few.thread_rank()] = cg::exclusive_scan(few, sums[few.thread_rank()], cg::plus<int>());
    }
    block.sync();
    auto same = cg::labeled_partition(warp, tile[block.thread_rank()] % 3);
    int most = cg::reduce(same, value, cg::greater<int>());
    out[blockIdx.x * 256 + block.thread_rank()] = value + sums[warp.meta_group_rank()] + (most >= value ? 0 : 1000000) + same.size() * 0;
}
static void run_group_scan()
{
    const int n = 4 * 256;
    buffer<int> in(n), out(n);
    in.fill([](size_t) { return (int)(draw() % 50); });
    std::vector<double> want(n);
    for (int i = 0; i < n; i++) want[i] = in.host[i] + (i % 256 ? want[i - 1] : 0);
    group_scan<<<4, 256>>>(out.device, in.device);
    tell("group_scan", out, want, 0);
}

// ---- functions of the library, float and double ----

__global__ void functions(double *out, const double *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = in[i];
    double all[] = {sin(x), cos(x * 100), tan(x), exp(x), log(fabs(x) + 0.1), pow(fabs(x) + 0.1, 1.7), erf(x), tgamma(x + 3), lgamma(fabs(x) + 0.5), atan2(x, 0.3),
                    cbrt(x), sinh(x), acosh(fabs(x) + 1), j0(x), fmod(x * 9, 0.7), normcdf(x)};
    float f = (float)x;
    double singles[] = {sinf(f * 1e5f), expf(f), logf(fabsf(f) + 0.1f), powf(fabsf(f) + 0.1f, 2.3f), erff(f), tanhf(f), atanf(f), cbrtf(f), sinpif(f), rsqrtf(fabsf(f) + 0.1f),
                        asinf(f), lgammaf(fabsf(f) + 0.5f), erfcinvf(fabsf(f) + 0.1f) * 0, hypotf(f, 2), fmaf(f, f, 1), roundf(f * 10)};
    for (int k = 0; k < 16; k++) out[i * 32 + k] = all[k], out[i * 32 + 16 + k] = singles[k];
}
static void run_functions()
{
    const int n = 500;
    buffer<double> in(n), out(n * 32);
    in.fill([](size_t) { return real() * 0.999; });
    std::vector<double> want(n * 32);
    for (int i = 0; i < n; i++) {
        double x = in.host[i];
        float f = (float)x;
        double all[] = {sin(x), cos(x * 100), tan(x), exp(x), log(fabs(x) + 0.1), pow(fabs(x) + 0.1, 1.7), erf(x), tgamma(x + 3), lgamma(fabs(x) + 0.5), atan2(x, 0.3), cbrt(x),
                        sinh(x), acosh(fabs(x) + 1), j0(x), fmod(x * 9, 0.7), 0.5 * erfc(-x / sqrt(2.0)),
                        sin((double)(f * 1e5f)), exp((double)f), log((double)(fabsf(f) + 0.1f)), pow((double)(fabsf(f) + 0.1f), 2.3f), erf((double)f), tanh((double)f), atan((double)f), cbrt((double)f),
                        sin((double)f * M_PI), 1 / sqrt((double)(fabsf(f) + 0.1f)), asin((double)f), lgamma((double)(fabsf(f) + 0.5f)), 0, hypot((double)f, 2.0), (double)f * f + 1, (double)roundf(f * 10)};
        for (int k = 0; k < 32; k++) want[i * 32 + k] = all[k];
    }
    functions<<<(n + 127) / 128, 128>>>(out.device, in.device, n);
    tell("functions", out, want, 1e-6);
}

static const kernel_test tests[] = {{"grouped", run_grouped}, {"dropout", run_dropout}, {"norm", run_norm},           {"power", run_power},
                                    {"paged", run_paged},     {"handed", run_handed},   {"group_scan", run_group_scan}, {"functions", run_functions}};
RUN_ALL(tests)
