/* A program as nvcc makes it unless told otherwise: the runtime is linked into it, and another into its library. */
#include <cstdio>

void part_double(int *values, int count);

__device__ int step = 1;

__global__ void increase(int *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        values[i] += step;
    }
}

struct Early { /* asks before main() */
    int devices = -1;
    Early() { cudaGetDeviceCount(&devices); }
} early;

int main()
{
    const int count = 1000;
    static int host[count];
    int *values, two = 2;
    if (cudaMalloc(&values, sizeof host) != cudaSuccess || early.devices != 1) {
        return 3;
    }
    cudaMemset(values, 0, sizeof host);
    increase<<<8, 128>>>(values, count);
    part_double(values, count);
    cudaMemcpyToSymbol(step, &two, sizeof two);
    increase<<<8, 128>>>(values, count);
    cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        if (host[i] != 4) {
            printf("values[%d] = %d, not 4: %s\n", i, host[i], cudaGetErrorString(cudaGetLastError()));
            return 3;
        }
    }
    puts("four");
    return 0;
}
