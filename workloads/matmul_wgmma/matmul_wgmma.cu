/* c = a bt', of n x n halves: the last warp fetches by tensor maps, the first four multiply by wgmma; 64 x 64, 64 deep, in a
 * ring of three. */
#include "../modern.cuh"

#define RING 3
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
