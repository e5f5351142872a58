// C++ on the device: templates, virtual functions, lambdas, recursion, function pointers, statics.
#include "check.h"
struct shape { __device__ virtual int area() const = 0; };
struct box : shape { int a, b; __device__ box(int x, int y) : a(x), b(y) {} __device__ int area() const override { return a * b; } };
struct tri : shape { int a, b; __device__ tri(int x, int y) : a(x), b(y) {} __device__ int area() const override { return a * b / 2; } };
template <int N> struct power { __device__ static int of(int x) { return x * power<N - 1>::of(x); } };
template <> struct power<0> { __device__ static int of(int) { return 1; } };
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ int add1(int x) { return x + 1; }
__device__ int mul3(int x) { return x * 3; }
typedef int (*op)(int);
__device__ op ops[2] = {add1, mul3};
template <typename F> __global__ void apply(int *out, F f) { out[threadIdx.x] = f(threadIdx.x); }
__global__ void all(int *out)
{
    box b(3, 4); tri t(3, 4);
    const shape *s[2] = {&b, &t};
    int i = threadIdx.x;
    out[i] = i < 2 ? s[i]->area() : i == 2 ? power<5>::of(3) : i == 3 ? fib(10) : ops[i & 1](i);
}
PROGRAM
{
    int *d, h[8];
    CHECK(cudaMalloc(&d, sizeof h));
    all<<<1, 8>>>(d);
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 12 && h[1] == 6 && h[2] == 243 && h[3] == 55 && h[4] == 5 && h[5] == 15 && h[6] == 7 && h[7] == 21);
    int k = 7;
    apply<<<1, 8>>>(d, [k] __device__(int i) { return i * k; });
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++) EXPECT(h[i] == 7 * i);
}
