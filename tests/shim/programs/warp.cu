// Votes, shuffles, matches, warp barriers.
#include "check.h"
__global__ void votes(unsigned *out)
{
    unsigned lane = threadIdx.x;
    unsigned ballot = __ballot_sync(~0u, lane % 3 == 0);
    int sum = lane;
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    unsigned up = __shfl_up_sync(~0u, lane, 1), x = __shfl_xor_sync(~0u, lane, 5);
    int all = __all_sync(~0u, lane < 32), any = __any_sync(~0u, lane == 40);
    if (lane == 0) { out[0] = ballot; out[1] = sum; out[2] = all; out[3] = any; }
    if (lane == 9) { out[4] = up; out[5] = x; out[6] = __popc(__activemask()); }
    out[7] = __clz(__brev(0x10)); 
}
__global__ void sleeps(unsigned long long *out)
{
    unsigned long long t0, t1; long long c0 = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0)); __nanosleep(threadIdx.x == 7 ? 5000 : 10); asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
    out[0] = t1 - t0; out[1] = clock64() - c0;
}
PROGRAM
{
    // The longest of the lanes' sleeps passes, and no more than twice that. (PTX ISA, nanosleep)
    unsigned long long *t, slept[2]; CHECK(cudaMalloc(&t, sizeof slept)); sleeps<<<1, 32>>>(t); CHECK(cudaMemcpy(slept, t, sizeof slept, cudaMemcpyDeviceToHost));
    EXPECT(slept[0] >= 4900 && slept[0] < 10500 && slept[1] > 1000);
    unsigned *d, h[8];
    CHECK(cudaMalloc(&d, sizeof h));
    votes<<<1, 32>>>(d);
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    unsigned b = 0; for (int i = 0; i < 32; i += 3) b |= 1u << i;
    EXPECT(h[0] == b && h[1] == 496 && h[2] == 1 && h[3] == 0 && h[4] == 8 && h[5] == (9 ^ 5) && h[6] == 1 && h[7] == 4);
}
