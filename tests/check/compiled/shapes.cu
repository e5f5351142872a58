// Deliberately wrong kernels and their corrected twins in CUDA: blocks of two and three dimensions, partial warps,
// vectors, dynamic shared memory, arrays of a thread, functions that are put into others. "launch" says how both are
// run; FAULT marks the source lines of which wrong_NAME's one report names one (a race has two). `data` holds 256
// words that were written, `fresh` 256 that were not.

// launch halo_row: grid=2,2 block=16,16 args=data fresh
// data is 32x... : 256 words; row above the first
extern "C" __global__ void wrong_halo_row(const float *data, float *fresh)
{
    int x = threadIdx.x, y = threadIdx.y;
    if (blockIdx.x + blockIdx.y) return;
    float up = data[(y - 1) * 16 + x]; // FAULT out-of-bounds
    fresh[y * 16 + x] = up;
}
extern "C" __global__ void right_halo_row(const float *data, float *fresh)
{
    int x = threadIdx.x, y = threadIdx.y;
    if (blockIdx.x + blockIdx.y) return;
    float up = y > 0 ? data[(y - 1) * 16 + x] : 0.f;
    fresh[y * 16 + x] = up;
}

// launch vector_tail: grid=1 block=7,5,3
// 105 threads, float2 each at stride 10 bytes-> last lanes over the end
extern "C" __global__ void wrong_vector_tail(float2 *data, float2 *fresh)
{
    int t = threadIdx.x + 7 * (threadIdx.y + 5 * threadIdx.z);
    float2 v = data[t + 24]; // FAULT out-of-bounds
    fresh[t] = make_float2(v.x + v.y, v.x);
}
extern "C" __global__ void right_vector_tail(float2 *data, float2 *fresh)
{
    int t = threadIdx.x + 7 * (threadIdx.y + 5 * threadIdx.z);
    float2 v = data[t + 23];
    fresh[t] = make_float2(v.x + v.y, v.x);
}

// launch dynamic_short: grid=1 block=64 shared=256
extern "C" __global__ void wrong_dynamic_short(const int *data, int *fresh)
{
    extern __shared__ int room[];
    room[threadIdx.x + 1] = data[threadIdx.x]; // FAULT out-of-bounds
    __syncthreads();
    fresh[threadIdx.x] = room[(threadIdx.x & 31) + 1];
}
extern "C" __global__ void right_dynamic_short(const int *data, int *fresh)
{
    extern __shared__ int room[];
    room[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    fresh[threadIdx.x] = room[(threadIdx.x & 31) + 1];
}

// launch local_index: grid=1 block=33
extern "C" __global__ void wrong_local_index(const int *data, int *fresh)
{
    int mine[8];
    #pragma unroll 1
    for (int i = 0; i < 8; i++) mine[i] = data[i];
    int k = threadIdx.x == 32 ? 9 + (data[0] == 0) * 3: (int)(threadIdx.x & 7);
    fresh[threadIdx.x] = mine[k]; // FAULT out-of-bounds
}
extern "C" __global__ void right_local_index(const int *data, int *fresh)
{
    int mine[8];
    #pragma unroll 1
    for (int i = 0; i < 8; i++) mine[i] = data[i];
    fresh[threadIdx.x] = mine[threadIdx.x & 7];
}

// launch partly_filled_local: grid=1 block=40
extern "C" __global__ void wrong_partly_filled_local(const int *data, int *fresh)
{
    float mine[12];
    int n = threadIdx.x == 39 ? 10 : 12;
    #pragma unroll 1
    for (int i = 0; i < n; i++) mine[i] = (float)data[i];
    float s = 0;
    #pragma unroll 1
    for (int i = 0; i < 12; i++) s += mine[i]; // FAULT uninitialised
    fresh[threadIdx.x] = (int)s;
}
extern "C" __global__ void right_partly_filled_local(const int *data, int *fresh)
{
    float mine[12];
    int n = threadIdx.x == 39 ? 10 : 12;
    #pragma unroll 1
    for (int i = 0; i < n; i++) mine[i] = (float)data[i];
    float s = 0;
    #pragma unroll 1
    for (int i = 0; i < n; i++) s += mine[i];
    fresh[threadIdx.x] = (int)s;
}

// launch tile_without_barrier: grid=1 block=16,16
extern "C" __global__ void wrong_tile_without_barrier(const int *data, int *fresh)
{
    __shared__ int tile[16][17];
    tile[threadIdx.y][threadIdx.x] = data[threadIdx.y * 16 + threadIdx.x]; // FAULT shared-race
    fresh[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; // FAULT shared-race
}
extern "C" __global__ void right_tile_without_barrier(const int *data, int *fresh)
{
    __shared__ int tile[16][17];
    tile[threadIdx.y][threadIdx.x] = data[threadIdx.y * 16 + threadIdx.x];
    __syncthreads();
    fresh[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// launch next_round_overwrites: grid=1 block=96
extern "C" __global__ void wrong_next_round_overwrites(const int *data, int *fresh)
{
    __shared__ int buffer[96];
    int s = 0;
    #pragma unroll 1
    for (int k = 0; k < 2; k++) {
        buffer[threadIdx.x] = data[threadIdx.x + k]; // FAULT shared-race
        __syncthreads();
        s += buffer[95 - threadIdx.x]; // FAULT shared-race
    }
    fresh[threadIdx.x] = s;
}
extern "C" __global__ void right_next_round_overwrites(const int *data, int *fresh)
{
    __shared__ int buffer[96];
    int s = 0;
    #pragma unroll 1
    for (int k = 0; k < 2; k++) {
        buffer[threadIdx.x] = data[threadIdx.x + k];
        __syncthreads();
        s += buffer[95 - threadIdx.x];
        __syncthreads();
    }
    fresh[threadIdx.x] = s;
}

// launch vector_row_race: grid=1 block=8,8
extern "C" __global__ void wrong_vector_row_race(const int *data, int *fresh)
{
    __shared__ __align__(16) int room[256];
    int t = threadIdx.y * 8 + threadIdx.x;
    reinterpret_cast<int4 *>(room)[t] = reinterpret_cast<const int4 *>(data)[t]; // FAULT shared-race
    __syncwarp();
    int2 v = reinterpret_cast<int2 *>(room)[127 - t]; // FAULT shared-race
    fresh[t] = v.x + v.y;
}
extern "C" __global__ void right_vector_row_race(const int *data, int *fresh)
{
    __shared__ __align__(16) int room[256];
    int t = threadIdx.y * 8 + threadIdx.x;
    reinterpret_cast<int4 *>(room)[t] = reinterpret_cast<const int4 *>(data)[t];
    __syncthreads();
    int2 v = reinterpret_cast<int2 *>(room)[127 - t];
    fresh[t] = v.x + v.y;
}

// launch half_warp_shuffle: grid=1 block=48
extern "C" __global__ void wrong_half_warp_shuffle(const int *data, int *fresh)
{
    int v = data[threadIdx.x];
    v += __shfl_down_sync(0xffffffffu, v, 8); // FAULT member-mask
    fresh[threadIdx.x] = v;
}
extern "C" __global__ void right_half_warp_shuffle(const int *data, int *fresh)
{
    int v = data[threadIdx.x];
    v += __shfl_down_sync(threadIdx.x < 32 ? 0xffffffffu : 0xffffu, v, 8);
    fresh[threadIdx.x] = v;
}

// launch reduce_left_lanes: grid=1 block=32 model=h200
extern "C" __global__ void wrong_reduce_left_lanes(const unsigned *data, unsigned *fresh)
{
    if (threadIdx.x >= 20) return;
    fresh[threadIdx.x] = __reduce_add_sync(0x001fffffu, data[threadIdx.x]); // FAULT member-mask
}
extern "C" __global__ void right_reduce_left_lanes(const unsigned *data, unsigned *fresh)
{
    if (threadIdx.x >= 20) return;
    fresh[threadIdx.x] = __reduce_add_sync(0x000fffffu, data[threadIdx.x]);
}

// launch count_in_branch: grid=1 block=64
extern "C" __global__ void wrong_count_in_branch(const int *data, int *fresh)
{
    int n = 0;
    if (threadIdx.x & 1)
        n = __syncthreads_count(data[threadIdx.x] > 3); // FAULT barrier-divergence
    fresh[threadIdx.x] = n;
}
extern "C" __global__ void right_count_in_branch(const int *data, int *fresh)
{
    int n = __syncthreads_count((threadIdx.x & 1) && data[threadIdx.x] > 3);
    fresh[threadIdx.x] = n;
}

// launch row_leaves_early: grid=1 block=32,4
extern "C" __global__ void wrong_row_leaves_early(const int *data, int *fresh)
{
    __shared__ int s[128];
    int t = threadIdx.y * 32 + threadIdx.x;
    if (threadIdx.y == 3) return;
    s[t] = data[t];
    __syncthreads(); // FAULT barrier-exited
    fresh[t] = s[95 - t];
}
extern "C" __global__ void right_row_leaves_early(const int *data, int *fresh)
{
    __shared__ int s[128];
    int t = threadIdx.y * 32 + threadIdx.x;
    if (threadIdx.y < 3)
        s[t] = data[t];
    __syncthreads();
    if (threadIdx.y < 3)
        fresh[t] = s[95 - t];
}

// launch blocks_overlap_vectors: grid=2,2 block=16
extern "C" __global__ void wrong_blocks_overlap_vectors(const int *data, int *fresh)
{
    int b = blockIdx.y * 2 + blockIdx.x;
    int2 v = make_int2(b, data[threadIdx.x]);
    reinterpret_cast<int2 *>(fresh)[b * 15 + threadIdx.x] = v; // FAULT block-race
}
extern "C" __global__ void right_blocks_overlap_vectors(const int *data, int *fresh)
{
    int b = blockIdx.y * 2 + blockIdx.x;
    int2 v = make_int2(b, data[threadIdx.x]);
    reinterpret_cast<int2 *>(fresh)[b * 16 + threadIdx.x] = v;
}

// launch last_block_sums: grid=4 block=32
__device__ unsigned arrived_w, arrived_r;
extern "C" __global__ void wrong_last_block_sums(const int *data, int *fresh)
{
    __shared__ bool last;
    if (threadIdx.x == 0) fresh[blockIdx.x] = data[blockIdx.x] + 7;
    if (threadIdx.x == 0) last = atomicAdd(&arrived_w, 1) == 3;
    __syncthreads();
    if (last && threadIdx.x < 4)
        fresh[8 + threadIdx.x] = fresh[threadIdx.x]; // FAULT block-race
}
extern "C" __global__ void right_last_block_sums(const int *data, int *fresh)
{
    __shared__ bool last;
    if (threadIdx.x == 0) fresh[blockIdx.x] = data[blockIdx.x] + 7;
    __threadfence();
    if (threadIdx.x == 0) last = atomicAdd(&arrived_r, 1) == 3;
    __syncthreads();
    if (last && threadIdx.x < 4)
        fresh[8 + threadIdx.x] = fresh[threadIdx.x];
}

// launch wide_atomic_misaligned: grid=1 block=3
extern "C" __global__ void wrong_wide_atomic_misaligned(int *data, int *fresh)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(data + 1 + 2 * threadIdx.x), 1ull); // FAULT misaligned
}
extern "C" __global__ void right_wide_atomic_misaligned(int *data, int *fresh)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(data + 2 + 2 * threadIdx.x), 1ull);
}

// launch atomic_counter_unset: grid=3 block=1
extern "C" __global__ void wrong_atomic_counter_unset(int *data, int *fresh)
{
    atomicMax(fresh + 5, data[blockIdx.x]); // FAULT uninitialised
}
extern "C" __global__ void right_atomic_counter_unset(int *data, int *fresh)
{
    atomicMax(data + 5, data[blockIdx.x]);
}

// launch gap_in_vector: grid=1 block=64
extern "C" __global__ void wrong_gap_in_vector(const int *data, int *fresh)
{
    int4 *v = reinterpret_cast<int4 *>(fresh);
    int t = threadIdx.x;
    fresh[4 * t] = data[t];
    fresh[4 * t + 1] = data[t];
    fresh[4 * t + 3] = data[t];
    __threadfence_block();
    int4 all = v[t]; // FAULT uninitialised
    fresh[4 * t] = all.x + all.w + all.z;
}
extern "C" __global__ void right_gap_in_vector(const int *data, int *fresh)
{
    int4 *v = reinterpret_cast<int4 *>(fresh);
    int t = threadIdx.x;
    fresh[4 * t] = data[t];
    fresh[4 * t + 1] = data[t];
    fresh[4 * t + 2] = data[t];
    fresh[4 * t + 3] = data[t];
    __threadfence_block();
    int4 all = v[t];
    fresh[4 * t] = all.x + all.w + all.z;
}

// launch two_free_one: grid=1 block=64
extern "C" __global__ void wrong_two_free_one(const int *data, int *fresh)
{
    __shared__ int *place;
    if (threadIdx.x == 0) place = (int *)malloc(64);
    __syncthreads();
    if (threadIdx.x % 40 == 0) free(place); // FAULT double-free
}
extern "C" __global__ void right_two_free_one(const int *data, int *fresh)
{
    __shared__ int *place;
    if (threadIdx.x == 0) place = (int *)malloc(64);
    __syncthreads();
    if (threadIdx.x == 40) free(place);
}

// launch freed_by_the_other_warp: grid=1 block=64
extern "C" __global__ void wrong_freed_by_the_other_warp(const int *data, int *fresh)
{
    __shared__ int *place;
    if (threadIdx.x == 0) { place = (int *)malloc(256); for (int i = 0; i < 64; i++) place[i] = i; }
    __syncthreads();
    if (threadIdx.x == 63) free(place);
    __syncthreads();
    if (threadIdx.x < 3) fresh[threadIdx.x] = place[threadIdx.x]; // FAULT use-after-free
}
extern "C" __global__ void right_freed_by_the_other_warp(const int *data, int *fresh)
{
    __shared__ int *place;
    if (threadIdx.x == 0) { place = (int *)malloc(256); for (int i = 0; i < 64; i++) place[i] = i; }
    __syncthreads();
    if (threadIdx.x < 3) fresh[threadIdx.x] = place[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 63) free(place);
}

__device__ int table[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
__device__ int behind[10] = {1};
__constant__ float weights[5] = {1, 2, 3, 4, 5};
// launch variable_behind_the_end: grid=1 block=11
extern "C" __global__ void wrong_variable_behind_the_end(const int *data, int *fresh)
{
    fresh[threadIdx.x] = table[threadIdx.x] + behind[0]; // FAULT out-of-bounds
}
extern "C" __global__ void right_variable_behind_the_end(const int *data, int *fresh)
{
    fresh[threadIdx.x] = table[threadIdx.x % 10] + behind[0];
}
// launch constant_behind_the_end: grid=1 block=32
extern "C" __global__ void wrong_constant_behind_the_end(const int *data, int *fresh)
{
    fresh[threadIdx.x] = (int)weights[threadIdx.x]; // FAULT out-of-bounds
}
extern "C" __global__ void right_constant_behind_the_end(const int *data, int *fresh)
{
    fresh[threadIdx.x] = (int)weights[threadIdx.x % 5];
}

// launch function_called_wrong: grid=1 block=32
__noinline__ __device__ int fetch(const int *p, int i);
extern "C" __global__ void wrong_function_called_wrong(const int *data, int *fresh)
{
    fresh[threadIdx.x] = fetch(data, threadIdx.x + 240);
}
__noinline__ __device__ int fetch(const int *p, int i)
{
    return p[i]; // FAULT out-of-bounds
}
extern "C" __global__ void right_function_called_wrong(const int *data, int *fresh)
{
    fresh[threadIdx.x] = fetch(data, threadIdx.x + 224);
}
