// What dynamic_library.cu opens.
#include <cuda_runtime.h>
__device__ int factor = 4;
static __global__ void add(int *p, int n) { *p += n * factor; }
extern "C" cudaError_t add_times(int *p, int n) { add<<<1, 1>>>(p, n); return cudaGetLastError(); }
