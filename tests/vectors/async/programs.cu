/*
 * Kernels in today's style, for programs.c: copies that run ahead of the arithmetic, warps that only fetch, tensor maps,
 * clusters that reduce in each other's shared memory. Their results are whole numbers or held against a tolerance.
 */
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>

namespace cg = cooperative_groups;
using namespace nvcuda;

static __device__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ void barrier_init(uint64_t *bar, unsigned count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}

static __device__ void barrier_expect(uint64_t *bar, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory");
}

static __device__ void barrier_arrive(uint64_t *bar)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}

static __device__ void barrier_wait(uint64_t *bar, unsigned phase)
{
    asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(
                     shared_address(bar)),
                 "r"(phase)
                 : "memory");
}

static __device__ void load_box(void *to, const void *map, int x, int y, uint64_t *bar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
                 "[%4];" ::"r"(shared_address(to)),
                 "l"(map), "r"(x), "r"(y), "r"(shared_address(bar))
                 : "memory");
}

struct alignas(64) tensor_map {
    uint32_t words[32];
};

static __device__ void copy16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

/* c = a b, of n x n halves; a CTA of 128 threads makes 64 x 64, 32 deep at a time, and fetches the next while it does. */
#define STEP 32
static __device__ void fetch(half (*a)[STEP + 8], half (*b)[64 + 8], const half *from_a, const half *from_b, int n, int row,
                             int column, int k)
{
    for (int i = threadIdx.x; i < 256; i += 128) {
        copy16(&a[i / 4][i % 4 * 8], from_a + (size_t)(row + i / 4) * n + k + i % 4 * 8);
        copy16(&b[i / 8][i % 8 * 8], from_b + (size_t)(k + i / 8) * n + column + i % 8 * 8);
    }
    asm volatile("cp.async.commit_group;");
}

extern "C" __global__ void __launch_bounds__(128) matmul_copy(float *c, const half *a, const half *b, int n)
{
    __shared__ __align__(16) half tile_a[2][64][STEP + 8], tile_b[2][STEP][64 + 8];
    int row = blockIdx.y * 64, column = blockIdx.x * 64, warp = threadIdx.x / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 4; i++) wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    fetch(tile_a[0], tile_b[0], a, b, n, row, column, 0);
    for (int k = 0, at = 0; k < n; k += STEP, at ^= 1) {
        if (k + STEP < n) {
            fetch(tile_a[at ^ 1], tile_b[at ^ 1], a, b, n, row, column, k + STEP);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        for (int j = 0; j < STEP; j += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(x[i], &tile_a[at][warp / 2 * 32 + i * 16][j], STEP + 8);
                wmma::load_matrix_sync(y[i], &tile_b[at][j][warp % 2 * 32 + i * 16], 64 + 8);
            }
            for (int i = 0; i < 4; i++) wmma::mma_sync(sum[i / 2][i % 2], x[i / 2], y[i % 2], sum[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        wmma::store_matrix_sync(c + (size_t)(row + warp / 2 * 32 + i / 2 * 16) * n + column + warp % 2 * 32 + i % 2 * 16,
                                sum[i / 2][i % 2], n, wmma::mem_row_major);
}

/* c = a bt', of n x n halves: the last warp fetches by tensor maps, the first four multiply by wgmma; 64 x 64, 64 deep, in a
 * ring of three. */
#define RING 3
static __device__ uint64_t descriptor(const void *p)
{
    return (uint64_t)(shared_address(p) >> 4 & 0x3fff) | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62;
}

extern "C" __global__ void __launch_bounds__(160)
    matmul_wgmma(float *c, const __grid_constant__ tensor_map map_a, const __grid_constant__ tensor_map map_b, int n)
{
    extern __shared__ __align__(1024) uint8_t tiles[];
    __shared__ __align__(8) uint64_t full[RING], empty[RING];
    int row = blockIdx.y * 64, column = blockIdx.x * 64, steps = n / 64;
    if (threadIdx.x == 0) {
        for (int i = 0; i < RING; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], 128);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x >= 128) {
        for (int k = 0; k < steps && threadIdx.x == 128; k++) {
            int at = k % RING;
            if (k >= RING) barrier_wait(&empty[at], (k / RING - 1) & 1);
            barrier_expect(&full[at], 16384);
            load_box(tiles + at * 16384, &map_a, k * 64, row, &full[at]);
            load_box(tiles + at * 16384 + 8192, &map_b, k * 64, column, &full[at]);
        }
        return;
    }
    float d[32];
    for (int i = 0; i < 32; i++) d[i] = 0;
    for (int k = 0; k < steps; k++) {
        int at = k % RING;
        barrier_wait(&full[at], k / RING & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int j = 0; j < 4; j++) {
            asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, "
                         "%11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
                         "%31}, %32, %33, 1, 1, 1, 0, 0;"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                           "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
                           "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
                           "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
                           "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                         : "l"(descriptor(tiles + at * 16384 + j * 32)), "l"(descriptor(tiles + at * 16384 + 8192 + j * 32)));
        }
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        barrier_arrive(&empty[at]);
    }
    int lane = threadIdx.x % 32, y = row + threadIdx.x / 32 * 16 + lane / 4, x = column + lane % 4 * 2;
    for (int i = 0; i < 32; i++) c[(size_t)(y + i / 2 % 2 * 8) * n + x + i / 4 * 8 + i % 2] = d[i];
}

/* Rows of 1024: a warp each. */
static __device__ float warp_sum(float v)
{
    for (int i = 16; i; i /= 2) v += __shfl_xor_sync(~0u, v, i);
    return v;
}

extern "C" __global__ void layer_norm(float *out, const float *in, int rows)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float v[32], sum = 0, squares = 0;
    for (int i = 0; i < 32; i++) sum += v[i] = in[(size_t)row * 1024 + i * 32 + lane];
    float mean = warp_sum(sum) / 1024;
    for (int i = 0; i < 32; i++) squares += (v[i] - mean) * (v[i] - mean);
    float scale = rsqrtf(warp_sum(squares) / 1024 + 1e-5f);
    for (int i = 0; i < 32; i++) out[(size_t)row * 1024 + i * 32 + lane] = (v[i] - mean) * scale;
}

extern "C" __global__ void softmax(float *out, const float *in, int rows)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float v[32], most = -INFINITY, sum = 0;
    for (int i = 0; i < 32; i++) most = fmaxf(most, v[i] = in[(size_t)row * 1024 + i * 32 + lane]);
    for (int i = 16; i; i /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, i));
    for (int i = 0; i < 32; i++) sum += v[i] = __expf(v[i] - most);
    float scale = 1 / warp_sum(sum);
    for (int i = 0; i < 32; i++) out[(size_t)row * 1024 + i * 32 + lane] = v[i] * scale;
}

/* Five points of a plane of n x n, 32 x 32 by a CTA, whose tile with its border a tensor map brings. */
extern "C" __global__ void stencil_box(float *out, const __grid_constant__ tensor_map map, int n)
{
    __shared__ __align__(128) float tile[34][40];
    __shared__ __align__(8) uint64_t bar;
    int x = blockIdx.x * 32, y = blockIdx.y * 32, tx = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        barrier_init(&bar, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        barrier_expect(&bar, sizeof tile);
        load_box(tile, &map, x - 4, y - 1, &bar);
    }
    __syncthreads();
    barrier_wait(&bar, 0);
    for (int ty = threadIdx.x / 32; ty < 32; ty += blockDim.x / 32) {
        float sum = tile[ty + 1][tx + 3] + tile[ty + 1][tx + 5] + tile[ty][tx + 4] + tile[ty + 2][tx + 4];
        out[(size_t)(y + ty) * n + x + tx] = sum - 4 * tile[ty + 1][tx + 4];
    }
}

/* Counts of 1024 values; each of a cluster's four CTAs has a quarter of the bins. */
extern "C" __global__ void __cluster_dims__(4, 1, 1) histogram_cluster(unsigned *bins, const unsigned *in, int n)
{
    __shared__ unsigned mine[256];
    cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned bin = in[i] % 1024;
        atomicAdd(cluster.map_shared_rank(mine, bin / 256) + bin % 256, 1u);
    }
    cluster.sync();
    atomicAdd(&bins[cluster.block_rank() * 256 + threadIdx.x], mine[threadIdx.x]);
}

/* c = a b, of 32 x k and k x n floats: a cluster's four CTAs share k and add up in each other's shared memory. */
extern "C" __global__ void __cluster_dims__(4, 1, 1) split_k(float *c, const float *a, const float *b, int n, int k)
{
    __shared__ float sums[32][32];
    cg::cluster_group cluster = cg::this_cluster();
    int rank = cluster.block_rank(), column = blockIdx.x / 4 * 32 + threadIdx.x % 32, part = k / 4;
    for (int row = threadIdx.x / 32; row < 32; row += 8) {
        float sum = 0;
        for (int i = rank * part; i < (rank + 1) * part; i++) sum += a[(size_t)row * k + i] * b[(size_t)i * n + column];
        sums[row][threadIdx.x % 32] = sum;
    }
    cluster.sync();
    int row = rank * 8 + threadIdx.x / 32;
    float sum = 0;
    for (int i = 0; i < 4; i++) sum += *cluster.map_shared_rank(&sums[row][threadIdx.x % 32], i);
    c[(size_t)row * n + column] = sum;
    cluster.sync();
}

/* out = softmax(q kt / 8) v, of n rows of 64 halves: a CTA of 128 threads has 32 rows of q and goes through k and v 64 rows at a
 * time, with a running maximum and sum; the next k and v are on their way meanwhile. */
#define DEPTH 64
static __device__ void fetch_rows(half (*to)[DEPTH + 8], const half *from, int first, int rows)
{
    for (int i = threadIdx.x; i < rows * 8; i += 128)
        copy16(&to[i / 8][i % 8 * 8], from + (size_t)(first + i / 8) * DEPTH + i % 8 * 8);
}

extern "C" __global__ void __launch_bounds__(128) attention(float *out, const half *q, const half *k, const half *v, int n)
{
    extern __shared__ __align__(128) uint8_t memory[];
    half(*qs)[DEPTH + 8] = (half(*)[DEPTH + 8]) memory, (*ks)[DEPTH + 8] = qs + 32, (*vs)[DEPTH + 8] = ks + 128,
         (*p)[DEPTH + 8] = vs + 128;
    float(*s)[DEPTH + 4] = (float(*)[DEPTH + 4])(p + 32), (*o)[DEPTH + 4] = s + 32;
    __shared__ float most[32], sum[32];
    int first = blockIdx.x * 32, warp = threadIdx.x / 32, y = warp / 2 * 16, x = warp % 2 * 32;
    for (int i = threadIdx.x; i < 32 * DEPTH; i += 128) o[i / DEPTH][i % DEPTH] = 0;
    if (threadIdx.x < 32) most[threadIdx.x] = -INFINITY, sum[threadIdx.x] = 0;
    fetch_rows(qs, q, first, 32);
    fetch_rows(ks, k, 0, 64);
    fetch_rows(vs, v, 0, 64);
    asm volatile("cp.async.commit_group;");
    for (int at = 0, j = 0; at < n; at += 64, j ^= 64) {
        if (at + 64 < n) {
            fetch_rows(ks + (j ^ 64), k, at + 64, 64);
            fetch_rows(vs + (j ^ 64), v, at + 64, 64);
        }
        asm volatile("cp.async.commit_group;\ncp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        for (int t = 0; t < 2; t++) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
            wmma::fill_fragment(f, 0.0f);
            for (int d = 0; d < DEPTH; d += 16) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
                wmma::load_matrix_sync(a, &qs[y][d], DEPTH + 8);
                wmma::load_matrix_sync(b, &ks[j + x + t * 16][d], DEPTH + 8);
                wmma::mma_sync(f, a, b, f);
            }
            wmma::store_matrix_sync(&s[y][x + t * 16], f, DEPTH + 4, wmma::mem_row_major);
        }
        __syncthreads();
        int row = threadIdx.x / 4, part = threadIdx.x % 4 * 16;
        float high = most[row], total = 0;
        for (int i = 0; i < 16; i++) high = fmaxf(high, s[row][part + i] * 0.125f);
        high = fmaxf(high, __shfl_xor_sync(~0u, high, 1));
        high = fmaxf(high, __shfl_xor_sync(~0u, high, 2));
        float scale = __expf(most[row] - high);
        for (int i = 0; i < 16; i++) {
            float e = __expf(s[row][part + i] * 0.125f - high);
            p[row][part + i] = __float2half(e);
            o[row][part + i] *= scale;
            total += e;
        }
        total += __shfl_xor_sync(~0u, total, 1);
        total += __shfl_xor_sync(~0u, total, 2);
        __syncthreads();
        if (threadIdx.x % 4 == 0) most[row] = high, sum[row] = sum[row] * scale + total;
        for (int t = 0; t < 2; t++) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
            wmma::load_matrix_sync(f, &o[y][x + t * 16], DEPTH + 4, wmma::mem_row_major);
            for (int d = 0; d < 64; d += 16) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
                wmma::load_matrix_sync(a, &p[y][d], DEPTH + 8);
                wmma::load_matrix_sync(b, &vs[j + d][x + t * 16], DEPTH + 8);
                wmma::mma_sync(f, a, b, f);
            }
            wmma::store_matrix_sync(&o[y][x + t * 16], f, DEPTH + 4, wmma::mem_row_major);
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < 32 * DEPTH; i += 128)
        out[(size_t)first * DEPTH + i] = o[i / DEPTH][i % DEPTH] / sum[i / DEPTH];
}

/* The same by tensor maps and wgmma: a CTA has 64 rows of q; one warp fetches k and v into a ring of two, four multiply. The weights
 * go from the sums of the first product into the second without leaving their registers. */
#define SUMS(d)                                                                                                              \
    "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),   \
        "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]),  \
        "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),  \
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define PRODUCT                                                                                                              \
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "   \
    "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
/* Sixteen of the depth; sixteen rows of v. Written out, so that p stays in registers. */
#define SCORES(j)                                                                                                            \
    asm volatile(PRODUCT "%32, %33, 1, 1, 1, 0, 0;" : SUMS(s) : "l"(descriptor(tiles + (j) * 32)), "l"(descriptor(ks + (j) * 32)))
#define WEIGHED(j)                                                                                                           \
    asm volatile(PRODUCT "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;"                                                            \
                 : SUMS(o)                                                                                                   \
                 : "r"(p[(j) * 4]), "r"(p[(j) * 4 + 1]), "r"(p[(j) * 4 + 2]), "r"(p[(j) * 4 + 3]), "l"(descriptor(vs + (j) * 2048)))

static __device__ void weigh(float *s, float *o, float *most, float *sum)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float high = most[r], total = 0;
        for (int i = 0; i < 32; i++)
            if (i / 2 % 2 == r) high = fmaxf(high, s[i] * 0.125f);
        high = fmaxf(high, __shfl_xor_sync(~0u, high, 1));
        high = fmaxf(high, __shfl_xor_sync(~0u, high, 2));
        float scale = __expf(most[r] - high);
        for (int i = 0; i < 32; i++)
            if (i / 2 % 2 == r) total += s[i] = __expf(s[i] * 0.125f - high), o[i] *= scale;
        sum[r] = sum[r] * scale + total;
        most[r] = high;
    }
}

static __device__ uint32_t pair(float low, float high)
{
    uint32_t both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

extern "C" __global__ void __launch_bounds__(160)
    attention_wgmma(float *out, const __grid_constant__ tensor_map map_q, const __grid_constant__ tensor_map map_k,
                    const __grid_constant__ tensor_map map_v, int n)
{
    extern __shared__ __align__(1024) uint8_t tiles[];
    __shared__ __align__(8) uint64_t full[2], empty[2], ready;
    int first = blockIdx.x * 64, steps = n / 64;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], 128);
        }
        barrier_init(&ready, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x >= 128) {
        if (threadIdx.x == 128) {
            barrier_expect(&ready, 8192);
            load_box(tiles, &map_q, 0, first, &ready);
        }
        for (int k = 0; k < steps && threadIdx.x == 128; k++) {
            int at = k % 2;
            if (k >= 2) barrier_wait(&empty[at], (k / 2 - 1) & 1);
            barrier_expect(&full[at], 16384);
            load_box(tiles + 8192 + at * 16384, &map_k, 0, k * 64, &full[at]);
            load_box(tiles + 16384 + at * 16384, &map_v, 0, k * 64, &full[at]);
        }
        return;
    }
    float o[32], s[32], most[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
    for (int i = 0; i < 32; i++) o[i] = 0;
    barrier_wait(&ready, 0);
    for (int k = 0; k < steps; k++) {
        uint8_t *ks = tiles + 8192 + k % 2 * 16384, *vs = ks + 8192;
        barrier_wait(&full[k % 2], k / 2 & 1);
        for (int i = 0; i < 32; i++) s[i] = 0;
        asm volatile("wgmma.fence.sync.aligned;" : SUMS(s)::"memory");
        SCORES(0);
        SCORES(1);
        SCORES(2);
        SCORES(3);
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : SUMS(s)::"memory");
        weigh(s, o, most, sum);
        uint32_t p[16];
#pragma unroll
        for (int i = 0; i < 16; i++) p[i] = pair(s[i * 2], s[i * 2 + 1]);
        asm volatile("wgmma.fence.sync.aligned;"
                     : SUMS(o), "+r"(p[0]), "+r"(p[1]), "+r"(p[2]), "+r"(p[3]), "+r"(p[4]), "+r"(p[5]), "+r"(p[6]), "+r"(p[7]),
                       "+r"(p[8]), "+r"(p[9]), "+r"(p[10]), "+r"(p[11]), "+r"(p[12]), "+r"(p[13]), "+r"(p[14]), "+r"(p[15])
                     :
                     : "memory");
        WEIGHED(0);
        WEIGHED(1);
        WEIGHED(2);
        WEIGHED(3);
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : SUMS(o)::"memory");
        barrier_arrive(&empty[k % 2]);
    }
    for (int r = 0; r < 2; r++) {
        sum[r] += __shfl_xor_sync(~0u, sum[r], 1);
        sum[r] += __shfl_xor_sync(~0u, sum[r], 2);
    }
    int lane = threadIdx.x % 32, y = first + threadIdx.x / 32 * 16 + lane / 4, x = lane % 4 * 2;
    for (int i = 0; i < 32; i++) out[(size_t)(y + i / 2 % 2 * 8) * DEPTH + x + i / 4 * 8 + i % 2] = o[i] / sum[i / 2 % 2];
}
