// Virtual memory management: reserve, create, map, access, use, and all back.
#include <cuda.h>
#include "check.h"
#define DRIVE(call) EXPECT((call) == CUDA_SUCCESS)
__global__ void fill(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
PROGRAM
{
    CHECK(cudaFree(0));
    CUmemAllocationProp prop = {}; prop.type = CU_MEM_ALLOCATION_TYPE_PINNED; prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    size_t granule; DRIVE(cuInit(0)); DRIVE(cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CUdeviceptr p; CUmemGenericAllocationHandle h;
    DRIVE(cuMemAddressReserve(&p, granule, 0, 0, 0)); DRIVE(cuMemCreate(&h, granule, &prop, 0)); DRIVE(cuMemMap(p, granule, 0, h, 0));
    CUmemAccessDesc access = {}; access.location = prop.location; access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVE(cuMemSetAccess(p, granule, &access, 1));
    fill<<<8, 128>>>((int *)p);
    int out[1024]; CHECK(cudaMemcpy(out, (void *)p, sizeof out, cudaMemcpyDeviceToHost)); EXPECT(out[1023] == 127);
    DRIVE(cuMemUnmap(p, granule)); DRIVE(cuMemRelease(h)); DRIVE(cuMemAddressFree(p, granule));
    // One memory at two places, and later at a third; what an H200 answers to what is wrong.
    int value; CUmemGenericAllocationHandle again;
    DRIVE(cuMemAddressReserve(&p, 4 * granule, 0, 0, 0)); DRIVE(cuMemCreate(&h, granule, &prop, 0)); DRIVE(cuMemMap(p, granule, 0, h, 0)); DRIVE(cuMemMap(p + granule, granule, 0, h, 0));
    EXPECT(cuMemMap(p, granule, 0, h, 0) == CUDA_ERROR_INVALID_VALUE); DRIVE(cuMemSetAccess(p, 2 * granule, &access, 1)); EXPECT(cuMemSetAccess(p, 3 * granule, &access, 1) == CUDA_ERROR_INVALID_VALUE);
    fill<<<8, 128>>>((int *)p); DRIVE(cuMemcpyDtoH(&value, p + granule + 4 * 1000, 4)); EXPECT(value == 104);
    EXPECT(cuMemUnmap(p, granule / 2) == CUDA_ERROR_INVALID_VALUE); DRIVE(cuMemUnmap(p, granule)); DRIVE(cuMemUnmap(p, granule)); EXPECT(cuMemAddressFree(p, 4 * granule) == CUDA_ERROR_INVALID_VALUE);
    DRIVE(cuMemRetainAllocationHandle(&again, (void *)(p + granule + 8))); EXPECT(again == h); DRIVE(cuMemRelease(again)); DRIVE(cuMemUnmap(p + granule, granule));
    DRIVE(cuMemMap(p + 2 * granule, granule, 0, h, 0)); DRIVE(cuMemSetAccess(p + 2 * granule, granule, &access, 1)); DRIVE(cuMemRelease(h)); DRIVE(cuMemcpyDtoH(&value, p + 2 * granule + 4 * 1000, 4)); EXPECT(value == 104);
    EXPECT(cuMemRelease(h) == CUDA_ERROR_INVALID_VALUE); DRIVE(cuMemUnmap(p + 2 * granule, granule)); DRIVE(cuMemAddressFree(p, 4 * granule));
    EXPECT(cuMemCreate(&h, granule + 1, &prop, 0) == CUDA_ERROR_INVALID_VALUE);
}
