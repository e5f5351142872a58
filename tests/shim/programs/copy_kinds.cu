// Directions of copies: named, guessed, wrong; of memory of each kind.
#include <cstring>
#include "check.h"
PROGRAM
{
    char *a, *b, *pinned, *managed, host[64], other[64]; cudaStream_t s;
    CHECK(cudaMalloc(&a, 64)); CHECK(cudaMalloc(&b, 64)); CHECK(cudaMallocHost(&pinned, 64)); CHECK(cudaMallocManaged(&managed, 64));
    CHECK(cudaStreamCreate(&s));
    for (int i = 0; i < 64; i++) host[i] = i;
    CHECK(cudaMemcpy(a, host, 64, cudaMemcpyDefault)); CHECK(cudaMemcpy(b, a, 64, cudaMemcpyDefault));
    CHECK(cudaMemcpy(pinned, b, 64, cudaMemcpyDefault)); EXPECT(!memcmp(pinned, host, 64));
    CHECK(cudaMemcpy(other, pinned, 64, cudaMemcpyHostToHost)); EXPECT(!memcmp(other, host, 64));
    memset(pinned, 9, 64);
    CHECK(cudaMemcpyAsync(a + 32, pinned, 32, cudaMemcpyHostToDevice, s)); CHECK(cudaMemcpyAsync(managed, a, 64, cudaMemcpyDeviceToDevice, s));
    CHECK(cudaStreamSynchronize(s)); EXPECT(managed[31] == 31 && managed[32] == 9 && managed[63] == 9);
    managed[0] = 77; CHECK(cudaMemcpy(other, managed, 64, cudaMemcpyDeviceToHost)); EXPECT(other[0] == 77 && other[40] == 9);
    CHECK(cudaMemcpy(other, managed, 64, cudaMemcpyHostToHost)); EXPECT(other[0] == 77);
    CHECK(cudaMemcpy(a, host, 0, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyPeer(b, 0, managed, 0, 64)); CHECK(cudaMemcpy(other, b, 64, cudaMemcpyDeviceToHost)); EXPECT(other[0] == 77);
    GIVES(cudaErrorInvalidValue, cudaMemcpy(host, other, 64, cudaMemcpyDeviceToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(host, other, 64, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(nullptr, a, 64, cudaMemcpyDeviceToDevice));
    CHECK(cudaFree(a)); CHECK(cudaFree(b)); CHECK(cudaFreeHost(pinned)); CHECK(cudaFree(managed));
}
