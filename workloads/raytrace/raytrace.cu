// A picture by ray tracing, a thread a pixel (trace.h). The scene lies in constant memory, what a
// pixel's reflections leave in local memory. Lanes part by what their rays hit.

#include "trace.h"

__constant__ struct scene scene;

extern "C" __global__ void raytrace(unsigned *picture, unsigned side)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned pixel = trace(&scene, x, y, side);
    // The block's pixels are written together.
    __syncthreads();
    picture[y * side + x] = pixel;
}
