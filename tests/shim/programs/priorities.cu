// Priorities of streams: their range, what is beyond it, that all work is done whatever they are.
#include "check.h"
__global__ void spin(int *p, int n) { int x = *p; for (int i = 0; i < n; i++) x = x * 5 + 1; atomicAdd(p + 1 + blockIdx.x % 3, x & 1 | 1); }
PROGRAM
{
    int least, greatest, got, *p, h[4];
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest)); EXPECT(least == 0 && greatest < 0);
    CHECK(cudaMalloc(&p, sizeof h)); CHECK(cudaMemset(p, 0, sizeof h)); CHECK(cudaDeviceSynchronize());
    cudaStream_t s[4];
    for (int i = 0; i < 4; i++) {
        CHECK(cudaStreamCreateWithPriority(&s[i], cudaStreamNonBlocking, i == 3 ? greatest - 7 : least - i));
        CHECK(cudaStreamGetPriority(s[i], &got)); EXPECT(got == (i == 3 ? greatest : least - i));
    }
    for (int k = 0; k < 3; k++) for (int i = 0; i < 4; i++) spin<<<6, 32, 0, s[i]>>>(p, 50 + 20 * i);
    CHECK(cudaDeviceSynchronize()); CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[1] == 3 * 4 * 2 * 32 && h[2] == h[1] && h[3] == h[1]);
    for (auto &x : s) CHECK(cudaStreamDestroy(x));
}
