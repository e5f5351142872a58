// A failed assertion is an error of its own.
#include <cassert>
#include "check.h"
__global__ void claim(int n) { assert(threadIdx.x < n); }
PROGRAM
{
    claim<<<1, 4>>>(4);
    CHECK(cudaDeviceSynchronize());
    claim<<<1, 4>>>(2);
    GIVES(cudaErrorAssert, cudaDeviceSynchronize());
}
