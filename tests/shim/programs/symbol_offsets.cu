// Symbols: offsets, structures in constant memory, arrays of them, addresses; what leaves a symbol is refused.
#include "check.h"
struct particle { double mass; float position[3]; short kind; char name[6]; };
__constant__ particle fixed[3];
__device__ particle moving[3];
__device__ int plain[16];
__constant__ int *pointer;
__global__ void look(double *out)
{
    int i = threadIdx.x;
    out[i] = fixed[i].mass + fixed[i].position[2] + fixed[i].kind + fixed[i].name[1];
    moving[i] = fixed[2 - i];
    pointer[i] = plain[2 * i];
}
PROGRAM
{
    particle p[3], q[3]; double *d, out[3]; int values[16], got[3], *address; size_t bytes;
    for (int i = 0; i < 3; i++) p[i] = {1.5 * i, {1.0f, 2.0f, 3.0f * i}, (short)(10 * i), "abcde"};
    for (int i = 0; i < 16; i++) values[i] = i * i;
    CHECK(cudaMalloc(&d, sizeof out)); CHECK(cudaMalloc(&address, sizeof got));
    CHECK(cudaMemcpyToSymbol(fixed, p, sizeof p[0])); CHECK(cudaMemcpyToSymbol(fixed, p + 1, 2 * sizeof p[0], sizeof p[0]));
    CHECK(cudaMemcpyToSymbol(plain, values, 32)); CHECK(cudaMemcpyToSymbolAsync(plain, values + 8, 32, 32));
    CHECK(cudaMemcpyToSymbol(pointer, &address, sizeof address));
    look<<<1, 3>>>(d); CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost)); CHECK(cudaMemcpy(got, address, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(q, moving, sizeof q)); CHECK(cudaMemcpyFromSymbol(&q[1].kind, moving, 2, offsetof(particle, kind)));
    for (int i = 0; i < 3; i++) { EXPECT(out[i] == 14.5 * i + 'b'); EXPECT(q[i].mass == 1.5 * (2 - i)); EXPECT(got[i] == 4 * i * i); }
    EXPECT(q[1].kind == 20);
    CHECK(cudaGetSymbolSize(&bytes, moving)); EXPECT(bytes == sizeof q);
    void *at; CHECK(cudaGetSymbolAddress(&at, plain)); CHECK(cudaMemcpy(got, (int *)at + 3, 4, cudaMemcpyDeviceToHost)); EXPECT(got[0] == 9);
    GIVES(cudaErrorInvalidValue, cudaMemcpyToSymbol(plain, values, 64, 4));
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbol(plain, values, 4, 0, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidSymbol, cudaGetSymbolSize(&bytes, (const void *)&bytes));
}
