// The same for what came with sm_80 and sm_90: copies on their way, clusters, barriers in memory, matrices by rows.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

// launch neighbour_wide_load: grid=2 block=32 model=h200
extern "C" __global__ void __cluster_dims__(2, 1, 1) wrong_neighbour_wide_load(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[64];
    auto c = cg::this_cluster();
    s[threadIdx.x] = data[threadIdx.x];
    s[threadIdx.x + 32] = data[threadIdx.x];
    c.sync();
    int4 *o = reinterpret_cast<int4 *>(c.map_shared_rank(s, c.block_rank() ^ 1));
    int4 v = o[threadIdx.x & 15 | (threadIdx.x == 31 ? 16 : 0)]; // FAULT out-of-bounds
    fresh[threadIdx.x + 32 * blockIdx.x] = v.x + v.w;
    c.sync();
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) right_neighbour_wide_load(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[64];
    auto c = cg::this_cluster();
    s[threadIdx.x] = data[threadIdx.x];
    s[threadIdx.x + 32] = data[threadIdx.x];
    c.sync();
    int4 *o = reinterpret_cast<int4 *>(c.map_shared_rank(s, c.block_rank() ^ 1));
    int4 v = o[threadIdx.x & 15];
    fresh[threadIdx.x + 32 * blockIdx.x] = v.x + v.w;
    c.sync();
}

// launch neighbour_before_it_wrote: grid=2 block=32 model=h200
extern "C" __global__ void __cluster_dims__(2, 1, 1) wrong_neighbour_before_it_wrote(const int *data, int *fresh)
{
    __shared__ int s[32];
    auto c = cg::this_cluster();
    s[threadIdx.x] = data[threadIdx.x]; // FAULT shared-race
    __syncthreads();
    int *o = c.map_shared_rank(s, c.block_rank() ^ 1);
    fresh[threadIdx.x + 32 * blockIdx.x] = o[threadIdx.x]; // FAULT shared-race
    c.sync();
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) right_neighbour_before_it_wrote(const int *data, int *fresh)
{
    __shared__ int s[32];
    auto c = cg::this_cluster();
    s[threadIdx.x] = data[threadIdx.x];
    c.sync();
    int *o = c.map_shared_rank(s, c.block_rank() ^ 1);
    fresh[threadIdx.x + 32 * blockIdx.x] = o[threadIdx.x];
    c.sync();
}

// launch neighbour_never_wrote: grid=2 block=32 model=h200
extern "C" __global__ void __cluster_dims__(2, 1, 1) wrong_neighbour_never_wrote(const int *data, int *fresh)
{
    __shared__ int s[32];
    auto c = cg::this_cluster();
    if (c.block_rank() == 0) s[threadIdx.x] = data[threadIdx.x];
    c.sync();
    int *o = c.map_shared_rank(s, 1);
    fresh[threadIdx.x + 32 * blockIdx.x] = o[threadIdx.x]; // FAULT uninitialised
    c.sync();
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) right_neighbour_never_wrote(const int *data, int *fresh)
{
    __shared__ int s[32];
    auto c = cg::this_cluster();
    if (c.block_rank() == 0) s[threadIdx.x] = data[threadIdx.x];
    c.sync();
    int *o = c.map_shared_rank(s, 0);
    fresh[threadIdx.x + 32 * blockIdx.x] = o[threadIdx.x];
    c.sync();
}

// launch copied_tile_race: grid=1 block=16,8 model=h200
extern "C" __global__ void wrong_copied_tile_race(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[128], t[128];
    int i = threadIdx.y * 16 + threadIdx.x;
    __pipeline_memcpy_async(s + i, data + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    t[i] = s[127 - i]; // FAULT shared-race
    fresh[i] = t[127 - i]; // FAULT shared-race
}
extern "C" __global__ void right_copied_tile_race(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[128], t[128];
    int i = threadIdx.y * 16 + threadIdx.x;
    __pipeline_memcpy_async(s + i, data + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    t[i] = s[127 - i];
    __syncthreads();
    fresh[i] = t[127 - i];
}

// launch copied_without_barrier: grid=1 block=64 model=h200
extern "C" __global__ void wrong_copied_without_barrier(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[64];
    int i = threadIdx.x;
    __pipeline_memcpy_async(s + i, data + i, 4); // FAULT shared-race
    __pipeline_commit();
    __pipeline_wait_prior(0);
    fresh[i] = s[63 - i]; // FAULT shared-race
}
extern "C" __global__ void right_copied_without_barrier(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[64];
    int i = threadIdx.x;
    __pipeline_memcpy_async(s + i, data + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    fresh[i] = s[63 - i];
}

// launch stage_refilled_early: grid=1 block=64 model=h200
extern "C" __global__ void wrong_stage_refilled_early(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[64];
    int i = threadIdx.x, sum = 0;
    #pragma unroll 1
    for (int k = 0; k < 2; k++) {
        __pipeline_memcpy_async(s + i, data + i + k, 4); // FAULT shared-race
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += s[63 - i]; // FAULT shared-race
    }
    fresh[i] = sum;
}
extern "C" __global__ void right_stage_refilled_early(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[64];
    int i = threadIdx.x, sum = 0;
    #pragma unroll 1
    for (int k = 0; k < 2; k++) {
        __pipeline_memcpy_async(s + i, data + i + k, 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += s[63 - i];
        __syncthreads();
    }
    fresh[i] = sum;
}

// launch copied_in_part: grid=1 block=64 model=h200
extern "C" __global__ void wrong_copied_in_part(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[64];
    int i = threadIdx.x;
    if (i < 60) __pipeline_memcpy_async(s + i, data + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    fresh[i] = s[63 - i]; // FAULT uninitialised
}
extern "C" __global__ void right_copied_in_part(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[64];
    int i = threadIdx.x;
    __pipeline_memcpy_async(s + i, data + i, 4, i < 60 ? 0 : 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    fresh[i] = s[63 - i];
}

// launch other_stage_waited: grid=1 block=32 model=h200
extern "C" __global__ void wrong_other_stage_waited(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[2][128];
    int i = threadIdx.x;
    __pipeline_memcpy_async(s[0] + 4 * i, data + 4 * i, 16);
    __pipeline_commit();
    __pipeline_memcpy_async(s[1] + 4 * i, data + 4 * i, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    int4 v = *reinterpret_cast<int4 *>(s[1] + 4 * i); // FAULT copy-not-over
    fresh[i] = v.x + v.z;
}
extern "C" __global__ void right_other_stage_waited(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[2][128];
    int i = threadIdx.x;
    __pipeline_memcpy_async(s[0] + 4 * i, data + 4 * i, 16);
    __pipeline_commit();
    __pipeline_memcpy_async(s[1] + 4 * i, data + 4 * i, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    int4 v = *reinterpret_cast<int4 *>(s[0] + 4 * i);
    fresh[i] = v.x + v.z;
}

// launch copy_source_guarded: grid=1 block=64 model=h200
// the zero-filled copy of nothing from behind the end is meant so: silent
extern "C" __global__ void wrong_copy_source_guarded(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[512];
    int i = threadIdx.x + 8;
    __pipeline_memcpy_async(s + 4 * threadIdx.x, data + 4 * i, 16, i <= 64 ? 0 : 16); // FAULT out-of-bounds
    __pipeline_commit();
    __pipeline_wait_prior(0);
    fresh[threadIdx.x] = s[4 * threadIdx.x];
}
extern "C" __global__ void right_copy_source_guarded(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[512];
    int i = threadIdx.x + 8;
    __pipeline_memcpy_async(s + 4 * threadIdx.x, data + 4 * i, 16, i < 64 ? 0 : 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    fresh[threadIdx.x] = s[4 * threadIdx.x];
}

// launch copy_misaligned: grid=1 block=8 model=h200
extern "C" __global__ void wrong_copy_misaligned(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[64];
    unsigned at = (unsigned)__cvta_generic_to_shared(s + 4 * threadIdx.x);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at), "l"(data + 4 * threadIdx.x + 2)); // FAULT misaligned
    asm volatile("cp.async.wait_all;");
    fresh[threadIdx.x] = s[4 * threadIdx.x];
}
extern "C" __global__ void right_copy_misaligned(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[64];
    unsigned at = (unsigned)__cvta_generic_to_shared(s + 4 * threadIdx.x);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at), "l"(data + 4 * threadIdx.x + 4));
    asm volatile("cp.async.wait_all;");
    fresh[threadIdx.x] = s[4 * threadIdx.x];
}

// launch matrix_before_barrier: grid=1 block=64 model=h200
extern "C" __global__ void wrong_matrix_before_barrier(const int *data, int *fresh)
{
    __shared__ __align__(16) int4 s[64];
    int i = threadIdx.x, r[4];
    s[63 - i] = reinterpret_cast<const int4 *>(data)[i]; // FAULT shared-race
    unsigned at = (unsigned)__cvta_generic_to_shared(s + i);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory"); // FAULT shared-race
    fresh[i] = r[0] + r[1] + r[2] + r[3];
}
extern "C" __global__ void right_matrix_before_barrier(const int *data, int *fresh)
{
    __shared__ __align__(16) int4 s[64];
    int i = threadIdx.x, r[4];
    s[63 - i] = reinterpret_cast<const int4 *>(data)[i];
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(s + i);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
    fresh[i] = r[0] + r[1] + r[2] + r[3];
}

// launch matrix_of_unwritten: grid=1 block=32 model=h200
extern "C" __global__ void wrong_matrix_of_unwritten(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[128];
    int i = threadIdx.x, r[4];
    for (int k = 0; k < 3; k++) s[i + 32 * k] = data[i + 32 * k];
    __syncwarp();
    unsigned at = (unsigned)__cvta_generic_to_shared(s + 4 * i);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory"); // FAULT uninitialised
    fresh[i] = r[0] + r[1] + r[2] + r[3];
}
extern "C" __global__ void right_matrix_of_unwritten(const int *data, int *fresh)
{
    __shared__ __align__(16) int s[128];
    int i = threadIdx.x, r[4];
    for (int k = 0; k < 4; k++) s[i + 32 * k] = data[i + 32 * k];
    __syncwarp();
    unsigned at = (unsigned)__cvta_generic_to_shared(s + 4 * i);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
    fresh[i] = r[0] + r[1] + r[2] + r[3];
}

// launch vector_reduction_over_the_end: grid=1 block=32 model=h200
extern "C" __global__ void wrong_vector_reduction_over_the_end(float *data, int *fresh)
{
    asm volatile("red.global.add.v4.f32 [%0], {%1,%1,%1,%1};" :: "l"(data + 4 * (threadIdx.x + 33)), "f"(1.f) : "memory"); // FAULT out-of-bounds
}
extern "C" __global__ void right_vector_reduction_over_the_end(float *data, int *fresh)
{
    asm volatile("red.global.add.v4.f32 [%0], {%1,%1,%1,%1};" :: "l"(data + 4 * (threadIdx.x + 32)), "f"(1.f) : "memory");
}

// launch counted_by_mbarrier: grid=1 block=64 model=h200
extern "C" __global__ void wrong_counted_by_mbarrier(const int *data, int *fresh)
{
    __shared__ __align__(8) unsigned long long bar;
    __shared__ int s[64];
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(b) : "memory");
    __syncthreads();
    s[threadIdx.x] = data[threadIdx.x]; // FAULT shared-race
    asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" :: "r"(b) : "memory");
    fresh[threadIdx.x] = s[63 - threadIdx.x]; // FAULT shared-race
    asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra w; }" :: "r"(b) : "memory");
}
extern "C" __global__ void right_counted_by_mbarrier(const int *data, int *fresh)
{
    __shared__ __align__(8) unsigned long long bar;
    __shared__ int s[64];
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(b) : "memory");
    __syncthreads();
    s[threadIdx.x] = data[threadIdx.x];
    asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" :: "r"(b) : "memory");
    asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra w; }" :: "r"(b) : "memory");
    fresh[threadIdx.x] = s[63 - threadIdx.x];
}
