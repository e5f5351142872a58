// The program ends while a kernel runs that never does, and a thread waits for it: the process ends, too.
#include <thread>
#include "check.h"
__global__ void forever(volatile int *go) { while (*go == 0) {} }
static volatile int *go;
static void waits() { forever<<<1, 32>>>((int *)go); cudaDeviceSynchronize(); }
PROGRAM
{
    CHECK(cudaMallocManaged((int **)&go, sizeof *go));
    *go = 0;
    cudaStream_t s; CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    forever<<<1, 32, 0, s>>>((int *)go);
    CHECK(cudaGetLastError());
    EXPECT(cudaStreamQuery(s) == cudaErrorNotReady);
    std::thread(waits).detach();
    exit(0);
}
