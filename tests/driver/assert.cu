// Assertions: which threads fail is the caller's choice.
#include <cassert>
#include <cstdio>

extern "C" __global__ void small_enough(unsigned limit)
{
    printf("thread %u\n", threadIdx.x);
    assert(threadIdx.x < limit && "thread is small");
}
