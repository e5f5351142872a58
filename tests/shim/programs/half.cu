// Half precision: conversion, arithmetic, pairs.
#include <cuda_fp16.h>
#include "check.h"
__global__ void scale(const half *a, half2 *b, int n) { int i = threadIdx.x; if (i < n / 2) b[i] = __hmul2(((const half2 *)a)[i], __float2half2_rn(2.0f)); }
PROGRAM
{
    const int n = 64; half h[n]; half *a; half2 *b;
    for (int i = 0; i < n; i++) h[i] = __float2half(i * 0.25f);
    CHECK(cudaMalloc(&a, sizeof h)); CHECK(cudaMalloc(&b, sizeof h));
    CHECK(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
    scale<<<1, 32>>>(a, b, n);
    CHECK(cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(__half2float(h[i]) == i * 0.5f);
}
