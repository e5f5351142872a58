// The device's printf: in the order of the calls, by the time the host has waited.
#include "check.h"
__global__ void hello(int n) { printf("thread %d of %d: %s %.2f\n", threadIdx.x, n, "text", threadIdx.x / 4.0); }
PROGRAM
{
    hello<<<1, 3>>>(3);
    CHECK(cudaDeviceSynchronize());
}
