// Thrust: sort, reduce, transform, scan.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include "check.h"
PROGRAM
{
    const int n = 3000;
    thrust::host_vector<int> h(n);
    unsigned x = 1; long sum = 0;
    for (int i = 0; i < n; i++) { x = x * 1664525u + 1013904223u; h[i] = x >> 12; sum += h[i]; }
    thrust::device_vector<int> d = h;
    thrust::sort(d.begin(), d.end());
    EXPECT(thrust::reduce(d.begin(), d.end(), 0l) == sum);
    thrust::host_vector<int> back = d;
    for (int i = 1; i < n; i++) EXPECT(back[i - 1] <= back[i]);
    thrust::fill(d.begin(), d.end(), 2);
    thrust::inclusive_scan(d.begin(), d.end(), d.begin());
    EXPECT(d[n - 1] == 2 * n);
}
