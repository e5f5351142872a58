// A wild pointer: an error of the kernel that stays until the device is reset; the host lives.
#include "check.h"
__global__ void store(int *p) { *p = 1; }
int main()
{
    int *p;
    CHECK(cudaMalloc(&p, 4));
    store<<<1, 1>>>((int *)0x10);
    GIVES(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    GIVES(cudaErrorIllegalAddress, cudaMalloc(&p, 4));
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc(&p, 4));
    store<<<1, 1>>>(p);
    CHECK(cudaDeviceSynchronize());
    store<<<1, 1>>>((int *)((char *)p + 1));
    GIVES(cudaErrorMisalignedAddress, cudaDeviceSynchronize());
    CHECK(cudaDeviceReset());
    int h = 7;
    CHECK(cudaMalloc(&p, 4));
    store<<<1, 1>>>(&h);
    GIVES(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    EXPECT(h == 7);
}
