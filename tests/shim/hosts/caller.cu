// One of two units that the linker brings together.
extern "C" __device__ int twice(int);
extern "C" __device__ int calls;
extern "C" __global__ void use_twice(int *p) { p[threadIdx.x] = twice(p[threadIdx.x]); atomicAdd(&calls, 1); }
