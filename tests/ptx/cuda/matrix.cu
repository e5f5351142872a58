// Source of accept/nvcc_matrix.ptx: nvcc -arch=sm_90 -ptx. Matrix products of a warp, half precision,
// asynchronous copies, reductions of a warp.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void product(const half *a, const half *b, float *c, int stride)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::load_matrix_sync(fa, a, stride);
    wmma::load_matrix_sync(fb, b, stride);
    wmma::load_matrix_sync(fc, c, stride, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, stride, wmma::mem_row_major);
}

extern "C" __global__ void halves(__half2 *a, __nv_bfloat162 *b, unsigned *e, float f)
{
    int i = threadIdx.x;
    a[i] = __hfma2(a[i], a[i], __floats2half2_rn(f, f));
    a[i + 32] = h2exp2(__hmin2(a[i], a[i + 64]));
    b[i] = __hfma2_relu(b[i], b[i], __float2bfloat162_rn(f));
    e[i] = (unsigned)__hbgt2(a[i], a[i + 1]) + __reduce_add_sync(0xffffffffu, e[i]) +
           __match_any_sync(0xffffffffu, e[i]) + __vabsdiffu4(e[i], e[i + 1]);
    atomicAdd(&a[i + 96], a[i]);
}

extern "C" __global__ void staged(float4 *out, const float4 *in)
{
    __shared__ float4 tile[128];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}
