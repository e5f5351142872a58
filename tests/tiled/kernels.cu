/*
 * Kernels in the manner in which libraries for Hopper are written now, small: persistent products whose warpgroups take turns,
 * tiles that clusters share, sums by reducing stores or under counters, narrow numbers with sums of their own, groups whose
 * tensor maps are made on the way, attention by parts, convolution by im2col. tiled.c has their inputs and what is wanted.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "warps.cuh"

#define TILE_BYTES 8192 /* 64 rows of 128 bytes */

static __device__ void wgmma_end()
{
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}

#define SUMS_32 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define OUT_8(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define OUT_32(d) OUT_8(d, 0), OUT_8(d, 8), OUT_8(d, 16), OUT_8(d, 24)

/* 64 x 64, 16 deep, of halves by rows and by columns. */
static __device__ void multiply(float *d, uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " SUMS_32 ", %32, %33, p, 1, 1, 0, 0;\n}"
                 : OUT_32(d) : "l"(a), "l"(b), "r"(add));
}

/* The same, 32 deep, of e4m3. */
static __device__ void multiply_e4m3(float *d, uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 " SUMS_32 ", %32, %33, p, 1, 1;\n}"
                 : OUT_32(d) : "l"(a), "l"(b), "r"(add));
}

/* a in registers, b by rows. */
static __device__ void multiply_registers(float *d, const uint32_t *a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " SUMS_32 ", {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                 : OUT_32(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/* 64 deep. */
static __device__ void multiply_tiles(float *d, const uint8_t *a, const uint8_t *b)
{
    wgmma_begin();
    for (int j = 0; j < 4; j++) multiply(d, descriptor(a + j * 32), descriptor(b + j * 32), 1);
    wgmma_end();
}

static __device__ uint32_t pack(float low, float high)
{
    __half2 both = __floats2half2_rn(low, high);
    return *(uint32_t *)&both;
}

static __device__ void barriers_ready()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ void proxies_meet()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

static __device__ void store_box(const void *map, const void *from, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y),
                 "r"(shared_address(from)) : "memory");
}

static __device__ void stores_read()
{
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
}

/* A warpgroup's sums as halves, 64 a row. */
static __device__ void leave_halves(uint8_t *to, const float *d, int thread)
{
    int warp = thread / 32, lane = thread % 32;
    for (int q = 0; q < 4; q++) {
        int row = warp * 16 + (lane / 8 & 1) * 8 + lane % 8, column = 16 * q + lane / 16 * 8;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(to) + row * 128 + column * 2),
                     "r"(pack(d[8 * q], d[8 * q + 1])), "r"(pack(d[8 * q + 2], d[8 * q + 3])), "r"(pack(d[8 * q + 4], d[8 * q + 5])),
                     "r"(pack(d[8 * q + 6], d[8 * q + 7])) : "memory");
    }
}

#define STAGES 4

/* c = a bt'. Each block takes every gridDim.x-th tile; one warp fetches, two warpgroups multiply, the one while the other stores. */
extern "C" __global__ void __launch_bounds__(384, 1)
    pingpong(const __grid_constant__ tensor_map map_a, const __grid_constant__ tensor_map map_b,
             const __grid_constant__ tensor_map map_c, int tiles_m, int tiles_n, int steps)
{
    extern __shared__ __align__(1024) uint8_t tiles[];
    __shared__ __align__(8) uint64_t full[STAGES], empty[STAGES], turn[2];
    uint8_t *results = tiles + STAGES * 2 * TILE_BYTES;
    int group = threadIdx.x / 128, thread = threadIdx.x % 128, count = tiles_m * tiles_n;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], 128);
        }
        for (int i = 0; i < 2; i++) barrier_init(&turn[i], 128);
        barriers_ready();
    }
    __syncthreads();
    if (group == 2) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (thread / 32 == 0 && elected()) {
            int at = 0;
            for (int tile = blockIdx.x; tile < count; tile += gridDim.x)
                for (int k = 0; k < steps; k++, at++) {
                    int s = at % STAGES;
                    barrier_wait(&empty[s], at / STAGES + 1 & 1);
                    barrier_expect(&full[s], 2 * TILE_BYTES);
                    load_box(tiles + s * 2 * TILE_BYTES, &map_a, k * 64, tile / tiles_n * 64, &full[s]);
                    load_box(tiles + s * 2 * TILE_BYTES + TILE_BYTES, &map_b, k * 64, tile % tiles_n * 64, &full[s]);
                }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
    int at = group * steps, phase = 1 - group;
    for (int tile = blockIdx.x + group * gridDim.x; tile < count; tile += 2 * gridDim.x, at += steps) {
        float d[32];
        for (int i = 0; i < 32; i++) d[i] = 0;
        barrier_wait(&turn[group], phase);
        phase ^= 1;
        for (int k = 0; k < steps; k++, at++) {
            int s = at % STAGES;
            barrier_wait(&full[s], at / STAGES & 1);
            multiply_tiles(d, tiles + s * 2 * TILE_BYTES, tiles + s * 2 * TILE_BYTES + TILE_BYTES);
            barrier_arrive(&empty[s]);
        }
        barrier_arrive(&turn[1 - group]);
        uint8_t *out = results + group * TILE_BYTES;
        leave_halves(out, d, thread);
        proxies_meet();
        asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory");
        if (thread == 0) {
            store_box(&map_c, out, tile % tiles_n * 64, tile / tiles_n * 64);
            stores_read();
        }
        asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory");
    }
}

/* c += a bt', of the block's part of k: the stores add up. */
extern "C" __global__ void __launch_bounds__(128)
    reducing(const __grid_constant__ tensor_map map_a, const __grid_constant__ tensor_map map_b,
             const __grid_constant__ tensor_map map_c, int steps)
{
    extern __shared__ __align__(1024) uint8_t tiles[];
    __shared__ __align__(8) uint64_t full[2];
    int row = blockIdx.y * 64, column = blockIdx.x * 64, first = blockIdx.z * steps;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) barrier_init(&full[i], 1);
        barriers_ready();
    }
    __syncthreads();
    float d[32];
    for (int i = 0; i < 32; i++) d[i] = 0;
    for (int k = -1; k < steps; k++) {
        if (threadIdx.x == 0 && k + 1 < steps) {
            uint8_t *to = tiles + (k + 1 & 1) * 2 * TILE_BYTES;
            barrier_expect(&full[k + 1 & 1], 2 * TILE_BYTES);
            load_box(to, &map_a, (first + k + 1) * 64, row, &full[k + 1 & 1]);
            load_box(to + TILE_BYTES, &map_b, (first + k + 1) * 64, column, &full[k + 1 & 1]);
        }
        if (k < 0) continue;
        barrier_wait(&full[k & 1], k / 2 & 1);
        multiply_tiles(d, tiles + (k & 1) * 2 * TILE_BYTES, tiles + (k & 1) * 2 * TILE_BYTES + TILE_BYTES);
        __syncthreads();
    }
    float *out = (float *)tiles;
    int lane = threadIdx.x % 32, y = threadIdx.x / 32 * 16 + lane / 4, x = lane % 4 * 2;
    for (int i = 0; i < 32; i++) out[(y + i / 2 % 2 * 8) * 64 + x + i / 4 * 8 + i % 2] = d[i];
    proxies_meet();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map_c),
                     "r"(column), "r"(row), "r"(shared_address(out)) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

/* c = a bt': the two blocks of a cluster need the same rows of a, and fetch a half of them for both. */
extern "C" __global__ void __launch_bounds__(160) __cluster_dims__(2, 1, 1)
    multicast(float *c, const __grid_constant__ tensor_map map_a, const __grid_constant__ tensor_map map_b, int n, int steps)
{
    extern __shared__ __align__(1024) uint8_t tiles[];
    __shared__ __align__(8) uint64_t full[2], empty[2];
    int row = blockIdx.y * 64, column = blockIdx.x * 64, rank = cluster_rank();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], 8); /* a thread of each warp that multiplies, of both blocks */
        }
        barriers_ready();
    }
    cluster_meet();
    if (threadIdx.x >= 128) {
        if (elected())
            for (int k = 0; k < steps; k++) {
                uint8_t *to = tiles + (k & 1) * 2 * TILE_BYTES;
                barrier_wait(&empty[k & 1], k / 2 + 1 & 1);
                barrier_expect(&full[k & 1], 2 * TILE_BYTES);
                asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
                             "[%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to) + rank * TILE_BYTES / 2), "l"(&map_a), "r"(k * 64),
                             "r"(row + rank * 32), "r"(shared_address(&full[k & 1])), "h"((short)3) : "memory");
                load_box(to + TILE_BYTES, &map_b, k * 64, column, &full[k & 1]);
            }
    } else {
        float d[32];
        for (int i = 0; i < 32; i++) d[i] = 0;
        for (int k = 0; k < steps; k++) {
            barrier_wait(&full[k & 1], k / 2 & 1);
            multiply_tiles(d, tiles + (k & 1) * 2 * TILE_BYTES, tiles + (k & 1) * 2 * TILE_BYTES + TILE_BYTES);
            if (elected())
                for (int to = 0; to < 2; to++)
                    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(address_at(&empty[k & 1], to)) : "memory");
        }
        int lane = threadIdx.x % 32, y = row + threadIdx.x / 32 * 16 + lane / 4, x = column + lane % 4 * 2;
        for (int i = 0; i < 32; i += 2)
            *(float2 *)&c[(size_t)(y + i / 2 % 2 * 8) * n + x + i / 4 * 8] = make_float2(d[i], d[i + 1]);
    }
    cluster_meet();
}

static __device__ void mma_16816(float *d, const uint32_t *a, uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ void ldmatrix4(uint32_t *r, uint32_t from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}

static __device__ void ldmatrix4_turned(uint32_t *r, uint32_t from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}

#define PITCH 40 /* halves of a row of 32, so that eight rows are in different banks */

/* Rows of a and bt, 32 deep, by cp.async. */
static __device__ void fetch_slab(__half *to, const __half *from, int pitch)
{
    for (int i = threadIdx.x; i < 256; i += 128) copy16(to + i / 4 * PITCH + i % 4 * 8, from + (size_t)(i / 4) * pitch + i % 4 * 8);
}

/* c = a bt', stream-K: each block has an equal share of all steps of all tiles, one after the other. The block with a tile's first
 * step stores it; the others leave their sums, and tell by a counter. */
extern "C" __global__ void __launch_bounds__(128)
    stream_k(float *c, const __half *a, const __half *b, float *sums, unsigned *told, int tile_count, int tiles_n, int n, int k_all)
{
    __shared__ __align__(16) __half slab[2][2][64 * PITCH];
    int steps = k_all / 32, all = tile_count * steps, share = (all + gridDim.x - 1) / gridDim.x;
    int at = blockIdx.x * share, end = min(all, at + share), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    while (at < end) {
        int tile = at / steps, first = at % steps, last = min(steps, first + end - at);
        const __half *pa = a + (size_t)(tile / tiles_n * 64) * k_all, *pb = b + (size_t)(tile % tiles_n * 64) * k_all;
        float d[8][4] = {};
        for (int k = first; k <= last; k++) {
            if (k < last) {
                fetch_slab(slab[k & 1][0], pa + k * 32, k_all);
                fetch_slab(slab[k & 1][1], pb + k * 32, k_all);
            }
            asm volatile("cp.async.commit_group;" ::: "memory");
            if (k == first) continue;
            asm volatile("cp.async.wait_group 1;" ::: "memory");
            __syncthreads();
            const __half *sa = slab[k - 1 & 1][0], *sb = slab[k - 1 & 1][1];
            for (int j = 0; j < 2; j++) {
                uint32_t fa[4], fb[4];
                ldmatrix4(fa, shared_address(sa + (warp * 16 + lane % 16) * PITCH + j * 16 + lane / 16 * 8));
                for (int x = 0; x < 8; x += 2) {
                    ldmatrix4(fb, shared_address(sb + (x * 8 + lane / 16 * 8 + lane % 8) * PITCH + j * 16 + (lane / 8 & 1) * 8));
                    mma_16816(d[x], fa, fb[0], fb[1]);
                    mma_16816(d[x + 1], fa, fb[2], fb[3]);
                }
            }
            __syncthreads();
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
        if (first > 0) { /* block-wide sums, thread by thread */
            for (int i = 0; i < 32; i++) sums[((size_t)blockIdx.x * 32 + i) * 128 + threadIdx.x] = d[i / 4][i % 4];
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0) asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(told + tile), "r"(last - first) : "memory");
        } else {
            if (last < steps) {
                unsigned got;
                if (threadIdx.x == 0)
                    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(got) : "l"(told + tile) : "memory");
                    while (got < steps - last);
                __syncthreads();
                for (int from = blockIdx.x + 1; from * share < (tile + 1) * steps; from++)
                    for (int i = 0; i < 32; i++) d[i / 4][i % 4] += __ldcg(&sums[((size_t)from * 32 + i) * 128 + threadIdx.x]);
            }
            int y = tile / tiles_n * 64 + warp * 16 + lane / 4, x = tile % tiles_n * 64 + lane % 4 * 2;
            for (int i = 0; i < 32; i++) c[(size_t)(y + i / 2 % 2 * 8) * n + x + i / 4 * 8 + i % 2] = d[i / 4][i % 4];
        }
        at += last - first;
        __syncthreads();
    }
}

/* c = a bt' of e4m3, each 128 of k with a factor of a's row and one of b's 64 columns: sums of 128 products are the tensor core's,
 * their own sum is an ordinary one. */
extern "C" __global__ void __launch_bounds__(128)
    promoted(__nv_bfloat16 *c, const __grid_constant__ tensor_map map_a, const __grid_constant__ tensor_map map_b, const float *scale_a,
             const float *scale_b, int n, int steps)
{
    extern __shared__ __align__(1024) uint8_t tiles[];
    __shared__ __align__(8) uint64_t full[2];
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) barrier_init(&full[i], 1);
        barriers_ready();
    }
    __syncthreads();
    int lane = threadIdx.x % 32, y = row + threadIdx.x / 32 * 16 + lane / 4;
    float total[32], d[32];
    for (int i = 0; i < 32; i++) total[i] = 0;
    for (int k = 0; k < steps; k++) {
        uint8_t *to = tiles + (k & 1) * 2 * TILE_BYTES;
        if (threadIdx.x == 0) {
            barrier_expect(&full[k & 1], 2 * TILE_BYTES);
            load_box(to, &map_a, k * 128, row, &full[k & 1]);
            load_box(to + TILE_BYTES, &map_b, k * 128, column, &full[k & 1]);
        }
        barrier_wait(&full[k & 1], k / 2 & 1);
        wgmma_begin();
        for (int j = 0; j < 4; j++) multiply_e4m3(d, descriptor(to + j * 32), descriptor(to + TILE_BYTES + j * 32), j > 0);
        wgmma_end();
        float low = scale_a[y * steps + k] * scale_b[blockIdx.x * steps + k], high = scale_a[(y + 8) * steps + k] * scale_b[blockIdx.x * steps + k];
        for (int i = 0; i < 32; i++) total[i] = fmaf(d[i], i / 2 % 2 ? high : low, total[i]);
        __syncthreads();
    }
    for (int i = 0; i < 32; i += 2)
        *(__nv_bfloat162 *)&c[(size_t)(y + i / 2 % 2 * 8) * n + column + i / 4 * 8 + lane % 4 * 2] = __floats2bfloat162_rn(total[i], total[i + 1]);
}

/* Products of different heights, one after the other in a, b and c; blocks make themselves tensor maps of the next one. */
extern "C" __global__ void __launch_bounds__(128)
    grouped(float *c, const __half *a, const __half *b, uint8_t *maps, const int *heights, int groups, const __grid_constant__ tensor_map like)
{
    extern __shared__ __align__(1024) uint8_t tiles[];
    __shared__ __align__(128) tensor_map own[2];
    __shared__ __align__(8) uint64_t full;
    uint8_t *mine = maps + blockIdx.x * 256;
    int before = 0, row0 = 0, phase = 0, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barriers_ready();
    }
    for (int i = threadIdx.x; i < 64; i += 128) own[i / 32].words[i % 32] = like.words[i % 32];
    __syncthreads();
    for (int g = 0; g < groups; g++) {
        int height = heights[g], tiles_m = (height + 63) / 64;
        for (int tile = 0; tile < tiles_m; tile++) {
            if ((before + tile) % gridDim.x != blockIdx.x) continue;
            if (threadIdx.x < 32) {
                for (int i = 0; i < 2 && lane == 0; i++) {
                    uint64_t base = (uint64_t)(i ? b + (size_t)g * 64 * 128 : a + (size_t)row0 * 128);
                    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(shared_address(&own[i])), "l"(base) : "memory");
                    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(shared_address(&own[i])), "r"(i ? 64 : height) : "memory");
                }
                __syncwarp();
                for (int i = 0; i < 2; i++) {
                    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(mine + i * 128),
                                 "r"(shared_address(&own[i])) : "memory");
                    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(mine + i * 128) : "memory");
                }
                if (elected()) {
                    barrier_expect(&full, 4 * TILE_BYTES);
                    for (int k = 0; k < 2; k++) {
                        load_box(tiles + k * 2 * TILE_BYTES, mine, k * 64, tile * 64, &full);
                        load_box(tiles + k * 2 * TILE_BYTES + TILE_BYTES, mine + 128, k * 64, 0, &full);
                    }
                }
            }
            float d[32];
            for (int i = 0; i < 32; i++) d[i] = 0;
            barrier_wait(&full, phase);
            phase ^= 1;
            for (int k = 0; k < 2; k++) multiply_tiles(d, tiles + k * 2 * TILE_BYTES, tiles + k * 2 * TILE_BYTES + TILE_BYTES);
            int y = tile * 64 + threadIdx.x / 32 * 16 + lane / 4;
            for (int i = 0; i < 32; i++)
                if (y + i / 2 % 2 * 8 < height) c[(size_t)(row0 + y + i / 2 % 2 * 8) * 64 + lane % 4 * 2 + i / 4 * 8 + i % 2] = d[i];
            __syncthreads();
        }
        before += tiles_m;
        row0 += height;
    }
}

/* softmax(q kt) v of 16 queries and 512 keys, 64 deep: each warp of four blocks has 32 keys, and the blocks of the cluster put
 * together what all have. */
extern "C" __global__ void __launch_bounds__(128) __cluster_dims__(4, 1, 1) split_kv(float *out, const __half *q, const __half *k, const __half *v)
{
    __shared__ __align__(16) __half keys[128 * 72], values[128 * 72], queries[16 * 72];
    __shared__ float result[4][16][64], high[4][16], total[4][16];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, rank = cluster_rank();
    for (int i = threadIdx.x; i < 1024; i += 128) {
        copy16(keys + i / 8 * 72 + i % 8 * 8, k + (size_t)(rank * 128 + i / 8) * 64 + i % 8 * 8);
        copy16(values + i / 8 * 72 + i % 8 * 8, v + (size_t)(rank * 128 + i / 8) * 64 + i % 8 * 8);
        if (i < 128) copy16(queries + i / 8 * 72 + i % 8 * 8, q + i / 8 * 64 + i % 8 * 8);
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    float s[4][4] = {}, o[8][4] = {};
    for (int j = 0; j < 4; j++) {
        uint32_t fa[4], fb[4];
        ldmatrix4(fa, shared_address(queries + lane % 16 * 72 + j * 16 + lane / 16 * 8));
        for (int x = 0; x < 4; x += 2) {
            ldmatrix4(fb, shared_address(keys + (warp * 32 + x * 8 + lane / 16 * 8 + lane % 8) * 72 + j * 16 + (lane / 8 & 1) * 8));
            mma_16816(s[x], fa, fb[0], fb[1]);
            mma_16816(s[x + 1], fa, fb[2], fb[3]);
        }
    }
    for (int half = 0; half < 2; half++) {
        float top = -1e30f, sum = 0;
        for (int x = 0; x < 4; x++) top = fmaxf(top, fmaxf(s[x][2 * half], s[x][2 * half + 1]));
        top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 1));
        top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 2));
        for (int x = 0; x < 4; x++)
            for (int i = 0; i < 2; i++) sum += s[x][2 * half + i] = exp2f((s[x][2 * half + i] - top) * 0.18033688f);
        sum += __shfl_xor_sync(0xffffffff, sum, 1);
        sum += __shfl_xor_sync(0xffffffff, sum, 2);
        if (lane % 4 == 0) {
            high[warp][lane / 4 + 8 * half] = top;
            total[warp][lane / 4 + 8 * half] = sum;
        }
    }
    for (int j = 0; j < 2; j++) {
        uint32_t fa[4] = {pack(s[2 * j][0], s[2 * j][1]), pack(s[2 * j][2], s[2 * j][3]), pack(s[2 * j + 1][0], s[2 * j + 1][1]), pack(s[2 * j + 1][2], s[2 * j + 1][3])};
        for (int x = 0; x < 8; x += 2) {
            uint32_t fb[4];
            ldmatrix4_turned(fb, shared_address(values + (warp * 32 + j * 16 + lane % 16) * 72 + x * 8 + lane / 16 * 8));
            mma_16816(o[x], fa, fb[0], fb[1]);
            mma_16816(o[x + 1], fa, fb[2], fb[3]);
        }
    }
    for (int x = 0; x < 8; x++)
        for (int i = 0; i < 4; i++) result[warp][lane / 4 + i / 2 * 8][x * 8 + lane % 4 * 2 + i % 2] = o[x][i];
    cluster_meet();
    for (int i = threadIdx.x; i < 256; i += 128) {
        int row = rank * 4 + i / 64, column = i % 64;
        float top = -1e30f, sum = 0, weighted = 0;
        for (int part = 0; part < 16; part++) {
            float h;
            asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(h) : "r"(address_at(&high[part % 4][row], part / 4)) : "memory");
            top = fmaxf(top, h);
        }
        for (int part = 0; part < 16; part++) {
            float h, t, r;
            asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(h) : "r"(address_at(&high[part % 4][row], part / 4)) : "memory");
            asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(t) : "r"(address_at(&total[part % 4][row], part / 4)) : "memory");
            asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(r) : "r"(address_at(&result[part % 4][row][column], part / 4)) : "memory");
            float w = exp2f((h - top) * 0.18033688f);
            sum += t * w;
            weighted += r * w;
        }
        out[row * 64 + column] = weighted / sum;
    }
    cluster_meet();
}

/* A convolution of 3 x 3 with padding of 64 channels to 64, of images of 8 x 8: the box of a step is what all pixels have at one
 * place of the filter. */
extern "C" __global__ void __launch_bounds__(128)
    convolution(__half *out, const __grid_constant__ tensor_map map_in, const __grid_constant__ tensor_map map_filter)
{
    extern __shared__ __align__(1024) uint8_t tiles[];
    __shared__ __align__(8) uint64_t full[3];
    int image = blockIdx.x;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 3; i++) barrier_init(&full[i], 1);
        barriers_ready();
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map_in) : "memory");
    }
    __syncthreads();
    float d[32];
    for (int i = 0; i < 32; i++) d[i] = 0;
    for (int step = -2; step < 9; step++) {
        int next = step + 2;
        if (threadIdx.x == 0 && next < 9) {
            uint8_t *to = tiles + next % 3 * 2 * TILE_BYTES;
            barrier_expect(&full[next % 3], 2 * TILE_BYTES);
            asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %3, %4}], [%5], {%6, %7};" ::"r"(
                             shared_address(to)), "l"(&map_in), "r"(0), "r"(-1), "r"(image), "r"(shared_address(&full[next % 3])), "h"((short)(next % 3)),
                         "h"((short)(next / 3)) : "memory");
            load_box(to + TILE_BYTES, &map_filter, next * 64, 0, &full[next % 3]);
        }
        if (step < 0) continue;
        barrier_wait(&full[step % 3], step / 3 & 1);
        multiply_tiles(d, tiles + step % 3 * 2 * TILE_BYTES, tiles + step % 3 * 2 * TILE_BYTES + TILE_BYTES);
        __syncthreads();
    }
    int lane = threadIdx.x % 32, pixel = threadIdx.x / 32 * 16 + lane / 4;
    for (int i = 0; i < 32; i += 2)
        *(uint32_t *)&out[((size_t)image * 64 + pixel + i / 2 % 2 * 8) * 64 + i / 4 * 8 + lane % 4 * 2] = pack(fmaxf(d[i], 0), fmaxf(d[i + 1], 0));
}

/* c = a b: a of signed bytes, halves in registers when they are multiplied; b by rows. */
extern "C" __global__ void __launch_bounds__(128)
    mixed(float *c, const int8_t *a, const __grid_constant__ tensor_map map_b, int n, int k_all)
{
    extern __shared__ __align__(1024) uint8_t tiles[];
    __shared__ __align__(8) uint64_t full;
    int row = blockIdx.y * 64, column = blockIdx.x * 64, lane = threadIdx.x % 32;
    int y = row + threadIdx.x / 32 * 16 + lane / 4;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barriers_ready();
    }
    __syncthreads();
    float d[32];
    for (int i = 0; i < 32; i++) d[i] = 0;
    for (int k = 0; k < k_all; k += 64) {
        if (threadIdx.x == 0) {
            barrier_expect(&full, TILE_BYTES);
            load_box(tiles, &map_b, column, k, &full);
        }
        uint32_t f[4][4];
        for (int j = 0; j < 4; j++)
            for (int r = 0; r < 4; r++) {
                char2 both = *(const char2 *)&a[(size_t)(y + r % 2 * 8) * k_all + k + j * 16 + r / 2 * 8 + lane % 4 * 2];
                f[j][r] = pack(both.x, both.y);
            }
        barrier_wait(&full, k / 64 & 1);
        wgmma_begin();
        for (int j = 0; j < 4; j++) {
            uint64_t b = (uint64_t)(shared_address(tiles + j * 2048) >> 4 & 0x3fff) | (uint64_t)64 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62;
            multiply_registers(d, f[j], b);
        }
        wgmma_end();
        __syncthreads();
    }
    for (int i = 0; i < 32; i++) c[(size_t)(y + i / 2 % 2 * 8) * n + column + lane % 4 * 2 + i / 4 * 8 + i % 2] = d[i];
}

/* c = a bt' of tf32: copies of threads tell barriers by themselves; rows of 32 floats, their parts of 16 bytes in another order in each. */
extern "C" __global__ void __launch_bounds__(128) threads_copy(float *c, const float *a, const float *b, int n, int k_all)
{
    __shared__ __align__(128) float slab[3][2][64 * 32];
    __shared__ __align__(8) uint64_t full[3];
    int row = blockIdx.y * 64, column = blockIdx.x * 64, steps = k_all / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0)
        for (int i = 0; i < 3; i++) barrier_init(&full[i], 128);
    __syncthreads();
    float d[8][4] = {};
    for (int k = -2; k < steps; k++) {
        int next = k + 2;
        if (next < steps) {
            for (int i = threadIdx.x; i < 512; i += 128) {
                int y = i / 8, x = i % 8, at = y * 32 + (x ^ y & 7) * 4;
                copy16(&slab[next % 3][0][at], a + (size_t)(row + y) * k_all + next * 32 + x * 4);
                copy16(&slab[next % 3][1][at], b + (size_t)(column + y) * k_all + next * 32 + x * 4);
            }
            asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(&full[next % 3])) : "memory");
        }
        if (k < 0) continue;
        barrier_wait(&full[k % 3], k / 3 & 1);
        const uint32_t *sa = (const uint32_t *)slab[k % 3][0], *sb = (const uint32_t *)slab[k % 3][1];
        for (int j = 0; j < 4; j++) {
            uint32_t f[4];
            int y = warp * 16 + lane / 4;
            for (int r = 0; r < 4; r++) f[r] = sa[(y + r % 2 * 8) * 32 + ((j * 2 + r / 2) ^ (y & 7)) * 4 + lane % 4];
            for (int x = 0; x < 8; x++) {
                int z = x * 8 + lane / 4;
                uint32_t b0 = sb[z * 32 + ((j * 2) ^ (z & 7)) * 4 + lane % 4], b1 = sb[z * 32 + ((j * 2 + 1) ^ (z & 7)) * 4 + lane % 4];
                asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                             : "+f"(d[x][0]), "+f"(d[x][1]), "+f"(d[x][2]), "+f"(d[x][3]) : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "r"(b0), "r"(b1));
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 32; i++)
        c[(size_t)(row + warp * 16 + lane / 4 + i / 2 % 2 * 8) * n + column + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i / 4][i % 4];
}

/* Rows of 2048 floats over four blocks of a cluster: bulk copies bring a block its part, sums meet by st.async, what is normalised
 * leaves by a bulk copy, and columns' sums of all rows by a reducing one. */
extern "C" __global__ void __launch_bounds__(128) __cluster_dims__(4, 1, 1) norm_rows(float *out, float *columns, const float *in, float eps)
{
    __shared__ __align__(128) float part[512];
    __shared__ __align__(8) uint64_t full, sums_here;
    __shared__ float sums[4][2], of_warps[4][2];
    int rank = cluster_rank(), row = blockIdx.x / 4, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_init(&sums_here, 1);
        barriers_ready();
        barrier_expect(&sums_here, 32);
        barrier_expect(&full, 2048);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];" ::"r"(shared_address(part)),
                     "l"(in + (size_t)row * 2048 + rank * 512), "r"(shared_address(&full)) : "memory");
    }
    cluster_meet();
    barrier_wait(&full, 0);
    float4 v = *(float4 *)&part[threadIdx.x * 4];
    float sum = v.x + v.y + v.z + v.w, squares = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    for (int i = 16; i; i /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, i);
        squares += __shfl_xor_sync(0xffffffff, squares, i);
    }
    if (lane == 0) of_warps[warp][0] = sum, of_warps[warp][1] = squares;
    __syncthreads();
    if (threadIdx.x < 4) {
        sum = of_warps[0][0] + of_warps[1][0] + of_warps[2][0] + of_warps[3][0];
        squares = of_warps[0][1] + of_warps[1][1] + of_warps[2][1] + of_warps[3][1];
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(address_at(sums[rank], threadIdx.x)), "f"(sum),
                     "f"(squares), "r"(address_at(&sums_here, threadIdx.x)) : "memory");
    }
    asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n@!p bra W;\n}" ::"r"(shared_address(&sums_here)) : "memory");
    sum = (sums[0][0] + sums[1][0] + sums[2][0] + sums[3][0]) / 2048;
    squares = (sums[0][1] + sums[1][1] + sums[2][1] + sums[3][1]) / 2048;
    float scale = rsqrtf(squares - sum * sum + eps);
    if (threadIdx.x == 0) asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 2048;" ::"l"(columns + rank * 512), "r"(shared_address(part)) : "memory");
    if (threadIdx.x == 0) stores_read();
    __syncthreads();
    *(float4 *)&part[threadIdx.x * 4] = make_float4((v.x - sum) * scale, (v.y - sum) * scale, (v.z - sum) * scale, (v.w - sum) * scale);
    proxies_meet();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 2048;" ::"l"(out + (size_t)row * 2048 + rank * 512), "r"(shared_address(part)) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
    cluster_meet();
}

#define SUMS_64 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"

static __device__ void multiply_wide(float *d, uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " SUMS_64 ", %64, %65, 1, 1, 1, 0, 0;"
                 : OUT_32(d), OUT_8(d, 32), OUT_8(d, 40), OUT_8(d, 48), OUT_8(d, 56) : "l"(a), "l"(b));
}

static __device__ void load_box3(void *to, const void *map, int x, int y, int z, uint64_t *bar)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(
                     shared_address(to)), "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(bar)), "l"(0x14f0000000000000ull) : "memory");
}

/* c = max(a bt' + bias, 0) of batches of bf16, 128 x 128 at a time: two warpgroups share what a warp fetches, products of a step
 * are waited for a step later. */
extern "C" __global__ void __launch_bounds__(384, 1)
    cooperative(float *c, const __grid_constant__ tensor_map map_a, const __grid_constant__ tensor_map map_b, const float *bias, int n, int rows, int steps)
{
    extern __shared__ __align__(1024) uint8_t tiles[];
    __shared__ __align__(8) uint64_t full[3], empty[3];
    int group = threadIdx.x / 128, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 3; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], 2);
        }
        barriers_ready();
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x < 32 && elected())
            for (int k = 0; k < steps; k++) {
                int s = k % 3;
                barrier_wait(&empty[s], k / 3 + 1 & 1);
                barrier_expect(&full[s], 4 * TILE_BYTES);
                load_box3(tiles + s * 4 * TILE_BYTES, &map_a, k * 64, blockIdx.y * 128, blockIdx.z, &full[s]);
                load_box3(tiles + s * 4 * TILE_BYTES + 2 * TILE_BYTES, &map_b, k * 64, blockIdx.x * 128, blockIdx.z, &full[s]);
            }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    float d[64];
    for (int i = 0; i < 64; i++) d[i] = 0;
    for (int k = 0; k < steps; k++) {
        const uint8_t *a = tiles + k % 3 * 4 * TILE_BYTES + (group - 1) * TILE_BYTES, *b = tiles + k % 3 * 4 * TILE_BYTES + 2 * TILE_BYTES;
        barrier_wait(&full[k % 3], k / 3 & 1);
        wgmma_begin();
        for (int j = 0; j < 4; j++) multiply_wide(d, descriptor(a + j * 32), descriptor(b + j * 32));
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (k > 0 && threadIdx.x % 128 == 0) barrier_arrive(&empty[(k - 1) % 3]);
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 64; i++) asm volatile("" : "+f"(d[i]));
    int y = blockIdx.y * 128 + (group - 1) * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4, x = blockIdx.x * 128 + lane % 4 * 2;
    for (int i = 0; i < 64; i++) {
        int to = x + i / 4 * 8 + i % 2;
        c[((size_t)blockIdx.z * rows + y + i / 2 % 2 * 8) * n + to] = fmaxf(d[i] + bias[to], 0);
    }
}
