// C++ on the device: virtual functions, new and delete, recursion, function pointers, templates, lambdas, initialisers.
#include "check.h"
struct shape { __device__ virtual float area() const = 0; __device__ virtual ~shape() {} };
struct square : shape { float a; __device__ square(float a) : a(a) {} __device__ float area() const override { return a * a; } };
struct circle : shape { float r; int *gone; __device__ circle(float r, int *gone) : r(r), gone(gone) {} __device__ float area() const override { return 3 * r * r; } __device__ ~circle() override { atomicAdd(gone, 1); } };
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
template <int n> struct power { __device__ static int of(int x) { return x * power<n - 1>::of(x); } };
template <> struct power<0> { __device__ static int of(int) { return 1; } };
typedef int (*operation)(int, int);
__device__ int plus_of(int a, int b) { return a + b; }
__device__ int times_of(int a, int b) { return a * b; }
__device__ operation operations[] = {plus_of, times_of};
template <class F> __global__ void apply(int *p, F f) { p[threadIdx.x] = f(threadIdx.x); }
template <class... T> __device__ int sum(T... values) { return (values + ... + 0); }
__global__ void work(float *areas, int *ints, int *gone)
{
    int i = threadIdx.x;
    shape *s = i % 2 ? (shape *)new square(i) : (shape *)new circle(i, gone);
    areas[i] = s->area();
    delete s;
    int *many = new int[i + 1];
    for (int k = 0; k <= i; k++) many[k] = k;
    ints[i] = many[i] + fibonacci(i % 10) + power<3>::of(2) + operations[i % 2](i, 3) + sum(1, 2, i);
    delete[] many;
}
PROGRAM
{
    float *areas, a[64]; int *ints, n[64], *gone, g, f[10] = {0, 1};
    for (int i = 2; i < 10; i++) f[i] = f[i - 1] + f[i - 2];
    CHECK(cudaMalloc(&areas, sizeof a)); CHECK(cudaMalloc(&ints, sizeof n)); CHECK(cudaMalloc(&gone, 4)); CHECK(cudaMemset(gone, 0, 4));
    work<<<1, 64>>>(areas, ints, gone); CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(a, areas, sizeof a, cudaMemcpyDeviceToHost)); CHECK(cudaMemcpy(n, ints, sizeof n, cudaMemcpyDeviceToHost)); CHECK(cudaMemcpy(&g, gone, 4, cudaMemcpyDeviceToHost));
    EXPECT(g == 32);
    for (int i = 0; i < 64; i++) { EXPECT(a[i] == (i % 2 ? 1 : 3) * (float)i * i); EXPECT(n[i] == i + f[i % 10] + 8 + (i % 2 ? i * 3 : i + 3) + 3 + i); }
    int k = 5; apply<<<1, 64>>>(ints, [=] __device__(int i) { return i * k; });
    CHECK(cudaMemcpy(n, ints, sizeof n, cudaMemcpyDeviceToHost)); EXPECT(n[63] == 315);
}
