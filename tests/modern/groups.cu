// Products of four warps, whose operands lie in shared memory or in registers, by rows or by columns, of every type; rings that one warp fills and others
// empty, with registers handed over; results that leave through stmatrix and boxes.
#include "modern.cuh"
#include "products.cuh"

// Of rows of 128 bytes, swizzled; of a turned one of 64 elements a row eight k are 1024 bytes apart.
static __device__ uint64_t described(const void *p)
{
    return (uint64_t)(smem(p) >> 4 & 0x3fff) | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62;
}
static __device__ void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
static __device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int LEFT, class T, int N> static __device__ void finish(T (&d)[N])
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
    for (int i = 0; i < N; i++) {
        if constexpr (sizeof(T) == 4 && T(0.5f) != T(0))
            asm volatile("" : "+f"(d[i])::"memory");
        else
            asm volatile("" : "+r"(d[i])::"memory");
    }
}

// ---- a warp that fetches, two warpgroups that multiply; what comes out leaves by boxes ----

__global__ void __launch_bounds__(384, 1)
    specialised(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, const __grid_constant__ CUtensorMap map_c, int steps)
{
    constexpr int STAGES = 3;
    extern __shared__ __align__(1024) uint8_t shared[];
    auto sa = (bf16(*)[128][64])shared;
    auto sb = (bf16(*)[64][64])(shared + STAGES * 16384);
    auto sc = (bf16(*)[64][64])(shared + STAGES * 24576);
    __shared__ uint64_t full[STAGES], empty[STAGES];
    int group = threadIdx.x / 128;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) bar_init(&full[i], 1), bar_init(&empty[i], 2);
        bar_fence();
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected())
            for (int step = 0; step < steps; step++) {
                int at = step % STAGES;
                if (step >= STAGES) bar_wait(&empty[at], (step / STAGES - 1) & 1);
                bar_expect(&full[at], 24576);
                box_2d(sa[at], &map_a, step * 64, blockIdx.y * 128, &full[at]);
                box_2d(sb[at], &map_b, step * 64, blockIdx.x * 64, &full[at]);
            }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    group--;
    float d[32];
    for (int step = 0; step < steps; step++) {
        int at = step % STAGES;
        bar_wait(&full[at], step / STAGES & 1);
        begin();
        for (int k = 0; k < 4; k++) bf16_n64(d, described(sa[at][group * 64]) + k * 2, described(sb[at]) + k * 2, step || k);
        commit();
        finish<0>(d);
        if (threadIdx.x % 128 == 0) bar_arrive(&empty[at]);
    }
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    for (int j = 0; j < 4; j++) { // 16 columns: the places of 16 bytes are exchanged as the box wants them
        uint32_t r[4];
        for (int i = 0; i < 4; i++) {
            __nv_bfloat162 pair = __floats2bfloat162_rn(d[j * 8 + i / 2 * 4 + i % 2 * 2], d[j * 8 + i / 2 * 4 + i % 2 * 2 + 1]);
            r[i] = *(uint32_t *)&pair;
        }
        int row = warp * 16 + lane % 16, piece = j * 2 + lane / 16;
        store_x4(r, &sc[group][row][(piece ^ (row & 7)) * 8]);
    }
    fence_async();
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
    if (threadIdx.x % 128 == 0) {
        store_2d(&map_c, blockIdx.x * 64, blockIdx.y * 128 + group * 64, sc[group]);
        bulk_commit();
        bulk_left<0>();
    }
}

static void run_specialised()
{
    const int m = 200, n = 152, k = 328; // nothing is a whole number of boxes
    buffer<bf16> a(m * k), b(n * k), c(m * n);
    a.real_numbers(), b.real_numbers();
    std::vector<double> added, wanted = product(a, k, b, k, m, n, k, false, &added);
    auto map = [](bf16 *at, int rows, int columns, cuuint32_t height) {
        return box_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, at, {(cuuint64_t)columns, (cuuint64_t)rows}, {64, height}, CU_TENSOR_MAP_SWIZZLE_128B);
    };
    CUtensorMap map_a = map(a.device, m, k, 128), map_b = map(b.device, n, k, 64), map_c = map(c.device, m, n, 64);
    const int bytes = 3 * 24576 + 16384;
    OK(cudaFuncSetAttribute(specialised, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    for (int i = 0; i < 2; i++) specialised<<<dim3((n + 63) / 64, (m + 127) / 128), 384, bytes>>>(map_a, map_b, map_c, (k + 63) / 64);
    tell("specialised", c, wanted, 5e-3, &added);
}

// ---- both by columns, one negative: c = -(a' b), a and b as k x 64 ----

__global__ void __launch_bounds__(128) turned(float *c, const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, int steps)
{
    __shared__ alignas(1024) bf16 sa[2][64][64], sb[2][64][64];
    __shared__ uint64_t full[2];
    auto fetch = [&](int step) {
        if (threadIdx.x == 0 && step < steps) {
            bar_expect(&full[step & 1], 16384);
            box_2d(sa[step & 1], &map_a, 0, step * 64, &full[step & 1]);
            box_2d(sb[step & 1], &map_b, 0, step * 64, &full[step & 1]);
        }
    };
    if (threadIdx.x == 0) bar_init(&full[0], 1), bar_init(&full[1], 1), bar_fence();
    fetch(0);
    __syncthreads();
    float d[32];
    for (int step = 0; step < steps; step++) {
        fetch(step + 1);
        bar_wait(&full[step & 1], step / 2 & 1);
        begin();
        for (int k = 0; k < 4; k++) bf16_n64_turned(d, described(sa[step & 1][k * 16]), described(sb[step & 1][k * 16]), step || k);
        commit();
        finish<0>(d);
        __syncthreads();
    }
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    for (int i = 0; i < 32; i++) c[(row + i / 2 % 2 * 8) * 64 + i / 4 * 8 + column + i % 2] = d[i];
}

static void run_turned()
{
    const int k = 200;
    buffer<bf16> a(k * 64), b(k * 64);
    buffer<float> c(64 * 64);
    a.real_numbers(), b.real_numbers();
    std::vector<double> wanted(4096), added(4096);
    for (int i = 0; i < 4096; i++)
        for (int e = 0; e < k; e++) {
            double term = number(a.host[e * 64 + i / 64]) * number(b.host[e * 64 + i % 64]);
            wanted[i] -= term, added[i] += fabs(term);
        }
    CUtensorMap map_a = box_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, a.device, {64, 200}, {64, 64}, CU_TENSOR_MAP_SWIZZLE_128B);
    CUtensorMap map_b = box_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, b.device, {64, 200}, {64, 64}, CU_TENSOR_MAP_SWIZZLE_128B);
    for (int i = 0; i < 2; i++) turned<<<1, 128>>>(c.device, map_a, map_b, (k + 63) / 64);
    tell("turned", c, wanted, 1e-5, &added);
}

// ---- a warpgroup's rows of a in registers ----

// (No product and sum may become one by the compiler's choice: then the card leaves the same bytes.) Attention of 64 rows in the manner of FlashAttention 3: scores of the next keys are made while the weights of the last meet v.
__global__ void __launch_bounds__(128)
    attend_ahead(float *out, const __grid_constant__ CUtensorMap map_q, const __grid_constant__ CUtensorMap map_k, const __grid_constant__ CUtensorMap map_v,
                 int steps, float scale)
{
    __shared__ alignas(1024) bf16 sq[64][64], sk[2][64][64], sv[2][64][64];
    __shared__ uint64_t full_q, full_k[2], full_v[2];
    auto fetch = [&](bf16 *to, const CUtensorMap *map, int row, uint64_t *bar) {
        bar_expect(bar, 8192);
        box_2d(to, map, 0, row, bar);
    };
    if (threadIdx.x == 0) {
        bar_init(&full_q, 1);
        for (int i = 0; i < 2; i++) bar_init(&full_k[i], 1), bar_init(&full_v[i], 1);
        bar_fence();
        fetch(sq[0], &map_q, blockIdx.x * 64, &full_q);
        fetch(sk[0][0], &map_k, 0, &full_k[0]);
        fetch(sv[0][0], &map_v, 0, &full_v[0]);
        if (steps > 1) fetch(sk[1][0], &map_k, 64, &full_k[1]);
    }
    __syncthreads();
    float s[32], o[32], top[2] = {-INFINITY, -INFINITY}, sum[2] = {};
    for (int i = 0; i < 32; i++) o[i] = 0;
    uint32_t p[16];
    bar_wait(&full_q, 0);
    auto scores = [&](int step) {
        bar_wait(&full_k[step & 1], step / 2 & 1);
        begin();
        for (int k = 0; k < 4; k++) bf16_n64(s, described(sq) + k * 2, described(sk[step & 1]) + k * 2, k);
        commit();
    };
    scores(0);
    finish<0>(s);
    for (int step = 0; step < steps; step++) {
        float shrink[2];
        for (int half = 0; half < 2; half++) {
            float high = top[half];
            for (int i = 0; i < 32; i++)
                if (i / 2 % 2 == half) high = fmaxf(high, s[i]);
            high = fmaxf(high, __shfl_xor_sync(~0u, high, 1)), high = fmaxf(high, __shfl_xor_sync(~0u, high, 2));
            shrink[half] = exp2f((top[half] - high) * scale);
            top[half] = high, sum[half] = __fmul_rn(sum[half], shrink[half]);
            for (int i = 0; i < 32; i++)
                if (i / 2 % 2 == half) s[i] = exp2f(__fsub_rn(__fmul_rn(s[i], scale), __fmul_rn(high, scale))), sum[half] += s[i];
        }
        for (int i = 0; i < 16; i++) {
            __nv_bfloat162 pair = __floats2bfloat162_rn(s[i * 2], s[i * 2 + 1]);
            p[i] = *(uint32_t *)&pair;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            if (step + 2 < steps) fetch(sk[step & 1][0], &map_k, (step + 2) * 64, &full_k[step & 1]);
            if (step + 1 < steps) fetch(sv[(step + 1) & 1][0], &map_v, (step + 1) * 64, &full_v[(step + 1) & 1]);
        }
        if (step + 1 < steps) scores(step + 1);
        for (int i = 0; i < 32; i++) o[i] *= shrink[i / 2 % 2];
        bar_wait(&full_v[step & 1], step / 2 & 1);
        begin();
        for (int k = 0; k < 4; k++) bf16_n64_held(o, &p[k * 4], described(sv[step & 1][k * 16]), 1);
        commit();
        finish<0>(o);
        finish<0>(s);
    }
    int row = blockIdx.x * 64 + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    for (int half = 0; half < 2; half++) sum[half] += __shfl_xor_sync(~0u, sum[half], 1), sum[half] += __shfl_xor_sync(~0u, sum[half], 2);
    for (int i = 0; i < 32; i++) out[(size_t)(row + i / 2 % 2 * 8) * 64 + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = o[i] / sum[i / 2 % 2];
}

static void run_attend()
{
    const int rows = 128, keys = 256;
    buffer<bf16> q(rows * 64), k(keys * 64), v(keys * 64);
    buffer<float> out(rows * 64);
    q.real_numbers(), k.real_numbers(), v.real_numbers();
    float scale = 0.125f * 1.44269504f;
    std::vector<double> wanted(rows * 64), added(rows * 64), s = product(q, 64, k, 64, rows, keys, 64);
    for (int row = 0; row < rows; row++) {
        double sum = 0;
        for (int j = 0; j < keys; j++) {
            double p = exp2(s[row * keys + j] * scale);
            sum += p;
            for (int i = 0; i < 64; i++) wanted[row * 64 + i] += p * number(v.host[j * 64 + i]), added[row * 64 + i] += p * fabs(number(v.host[j * 64 + i]));
        }
        for (int i = 0; i < 64; i++) wanted[row * 64 + i] /= sum, added[row * 64 + i] /= sum;
    }
    auto map = [](bf16 *at, int count) {
        return box_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, at, {64, (cuuint64_t)count}, {64, 64}, CU_TENSOR_MAP_SWIZZLE_128B);
    };
    for (int i = 0; i < 2; i++)
        attend_ahead<<<rows / 64, 128>>>(out.device, map(q.device, rows), map(k.device, keys), map(v.device, keys), keys / 64, scale);
    tell("attend_ahead", out, wanted, 1e-2, &added);
}

// All other types, one tile each: a and b by rows of k, 32 columns.
template <class A, class B> struct tile_of {
    buffer<A> a;
    buffer<B> b;
    CUtensorMap map_a, map_b;
    tile_of(CUtensorMapDataType type, int k) : a(64 * k), b(32 * k)
    {
        cuuint32_t wide = 128 / sizeof(A);
        map_a = box_map(type, sizeof(A), a.device, {(cuuint64_t)k, 64}, {wide, 64}, CU_TENSOR_MAP_SWIZZLE_128B);
        map_b = box_map(type, sizeof(B), b.device, {(cuuint64_t)k, 32}, {wide, 32}, CU_TENSOR_MAP_SWIZZLE_128B);
    }
};

enum kind { HALF, TF32, TF32_HELD, S8, U8_HELD, E4M3_HELD, E5M2_HALF };

template <int KIND, class D, int N>
__global__ void __launch_bounds__(128) types(D *out, const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, int steps)
{
    __shared__ alignas(1024) uint8_t sa[64][128], sb[32][128];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) bar_init(&full, 1), bar_fence();
    __syncthreads();
    D d[N];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wide = KIND == HALF ? 64 : KIND == TF32 || KIND == TF32_HELD ? 32 : 128;
    for (int step = 0; step < steps; step++) {
        if (threadIdx.x == 0) {
            bar_expect(&full, sizeof sa + sizeof sb);
            box_2d(sa, &map_a, step * wide, 0, &full);
            box_2d(sb, &map_b, step * wide, 0, &full);
        }
        bar_wait(&full, step & 1);
        uint32_t held[4][4];
        for (int k = 0; k < 4; k++) {
            int row = warp * 16 + lane % 16, piece = k * 2 + lane / 16;
            load_x4(held[k], &sa[row][(piece ^ (row & 7)) * 16]);
        }
        begin();
        for (int k = 0; k < 4; k++) {
            uint64_t a = described(sa) + k * 2, b = described(sb) + k * 2;
            int add = step || k;
            if constexpr (KIND == HALF) f16_n32_half(d, a, b, add);
            if constexpr (KIND == TF32) tf32_n32(d, a, b, add);
            if constexpr (KIND == TF32_HELD) tf32_n32_held(d, held[k], b, add);
            if constexpr (KIND == S8) s8_n32(d, a, b, add);
            if constexpr (KIND == U8_HELD) u8_n32_held(d, held[k], b, add);
            if constexpr (KIND == E4M3_HELD) e4m3_n32_held(d, held[k], b, add);
            if constexpr (KIND == E5M2_HALF) e5m2_n32_half(d, a, b, add);
        }
        commit();
        finish<0>(d);
        __syncthreads();
    }
    int row = warp * 16 + lane / 4, per = N == 8 ? 1 : 2;
    for (int i = 0; i < N; i++) // of halves a register has two
        out[(row + i / per % 2 * 8) * (16 * per) + i / per / 2 * (4 * per) + lane % 4 * per + i % per] = d[i];
}

template <int KIND, class D, int N, class A, class B>
static void run_type(const char *name, CUtensorMapDataType type, int k, double near, double sign = 1)
{
    tile_of<A, B> t(type, k);
    t.a.fill([](size_t) { return std::is_integral<A>::value ? A((int)(draw() & 255)) : A(real()); });
    t.b.fill([](size_t) { return std::is_integral<B>::value ? B((int)(draw() & 255)) : B(real()); });
    std::vector<double> added, wanted = product(t.a, k, t.b, k, 64, 32, k, false, &added);
    for (double &w : wanted) w *= sign;
    constexpr int wide = 128 / sizeof(A);
    if constexpr (N == 8) {
        buffer<__half> out(64 * 32);
        for (int i = 0; i < 2; i++) types<KIND, D, N><<<1, 128>>>((D *)out.device, t.map_a, t.map_b, (k + wide - 1) / wide);
        tell(name, out, wanted, near, &added);
    } else {
        buffer<D> out(64 * 32);
        for (int i = 0; i < 2; i++) types<KIND, D, N><<<1, 128>>>(out.device, t.map_a, t.map_b, (k + wide - 1) / wide);
        tell(name, out, wanted, near, &added);
    }
}

static void run_types()
{
    run_type<HALF, uint32_t, 8, __half, __half>("type_half", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 144, 2e-2, -1);
    run_type<TF32, float, 16, float, float>("type_tf32", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 84, 2e-3);
    run_type<TF32_HELD, float, 16, float, float>("type_tf32_held", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 84, 2e-3);
    run_type<S8, int, 16, int8_t, int8_t>("type_s8", CU_TENSOR_MAP_DATA_TYPE_UINT8, 272, 0);
    run_type<U8_HELD, int, 16, uint8_t, int8_t>("type_u8_held", CU_TENSOR_MAP_DATA_TYPE_UINT8, 272, 0);
    run_type<E4M3_HELD, float, 16, __nv_fp8_e4m3, __nv_fp8_e5m2>("type_e4m3_held", CU_TENSOR_MAP_DATA_TYPE_UINT8, 272, 2e-3);
    run_type<E5M2_HALF, uint32_t, 8, __nv_fp8_e5m2, __nv_fp8_e4m3>("type_e5m2_half", CU_TENSOR_MAP_DATA_TYPE_UINT8, 272, 2e-2);
}

// ---- half of a's elements, in registers ----

__global__ void __launch_bounds__(128) sparse_group(float *out, const __half *a, const uint32_t *which, const __grid_constant__ CUtensorMap map_b, int steps)
{
    __shared__ alignas(1024) __half sb[32][64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) bar_init(&full, 1), bar_fence();
    __syncthreads();
    float d[16];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4, k = steps * 64;
    for (int step = 0; step < steps; step++) {
        if (threadIdx.x == 0) {
            bar_expect(&full, sizeof sb);
            box_2d(sb, &map_b, step * 64, 0, &full);
        }
        bar_wait(&full, step & 1);
        uint32_t held[2][4], told[2];
        for (int half = 0; half < 2; half++) {
            const __half *at = a + (size_t)(warp * 16 + g) * (k / 2) + step * 32 + half * 16 + t * 2;
            for (int i = 0; i < 4; i++) held[half][i] = *(const uint32_t *)&at[i % 2 * 8 * (k / 2) + i / 2 * 8];
            told[half] = which[((step * 2 + half) * 4 + warp) * 32 + lane];
        }
        begin();
        for (int half = 0; half < 2; half++) f16_n32_sparse(d, held[half], described(sb) + half * 4, told[half], step || half);
        commit();
        finish<0>(d);
        __syncthreads();
    }
    for (int i = 0; i < 16; i++) out[(warp * 16 + g + i / 2 % 2 * 8) * 32 + i / 4 * 8 + t * 2 + i % 2] = d[i];
}

static void run_sparse()
{
    const int k = 192;
    static const uint32_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    buffer<__half> a(64 * k / 2), b(32 * k);
    buffer<uint32_t> which(k / 32 * 128);
    buffer<float> out(64 * 32);
    a.real_numbers(), b.real_numbers();
    std::vector<double> full(64 * k), wanted(2048), added(2048);
    for (int row = 0; row < 64; row++)
        for (int group = 0; group < k / 4; group++) {
            uint32_t pair = pairs[draw() % 6];
            full[row * k + group * 4 + (pair & 3)] = number(a.host[row * k / 2 + group * 2]);
            full[row * k + group * 4 + (pair >> 2)] = number(a.host[row * k / 2 + group * 2 + 1]);
            int step = group / 8, within = group % 8;
            which.host[(step * 4 + row / 16) * 32 + row % 8 * 4 + within / 4] |= pair << (row / 8 % 2 * 16 + within % 4 * 4);
        }
    which.up();
    for (int i = 0; i < 2048; i++)
        for (int e = 0; e < k; e++) {
            double term = full[i / 32 * k + e] * number(b.host[i % 32 * k + e]);
            wanted[i] += term, added[i] += fabs(term);
        }
    CUtensorMap map = box_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, b.device, {192, 32}, {64, 32}, CU_TENSOR_MAP_SWIZZLE_128B);
    for (int i = 0; i < 2; i++) sparse_group<<<1, 128>>>(out.device, a.device, which.device, map, k / 64);
    tell("sparse_group", out, wanted, 1e-5, &added);
}

static const kernel_test tests[] = {
    {"specialised", run_specialised}, {"turned", run_turned}, {"attend_ahead", run_attend}, {"types", run_types}, {"sparse_group", run_sparse}};
RUN_ALL(tests)
