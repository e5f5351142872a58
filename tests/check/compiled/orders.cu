// The same for what orders accesses, and for narrow ones.

// launch read_only_of_another: grid=2 block=32
extern "C" __global__ void wrong_read_only_of_another(const int *data, int *fresh)
{
    if (blockIdx.x == 0) fresh[threadIdx.x] = data[threadIdx.x] + 5;
    else fresh[64 + threadIdx.x] = __ldg(fresh + threadIdx.x); // FAULT block-race
}
extern "C" __global__ void right_read_only_of_another(const int *data, int *fresh)
{
    if (blockIdx.x == 0) fresh[threadIdx.x] = data[threadIdx.x] + 5;
    else fresh[64 + threadIdx.x] = __ldg(data + threadIdx.x);
}

// launch bytes_of_two_blocks: grid=2,1,2 block=3,3,3
extern "C" __global__ void wrong_bytes_of_two_blocks(const int *data, unsigned char *fresh)
{
    int b = blockIdx.x + 2 * blockIdx.z, t = threadIdx.x + 3 * threadIdx.y + 9 * threadIdx.z;
    fresh[b * 26 + t] = (unsigned char)(b + 1); // FAULT block-race
}
extern "C" __global__ void right_bytes_of_two_blocks(const int *data, unsigned char *fresh)
{
    int b = blockIdx.x + 2 * blockIdx.z, t = threadIdx.x + 3 * threadIdx.y + 9 * threadIdx.z;
    fresh[b * 27 + t] = (unsigned char)(b + 1);
}

// launch counter_read_early: grid=1 block=64
extern "C" __global__ void wrong_counter_read_early(const int *data, int *fresh)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, data[threadIdx.x]); // FAULT shared-race
    fresh[threadIdx.x] = count; // FAULT shared-race
}
extern "C" __global__ void right_counter_read_early(const int *data, int *fresh)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, data[threadIdx.x]);
    __syncthreads();
    fresh[threadIdx.x] = count;
}

// launch halves_of_a_word: grid=1 block=64
extern "C" __global__ void wrong_halves_of_a_word(const int *data, int *fresh)
{
    __shared__ __align__(4) short s[128];
    s[threadIdx.x * 2] = (short)data[threadIdx.x];
    s[threadIdx.x * 2 + 1] = (short)threadIdx.x; // FAULT shared-race
    __syncwarp();
    fresh[threadIdx.x] = s[127 - threadIdx.x * 2]; // FAULT shared-race
}
extern "C" __global__ void right_halves_of_a_word(const int *data, int *fresh)
{
    __shared__ __align__(4) short s[128];
    s[threadIdx.x * 2] = (short)data[threadIdx.x];
    s[threadIdx.x * 2 + 1] = (short)threadIdx.x;
    __syncthreads();
    fresh[threadIdx.x] = s[127 - threadIdx.x * 2];
}

// launch address_of_another_local: grid=1 block=32
extern "C" __global__ void wrong_address_of_another_local(const int *data, int *fresh)
{
    __shared__ int *place;
    int mine[4];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 4; i++) mine[i] = data[i];
        place = mine;
    }
    __syncthreads();
    fresh[threadIdx.x] = place[data[0] & 3]; // FAULT uninitialised
}
extern "C" __global__ void right_address_of_another_local(const int *data, int *fresh)
{
    __shared__ int *place;
    int mine[4];
    for (int i = 0; i < 4; i++) mine[i] = data[i];
    if (threadIdx.x == 0) place = mine;
    __syncthreads();
    fresh[threadIdx.x] = place[data[0] & 3];
}

// launch dynamic_vector_misaligned: grid=1 block=4,2,2 shared=512
extern "C" __global__ void wrong_dynamic_vector_misaligned(const int *data, int *fresh)
{
    extern __shared__ __align__(16) unsigned char room[];
    int t = threadIdx.x + 4 * (threadIdx.y + 2 * threadIdx.z);
    *reinterpret_cast<int4 *>(room + 8 + 16 * t) = reinterpret_cast<const int4 *>(data)[t]; // FAULT misaligned
}
extern "C" __global__ void right_dynamic_vector_misaligned(const int *data, int *fresh)
{
    extern __shared__ __align__(16) unsigned char room[];
    int t = threadIdx.x + 4 * (threadIdx.y + 2 * threadIdx.z);
    *reinterpret_cast<int4 *>(room + 16 + 16 * t) = reinterpret_cast<const int4 *>(data)[t];
}

// launch rounds_differ: grid=1 block=32,3
extern "C" __global__ void wrong_rounds_differ(const int *data, int *fresh)
{
    for (int i = 0; i <= (int)threadIdx.y; i++) {
        fresh[threadIdx.y * 32 + threadIdx.x] = data[i];
        __syncthreads(); // FAULT barrier-exited
    }
}
extern "C" __global__ void right_rounds_differ(const int *data, int *fresh)
{
    for (int i = 0; i < 3; i++) {
        if (i <= (int)threadIdx.y) fresh[threadIdx.y * 32 + threadIdx.x] = data[i];
        __syncthreads();
    }
}

// launch barrier_for_more: grid=1 block=64
extern "C" __global__ void wrong_barrier_for_more(const int *data, int *fresh)
{
    fresh[threadIdx.x] = data[threadIdx.x];
    asm volatile("bar.sync 3, %0;" :: "r"(data[0] >= 0 ? 48 : 48 + data[1]) : "memory"); // FAULT barrier-count
}
extern "C" __global__ void right_barrier_for_more(const int *data, int *fresh)
{
    fresh[threadIdx.x] = data[threadIdx.x];
    asm volatile("bar.sync 3, %0;" :: "r"(data[0] >= 0 ? 64 : 64 + data[1]) : "memory");
}

// launch shared_sum_behind: grid=1 block=65
extern "C" __global__ void wrong_shared_sum_behind(const int *data, int *fresh)
{
    __shared__ int s[64];
    if (threadIdx.x < 64) s[threadIdx.x] = 0;
    __syncthreads();
    atomicMax(&s[threadIdx.x], data[threadIdx.x]); // FAULT out-of-bounds
}
extern "C" __global__ void right_shared_sum_behind(const int *data, int *fresh)
{
    __shared__ int s[65];
    s[threadIdx.x] = 0;
    __syncthreads();
    atomicMax(&s[threadIdx.x], data[threadIdx.x]);
}

// launch branch_syncs_all: grid=1 block=8,8
extern "C" __global__ void wrong_branch_syncs_all(const int *data, int *fresh)
{
    int v = data[threadIdx.x], n = 0;
    if (threadIdx.x < 4) n = __ballot_sync(0xffffffffu, v > 2); // FAULT member-mask
    fresh[threadIdx.y * 8 + threadIdx.x] = n;
}
extern "C" __global__ void right_branch_syncs_all(const int *data, int *fresh)
{
    int v = data[threadIdx.x], n = 0;
    if (threadIdx.x < 4) n = __ballot_sync(0x0f0f0f0fu, v > 2);
    fresh[threadIdx.y * 8 + threadIdx.x] = n;
}

// launch matrix_rows_race: grid=1 block=16,16
extern "C" __global__ void wrong_matrix_rows_race(const int *data, int *fresh)
{
    __shared__ float tile[16][16];
    tile[threadIdx.y][threadIdx.x] = (float)data[threadIdx.y * 16 + threadIdx.x];
    __syncthreads();
    float up = threadIdx.y ? tile[threadIdx.y - 1][threadIdx.x] : 0.f; // FAULT shared-race
    tile[threadIdx.y][threadIdx.x] += up; // FAULT shared-race
    __syncthreads();
    fresh[threadIdx.y * 16 + threadIdx.x] = (int)tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void right_matrix_rows_race(const int *data, int *fresh)
{
    __shared__ float tile[16][16];
    tile[threadIdx.y][threadIdx.x] = (float)data[threadIdx.y * 16 + threadIdx.x];
    __syncthreads();
    float up = threadIdx.y ? tile[threadIdx.y - 1][threadIdx.x] : 0.f;
    __syncthreads();
    tile[threadIdx.y][threadIdx.x] += up;
    __syncthreads();
    fresh[threadIdx.y * 16 + threadIdx.x] = (int)tile[threadIdx.x][threadIdx.y];
}

// launch heap_wide_behind: grid=2 block=33
extern "C" __global__ void wrong_heap_wide_behind(const int *data, int *fresh)
{
    double2 *p = (double2 *)malloc(24 + blockIdx.x * 8);
    p[0] = make_double2(1, 2);
    if (blockIdx.x == 0) p[1].x = 3;
    else p[1] = make_double2(3, 4);
    double2 v = p[data[0] > 0]; // FAULT out-of-bounds
    fresh[threadIdx.x + blockIdx.x * 33] = (int)(v.x + v.y);
    free(p);
}
extern "C" __global__ void right_heap_wide_behind(const int *data, int *fresh)
{
    double2 *p = (double2 *)malloc(32);
    p[0] = make_double2(1, 2);
    p[1] = make_double2(3, 4);
    double2 v = p[data[0] > 0];
    fresh[threadIdx.x + blockIdx.x * 33] = (int)(v.x + v.y);
    free(p);
}
