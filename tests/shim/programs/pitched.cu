// Copies and memsets of two and three dimensions.
#include "check.h"
__global__ void fill(char *p, size_t pitch, int width, int height)
{
    int x = threadIdx.x, y = blockIdx.x;
    if (x < width && y < height) ((int *)(p + y * pitch))[x] = 100 * y + x;
}
PROGRAM
{
    const int w = 37, h = 21;
    char *p; size_t pitch;
    static int host[h][w + 3], back[h][w];
    CHECK(cudaMallocPitch(&p, &pitch, w * sizeof(int), h));
    EXPECT(pitch >= w * sizeof(int) && pitch % 32 == 0);
    CHECK(cudaMemset2D(p, pitch, 0xff, w * sizeof(int), h));
    CHECK(cudaMemcpy2D(back, w * sizeof(int), p, pitch, w * sizeof(int), h, cudaMemcpyDeviceToHost));
    EXPECT(back[h - 1][w - 1] == -1);
    fill<<<h, 64>>>(p, pitch, w, h);
    CHECK(cudaMemcpy2D(host, sizeof host[0], p, pitch, w * sizeof(int), h, cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; y++) for (int x = 0; x < w + 3; x++) EXPECT(host[y][x] == (x < w ? 100 * y + x : 0));
    GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2D(host, 4, p, pitch, w * sizeof(int), h, cudaMemcpyDeviceToHost));
    const size_t far = (size_t)1 << 40, all = ~(size_t)0;
    void *none;
    GIVES(cudaErrorInvalidValue, cudaMemcpy2D(p, far, host, far, 15, 5, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy2D(p, 20, host, 20, 15, all, cudaMemcpyHostToDevice));
    // A single row: its pitch is a bad value, or nobody's.
    GIVES(cudaErrorInvalidValue, cudaMemcpy2D(p, 10, host, 16, 15, 1, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(p, 0, host, 0, 15, 1, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(p, 10, host, 16, 15, 0, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(p, (size_t)1 << 31, host, (size_t)1 << 31, 15, 1, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMallocPitch(&none, &pitch, all, all));
    GIVES(cudaErrorInvalidValue, cudaMallocPitch(&none, &pitch, (size_t)1 << 33, (size_t)1 << 33));
    cudaPitchedPtr box;
    GIVES(cudaErrorInvalidValue, cudaMalloc3D(&box, make_cudaExtent((size_t)1 << 30, (size_t)1 << 30, 16)));
    CHECK(cudaMalloc3D(&box, make_cudaExtent(20, 5, 4)));
    CHECK(cudaMemset3D(box, 7, make_cudaExtent(20, 5, 4)));
    char out[4][5][20];
    cudaMemcpy3DParms params = {};
    params.srcPtr = box;
    params.dstPtr = make_cudaPitchedPtr(out, 20, 20, 5);
    params.extent = make_cudaExtent(20, 5, 4);
    params.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&params));
    for (int i = 0; i < 400; i++) EXPECT((&out[0][0][0])[i] == 7);
}
