/* Attention (attention.cu) by tensor maps and wgmma: a CTA has 64 rows of q; one warp fetches k and v into a ring of two, four
 * multiply. The weights go from the sums of the first product into the second without leaving their registers. */
#include "../modern.cuh"

#define DEPTH 64
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
