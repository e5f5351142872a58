// The other half: what link_main.cu declares.
#include <cstdio>

extern __device__ int counter;

static __device__ int own = 100;
static __device__ __noinline__ int hidden(int value)
{
    return value * own;
}

template <typename T> __device__ __noinline__ T twice(T value)
{
    return value + value;
}

__device__ int scale(int value)
{
    return hidden(value) + twice(1);
}

__device__ int table[4] = {10, 20, 30, 40};
__constant__ int offsets[2] = {1000, 2000};

static __device__ int up(int value)
{
    return value + 1;
}
static __device__ int down(int value)
{
    return value - 1;
}
typedef int (*step)(int);
__device__ step steps[2] = {up, down};

extern "C" __global__ void count(int *out)
{
    *out = counter;
    printf("part %d\n", counter);
}

struct shape {
    virtual __device__ int area() const = 0;
};
struct square : shape {
    int side;
    __device__ square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
};
struct bar : shape {
    int a, b;
    __device__ bar(int x, int y) : a(x), b(y) {}
    __device__ int area() const override { return a * b; }
};
inline __device__ void *operator new(size_t, void *place, int) { return place; }

__device__ shape *make(int kind, void *place)
{
    if (kind)
        return new (place, 0) bar(3, 7);
    return new (place, 0) square(5);
}
