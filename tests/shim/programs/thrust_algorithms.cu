// thrust: scans, reductions by key, sets, searches, iterators, permutations.
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/count.h>
#include <thrust/extrema.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
#include "check.h"
struct dot { __host__ __device__ int operator()(const thrust::tuple<int, int> &t) const { return thrust::get<0>(t) * thrust::get<1>(t); } };
struct is_even { __host__ __device__ bool operator()(int x) const { return x % 2 == 0; } };
PROGRAM
{
    const int n = 5000;
    thrust::device_vector<int> a(n), b(n, 2), keys(n), sums(n), out(n);
    thrust::sequence(a.begin(), a.end());
    thrust::exclusive_scan(a.begin(), a.end(), out.begin()); EXPECT(out[n - 1] == (n - 1) * (n - 2) / 2);
    auto pairs = thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin()));
    EXPECT(thrust::transform_reduce(pairs, pairs + n, dot(), 0, thrust::plus<int>()) == n * (n - 1));
    thrust::transform(a.begin(), a.end(), keys.begin(), [] __device__(int x) { return x / 7; });
    auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), b.begin(), out.begin(), sums.begin());
    EXPECT(ends.first - out.begin() == (n + 6) / 7); EXPECT(sums[3] == 14);
    EXPECT(thrust::unique(keys.begin(), keys.end()) - keys.begin() == (n + 6) / 7);
    EXPECT(thrust::copy_if(a.begin(), a.end(), out.begin(), is_even()) - out.begin() == n / 2); EXPECT(out[10] == 20);
    EXPECT(thrust::lower_bound(a.begin(), a.end(), 1234) - a.begin() == 1234);
    auto squares = thrust::make_transform_iterator(thrust::counting_iterator<int>(1), [] __device__(int x) { return x * x; });
    EXPECT(thrust::reduce(squares, squares + 100) == 338350);
    EXPECT(*thrust::max_element(a.begin(), a.end()) == n - 1); EXPECT(thrust::count_if(a.begin(), a.end(), is_even()) == n / 2);
}
