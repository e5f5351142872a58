// Limits, flags and the lesser properties.
#include <cuda_profiler_api.h>
#include "check.h"
PROGRAM
{
    size_t v; unsigned flags; cudaFuncCache c; cudaSharedMemConfig m;
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20)); CHECK(cudaDeviceGetLimit(&v, cudaLimitPrintfFifoSize)); EXPECT(v >= 1 << 20);
    CHECK(cudaDeviceGetLimit(&v, cudaLimitStackSize)); EXPECT(v > 0);
    GIVES(cudaErrorInvalidValue, cudaDeviceGetLimit(&v, (cudaLimit)99));
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared)); CHECK(cudaDeviceGetCacheConfig(&c)); EXPECT(c == cudaFuncCachePreferShared || c == cudaFuncCachePreferNone);
    CHECK(cudaDeviceGetSharedMemConfig(&m));
    CHECK(cudaSetDeviceFlags(cudaDeviceScheduleYield)); CHECK(cudaGetDeviceFlags(&flags));
    char bus[32]; int device = 7; CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0)); CHECK(cudaDeviceGetByPCIBusId(&device, bus)); EXPECT(device == 0);
    CHECK(cudaProfilerStart()); CHECK(cudaProfilerStop());
}
