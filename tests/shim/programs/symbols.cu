// Variables of the device: initial values, copies to and from symbols, addresses, constants.
#include "check.h"
__device__ int counter = 41;
__device__ float table[16];
__constant__ int factors[4] = {1, 2, 3, 4};
__device__ int *pointer = &counter;
__global__ void use() { int i = threadIdx.x; table[i] = factors[i & 3] * 10 + counter; if (i == 0) *pointer += 1; }
PROGRAM
{
    int h = 0, f[4] = {5, 6, 7, 8};
    float t[16];
    CHECK(cudaMemcpyFromSymbol(&h, counter, sizeof h));
    EXPECT(h == 41);
    use<<<1, 16>>>();
    CHECK(cudaMemcpyFromSymbol(t, table, sizeof t));
    for (int i = 0; i < 16; i++) EXPECT(t[i] == (i % 4 + 1) * 10 + 41);
    CHECK(cudaMemcpyFromSymbol(&h, counter, sizeof h));
    EXPECT(h == 42);
    CHECK(cudaMemcpyToSymbol(factors, f, sizeof f));
    use<<<1, 16>>>();
    CHECK(cudaMemcpyFromSymbol(t, table, 4, 8));
    EXPECT(t[0] == 70 + 42);
    void *address; size_t size;
    CHECK(cudaGetSymbolAddress(&address, table));
    CHECK(cudaGetSymbolSize(&size, table));
    EXPECT(size == sizeof t && address);
    CHECK(cudaMemcpy(t, address, sizeof t, cudaMemcpyDeviceToHost));
    EXPECT(t[3] == 80 + 42);
    GIVES(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, (const void *)&h));
}
