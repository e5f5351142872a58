// The other one.
extern "C" __device__ int calls = 0;
extern "C" __device__ int twice(int x) { return 2 * x; }
