// exit() in a host function, with work left: the process ends with that status.
// alone: its main function ends with a status
#include "check.h"
__global__ void nothing() {}
static void CUDART_CB leave(void *) { exit(0); }
PROGRAM
{
    cudaStream_t s; CHECK(cudaStreamCreate(&s));
    nothing<<<1, 1, 0, s>>>();
    CHECK(cudaLaunchHostFunc(s, leave, nullptr));
    nothing<<<1, 1, 0, s>>>();
    cudaStreamSynchronize(s);
    return 1;
}
