// cub: collectives of blocks and warps, a histogram, selection and a radix sort of pairs on the device.
#include <cub/cub.cuh>
#include "check.h"
__global__ void collective(int *out)
{
    typedef cub::BlockScan<int, 128> scan; typedef cub::BlockReduce<int, 128> reduce; typedef cub::WarpReduce<int> warp;
    __shared__ typename scan::TempStorage a; __shared__ typename reduce::TempStorage b; __shared__ typename warp::TempStorage c[4];
    int i = threadIdx.x, before;
    scan(a).ExclusiveSum(i, before);
    out[i] = before;
    int most = reduce(b).Reduce(i * 37 % 101, [](int x, int y) { return x > y ? x : y; });
    int w = warp(c[i / 32]).Sum(1);
    if (i == 0) { out[128] = most; out[129] = w; }
}
PROGRAM
{
    const int n = 3000;
    int *d, h[130]; static int keys[n], values[n], counts[16];
    CHECK(cudaMalloc(&d, sizeof h));
    collective<<<1, 128>>>(d); CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 128; i++) EXPECT(h[i] == i * (i - 1) / 2);
    EXPECT(h[128] == 100 && h[129] == 32);
    int *k[2], *v[2], *count; void *room = nullptr; size_t bytes = 0, more = 0;
    for (int i = 0; i < 2; i++) { CHECK(cudaMalloc(&k[i], n * 4)); CHECK(cudaMalloc(&v[i], n * 4)); }
    CHECK(cudaMalloc(&count, 64));
    for (int i = 0; i < n; i++) { keys[i] = i * 7919 % n; values[i] = i; }
    CHECK(cudaMemcpy(k[0], keys, n * 4, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(v[0], values, n * 4, cudaMemcpyHostToDevice));
    CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes, k[0], k[1], v[0], v[1], n)); CHECK(cudaMalloc(&room, bytes));
    CHECK(cub::DeviceRadixSort::SortPairs(room, bytes, k[0], k[1], v[0], v[1], n));
    CHECK(cudaMemcpy(keys, k[1], n * 4, cudaMemcpyDeviceToHost)); CHECK(cudaMemcpy(values, v[1], n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) { EXPECT(keys[i] == i); EXPECT(values[i] * 7919 % n == i); }
    CHECK(cub::DeviceHistogram::HistogramEven(nullptr, more, k[1], count, 17, 0, 3200, n));
    if (more > bytes) { CHECK(cudaFree(room)); CHECK(cudaMalloc(&room, more)); }
    CHECK(cub::DeviceHistogram::HistogramEven(room, more, k[1], count, 17, 0, 3200, n));
    CHECK(cudaMemcpy(counts, count, 64, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 16; i++) EXPECT(counts[i] == (i < 15 ? 200 : 0));
}
