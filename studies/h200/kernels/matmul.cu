// Matrix products, from naive to tensor cores; all matrices are square.
#include <cuda_fp16.h>
#include <mma.h>
#define TILE 16

extern "C" {
__global__ void matmul_naive(float *c, const float *__restrict__ a, const float *__restrict__ b, unsigned n)
{
    unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (unsigned k = 0; k < n; k++) {
        sum = fmaf(a[y * n + k], b[k * n + x], sum);
    }
    c[y * n + x] = sum;
}

__global__ void matmul_tiled(float *c, const float *__restrict__ a, const float *__restrict__ b, unsigned n)
{
    __shared__ float sa[TILE][TILE], sb[TILE][TILE];
    unsigned tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    float sum = 0;
    for (unsigned k = 0; k < n; k += TILE) {
        sa[ty][tx] = a[y * n + k + tx];
        sb[ty][tx] = b[(k + ty) * n + x];
        __syncthreads();
        for (unsigned i = 0; i < TILE; i++) {
            sum = fmaf(sa[ty][i], sb[i][tx], sum);
        }
        __syncthreads();
    }
    c[y * n + x] = sum;
}

// 64 x 64 a CTA of 256 threads, 4 x 4 a thread.
__global__ void matmul_registers(float *c, const float *__restrict__ a, const float *__restrict__ b, unsigned n)
{
    __shared__ float sa[16][64 + 4], sb[16][64];
    unsigned t = threadIdx.x, tx = t % 16, ty = t / 16, x = blockIdx.x * 64, y = blockIdx.y * 64;
    float sum[4][4] = {};
    for (unsigned k = 0; k < n; k += 16) {
        for (unsigned i = 0; i < 4; i++) {
            sa[tx][ty + 16 * i] = a[(y + ty + 16 * i) * n + k + tx];
            sb[t / 64 + 4 * i][t % 64] = b[(k + t / 64 + 4 * i) * n + x + t % 64];
        }
        __syncthreads();
        for (unsigned i = 0; i < 16; i++) {
            float4 va = *(const float4 *)&sa[i][ty * 4], vb = *(const float4 *)&sb[i][tx * 4];
            const float fa[4] = {va.x, va.y, va.z, va.w}, fb[4] = {vb.x, vb.y, vb.z, vb.w};
            for (int r = 0; r < 4; r++) {
                for (int q = 0; q < 4; q++) {
                    sum[r][q] = fmaf(fa[r], fb[q], sum[r][q]);
                }
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++) {
        *(float4 *)&c[(y + ty * 4 + r) * n + x + tx * 4] = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
    }
}

__global__ void matmul_double(double *c, const double *__restrict__ a, const double *__restrict__ b, unsigned n)
{
    __shared__ double sa[TILE][TILE], sb[TILE][TILE];
    unsigned tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    double sum = 0;
    for (unsigned k = 0; k < n; k += TILE) {
        sa[ty][tx] = a[y * n + k + tx];
        sb[ty][tx] = b[(k + ty) * n + x];
        __syncthreads();
        for (unsigned i = 0; i < TILE; i++) {
            sum = fma(sa[ty][i], sb[i][tx], sum);
        }
        __syncthreads();
    }
    c[y * n + x] = sum;
}

// A warp a tile of 16 x 16, operands straight from global memory.
__global__ void matmul_wmma(float *c, const half *__restrict__ a, const half *__restrict__ b, unsigned n)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, half, row_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, tiles = n / 16;
    unsigned x = warp % tiles * 16, y = warp / tiles * 16;
    fill_fragment(fc, 0.0f);
    for (unsigned k = 0; k < n; k += 16) {
        load_matrix_sync(fa, a + y * n + k, n);
        load_matrix_sync(fb, b + k * n + x, n);
        mma_sync(fc, fa, fb, fc);
    }
    store_matrix_sync(c + y * n + x, fc, n, mem_row_major);
}

// 64 x 64 a CTA of four warps, operands through shared memory.
__global__ void matmul_wmma_tiled(float *c, const half *__restrict__ a, const half *__restrict__ b, unsigned n)
{
    using namespace nvcuda::wmma;
    __shared__ half sa[64 * 24], sb[16 * 72];
    fragment<matrix_a, 16, 16, 16, half, row_major> fa[2];
    fragment<matrix_b, 16, 16, 16, half, row_major> fb[2];
    fragment<accumulator, 16, 16, 16, float> fc[2][2];
    unsigned t = threadIdx.x, warp = t / 32, wx = warp % 2 * 32, wy = warp / 2 * 32;
    unsigned x = blockIdx.x * 64, y = blockIdx.y * 64;
    for (int i = 0; i < 4; i++) {
        fill_fragment(fc[i / 2][i % 2], 0.0f);
    }
    for (unsigned k = 0; k < n; k += 16) {
        *(uint4 *)&sa[t / 2 * 24 + t % 2 * 8] = *(const uint4 *)&a[(y + t / 2) * n + k + t % 2 * 8];
        *(uint4 *)&sb[t / 8 * 72 + t % 8 * 8] = *(const uint4 *)&b[(k + t / 8) * n + x + t % 8 * 8];
        __syncthreads();
        for (int i = 0; i < 2; i++) {
            load_matrix_sync(fa[i], &sa[(wy + i * 16) * 24], 24);
            load_matrix_sync(fb[i], &sb[wx + i * 16], 72);
        }
        for (int i = 0; i < 4; i++) {
            mma_sync(fc[i / 2][i % 2], fa[i / 2], fb[i % 2], fc[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        store_matrix_sync(c + (y + wy + i / 2 * 16) * n + x + wx + i % 2 * 16, fc[i / 2][i % 2], n, mem_row_major);
    }
}

// A row a warp.
__global__ void matvec(float *y, const float *__restrict__ a, const float *__restrict__ x, unsigned n)
{
    unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (unsigned k = lane; k < n; k += 32) {
        sum = fmaf(a[row * n + k], x[k], sum);
    }
    for (int k = 16; k > 0; k /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, k);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}
}
