// The device tells of itself what programs ask.
#include "check.h"
PROGRAM
{
    int count, device, value; cudaDeviceProp p; size_t left, all;
    CHECK(cudaGetDeviceCount(&count)); EXPECT(count >= 1);
    CHECK(cudaSetDevice(0)); CHECK(cudaGetDevice(&device)); EXPECT(device == 0);
    CHECK(cudaGetDeviceProperties(&p, 0));
    EXPECT(p.name[0] && p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.multiProcessorCount > 0);
    EXPECT(p.maxGridSize[0] == 2147483647 && p.maxThreadsDim[2] == 64 && p.totalConstMem == 65536);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0)); EXPECT(value == p.multiProcessorCount);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0)); EXPECT(value == p.major);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlock, 0)); EXPECT(value == (int)p.sharedMemPerBlock);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxRegistersPerBlock, 0)); EXPECT(value == p.regsPerBlock);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrL2CacheSize, 0)); EXPECT(value == p.l2CacheSize);
    EXPECT(p.unifiedAddressing == 1 && p.managedMemory == 1 && p.canMapHostMemory == 1 && p.concurrentKernels == 1 && p.memoryPoolsSupported == 1);
    CHECK(cudaMemGetInfo(&left, &all)); EXPECT(left <= all && all > 0);
    int driver, runtime;
    CHECK(cudaDriverGetVersion(&driver)); CHECK(cudaRuntimeGetVersion(&runtime)); EXPECT(driver >= runtime && runtime >= 11000);
    int can; CHECK(cudaDeviceCanAccessPeer(&can, 0, 0)); EXPECT(can == 0);
}
