/* c = a b, of n x n halves; a CTA of 128 threads makes 64 x 64, 32 deep at a time, and fetches the next while it does. */
#include <cuda_fp16.h>
#include <mma.h>

#include "../modern.cuh"

using namespace nvcuda;

#define STEP 32
static __device__ void fetch(half (*a)[STEP + 8], half (*b)[64 + 8], const half *from_a, const half *from_b, int n, int row,
                             int column, int k)
{
    for (int i = threadIdx.x; i < 256; i += 128) {
        copy16(&a[i / 4][i % 4 * 8], from_a + (size_t)(row + i / 4) * n + k + i % 4 * 8);
        copy16(&b[i / 8][i % 8 * 8], from_b + (size_t)(k + i / 8) * n + column + i % 8 * 8);
    }
    asm volatile("cp.async.commit_group;");
}

extern "C" __global__ void __launch_bounds__(128) matmul_copy(float *c, const half *a, const half *b, int n)
{
    __shared__ __align__(16) half tile_a[2][64][STEP + 8], tile_b[2][STEP][64 + 8];
    int row = blockIdx.y * 64, column = blockIdx.x * 64, warp = threadIdx.x / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 4; i++) wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    fetch(tile_a[0], tile_b[0], a, b, n, row, column, 0);
    for (int k = 0, at = 0; k < n; k += STEP, at ^= 1) {
        if (k + STEP < n) {
            fetch(tile_a[at ^ 1], tile_b[at ^ 1], a, b, n, row, column, k + STEP);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        for (int j = 0; j < STEP; j += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(x[i], &tile_a[at][warp / 2 * 32 + i * 16][j], STEP + 8);
                wmma::load_matrix_sync(y[i], &tile_b[at][j][warp % 2 * 32 + i * 16], 64 + 8);
            }
            for (int i = 0; i < 4; i++) wmma::mma_sync(sum[i / 2][i % 2], x[i / 2], y[i % 2], sum[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        wmma::store_matrix_sync(c + (size_t)(row + warp / 2 * 32 + i / 2 * 16) * n + column + warp % 2 * 32 + i % 2 * 16,
                                sum[i / 2][i % 2], n, wmma::mem_row_major);
}
