/* out = softmax(q kt / 8) v, of n rows of 64 halves: a CTA of 128 threads has 32 rows of q and goes through k and v 64 rows at a
 * time, with a running maximum and sum; the next k and v are on their way meanwhile. */
#include <cuda_fp16.h>
#include <mma.h>

#include "../modern.cuh"

using namespace nvcuda;

#define DEPTH 64
static __device__ void fetch_rows(half (*to)[DEPTH + 8], const half *from, int first, int rows)
{
    for (int i = threadIdx.x; i < rows * 8; i += 128)
        copy16(&to[i / 8][i % 8 * 8], from + (size_t)(first + i / 8) * DEPTH + i % 8 * 8);
}

extern "C" __global__ void __launch_bounds__(128) attention(float *out, const half *q, const half *k, const half *v, int n)
{
    extern __shared__ __align__(128) uint8_t memory[];
    half(*qs)[DEPTH + 8] = (half(*)[DEPTH + 8]) memory, (*ks)[DEPTH + 8] = qs + 32, (*vs)[DEPTH + 8] = ks + 128,
         (*p)[DEPTH + 8] = vs + 128;
    float(*s)[DEPTH + 4] = (float(*)[DEPTH + 4])(p + 32), (*o)[DEPTH + 4] = s + 32;
    __shared__ float most[32], sum[32];
    int first = blockIdx.x * 32, warp = threadIdx.x / 32, y = warp / 2 * 16, x = warp % 2 * 32;
    for (int i = threadIdx.x; i < 32 * DEPTH; i += 128) o[i / DEPTH][i % DEPTH] = 0;
    if (threadIdx.x < 32) most[threadIdx.x] = -INFINITY, sum[threadIdx.x] = 0;
    fetch_rows(qs, q, first, 32);
    fetch_rows(ks, k, 0, 64);
    fetch_rows(vs, v, 0, 64);
    asm volatile("cp.async.commit_group;");
    for (int at = 0, j = 0; at < n; at += 64, j ^= 64) {
        if (at + 64 < n) {
            fetch_rows(ks + (j ^ 64), k, at + 64, 64);
            fetch_rows(vs + (j ^ 64), v, at + 64, 64);
        }
        asm volatile("cp.async.commit_group;\ncp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        for (int t = 0; t < 2; t++) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
            wmma::fill_fragment(f, 0.0f);
            for (int d = 0; d < DEPTH; d += 16) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
                wmma::load_matrix_sync(a, &qs[y][d], DEPTH + 8);
                wmma::load_matrix_sync(b, &ks[j + x + t * 16][d], DEPTH + 8);
                wmma::mma_sync(f, a, b, f);
            }
            wmma::store_matrix_sync(&s[y][x + t * 16], f, DEPTH + 4, wmma::mem_row_major);
        }
        __syncthreads();
        int row = threadIdx.x / 4, part = threadIdx.x % 4 * 16;
        float high = most[row], total = 0;
        for (int i = 0; i < 16; i++) high = fmaxf(high, s[row][part + i] * 0.125f);
        high = fmaxf(high, __shfl_xor_sync(~0u, high, 1));
        high = fmaxf(high, __shfl_xor_sync(~0u, high, 2));
        float scale = __expf(most[row] - high);
        for (int i = 0; i < 16; i++) {
            float e = __expf(s[row][part + i] * 0.125f - high);
            p[row][part + i] = __float2half(e);
            o[row][part + i] *= scale;
            total += e;
        }
        total += __shfl_xor_sync(~0u, total, 1);
        total += __shfl_xor_sync(~0u, total, 2);
        __syncthreads();
        if (threadIdx.x % 4 == 0) most[row] = high, sum[row] = sum[row] * scale + total;
        for (int t = 0; t < 2; t++) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
            wmma::load_matrix_sync(f, &o[y][x + t * 16], DEPTH + 4, wmma::mem_row_major);
            for (int d = 0; d < 64; d += 16) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
                wmma::load_matrix_sync(a, &p[y][d], DEPTH + 8);
                wmma::load_matrix_sync(b, &vs[j + d][x + t * 16], DEPTH + 8);
                wmma::mma_sync(f, a, b, f);
            }
            wmma::store_matrix_sync(&o[y][x + t * 16], f, DEPTH + 4, wmma::mem_row_major);
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < 32 * DEPTH; i += 128)
        out[(size_t)first * DEPTH + i] = o[i / DEPTH][i % DEPTH] / sum[i / DEPTH];
}
