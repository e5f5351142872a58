// CUB: a reduction and a scan of the device, and of a block.
#include <cub/cub.cuh>
#include "check.h"
__global__ void block(const int *in, int *out) { typedef cub::BlockReduce<int, 128> reduce; __shared__ reduce::TempStorage t; int s = reduce(t).Sum(in[threadIdx.x]); if (threadIdx.x == 0) *out = s; }
PROGRAM
{
    const int n = 5000; static int h[n], *in, *out; void *temp = nullptr; size_t bytes = 0;
    long sum = 0, first = 0; for (int i = 0; i < n; i++) { h[i] = i % 13; sum += h[i]; first += i < 128 ? h[i] : 0; }
    CHECK(cudaMalloc(&in, sizeof h)); CHECK(cudaMalloc(&out, sizeof h));
    CHECK(cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice));
    CHECK(cub::DeviceReduce::Sum(temp, bytes, in, out, n)); CHECK(cudaMalloc(&temp, bytes)); CHECK(cub::DeviceReduce::Sum(temp, bytes, in, out, n));
    int r; CHECK(cudaMemcpy(&r, out, 4, cudaMemcpyDeviceToHost)); EXPECT(r == sum);
    block<<<1, 128>>>(in, out); CHECK(cudaMemcpy(&r, out, 4, cudaMemcpyDeviceToHost)); EXPECT(r == first);
    size_t more = 0; CHECK(cub::DeviceScan::ExclusiveSum(nullptr, more, in, out, n)); void *t2; CHECK(cudaMalloc(&t2, more)); CHECK(cub::DeviceScan::ExclusiveSum(t2, more, in, out, n));
    CHECK(cudaMemcpy(&r, out + n - 1, 4, cudaMemcpyDeviceToHost)); EXPECT(r == sum - h[n - 1]);
}
