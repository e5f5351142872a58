// A process that was forked off has no device; its parent keeps its own.
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
__global__ void set(int *p) { *p = 5; }
PROGRAM
{
    int *d, h = 0, status;
    CHECK(cudaMalloc(&d, 4));
    pid_t child = fork();
    if (child == 0) _exit(cudaMalloc(&d, 4) == cudaErrorInitializationError ? 17 : 1);
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 17);
    set<<<1, 1>>>(d);
    CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 5);
}
