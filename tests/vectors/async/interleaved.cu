#include "../../../workloads/modern.cuh"
/* kind 0: load a box into shared memory, 1: store, 2: im2col load; fills shared memory first, waits a while, gives it back. */
#define LOAD(r, c) asm volatile("cp.async.bulk.tensor." #r "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" c "}], [%2];" :: "r"(shared_address(tiles)), "l"(&m), "r"(shared_address(&full)), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]) : "memory")
#define STORE(r, c) asm volatile("cp.async.bulk.tensor." #r "d.global.shared::cta.tile.bulk_group [%1, {" c "}], [%0];" :: "r"(shared_address(tiles)), "l"(&m), "r"(shared_address(&full)), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]) : "memory")
#define IM(r, c, o) asm volatile("cp.async.bulk.tensor." #r "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {" c "}], [%2], {" o "};" :: "r"(shared_address(tiles)), "l"(&m), "r"(shared_address(&full)), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "h"((short)x[5]), "h"((short)x[6]) : "memory")
struct coords { int at[8]; };
extern "C" __global__ void box(const __grid_constant__ tensor_map m, const __grid_constant__ coords c, int rank, int kind, uint32_t *out)
{
    extern __shared__ __align__(1024) uint8_t tiles[];
    __shared__ __align__(8) uint64_t full;
    const int *x = c.at;
    uint16_t *halves = (uint16_t *)tiles;
    if (threadIdx.x == 0) { barrier_init(&full, 1); asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
    for (int i = threadIdx.x; i < 16384; i += blockDim.x) halves[i] = kind == 1 ? 0x8000 + i : 0xeeee;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        if (kind == 0 && rank == 3) LOAD(3, "%3, %4, %5");
        if (kind == 0 && rank == 4) LOAD(4, "%3, %4, %5, %6");
        if (kind == 0 && rank == 5) LOAD(5, "%3, %4, %5, %6, %7");
        if (kind == 1 && rank == 3) STORE(3, "%3, %4, %5");
        if (kind == 1 && rank == 4) STORE(4, "%3, %4, %5, %6");
        if (kind == 2 && rank == 3) IM(3, "%3, %4, %5", "%8");
        if (kind == 2 && rank == 4) IM(4, "%3, %4, %5, %6", "%8, %9");
        if (kind == 1) asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
        for (int i = 0; i < 20; i++) __nanosleep(1000);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) out[i] = ((uint32_t *)tiles)[i];
    if (threadIdx.x == 0) { out[8192] = (uint32_t)full; out[8193] = (uint32_t)(full >> 32); }
}
