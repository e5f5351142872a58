// Copies of two and three dimensions to, from and between arrays, whole and in part.
#include "check.h"
PROGRAM
{
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>(); cudaArray_t plane, other, box;
    static int h[12][20], back[12][20], cube[4][6][10], out[4][6][10], *d;
    for (int i = 0; i < 240; i++) (&h[0][0])[i] = i, (&cube[0][0][0])[i] = 3 * i;
    CHECK(cudaMallocArray(&plane, &desc, 20, 12)); CHECK(cudaMallocArray(&other, &desc, 20, 12)); CHECK(cudaMalloc3DArray(&box, &desc, make_cudaExtent(10, 6, 4)));
    CHECK(cudaMemcpy2DToArray(plane, 0, 0, h, 80, 80, 12, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DArrayToArray(other, 0, 0, plane, 0, 0, 80, 12, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DToArray(other, 8, 3, h, 80, 16, 2, cudaMemcpyHostToDevice)); // columns 2 to 5 of rows 3 and 4
    CHECK(cudaMemcpy2DFromArray(back, 80, other, 0, 0, 80, 12, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 12; y++) for (int x = 0; x < 20; x++) { bool in = y >= 3 && y < 5 && x >= 2 && x < 6; EXPECT(back[y][x] == (in ? h[y - 3][x - 2] : h[y][x])); }
    cudaMemcpy3DParms p = {}; p.srcPtr = make_cudaPitchedPtr(cube, 40, 10, 6); p.dstArray = box; p.extent = make_cudaExtent(10, 6, 4); p.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&p));
    memset(out, 0xff, sizeof out);
    cudaMemcpy3DParms q = {}; q.srcArray = box; q.srcPos = make_cudaPos(2, 1, 1); q.dstPtr = make_cudaPitchedPtr(out, 40, 10, 6); q.dstPos = make_cudaPos(1, 0, 0); // of the array's elements there, too
    q.extent = make_cudaExtent(5, 4, 3); q.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&q));
    for (int z = 0; z < 4; z++) for (int y = 0; y < 6; y++) for (int x = 0; x < 10; x++) { bool in = z < 3 && y < 4 && x >= 1 && x < 6; if (out[z][y][x] != (in ? cube[z + 1][y + 1][x + 1] : -1)) printf("%d %d %d: %x\n", x, y, z, out[z][y][x]); EXPECT(out[z][y][x] == (in ? cube[z + 1][y + 1][x + 1] : -1)); }
    CHECK(cudaMalloc(&d, sizeof h)); CHECK(cudaMemcpy2DFromArray(d, 80, plane, 0, 0, 80, 12, cudaMemcpyDeviceToDevice)); CHECK(cudaMemcpy(back, d, sizeof h, cudaMemcpyDeviceToHost)); EXPECT(!memcmp(back, h, sizeof h));
    GIVES(cudaErrorInvalidValue, cudaMemcpy2DToArray(plane, 0, 0, h, 80, 80, 13, cudaMemcpyHostToDevice)); // one row too many: refused, and nothing else is
    CHECK(cudaFreeArray(plane)); CHECK(cudaFreeArray(other)); CHECK(cudaFreeArray(box));
}
