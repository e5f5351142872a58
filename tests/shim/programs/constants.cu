// Constant memory: initial values, copies into parts of it, reads at one address and at one a lane.
#include "check.h"
__constant__ int table[64] = {7, 8, 9};
__constant__ struct { double scale; short offset[3]; } shape;
__global__ void same(int *out, int i) { out[threadIdx.x] = table[i]; }
__global__ void each(int *out) { out[threadIdx.x] = table[threadIdx.x * 2]; }
__global__ void mixed(double *out) { out[threadIdx.x] = shape.scale * threadIdx.x + shape.offset[threadIdx.x % 3]; }
PROGRAM
{
    int *d, h[32], t[64]; double *e, r[6]; size_t bytes; void *address;
    CHECK(cudaMalloc(&d, sizeof h)); CHECK(cudaMalloc(&e, sizeof r));
    same<<<1, 32>>>(d, 2); CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) EXPECT(h[i] == 9);
    for (int i = 0; i < 61; i++) t[i] = 1000 - i;
    CHECK(cudaMemcpyToSymbol(table, t, 61 * 4, 3 * 4)); // the first three stay
    each<<<1, 32>>>(d); CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) EXPECT(h[i] == (i < 2 ? 7 + 2 * i : 1003 - 2 * i));
    struct { double scale; short offset[3]; } s = {0.5, {-1, 0, 1}};
    static_assert(sizeof s == sizeof shape, "one layout");
    CHECK(cudaMemcpyToSymbol(shape, &s, sizeof s));
    mixed<<<1, 6>>>(e); CHECK(cudaMemcpy(r, e, sizeof r, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 6; i++) EXPECT(r[i] == 0.5 * i + i % 3 - 1);
    CHECK(cudaGetSymbolSize(&bytes, table)); EXPECT(bytes == sizeof t);
    CHECK(cudaGetSymbolAddress(&address, table)); CHECK(cudaMemset(address, 0, 4)); // an address as others are
    CHECK(cudaMemcpyFromSymbol(t, table, sizeof t)); EXPECT(t[0] == 0 && t[1] == 8 && t[63] == 940);
}
