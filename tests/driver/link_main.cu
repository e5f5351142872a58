// One half of a program of two files: see link_part.cu.
#include <cstdio>

extern __device__ int scale(int value);
extern __device__ int table[4];
extern __constant__ int offsets[2];
typedef int (*step)(int);
extern __device__ step steps[2];

// Both files have functions and variables of these names for themselves.
static __device__ int own = 1;
static __device__ __noinline__ int hidden(int value)
{
    return value + own;
}

template <typename T> __device__ __noinline__ T twice(T value)
{
    return value + value;
}

__device__ int counter;

extern "C" __global__ void whole(int *out)
{
    int t = threadIdx.x;
    int value = scale(t) + table[t % 4] + offsets[t % 2];
    value = steps[t % 2](value) + hidden(0) + twice(t);
    atomicAdd(&counter, 1);
    out[t] = value;
    if (t == 5)
        printf("main %d\n", value);
}

struct shape {
    virtual __device__ int area() const = 0;
};
extern __device__ shape *make(int kind, void *place);

extern "C" __global__ void shapes(int *out)
{
    long long place[4];
    out[threadIdx.x] = make(threadIdx.x % 2, place)->area();
}
