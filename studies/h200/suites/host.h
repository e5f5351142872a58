// host.h: the host's side of these programs: drawn values, buffers that stand on both sides, and
// what holds a kernel's results against the host's.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define HOST_AND_DEVICE __host__ __device__ __forceinline__
#define CHECKED(call)                                                                              \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d %s: %s\n", __FILE__, __LINE__, #call,                           \
                    cudaGetErrorString(error_));                                                   \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

// A case launches one kernel once; `run` checks what it left. Each file's list ends with no name.
struct Case {
    const char *name;
    void (*run)(bool large);
};

// A result was not the host's.
inline bool bad = false;

// Drawn values: the same in every run, whichever the case.
inline unsigned seed = 12345;

inline unsigned draw()
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

inline float fraction()
{
    return (draw() & 0xffff) / 65536.0f;
}

inline float unit(size_t)
{
    return fraction();
}

inline float centered(size_t)
{
    return fraction() - 0.5f;
}

template <class T> T zero(size_t)
{
    return T(0);
}

// A buffer on the host and its copy on the device, made of a value for each place or of a vector.
template <class T> struct Buffer {
    std::vector<T> h;
    T *d = nullptr;

    template <class Make> Buffer(size_t n, Make make) : h(n)
    {
        for (size_t i = 0; i < n; i++) {
            h[i] = make(i);
        }
        up();
    }

    explicit Buffer(std::vector<T> values) : h(std::move(values))
    {
        up();
    }

    ~Buffer()
    {
        cudaFree(d);
    }

    void up()
    {
        CHECKED(cudaMalloc((void **)&d, h.size() * sizeof(T)));
        CHECKED(cudaMemcpy(d, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice));
    }

    std::vector<T> down()
    {
        std::vector<T> out(h.size());
        CHECKED(cudaMemcpy(out.data(), d, h.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return out;
    }

    T &operator[](size_t i)
    {
        return h[i];
    }

    size_t size()
    {
        return h.size();
    }
};
typedef Buffer<float> Floats;
typedef Buffer<int> Ints;
typedef Buffer<double> Doubles;

inline void finish()
{
    CHECKED(cudaGetLastError());
    CHECKED(cudaDeviceSynchronize());
}

template <class T> void checksum(const char *what, const std::vector<T> &got)
{
    double sum = 0;
    for (size_t i = 0; i < got.size(); i++) {
        sum += (double)got[i] * (1 + i % 7);
    }
    printf("%s checksum %.9g\n", what, sum);
    if (!std::isfinite(sum)) {
        printf("%s: NOT FINITE\n", what);
        bad = true;
    }
}

// Each value is to be the host's within `tolerance` of itself and of the mean of all.
template <class T>
void check(const char *what, const std::vector<T> &got, const std::vector<T> &wanted,
           double tolerance = 1e-3)
{
    double mean = 0;
    for (auto value : wanted) {
        mean += fabs((double)value);
    }
    mean /= wanted.size() ? wanted.size() : 1;
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < wanted.size(); i++) {
        double error = fabs((double)got[i] - (double)wanted[i]);
        if (!(error <= tolerance * (fabs((double)wanted[i]) + mean))) {
            first = wrong ? first : i;
            wrong++;
        }
    }
    checksum(what, got);
    if (wrong) {
        printf("%s: WRONG %zu of %zu, first %zu: %.9g against %.9g\n", what, wrong, wanted.size(),
               first, (double)got[first], (double)wanted[first]);
        bad = true;
    } else {
        printf("%s ok\n", what);
    }
}

// What is judged by other means than `check`: so many results may be wrong and no more.
inline void count_wrong(const char *what, int wrong, int allowed = 0)
{
    if (wrong > allowed) {
        printf("%s: WRONG %d\n", what, wrong);
        bad = true;
    }
}

inline int divide_up(int a, int b)
{
    return (a + b - 1) / b;
}
