// Tensor products of 16 x 16 tiles.
#include <cuda_fp16.h>
#include <mma.h>
#include "check.h"
using namespace nvcuda;
__global__ void product(const half *a, const half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16); wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
PROGRAM
{
    half a[256], b[256], *da, *db; float c[256], *dc;
    for (int i = 0; i < 256; i++) { a[i] = __float2half(i % 7); b[i] = __float2half(i % 5 - 2); }
    CHECK(cudaMalloc(&da, 512)); CHECK(cudaMalloc(&db, 512)); CHECK(cudaMalloc(&dc, 1024));
    CHECK(cudaMemcpy(da, a, 512, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(db, b, 512, cudaMemcpyHostToDevice));
    product<<<1, 32>>>(da, db, dc);
    CHECK(cudaMemcpy(c, dc, 1024, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) { float s = 0; for (int k = 0; k < 16; k++) s += (float)((i * 16 + k) % 7) * ((j * 16 + k) % 5 - 2); EXPECT(c[i * 16 + j] == s); }
}
