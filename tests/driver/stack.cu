// The call stack: alloca of a size that differs from thread to thread, in loops and in recursion.
extern "C" __device__ __noinline__ int fill(int n)
{
    unsigned char *bytes = (unsigned char *)alloca(n);
    for (int i = 0; i < n; i++)
        bytes[i] = (unsigned char)(i * n);
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += bytes[(i * 7) % n];
    return sum;
}

// Each level keeps an array of its own while the deeper ones run.
extern "C" __device__ __noinline__ int deep(int n)
{
    if (n <= 0)
        return 0;
    int *own = (int *)alloca(n * sizeof(int));
    for (int i = 0; i < n; i++)
        own[i] = n * 100 + i;
    int below = deep(n - 1) + fill(n);
    for (int i = 0; i < n; i++)
        if (own[i] != n * 100 + i)
            return -1000000;
    return below + own[n - 1];
}

extern "C" __global__ void one(int *out)
{
    out[threadIdx.x] = fill(threadIdx.x + 1);
}

extern "C" __global__ void recursive(int *out)
{
    out[threadIdx.x] = deep(threadIdx.x % 13);
}

extern "C" __global__ void large(int *out, int bytes)
{
    out[threadIdx.x] = fill(bytes);
}
