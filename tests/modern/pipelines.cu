// Products and rows behind cp.async: rings of several stages with what is cut off at the edges filled with zeros, mma of every narrow type, a pipeline of
// libcu++, barriers at which copies arrive, attention in the manner of FlashAttention 2.
#include "modern.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

// ---- a product of any size, four stages ----

template <int STAGES>
__global__ void __launch_bounds__(128) ragged(float *c, const bf16 *a, const bf16 *b, int m, int n, int k, int lda, int ldb)
{
    __shared__ alignas(128) bf16 sa[STAGES][64][32], sb[STAGES][32][64];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64, steps = (k + 31) / 32;
    auto fetch = [&](int step) {
        int stage = step % STAGES;
        if (step < steps)
            for (int i = 0; i < 2; i++) {
                int chunk = threadIdx.x + i * 128, r = chunk / 4, at = chunk % 4, e = step * 32 + at * 8;
                int bytes = row0 + r < m ? min(max((k - e) * 2, 0), 16) : 0;
                copy_async(&sa[stage][r][(at ^ (r >> 1 & 3)) * 8], a + (bytes ? (size_t)(row0 + r) * lda + e : 0), bytes);
                r = chunk / 8, at = chunk % 8;
                bytes = step * 32 + r < k ? min(max((n - col0 - at * 8) * 2, 0), 16) : 0;
                copy_async(&sb[stage][r][(at ^ (r & 7)) * 8], b + (bytes ? (size_t)(step * 32 + r) * ldb + col0 + at * 8 : 0), bytes);
            }
        copy_commit();
    };
    for (int s = 0; s < STAGES - 1; s++) fetch(s);
    float d[2][4][4] = {};
    int wm = warp / 2 * 32, wn = warp % 2 * 32;
    for (int step = 0; step < steps; step++) {
        copy_left<STAGES - 2>();
        __syncthreads();
        fetch(step + STAGES - 1);
        int stage = step % STAGES;
        for (int kk = 0; kk < 2; kk++) {
            uint32_t ra[2][4], rb[2][4];
            for (int i = 0; i < 2; i++) {
                int r = wm + i * 16 + lane % 16, at = kk * 2 + lane / 16;
                load_x4(ra[i], &sa[stage][r][(at ^ (r >> 1 & 3)) * 8]);
                r = kk * 16 + lane % 16, at = (wn + i * 16) / 8 + lane / 16;
                load_x4_trans(rb[i], &sb[stage][r][(at ^ (r & 7)) * 8]);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++) mma_bf16(d[i][j], ra[i], &rb[j / 2][j % 2 * 2]);
        }
    }
    copy_left<0>();
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++) {
                int r = row0 + wm + i * 16 + lane / 4 + e / 2 * 8, at = col0 + wn + j * 8 + lane % 4 * 2 + e % 2;
                if (r < m && at < n) c[(size_t)r * n + at] = d[i][j][e];
            }
}

static void run_ragged()
{
    const int m = 150, n = 93, k = 109, lda = 112, ldb = 96;
    buffer<bf16> a(m * lda), b(k * ldb);
    buffer<float> c(m * n);
    a.real_numbers(), b.real_numbers();
    std::vector<double> added, wanted = product(a, lda, b, ldb, m, n, k, true, &added);
    for (int i = 0; i < 2; i++) ragged<4><<<dim3((n + 63) / 64, (m + 63) / 64), 128>>>(c.device, a.device, b.device, m, n, k, lda, ldb);
    tell("ragged", c, wanted, 1e-5, &added);
}

// ---- products of bytes, four and one bits, doubles, tf32, half of a's elements ----

__global__ void __launch_bounds__(128) bytes_scaled(int8_t *c, const int8_t *a, const uint8_t *b, const float *scale, int n, int k)
{
    __shared__ alignas(16) int8_t sa[2][64][80];
    __shared__ alignas(16) uint8_t sb[2][32][80];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    a += (size_t)blockIdx.y * 64 * k, b += (size_t)blockIdx.x * 32 * k;
    auto fetch = [&](int step) {
        if (step < k / 64) {
            for (int i = 0; i < 2; i++) {
                int chunk = threadIdx.x + i * 128;
                copy_async(&sa[step & 1][chunk / 4][chunk % 4 * 16], a + (size_t)(chunk / 4) * k + step * 64 + chunk % 4 * 16);
            }
            copy_async(&sb[step & 1][threadIdx.x / 4][threadIdx.x % 4 * 16], b + (size_t)(threadIdx.x / 4) * k + step * 64 + threadIdx.x % 4 * 16);
        }
        copy_commit();
    };
    int d[4][4] = {};
    fetch(0);
    for (int step = 0; step < k / 64; step++) {
        fetch(step + 1);
        copy_left<1>();
        __syncthreads();
        for (int kk = 0; kk < 64; kk += 32) {
            uint32_t ra[4], rb[4][2];
            load_x4(ra, &sa[step & 1][warp * 16 + lane % 16][kk + lane / 16 * 16]);
            for (int j = 0; j < 4; j++) {
                load_x2(rb[j], &sb[step & 1][j * 8 + lane % 8][kk + lane / 8 % 2 * 16]);
                asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                             : "+r"(d[j][0]), "+r"(d[j][1]), "+r"(d[j][2]), "+r"(d[j][3])
                             : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[j][0]), "r"(rb[j][1]));
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        for (int half = 0; half < 2; half++) {
            int row = blockIdx.y * 64 + warp * 16 + g + half * 8, at = blockIdx.x * 32 + j * 8 + t * 2;
            int16_t pair;
            int low = __float2int_rn(d[j][half * 2] * scale[row]), high = __float2int_rn(d[j][half * 2 + 1] * scale[row]);
            uint32_t packed;
            asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, 0;" : "=r"(packed) : "r"(high), "r"(low));
            pair = (int16_t)packed;
            *(int16_t *)&c[(size_t)row * n + at] = pair;
        }
}

static void run_bytes()
{
    const int m = 128, n = 96, k = 320;
    buffer<int8_t> a(m * k), c(m * n);
    buffer<uint8_t> b(n * k);
    buffer<float> scale(m);
    a.fill([](size_t) { return (int8_t)draw(); });
    b.fill([](size_t) { return (uint8_t)draw(); });
    scale.fill([](size_t) { return ldexpf(1.0f + (draw() & 255) / 256.0f, -11); });
    std::vector<double> wanted(m * n);
    for (int i = 0; i < m * n; i++) {
        int sum = 0;
        for (int e = 0; e < k; e++) sum += a.host[i / n * k + e] * b.host[i % n * k + e];
        wanted[i] = fmin(fmax(nearbyintf((float)sum * scale.host[i / n]), -128), 127);
    }
    for (int i = 0; i < 2; i++) bytes_scaled<<<dim3(n / 32, m / 64), 128>>>(c.device, a.device, b.device, scale.device, n, k);
    tell("bytes_scaled", c, wanted, 0);
}

// A row is scaled by its largest number and becomes e4m3; then a product of them.
__global__ void __launch_bounds__(128) quantise_rows(__nv_fp8_e4m3 *out, float *scale, const float *in, int width)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int row = blockIdx.x * 4 + threadIdx.x / 32;
    float top = 0;
    for (int i = warp.thread_rank(); i < width; i += 32) top = fmaxf(top, fabsf(in[(size_t)row * width + i]));
    top = cg::reduce(warp, top, cg::greater<float>());
    for (int i = warp.thread_rank() * 4; i < width; i += 128) {
        float4 v = *(const float4 *)&in[(size_t)row * width + i];
        float by = 448.0f / top;
        *(__nv_fp8x4_e4m3 *)&out[(size_t)row * width + i] = __nv_fp8x4_e4m3(make_float4(v.x * by, v.y * by, v.z * by, v.w * by));
    }
    if (warp.thread_rank() == 0) scale[row] = top / 448.0f;
}

__global__ void __launch_bounds__(128) narrow(float *c, const __nv_fp8_e4m3 *a, const __nv_fp8_e5m2 *b, const float *scale, int n, int k)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, row = blockIdx.x * 64 + warp * 16 + g;
    for (int j = 0; j < n; j += 8) {
        float d[4] = {};
        for (int e = 0; e < k; e += 32) {
            const uint8_t *pa = (const uint8_t *)a + (size_t)row * k + e + t * 4, *pb = (const uint8_t *)b + (size_t)(j + g) * k + e + t * 4;
            asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                         : "r"(*(const uint32_t *)pa), "r"(*(const uint32_t *)(pa + 8 * k)), "r"(*(const uint32_t *)(pa + 16)),
                           "r"(*(const uint32_t *)(pa + 8 * k + 16)), "r"(*(const uint32_t *)pb), "r"(*(const uint32_t *)(pb + 16)));
        }
        for (int half = 0; half < 2; half++)
            *(float2 *)&c[(size_t)(row + half * 8) * n + j + t * 2] = make_float2(d[half * 2] * scale[row + half * 8], d[half * 2 + 1] * scale[row + half * 8]);
    }
}

static void run_narrow()
{
    const int m = 64, n = 40, k = 256;
    buffer<float> in(m * k), scale(m), c(m * n);
    buffer<__nv_fp8_e4m3> a(m * k);
    buffer<__nv_fp8_e5m2> b(n * k);
    in.real_numbers(), b.real_numbers();
    std::vector<double> rows(m * k), tops(m);
    for (int i = 0; i < m; i++) {
        float top = 0;
        for (int e = 0; e < k; e++) top = fmaxf(top, fabsf(in.host[i * k + e]));
        tops[i] = top / 448.0f;
        for (int e = 0; e < k; e++) rows[i * k + e] = number(__nv_fp8_e4m3(in.host[i * k + e] * (448.0f / top)));
    }
    for (int i = 0; i < 2; i++) {
        quantise_rows<<<m / 4, 128>>>(a.device, scale.device, in.device, k);
        narrow<<<m / 64, 128>>>(c.device, a.device, b.device, scale.device, n, k);
    }
    tell("quantise_rows", a, rows, 0);
    std::vector<double> added, wanted = product(a, k, b, k, m, n, k, false, &added);
    for (int i = 0; i < m * n; i++) wanted[i] *= tops[i / n], added[i] *= tops[i / n];
    tell("narrow", c, wanted, 1e-3, &added);
}

__global__ void small_types(int *nibbles, int *bits, double *doubles, float *single, const uint32_t *words, const double *real)
{
    int lane = threadIdx.x;
    const uint32_t *w = words + lane;
    int d[4] = {};
    asm volatile("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(w[0]), "r"(w[32]), "r"(w[64]), "r"(w[96]), "r"(w[128]), "r"(w[160]));
    for (int i = 0; i < 4; i++) nibbles[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i], d[i] = 0;
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(w[0]), "r"(w[32]), "r"(w[64]), "r"(w[96]), "r"(w[128]), "r"(w[160]));
    for (int i = 0; i < 4; i++) bits[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
    double e[4] = {};
    for (int k = 0; k < 64; k += 8) {
        const double *a = real + (lane / 4) * 64 + k + lane % 4, *b = real + 1024 + (lane / 4) * 64 + k + lane % 4;
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+d"(e[0]), "+d"(e[1]), "+d"(e[2]), "+d"(e[3]) : "d"(a[0]), "d"(a[512]), "d"(a[4]), "d"(a[516]), "d"(b[0]), "d"(b[4]));
    }
    for (int i = 0; i < 4; i++) doubles[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = e[i];
    float f[4] = {};
    for (int k = 0; k < 64; k += 4) {
        const double *a = real + (lane / 4) * 64 + k + lane % 4, *b = real + 1024 + (lane / 4) * 64 + k + lane % 4;
        uint32_t ta, tb, tc;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(ta) : "f"((float)a[0]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(tb) : "f"((float)a[512]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(tc) : "f"((float)b[0]));
        asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                     : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(ta), "r"(tb), "r"(tc));
    }
    for (int i = 0; i < 4; i++) single[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = f[i];
}

static void run_small()
{
    buffer<uint32_t> words(192);
    buffer<int> nibbles(128), bits(128);
    buffer<double> real_numbers(1536), doubles(128);
    buffer<float> single(128);
    words.fill([](size_t) { return draw() ^ draw() << 16; });
    real_numbers.fill([](size_t) { return (double)real() + ldexp(real(), -30); });
    std::vector<double> want_nibbles(128), want_bits(128), want_doubles(128), added(128);
    for (int i = 0; i < 128; i++) {
        int row = i / 8, column = i % 8, nibble = 0, bit = 0;
        double sum = 0;
        for (int t = 0; t < 4; t++)
            for (int r = 0; r < 2; r++) {
                uint32_t a = words.host[(row / 8 + 2 * r) * 32 + row % 8 * 4 + t], b = words.host[128 + r * 32 + column * 4 + t];
                for (int e = 0; e < 32; e += 4) nibble += ((int)(a << (28 - e)) >> 28) * (int)(b >> e & 15);
                bit += __builtin_popcount(a ^ b);
            }
        for (int k = 0; k < 64; k++) {
            double term = real_numbers.host[row * 64 + k] * real_numbers.host[1024 + column * 64 + k];
            sum += term, added[i] += fabs(term);
        }
        want_nibbles[i] = nibble, want_bits[i] = bit, want_doubles[i] = sum;
    }
    for (int i = 0; i < 2; i++) small_types<<<1, 32>>>(nibbles.device, bits.device, doubles.device, single.device, words.device, real_numbers.device);
    tell("nibbles", nibbles, want_nibbles, 0);
    tell("bits", bits, want_bits, 0);
    tell("doubles", doubles, want_doubles, 1e-15, &added);
    tell("single", single, want_doubles, 1e-3, &added);
}

// Of each four of a row two are there; the metadata says which.
__global__ void sparse(float *c, const __half *a, const uint32_t *which, const __half *b, int k)
{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    float d[4] = {};
    for (int e = 0; e < k; e += 32) {
        uint32_t ra[4], rb[4];
        for (int i = 0; i < 4; i++) ra[i] = *(const uint32_t *)&a[(g + i % 2 * 8) * (k / 2) + e / 2 + t * 2 + i / 2 * 8];
        for (int i = 0; i < 4; i++) rb[i] = *(const uint32_t *)&b[g * k + e + t * 2 + i * 8];
        asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, "
                     "{%0, %1, %2, %3}, %12, 0x1;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(rb[2]), "r"(rb[3]), "r"(which[e / 32 * 32 + lane]));
    }
    for (int i = 0; i < 4; i++) c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}

static void run_sparse()
{
    const int k = 256;
    buffer<__half> a(16 * k / 2), b(8 * k);
    buffer<uint32_t> which(k);
    buffer<float> c(128);
    a.real_numbers(), b.real_numbers();
    static const uint32_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    std::vector<double> full(16 * k), wanted(128), added(128);
    for (auto &word : which.host) word = 0;
    for (int row = 0; row < 16; row++)
        for (int group = 0; group < k / 4; group++) {
            uint32_t pair = pairs[draw() % 6];
            full[row * k + group * 4 + (pair & 3)] = number(a.host[row * k / 2 + group * 2]);
            full[row * k + group * 4 + (pair >> 2)] = number(a.host[row * k / 2 + group * 2 + 1]);
            // lanes 4 g + 2 + h of a step tell of the groups 4 h to 4 h + 3 of row g, and in their upper halves of row g + 8
            int step = group / 8, within = group % 8;
            which.host[step * 32 + row % 8 * 4 + 2 + within / 4] |= pair << (row / 8 * 16 + within % 4 * 4);
        }
    which.up();
    for (int i = 0; i < 128; i++)
        for (int e = 0; e < k; e++) {
            double term = full[i / 8 * k + e] * number(b.host[i % 8 * k + e]);
            wanted[i] += term, added[i] += fabs(term);
        }
    for (int i = 0; i < 2; i++) sparse<<<1, 32>>>(c.device, a.device, which.device, b.device, k);
    tell("sparse", c, wanted, 1e-5, &added);
}

// ---- rows ----

// Two rows at a time through a pipeline of libcu++.
__global__ void __launch_bounds__(256) softmax_pipe(float *out, const float *in, int rows)
{
    constexpr int width = 1024;
    __shared__ alignas(16) float row[2][width];
    __shared__ float part[8];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> shared_state;
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto pipe = cuda::make_pipeline(block, &shared_state);
    int fetched = blockIdx.x;
    for (int r = blockIdx.x, at = 0; r < rows; r += gridDim.x, at ^= 1) {
        for (; fetched < rows && fetched <= r + (int)gridDim.x; fetched += gridDim.x) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, row[(fetched - (int)blockIdx.x) / (int)gridDim.x % 2], in + (size_t)fetched * width,
                               cuda::aligned_size_t<16>(width * sizeof(float)), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        float v[4], top = -INFINITY, sum = 0;
        for (int i = 0; i < 4; i++) v[i] = row[at][block.thread_rank() + i * 256], top = fmaxf(top, v[i]);
        top = cg::reduce(warp, top, cg::greater<float>());
        if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = top;
        block.sync();
        for (int i = 0; i < 8; i++) top = fmaxf(top, part[i]);
        block.sync();
        for (int i = 0; i < 4; i++) v[i] = exp2f((v[i] - top) * 1.44269504f), sum += v[i];
        sum = cg::reduce(warp, sum, cg::plus<float>());
        if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = sum;
        block.sync();
        sum = 0;
        for (int i = 0; i < 8; i++) sum += part[i];
        block.sync();
        for (int i = 0; i < 4; i++) out[(size_t)r * width + block.thread_rank() + i * 256] = __fdividef(v[i], sum);
        pipe.consumer_release();
    }
}

static void run_softmax()
{
    const int rows = 23, width = 1024;
    buffer<float> in(rows * width), out(rows * width);
    in.fill([](size_t) { return real() * 8; });
    std::vector<double> wanted(rows * width);
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int i = 0; i < width; i++) sum += exp((double)in.host[r * width + i]);
        for (int i = 0; i < width; i++) wanted[r * width + i] = exp((double)in.host[r * width + i]) / sum;
    }
    for (int i = 0; i < 2; i++) softmax_pipe<<<5, 256>>>(out.device, in.device, rows);
    tell("softmax_pipe", out, wanted, 1e-6);
}

// Warps that fetch and warps that add up meet at barriers at which the copies arrive.
__global__ void __launch_bounds__(128) arrivals(float *out, const float *in, int steps)
{
    __shared__ alignas(16) float ring[3][512];
    __shared__ uint64_t full[3], empty[3];
    if (threadIdx.x == 0)
        for (int i = 0; i < 3; i++) bar_init(&full[i], 32), bar_init(&empty[i], 96);
    __syncthreads();
    const float *from = in + (size_t)blockIdx.x * steps * 512;
    if (threadIdx.x < 32) {
        for (int step = 0; step < steps; step++) {
            int at = step % 3;
            if (step >= 3) bar_wait(&empty[at], (step / 3 - 1) & 1);
            for (int i = 0; i < 4; i++) copy_async(&ring[at][(i * 32 + threadIdx.x) * 4], from + step * 512 + (i * 32 + threadIdx.x) * 4);
            asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(smem(&full[at])) : "memory");
        }
    } else {
        float sum = 0;
        for (int step = 0; step < steps; step++) {
            int at = step % 3;
            bar_wait(&full[at], step / 3 & 1);
            for (int i = threadIdx.x - 32; i < 512; i += 96) sum += ring[at][i];
            bar_arrive(&empty[at]);
        }
        for (int far = 16; far > 0; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
        if (threadIdx.x % 32 == 0) out[blockIdx.x * 3 + threadIdx.x / 32 - 1] = sum;
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
}

static void run_arrivals()
{
    const int blocks = 7, steps = 11;
    buffer<float> in(blocks * steps * 512), out(blocks * 3);
    in.real_numbers();
    std::vector<double> wanted(blocks * 3), added(blocks * 3);
    for (int i = 0; i < blocks * steps * 512; i++) {
        int to = i / 512 / steps * 3 + i % 512 % 96 / 32;
        wanted[to] += in.host[i], added[to] += fabs(in.host[i]);
    }
    for (int i = 0; i < 2; i++) arrivals<<<blocks, 128>>>(out.device, in.device, steps);
    tell("arrivals", out, wanted, 1e-6, &added);
}

// ---- attention: 64 rows of a head a block, keys 32 at a time, causal ----

// No product and sum here may become one by the compiler's choice: then the card leaves the same bytes.
__global__ void __launch_bounds__(128) attend(bf16 *out, float *sums, const bf16 *q, const bf16 *k, const bf16 *v, int keys, float scale)
{
    constexpr int D = 64, STEP = 32;
    __shared__ alignas(128) bf16 sq[64][D], sk[2][STEP][D], sv[2][STEP][D];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, first = blockIdx.x * 64;
    size_t head = (size_t)blockIdx.y * keys * D;
    auto place = [](bf16 (*rows)[D], int r, int at) { return &rows[r][(at ^ (r & 7)) * 8]; };
    auto fetch = [&](int step) {
        if (step * STEP < first + 64)
            for (int i = 0; i < 2; i++) {
                int chunk = threadIdx.x + i * 128, r = chunk / 8, at = chunk % 8;
                copy_async(place(sk[step & 1], r, at), k + head + (size_t)(step * STEP + r) * D + at * 8);
                copy_async(place(sv[step & 1], r, at), v + head + (size_t)(step * STEP + r) * D + at * 8);
            }
        copy_commit();
    };
    for (int i = 0; i < 4; i++) {
        int chunk = threadIdx.x + i * 128;
        copy_async(place(sq, chunk / 8, chunk % 8), q + head + (size_t)(first + chunk / 8) * D + chunk % 8 * 8);
    }
    fetch(0);
    float o[8][4] = {}, top[2] = {-INFINITY, -INFINITY}, sum[2] = {};
    uint32_t rq[4][4];
    for (int step = 0; step * STEP < first + 64; step++) {
        fetch(step + 1);
        copy_left<1>();
        __syncthreads();
        if (step == 0)
            for (int kk = 0; kk < 4; kk++) load_x4(rq[kk], place(sq, warp * 16 + lane % 16, kk * 2 + lane / 16));
        float s[4][4] = {};
        for (int kk = 0; kk < 4; kk++)
            for (int j = 0; j < 2; j++) {
                uint32_t rk[4];
                load_x4(rk, place(sk[step & 1], j * 16 + lane / 16 * 8 + lane % 8, kk * 2 + lane / 8 % 2));
                mma_bf16(s[j * 2], rq[kk], rk), mma_bf16(s[j * 2 + 1], rq[kk], rk + 2);
            }
        for (int half = 0; half < 2; half++) {
            int row = first + warp * 16 + g + half * 8;
            float high = top[half], more = 0;
            for (int j = 0; j < 4; j++)
                for (int e = 0; e < 2; e++) {
                    if (step * STEP + j * 8 + t * 2 + e > row) s[j][half * 2 + e] = -INFINITY;
                    high = fmaxf(high, s[j][half * 2 + e]);
                }
            high = fmaxf(high, __shfl_xor_sync(0xffffffff, high, 1));
            high = fmaxf(high, __shfl_xor_sync(0xffffffff, high, 2));
            float base = high == -INFINITY ? 0 : __fmul_rn(high, scale), shrink;
            asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(shrink) : "f"(__fsub_rn(__fmul_rn(top[half], scale), base)));
            for (int j = 0; j < 4; j++)
                for (int e = 0; e < 2; e++) {
                    float &x = s[j][half * 2 + e];
                    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(fmaf(x, scale, -base)));
                    more += x;
                }
            sum[half] = __fadd_rn(__fmul_rn(sum[half], shrink), more), top[half] = high;
            for (int j = 0; j < 8; j++) o[j][half * 2] *= shrink, o[j][half * 2 + 1] *= shrink;
        }
        for (int kk = 0; kk < 2; kk++) {
            uint32_t rp[4];
            for (int i = 0; i < 4; i++) {
                __nv_bfloat162 pair = __floats2bfloat162_rn(s[kk * 2 + i / 2][i % 2 * 2], s[kk * 2 + i / 2][i % 2 * 2 + 1]);
                rp[i] = *(uint32_t *)&pair;
            }
            for (int j = 0; j < 4; j++) {
                uint32_t rv[4];
                load_x4_trans(rv, place(sv[step & 1], kk * 16 + lane % 16, j * 2 + lane / 16));
                mma_bf16(o[j * 2], rp, rv), mma_bf16(o[j * 2 + 1], rp, rv + 2);
            }
        }
        __syncthreads();
    }
    for (int half = 0; half < 2; half++) {
        sum[half] += __shfl_xor_sync(0xffffffff, sum[half], 1);
        sum[half] += __shfl_xor_sync(0xffffffff, sum[half], 2);
        int row = first + warp * 16 + g + half * 8;
        for (int j = 0; j < 8; j++)
            *(__nv_bfloat162 *)&out[head + (size_t)row * D + j * 8 + t * 2] = __floats2bfloat162_rn(o[j][half * 2] / sum[half], o[j][half * 2 + 1] / sum[half]);
        if (t == 0) sums[(size_t)blockIdx.y * keys + row] = sum[half];
    }
    copy_left<0>();
}

static void run_attend()
{
    const int keys = 192, heads = 2, D = 64;
    buffer<bf16> q(heads * keys * D), k(heads * keys * D), v(heads * keys * D), out(heads * keys * D);
    buffer<float> sums(heads * keys);
    q.real_numbers(), k.real_numbers(), v.real_numbers();
    float scale = 0.125f * 1.44269504f;
    std::vector<double> wanted(heads * keys * D), added(heads * keys * D), want_sums(heads * keys);
    for (int row = 0; row < heads * keys; row++) {
        int first = row / keys * keys;
        std::vector<double> s(keys);
        double top = -INFINITY;
        for (int j = first; j <= row; j++) {
            for (int i = 0; i < D; i++) s[j - first] += number(q.host[row * D + i]) * number(k.host[j * D + i]);
            top = fmax(top, s[j - first]);
        }
        for (int j = first; j <= row; j++) {
            double p = exp2((s[j - first] - top) * scale);
            want_sums[row] += p;
            for (int i = 0; i < D; i++) wanted[row * D + i] += p * number(v.host[j * D + i]), added[row * D + i] += p * fabs(number(v.host[j * D + i]));
        }
        for (int i = 0; i < D; i++) wanted[row * D + i] /= want_sums[row], added[row * D + i] /= want_sums[row];
    }
    for (int i = 0; i < 2; i++) attend<<<dim3(keys / 64, heads), 128>>>(out.device, sums.device, q.device, k.device, v.device, keys, scale);
    tell("attend", out, wanted, 2e-2, &added);
    tell("attend_sums", sums, want_sums, 1e-5);
}

static const kernel_test tests[] = {{"ragged", run_ragged},   {"bytes_scaled", run_bytes},    {"narrow", run_narrow},     {"small_types", run_small},
                                    {"sparse", run_sparse},   {"softmax_pipe", run_softmax},  {"arrivals", run_arrivals}, {"attend", run_attend}};
RUN_ALL(tests)
