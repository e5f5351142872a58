// A wild pointer: an error of the kernel that stays; after a reset there is no device any more. The host lives.
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
__global__ void store(int *p) { *p = 1; }

// Each fault in a process of its own, which CUDA must not have been used before.
template <class F> static void apart(F faulty)
{
    fflush(stdout);
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        faulty();
        fflush(stdout);
        _exit(0);
    }
    int status;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

PROGRAM
{
    apart([] {
        int *p;
        CHECK(cudaMalloc(&p, 4));
        store<<<1, 1>>>((int *)((char *)p + 1));
        GIVES(cudaErrorMisalignedAddress, cudaDeviceSynchronize());
        GIVES(cudaErrorMisalignedAddress, cudaFree(p));
        CHECK(cudaDeviceReset());
        GIVES(cudaErrorDevicesUnavailable, cudaMalloc(&p, 4));
    });
    apart([] {
        int h = 7;
        store<<<1, 1>>>(&h);
        GIVES(cudaErrorIllegalAddress, cudaDeviceSynchronize());
        EXPECT(h == 7);
    });
    int *p;
    CHECK(cudaMalloc(&p, 4));
    store<<<1, 1>>>((int *)0x10);
    GIVES(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    EXPECT(cudaGetLastError() == cudaSuccess);
    GIVES(cudaErrorIllegalAddress, cudaMalloc(&p, 4));
    CHECK(cudaDeviceReset());
    GIVES(cudaErrorDevicesUnavailable, cudaMalloc(&p, 4));
    CHECK(cudaDeviceReset());
    GIVES(cudaErrorDevicesUnavailable, cudaFree(0));
    int devices;
    CHECK(cudaGetDeviceCount(&devices));
    EXPECT(devices >= 1);
}
