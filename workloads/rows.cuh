/* Rows of 1024 floats, a warp each: kept in registers, and added up across the warp. */
#ifndef SONDE_WORKLOADS_ROWS_CUH
#define SONDE_WORKLOADS_ROWS_CUH

static __device__ float warp_sum(float v)
{
    for (int i = 16; i; i /= 2) v += __shfl_xor_sync(~0u, v, i);
    return v;
}

#endif
