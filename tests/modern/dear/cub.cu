// Algorithms of the device as libraries have them: sort, scan, reduction, selection, histogram, run-length encoding, by CUB's own kernels (decoupled look-back,
// one-sweep radix sort) and Thrust's. By hand, since nvcc takes a minute for it: compile as run.sh does, then `sonde run --check -d sim:h200 -- cub`.
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include "../modern.cuh"

template <class F> static void with_space(F call)
{
    size_t bytes = 0;
    void *space = nullptr;
    OK(call(space, bytes));
    OK(cudaMalloc(&space, bytes + 1));
    OK(call(space, bytes));
    OK(cudaDeviceSynchronize());
    OK(cudaFree(space));
}
static std::vector<double> as_numbers(const std::vector<unsigned> &v) { return std::vector<double>(v.begin(), v.end()); }

static void run_sort()
{
    const int n = 20000;
    buffer<unsigned> in(n), out(n), vin(n), vout(n);
    in.fill([](size_t) { return draw() * 2654435761u >> 3; });
    vin.fill([](size_t i) { return (unsigned)i; });
    with_space([&](void *s, size_t &b) { return cub::DeviceRadixSort::SortPairs(s, b, in.device, out.device, vin.device, vout.device, n); });
    std::vector<unsigned> at(n), keys(n);
    std::iota(at.begin(), at.end(), 0u);
    std::stable_sort(at.begin(), at.end(), [&](unsigned a, unsigned b) { return in.host[a] < in.host[b]; });
    for (int i = 0; i < n; i++) keys[i] = in.host[at[i]];
    tell("sort_keys", out, as_numbers(keys), 0);
    tell("sort_values", vout, as_numbers(at), 0);
}
static void run_scan()
{
    const int n = 30011;
    buffer<unsigned> in(n), out(n);
    in.fill([](size_t) { return draw() % 7; });
    with_space([&](void *s, size_t &b) { return cub::DeviceScan::ExclusiveSum(s, b, in.device, out.device, n); });
    std::vector<double> want(n);
    double sum = 0;
    for (int i = 0; i < n; i++) want[i] = sum, sum += in.host[i];
    tell("scan", out, want, 0);
}
struct even { __device__ __host__ bool operator()(unsigned v) const { return v % 2 == 0; } };
static void run_select()
{
    const int n = 12345;
    buffer<unsigned> in(n), out(n), count(1);
    in.fill([](size_t) { return draw() % 1000; });
    out.fill([](size_t) { return 0u; });
    with_space([&](void *s, size_t &b) { return cub::DeviceSelect::If(s, b, in.device, out.device, count.device, n, even()); });
    std::vector<double> want;
    for (unsigned v : in.host) if (v % 2 == 0) want.push_back(v);
    tell("select_count", count, {(double)want.size()}, 0);
    tell("select", out, want, 0);
}
static void run_runs()
{
    const int n = 9000;
    buffer<unsigned> in(n), unique(n), length(n), count(1);
    in.fill([](size_t i) { return (unsigned)(i * i / 5000) % 97; });
    with_space([&](void *s, size_t &b) { return cub::DeviceRunLengthEncode::Encode(s, b, in.device, unique.device, length.device, count.device, n); });
    std::vector<double> u, l;
    for (unsigned v : in.host) {
        if (u.empty() || u.back() != v) u.push_back(v), l.push_back(0);
        l.back()++;
    }
    tell("runs_count", count, {(double)u.size()}, 0);
    tell("runs_unique", unique, u, 0);
    tell("runs_length", length, l, 0);
}
static void run_histogram()
{
    const int n = 20000, bins = 128;
    buffer<unsigned> in(n);
    buffer<int> out(bins);
    in.fill([](size_t) { return draw() % 128; });
    with_space([&](void *s, size_t &b) { return cub::DeviceHistogram::HistogramEven(s, b, in.device, out.device, bins + 1, 0u, 128u, n); });
    std::vector<double> want(bins);
    for (unsigned v : in.host) want[v]++;
    tell("histogram", out, want, 0);
}
static void run_reduce()
{
    const int n = 50000, rows = 40;
    buffer<float> in(n), out(1), most(rows);
    buffer<int> at(rows + 1);
    in.real_numbers();
    at.fill([&](size_t i) { return (int)(i * i * (n / 1600)); });
    with_space([&](void *s, size_t &b) { return cub::DeviceReduce::Sum(s, b, in.device, out.device, n); });
    with_space([&](void *s, size_t &b) { return cub::DeviceSegmentedReduce::Max(s, b, in.device, most.device, rows, at.device, at.device + 1); });
    double sum = 0;
    for (float v : in.host) sum += v;
    std::vector<double> want(rows), added{(double)n};
    for (int r = 0; r < rows; r++) want[r] = *std::max_element(in.host.begin() + at.host[r], in.host.begin() + at.host[r + 1]);
    tell("reduce", out, {sum}, 1e-7, &added);
    tell("segments", most, want, 0);
}
static void run_thrust()
{
    const int n = 7000;
    buffer<float> keys(n);
    buffer<unsigned> words(n);
    keys.real_numbers();
    words.fill([](size_t) { return draw() % 3000; });
    thrust::device_ptr<float> k(keys.device);
    thrust::device_ptr<unsigned> w(words.device);
    thrust::sort(k, k + n, thrust::greater<float>());
    thrust::sort(w, w + n);
    size_t left = thrust::unique(w, w + n) - w;
    std::vector<float> sorted = keys.host;
    std::sort(sorted.begin(), sorted.end(), std::greater<float>());
    std::vector<unsigned> only = words.host;
    std::sort(only.begin(), only.end());
    only.erase(std::unique(only.begin(), only.end()), only.end());
    if (left != only.size()) printf("unique: %zu, wanted %zu\n", left, only.size()), all_right = false;
    tell("thrust_sort", keys, std::vector<double>(sorted.begin(), sorted.end()), 0);
    tell("thrust_unique", words, as_numbers(only), 0);
}

static const kernel_test tests[] = {{"sort", run_sort},           {"scan", run_scan},     {"select", run_select}, {"runs", run_runs},
                                    {"histogram", run_histogram}, {"reduce", run_reduce}, {"thrust", run_thrust}};
RUN_ALL(tests)
