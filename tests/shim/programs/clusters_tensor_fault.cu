// A box of a tensor that begins in the middle of 16 bytes: on an H200 an illegal instruction (docs/asynchronous.md).
// alone: compute_90
#include <cuda.h>
#include "check.h"
__global__ void slanted(const __grid_constant__ CUtensorMap map, int x)
{
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) int box[64];
    __shared__ uint64_t barrier;
    unsigned at = __cvta_generic_to_shared(box), with = __cvta_generic_to_shared(&barrier);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(with) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(with) : "memory");
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"(at),
                 "l"(&map), "r"(x), "r"(with) : "memory");
    asm volatile("{.reg .pred p;\n\tAGAIN:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n\t@!p bra AGAIN;}" ::"r"(with) : "memory");
#endif
}
PROGRAM
{
    void *encode = nullptr, *memory;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaMalloc(&memory, 1024));
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found));
    CUtensorMap map;
    cuuint64_t size[1] = {256}, stride[1] = {0};
    cuuint32_t box[1] = {64}, step[1] = {1};
    EXPECT(((decltype(&cuTensorMapEncodeTiled))encode)(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 1, memory, size, stride, box, step,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == 0);
    slanted<<<1, 1>>>(map, 4);
    CHECK(cudaDeviceSynchronize());
    slanted<<<1, 1>>>(map, 3);
    GIVES(cudaErrorIllegalInstruction, cudaDeviceSynchronize());
}
