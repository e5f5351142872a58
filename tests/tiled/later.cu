/*
 * Kernels in the manner of libraries once more, written after the simulator ran the others (kernels.cu), to find what it does not run: persistent
 * products of seven types and four swizzles with rings of two to five stages, by one block or by clusters that fetch for each other;
 * causal attention whose warpgroups take turns; softmax over a cluster by stores that count; rows through a ring of bulk copies; weights of
 * four bits; products by warps behind copies of their own; sums over a cluster. later.c has their inputs and holds what they leave against an H200's.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "warps.cuh"

extern __shared__ __align__(1024) uint8_t tiles[];

struct bf16_n96 {
    typedef float type;
    static const int n = 96, sums = 48;
    static __device__ void multiply(float *d, uint64_t a, uint64_t b, int add)
    {
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %50, 0;\nwgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, %48, %49, p, 1, 1, 0, 0;\n}"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]) : "l"(a), "l"(b), "r"(add));
    }
};

struct e5m2_e4m3_n128 {
    typedef float type;
    static const int n = 128, sums = 64;
    static __device__ void multiply(float *d, uint64_t a, uint64_t b, int add)
    {
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k32.f32.e5m2.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1;\n}"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]) : "l"(a), "l"(b), "r"(add));
    }
};

struct s8_u8_n64 {
    typedef int type;
    static const int n = 64, sums = 32;
    static __device__ void multiply(int *d, uint64_t a, uint64_t b, int add)
    {
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k32.s32.s8.u8 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p;\n}"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]) : "l"(a), "l"(b), "r"(add));
    }
};

struct tf32_n64 {
    typedef float type;
    static const int n = 64, sums = 32;
    static __device__ void multiply(float *d, uint64_t a, uint64_t b, int add)
    {
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1;\n}"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) : "l"(a), "l"(b), "r"(add));
    }
};

struct f16_n128 {
    typedef uint32_t type;
    static const int n = 128, sums = 32;
    static __device__ void multiply(uint32_t *d, uint64_t a, uint64_t b, int add)
    {
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f16.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, -1, 0, 0;\n}"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]) : "l"(a), "l"(b), "r"(add));
    }
};

struct e4m3_half_n96 {
    typedef uint32_t type;
    static const int n = 96, sums = 24;
    static __device__ void multiply(uint32_t *d, uint64_t a, uint64_t b, int add)
    {
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %26, 0;\nwgmma.mma_async.sync.aligned.m64n96k32.f16.e4m3.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23}, %24, %25, p, -1, 1;\n}"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]) : "l"(a), "l"(b), "r"(add));
    }
};

struct bf16_n64 {
    typedef float type;
    static const int n = 64, sums = 32;
    static __device__ void multiply(float *d, uint64_t a, uint64_t b, int add)
    {
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0;\n}"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) : "l"(a), "l"(b), "r"(add));
    }
};

/* a in registers, b by rows. */
static __device__ void multiply_bf16_registers(float *d, const uint32_t *a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/* a in registers, b by columns. */
static __device__ void multiply_bf16_columns(float *d, const uint32_t *a, uint64_t b, int add)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, p, 1, 1, 0;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

/* Waits as CUTLASS does: a test first, then waits with a hint of how long. */
static __device__ void patient_wait(uint64_t *bar, uint32_t phase)
{
    asm volatile("{\n.reg .pred P1;\nmbarrier.test_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\n"
                 "LAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1, %2;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}" ::"r"(
                     shared_address(bar)), "r"(phase), "r"(0x989680) : "memory");
}

static __device__ void arrive_at(const uint64_t *bar, uint32_t rank, uint32_t is)
{
    asm volatile("{\n.reg .pred p;\n.reg .b32 remAddr32;\nsetp.eq.u32 p, %2, 1;\n@p mapa.shared::cluster.u32 remAddr32, %0, %1;\n"
                 "@p mbarrier.arrive.shared::cluster.b64 _, [remAddr32];\n}" ::"r"(shared_address(bar)), "r"(rank), "r"(is) : "memory");
}

/* To the blocks of `to`, with a hint for L2. */
static __device__ void load_shared_box(void *at, const void *map, int x, int y, uint64_t *bar, uint32_t to, uint64_t hint)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], "
                 "[%1, {%4, %5}], [%2], %3, %6;" ::"r"(shared_address(at)), "l"(map), "r"(shared_address(bar)), "h"((uint16_t)to), "r"(x),
                 "r"(y), "l"(hint) : "memory");
}

static __device__ void load_hinted_box(void *at, const void *map, int x, int y, uint64_t *bar, uint64_t hint)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, %4}], [%2], "
                 "%5;" ::"r"(shared_address(at)), "l"(map), "r"(shared_address(bar)), "r"(x), "r"(y), "l"(hint) : "memory");
}

/* Of rows of ROW bytes, swizzled by as many. */
template <int ROW> static __device__ uint64_t row_descriptor(const void *p)
{
    uint64_t kind = ROW == 128 ? 1 : ROW == 64 ? 2 : 3;
    return (uint64_t)(shared_address(p) >> 4 & 0x3fff) | (uint64_t)1 << 16 | (uint64_t)(ROW * 8 / 16) << 32 | kind << 62;
}

static __device__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> static __device__ void wgmma_left() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

static __device__ void leave(float *c, int n, int row, int column, const float *d, int i)
{
    *(float2 *)&c[(size_t)row * n + column] = make_float2(d[i], d[i + 1]);
}

static __device__ void leave(int *c, int n, int row, int column, const int *d, int i)
{
    *(int2 *)&c[(size_t)row * n + column] = make_int2(d[i], d[i + 1]);
}

/* c = a bt'. Clusters of ACROSS blocks that share rows of a and DOWN that share rows of b; GROUPS warpgroups of 64 rows; rows of ROW bytes. */
template <class OP, int ROW, int STAGES, int GROUPS, int ACROSS, int DOWN>
static __device__ void persistent(const tensor_map &map_a, const tensor_map &map_b, typename OP::type *c, int tiles_m, int tiles_n, int steps, int depth)
{
    __shared__ __align__(8) uint64_t full[STAGES], empty[STAGES];
    const int a_bytes = 64 * GROUPS * ROW, b_bytes = OP::n * ROW, bytes = a_bytes + b_bytes;
    uint32_t rank = ACROSS * DOWN > 1 ? cluster_rank() : 0, rx = rank % ACROSS, ry = rank / ACROSS;
    int group = __shfl_sync(0xffffffff, threadIdx.x / 128, 0), thread = threadIdx.x % 128, wide = tiles_n / ACROSS, count = tiles_m / DOWN * wide;
    int first = blockIdx.x / (ACROSS * DOWN), by = gridDim.x / (ACROSS * DOWN);
    if (threadIdx.x < 32 && elected()) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map_a) : "memory");
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map_b) : "memory");
        for (int i = 0; i < STAGES; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], GROUPS * (ACROSS + DOWN - 1));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (ACROSS * DOWN > 1) {
        asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    } else {
        __syncthreads();
    }
    if (group == GROUPS) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (thread < 32 && elected()) {
            uint64_t hint;
            asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(hint));
            int at = 0;
            for (int tile = first; tile < count; tile += by)
                for (int k = 0; k < steps; k++, at++) {
                    int s = at % STAGES, m = tile / wide * DOWN + ry, n = tile % wide * ACROSS + rx;
                    uint8_t *to = tiles + s * bytes;
                    patient_wait(&empty[s], at / STAGES + 1 & 1);
                    barrier_expect(&full[s], bytes);
                    const int ra = 64 * GROUPS / ACROSS, rb = OP::n / DOWN;
                    if (ACROSS > 1) {
                        load_shared_box(to + rx * ra * ROW, &map_a, k * depth, m * 64 * GROUPS + rx * ra, &full[s], ((1 << ACROSS) - 1) << ry * ACROSS, hint);
                    } else {
                        load_hinted_box(to, &map_a, k * depth, m * 64 * GROUPS, &full[s], hint);
                    }
                    if (DOWN > 1) {
                        uint32_t to_all = 0;
                        for (int i = 0; i < DOWN; i++) to_all |= 1 << (i * ACROSS + rx);
                        load_shared_box(to + a_bytes + ry * rb * ROW, &map_b, k * depth, n * OP::n + ry * rb, &full[s], to_all, hint);
                    } else {
                        load_hinted_box(to + a_bytes, &map_b, k * depth, n * OP::n, &full[s], 0x14F0000000000000);
                    }
                }
            /* Nobody leaves before all that it was sent was read. */
            for (int i = 0; i < STAGES; i++, at++) patient_wait(&empty[at % STAGES], at / STAGES + 1 & 1);
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        int at = 0;
        /* The first ACROSS + DOWN - 1 threads of a group tell those that fetch for it. */
        bool tells = thread < ACROSS + DOWN - 1;
        uint32_t whom = thread < ACROSS ? ry * ACROSS + thread : ((thread - ACROSS + 1 + ry) % DOWN) * ACROSS + rx;
        for (int tile = first; tile < count; tile += by) {
            typename OP::type d[OP::sums];
            int m = tile / wide * DOWN + ry, n = tile % wide * ACROSS + rx;
            for (int k = 0; k < steps; k++, at++) {
                int s = at % STAGES;
                const uint8_t *a = tiles + s * bytes + group * 64 * ROW, *b = tiles + s * bytes + a_bytes;
                patient_wait(&full[s], at / STAGES & 1);
                wgmma_begin();
                for (int j = 0; j < ROW / 32; j++) OP::multiply(d, row_descriptor<ROW>(a + j * 32), row_descriptor<ROW>(b + j * 32), k + j);
                wgmma_commit();
                if (k > 0) {
                    wgmma_left<1>();
                    arrive_at(&empty[(at + STAGES - 1) % STAGES], whom, tells);
                }
            }
            wgmma_left<0>();
            arrive_at(&empty[(at + STAGES - 1) % STAGES], whom, tells);
            int row = m * 64 * GROUPS + group * 64 + thread / 32 * 16 + thread % 32 / 4, column = n * OP::n + thread % 4 * 2, width = tiles_n * OP::n;
            if constexpr (sizeof(typename OP::type) == 4 && OP::sums * 2 == OP::n) {
                for (int i = 0; i < OP::sums; i += 2) leave(c, width, row + i / 2 % 2 * 8, column + i / 4 * 8, d, i);
            } else {
                for (int i = 0; i < OP::sums; i++) c[((size_t)(row + i % 2 * 8) * width + column + i / 2 * 8) / 2] = d[i];
            }
        }
    }
    if (ACROSS * DOWN > 1) cluster_meet();
}

#define PERSISTENT(name, op, row, stages, groups, across, down)                                                                          \
    extern "C" __global__ void __launch_bounds__(128 * (groups + 1), 1) __cluster_dims__(across * down, 1, 1)                            \
        name(const __grid_constant__ tensor_map map_a, const __grid_constant__ tensor_map map_b, op::type *c, int tiles_m, int tiles_n,  \
             int steps, int depth)                                                                                                       \
    {                                                                                                                                    \
        persistent<op, row, stages, groups, across, down>(map_a, map_b, c, tiles_m, tiles_n, steps, depth);                              \
    }

PERSISTENT(bf16_ring, bf16_n96, 128, 3, 2, 1, 1)
PERSISTENT(narrow_pair, e5m2_e4m3_n128, 64, 4, 1, 2, 1)
PERSISTENT(whole_pair, s8_u8_n64, 32, 5, 2, 1, 2)
PERSISTENT(tf32_square, tf32_n64, 128, 2, 1, 2, 2)
PERSISTENT(half_row, f16_n128, 128, 4, 1, 4, 1)
PERSISTENT(narrow_half, e4m3_half_n96, 64, 3, 2, 1, 2)
PERSISTENT(bf16_eight, bf16_n64, 64, 5, 2, 2, 4)

static __device__ uint32_t pack_bf16(float low, float high)
{
    uint32_t both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

static __device__ float exp2_of(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

#define HEAD 8192 /* bytes of 64 rows of 64 bf16 */

/* Causal attention of heads of 64: a warp fetches, two warpgroups have 64 queries each and take turns at the tensor cores. */
extern "C" __global__ void __launch_bounds__(384, 1)
    attend_turns(const __grid_constant__ tensor_map map_q, const __grid_constant__ tensor_map map_k, const __grid_constant__ tensor_map map_v,
                 __nv_bfloat16 *out, float *sums, int keys, float scale)
{
    __shared__ __align__(8) uint64_t q_full, k_full[2], v_full[2], k_empty[2], v_empty[2];
    uint8_t *ks = tiles + 2 * HEAD, *vs = ks + 2 * HEAD;
    int group = __shfl_sync(0xffffffff, threadIdx.x / 128, 0), thread = threadIdx.x % 128, head = blockIdx.y;
    int blocks = min(keys / 64, (int)(blockIdx.x + 1) * 2);
    if (threadIdx.x == 0) {
        barrier_init(&q_full, 1);
        for (int i = 0; i < 2; i++) {
            barrier_init(&k_full[i], 1);
            barrier_init(&v_full[i], 1);
            barrier_init(&k_empty[i], 2);
            barrier_init(&v_empty[i], 2);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (thread < 32 && elected()) {
            barrier_expect(&q_full, 2 * HEAD);
            load_box(tiles, &map_q, 0, head * keys + blockIdx.x * 128, &q_full);
            for (int j = 0; j < blocks; j++) { /* from the last to the first, as masks are needed at first */
                int s = j % 2, row = head * keys + (blocks - 1 - j) * 64;
                patient_wait(&k_empty[s], j / 2 + 1 & 1);
                barrier_expect(&k_full[s], HEAD);
                load_hinted_box(ks + s * HEAD, &map_k, 0, row, &k_full[s], 0x12F0000000000000);
                patient_wait(&v_empty[s], j / 2 + 1 & 1);
                barrier_expect(&v_full[s], HEAD);
                load_hinted_box(vs + s * HEAD, &map_v, 0, row, &v_full[s], 0x12F0000000000000);
            }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    int at = group - 1, lane = thread % 32, y = blockIdx.x * 128 + at * 64 + thread / 32 * 16 + lane / 4, x = lane % 4 * 2;
    float o[32], top[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
    for (int i = 0; i < 32; i++) o[i] = 0;
    if (at == 0) asm volatile("bar.arrive 2, 256;" ::: "memory"); /* the first begins: its barrier is 2 */
    patient_wait(&q_full, 0);
    if (at == 0) asm volatile("bar.sync 2, 256;" ::: "memory");
    for (int j = 0; j < blocks; j++) {
        float d[32], old[2];
        uint32_t p[16];
        int s = j % 2, first = (blocks - 1 - j) * 64;
        patient_wait(&k_full[s], j / 2 & 1);
        wgmma_begin();
        for (int i = 0; i < 4; i++) bf16_n64::multiply(d, row_descriptor<128>(tiles + at * HEAD + i * 32), row_descriptor<128>(ks + s * HEAD + i * 32), i);
        wgmma_commit();
        wgmma_left<0>();
        arrive_at(&k_empty[s], 0, thread == 0);
        for (int r = 0; r < 2; r++) {
            old[r] = top[r];
            for (int i = 0; i < 32; i++)
                if (i / 2 % 2 == r) {
                    if (first + x + i / 4 * 8 + i % 2 > y + r * 8) d[i] = -INFINITY;
                    top[r] = fmaxf(top[r], d[i]);
                }
            top[r] = fmaxf(top[r], __shfl_xor_sync(0xffffffff, top[r], 2));
            top[r] = fmaxf(top[r], __shfl_xor_sync(0xffffffff, top[r], 1));
            float base = top[r] == -INFINITY ? 0 : __fmul_rn(top[r], scale), keep = exp2_of(__fmaf_rn(old[r], scale, -base));
            sum[r] = __fmul_rn(sum[r], keep);
            for (int i = 0; i < 32; i++)
                if (i / 2 % 2 == r) {
                    d[i] = exp2_of(__fmaf_rn(d[i], scale, -base));
                    sum[r] = __fadd_rn(sum[r], d[i]);
                    o[i] = __fmul_rn(o[i], keep);
                }
        }
        for (int i = 0; i < 16; i++) p[i] = pack_bf16(d[2 * i], d[2 * i + 1]);
        patient_wait(&v_full[s], j / 2 & 1);
        wgmma_begin();
        for (int i = 0; i < 4; i++) multiply_bf16_registers(o, p + 4 * i, row_descriptor<128>(vs + s * HEAD + i * 16 * 128));
        wgmma_commit();
        wgmma_left<0>();
        arrive_at(&v_empty[s], 0, thread == 0);
    }
    for (int r = 0; r < 2; r++) {
        sum[r] = __fadd_rn(sum[r], __shfl_xor_sync(0xffffffff, sum[r], 2));
        sum[r] = __fadd_rn(sum[r], __shfl_xor_sync(0xffffffff, sum[r], 1));
        float part = __frcp_rn(sum[r]);
        size_t row = (size_t)head * keys + y + r * 8;
        for (int i = 0; i < 32; i += 2)
            if (i / 2 % 2 == r) *(uint32_t *)&out[row * 64 + x + i / 4 * 8] = pack_bf16(__fmul_rn(o[i], part), __fmul_rn(o[i + 1], part));
        if (lane % 4 == 0) sums[row] = __fmaf_rn(top[r], scale, __log2f(sum[r]));
    }
}

/* Softmax of a row over eight blocks: each sends its highest value and its sum to all by stores that a barrier counts. */
extern "C" __global__ void __launch_bounds__(128) __cluster_dims__(8, 1, 1) softmax_sent(float *out, const float *in, int width)
{
    __shared__ __align__(8) uint64_t told[2];
    __shared__ float sent[2][8], own[4];
    uint32_t rank = cluster_rank();
    int row = blockIdx.x / 8, thread = threadIdx.x, each = width / 8, lane = thread % 32;
    if (thread == 0) {
        for (int i = 0; i < 2; i++) {
            barrier_init(&told[i], 1);
            barrier_expect(&told[i], 32);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_meet();
    const float *from = in + (size_t)row * width + rank * each;
    float values[4], best[2];
    for (int i = 0; i < 4; i++)
        asm volatile("ld.global.L1::no_allocate.L2::128B.nc.f32 %0, [%1];" : "=f"(values[i]) : "l"(from + i * 128 + thread));
    for (int turn = 0; turn < 2; turn++) {
        float mine = turn ? 0 : -INFINITY;
        for (int i = 0; i < 4; i++) {
            if (turn) values[i] = exp2_of(__fmul_rn(__fsub_rn(values[i], best[0]), 1.4426950408889634f));
            mine = turn ? __fadd_rn(mine, values[i]) : fmaxf(mine, values[i]);
        }
        for (int i = 16; i; i /= 2) {
            float other = __shfl_down_sync(0xffffffff, mine, i);
            mine = turn ? __fadd_rn(mine, other) : fmaxf(mine, other);
        }
        if (lane == 0) own[thread / 32] = mine;
        __syncthreads();
        if (thread < 8) {
            mine = turn ? __fadd_rn(__fadd_rn(own[0], own[1]), __fadd_rn(own[2], own[3])) : fmaxf(fmaxf(own[0], own[1]), fmaxf(own[2], own[3]));
            asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(address_at(&sent[turn][rank], thread)),
                         "f"(mine), "r"(address_at(&told[turn], thread)) : "memory");
        }
        patient_wait(&told[turn], 0);
        best[turn] = sent[turn][0];
        for (int i = 1; i < 8; i++) best[turn] = turn ? __fadd_rn(best[turn], sent[turn][i]) : fmaxf(best[turn], sent[turn][i]);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) out[(size_t)row * width + rank * each + i * 128 + thread] = __fdiv_rn(values[i], best[1]);
    cluster_meet();
}

#define RING 5
#define ROW_BYTES 2048

/* Rows of 1024 bf16 through a ring of bulk copies, mean and deviation taken, back by bulk copies that add up onto what is there. */
extern "C" __global__ void __launch_bounds__(128) rows_through(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows)
{
    __shared__ __align__(128) uint8_t ring[RING][ROW_BYTES], done[2][ROW_BYTES];
    __shared__ __align__(8) uint64_t full[RING];
    __shared__ float parts[2][4];
    int thread = threadIdx.x, by = gridDim.x;
    uint64_t hint;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %0, 0.5;" : "=l"(hint));
    if (thread == 0) {
        for (int i = 0; i < RING; i++) barrier_init(&full[i], 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    for (int at = 1 - RING; blockIdx.x + at * by < rows || at < 0; at++) {
        int ahead = at + RING - 1, row = blockIdx.x + ahead * by;
        if (thread == 0 && row < rows) {
            barrier_expect(&full[ahead % RING], ROW_BYTES);
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(
                             shared_address(ring[ahead % RING])), "l"(in + (size_t)row * 1024), "r"(ROW_BYTES), "r"(shared_address(&full[ahead % RING])),
                         "l"(hint) : "memory");
        }
        if (at < 0) continue;
        patient_wait(&full[at % RING], at / RING & 1);
        uint32_t v[4];
        float x[8], sum = 0, squares = 0;
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(shared_address(ring[at % RING]) + thread * 16) : "memory");
        for (int i = 0; i < 8; i++) {
            x[i] = __uint_as_float(i % 2 ? v[i / 2] & 0xffff0000 : v[i / 2] << 16);
            sum = __fadd_rn(sum, x[i]);
            squares = __fmaf_rn(x[i], x[i], squares);
        }
        for (int i = 16; i; i /= 2) {
            sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffff, sum, i));
            squares = __fadd_rn(squares, __shfl_xor_sync(0xffffffff, squares, i));
        }
        if (thread % 32 == 0) {
            parts[0][thread / 32] = sum;
            parts[1][thread / 32] = squares;
        }
        if (thread == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        __syncthreads();
        sum = __fadd_rn(__fadd_rn(parts[0][0], parts[0][1]), __fadd_rn(parts[0][2], parts[0][3]));
        squares = __fadd_rn(__fadd_rn(parts[1][0], parts[1][1]), __fadd_rn(parts[1][2], parts[1][3]));
        float mean = __fmul_rn(sum, 1.f / 1024), spread = __frsqrt_rn(__fmaf_rn(squares, 1.f / 1024, __fmaf_rn(-mean, mean, 1e-5f)));
        for (int i = 0; i < 4; i++)
            v[i] = pack_bf16(__fmul_rn(__fsub_rn(x[2 * i], mean), spread), __fmul_rn(__fsub_rn(x[2 * i + 1], mean), spread));
        asm volatile("st.shared.v4.b32 [%4], {%0, %1, %2, %3};" ::"r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "r"(shared_address(done[at & 1]) + thread * 16) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (thread == 0) {
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;" ::"l"(out + (size_t)(blockIdx.x + at * by) * 1024),
                         "r"(shared_address(done[at & 1])), "r"(ROW_BYTES) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    if (thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/* c = a bt', a of four bits with a scale a row, made into bf16 in registers as libraries do (bits into the fraction of 128, 136 taken away). */
extern "C" __global__ void __launch_bounds__(128) four_bits(float *c, const uint32_t *a, const float *scales, const __grid_constant__ tensor_map map_b, int n, int steps)
{
    __shared__ __align__(8) uint64_t full[2];
    int thread = threadIdx.x, lane = thread % 32, y = blockIdx.y * 64 + thread / 32 * 16 + lane / 4, k_all = steps * 64;
    if (thread == 0) {
        for (int i = 0; i < 2; i++) barrier_init(&full[i], 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    float d[32];
    for (int k = -1; k < steps; k++) {
        if (thread == 0 && k + 1 < steps) {
            barrier_expect(&full[k + 1 & 1], HEAD);
            load_box(tiles + (k + 1 & 1) * HEAD, &map_b, (k + 1) * 64, blockIdx.x * 64, &full[k + 1 & 1]);
        }
        if (k < 0) continue;
        patient_wait(&full[k & 1], k / 2 & 1);
        for (int j = 0; j < 4; j++) {
            uint32_t p[4];
            for (int q = 0; q < 4; q++) { /* columns x, x + 1 of row y (+ 8), of the lower or upper eight */
                int row = y + q % 2 * 8, column = k * 64 + j * 16 + lane % 4 * 2 + q / 2 * 8;
                uint32_t word = a[((size_t)row * k_all + column) / 8] >> (column % 8 * 4), spread, high;
                spread = (word & 0xf) | (word & 0xf0) << 12;
                asm("lop3.b32 %0, %1, 0x000f000f, 0x43004300, 0xea;" : "=r"(high) : "r"(spread));
                asm("{\n.reg .b32 one;\nmov.b32 one, 0x3f803f80;\nfma.rn.bf16x2 %0, %1, one, %2;\n}" : "=r"(p[q]) : "r"(high), "r"(0xc308c308));
            }
            wgmma_begin();
            multiply_bf16_columns(d, p, row_descriptor<128>(tiles + (k & 1) * HEAD + j * 32), k + j);
            wgmma_commit();
            wgmma_left<0>();
        }
        __syncthreads();
    }
    for (int i = 0; i < 32; i += 2) {
        int row = y + i / 2 % 2 * 8;
        *(float2 *)&c[(size_t)row * n + blockIdx.x * 64 + lane % 4 * 2 + i / 4 * 8] = make_float2(__fmul_rn(d[i], scales[row]), __fmul_rn(d[i + 1], scales[row]));
    }
}

/* c = a bt' of bf16: warps behind a ring of three cp.async, rows of 64 bytes whose pieces change places, each block a part of k of four blocks of a
 * cluster that add up in the first's memory. */
extern "C" __global__ void __launch_bounds__(128) __cluster_dims__(1, 1, 4) split_cluster(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k_all)
{
    __shared__ __align__(128) __nv_bfloat16 slab[3][2][64 * 32];
    __shared__ __align__(16) float all[4][1024];
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, steps = k_all / 4 / 32, rank = cluster_rank(), row = blockIdx.y * 64, column = blockIdx.x * 64;
    float d[8][4] = {};
    for (int k = -2; k < steps; k++) {
        int s = (k + 2) % 3;
        if (k + 2 < steps)
            for (int i = thread; i < 512; i += 128) {
                int which = i / 256, y = i % 256 / 4, x = i % 4, place = x ^ y / 2 % 4, bytes = (which ? column + y < n : row + y < m) ? 16 : 0;
                const __nv_bfloat16 *from = (which ? b + (size_t)(bytes ? column + y : 0) * k_all : a + (size_t)(bytes ? row + y : 0) * k_all) + (rank * steps + k + 2) * 32 + x * 8;
                asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(shared_address(&slab[s][which][y * 32 + place * 8])), "l"(from), "r"(bytes) : "memory");
            }
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (k < 0) continue;
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        s = k % 3;
        for (int j = 0; j < 2; j++) {
            uint32_t fa[4], fb[4];
            int y = warp * 16 + lane % 16, x = j * 2 + lane / 16;
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                         : "r"(shared_address(&slab[s][0][y * 32 + (x ^ y / 2 % 4) * 8])) : "memory");
            for (int q = 0; q < 8; q += 2) {
                y = q * 8 + lane / 16 * 8 + lane % 8, x = j * 2 + (lane / 8 & 1);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3])
                             : "r"(shared_address(&slab[s][1][y * 32 + (x ^ y / 2 % 4) * 8])) : "memory");
                for (int h = 0; h < 2; h++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(d[q + h][0]), "+f"(d[q + h][1]), "+f"(d[q + h][2]), "+f"(d[q + h][3]) : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * h]), "r"(fb[2 * h + 1]));
            }
        }
        __syncthreads();
    }
    /* Quarters of the tile change hands: block r adds what all have of the rows of its warp r. */
    for (int turn = 0; turn < 4; turn++) {
        cluster_meet();
        if (warp == turn)
            for (int i = 0; i < 32; i++) {
                uint32_t there = address_at(&all[rank][i * 32 + lane], turn);
                asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"(d[i / 4][i % 4]) : "memory");
            }
    }
    cluster_meet();
    for (int i = warp * 8; i < warp * 8 + 8; i++) {
        float sum = 0;
        for (int r = 0; r < 4; r++) sum = __fadd_rn(sum, all[r][i * 32 + lane]);
        int y = row + rank * 16 + i / 2 % 2 * 8 + lane / 4, x = column + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (y < m && x < n) c[(size_t)y * n + x] = sum;
    }
}

/* c = a bt' of e4m3 with a scale for 64 deep, by warps; rows of 64 bytes by cp.async of 16, four deep, arrivals at barriers. */
extern "C" __global__ void __launch_bounds__(160) scaled_bytes(__half *c, const uint8_t *a, const uint8_t *b, const float *scale_a, const float *scale_b, int n, int steps)
{
    __shared__ __align__(128) uint8_t slab[4][2][64 * 80];
    __shared__ __align__(8) uint64_t full[4], empty[4];
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, row = blockIdx.y * 64, column = blockIdx.x * 64, k_all = steps * 64;
    if (thread == 0)
        for (int i = 0; i < 4; i++) {
            barrier_init(&full[i], 32);
            barrier_init(&empty[i], 4);
        }
    __syncthreads();
    if (warp == 4) {
        for (int k = 0; k < steps; k++) {
            patient_wait(&empty[k % 4], k / 4 + 1 & 1);
            for (int i = lane; i < 512; i += 32)
                copy16(&slab[k % 4][i / 256][i % 256 / 4 * 80 + i % 4 * 16], (i / 256 ? b + (size_t)column * k_all : a + (size_t)row * k_all) + (size_t)(i % 256 / 4) * k_all + k * 64 + i % 4 * 16);
            asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&full[k % 4])) : "memory");
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
        return;
    }
    float d[8][4] = {};
    for (int k = 0; k < steps; k++) {
        float part[8][4] = {};
        patient_wait(&full[k % 4], k / 4 & 1);
        for (int j = 0; j < 2; j++) {
            uint32_t fa[4], fb[4];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                         : "r"(shared_address(&slab[k % 4][0][(warp * 16 + lane % 16) * 80 + j * 32 + lane / 16 * 16])) : "memory");
            for (int q = 0; q < 8; q += 2) {
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3])
                             : "r"(shared_address(&slab[k % 4][1][(q * 8 + lane / 16 * 8 + lane % 8) * 80 + j * 32 + (lane / 8 & 1) * 16])) : "memory");
                for (int h = 0; h < 2; h++)
                    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(part[q + h][0]), "+f"(part[q + h][1]), "+f"(part[q + h][2]), "+f"(part[q + h][3]) : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * h]), "r"(fb[2 * h + 1]));
            }
        }
        __syncwarp();
        if (lane == 0) barrier_arrive(&empty[k % 4]);
        for (int i = 0; i < 32; i++) {
            float scale = __fmul_rn(scale_a[(size_t)(row + warp * 16 + i % 4 / 2 * 8 + lane / 4) * steps + k], scale_b[(size_t)(column / 64) * steps + k]);
            d[i / 4][i % 4] = __fmaf_rn(part[i / 4][i % 4], scale, d[i / 4][i % 4]);
        }
    }
    for (int i = 0; i < 32; i += 2) {
        uint32_t both;
        asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(d[i / 4][i % 4 + 1]), "f"(d[i / 4][i % 4]));
        *(uint32_t *)&c[(size_t)(row + warp * 16 + i % 4 / 2 * 8 + lane / 4) * n + column + i / 4 * 8 + lane % 4 * 2] = both;
    }
}
