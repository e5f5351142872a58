// Control flow: switches, nested and early-leaving loops, calls, recursion, function pointers.
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
typedef int (*function)(int);
__device__ function table[2] = {twice, square};

struct pair { long long a; int b; };
__device__ __noinline__ pair make(pair p, int k)
{
    p.a += k;
    p.b -= k;
    return p;
}

extern "C" __global__ void selects(int *out, int n)
{
    int i = threadIdx.x, r = 0;
    switch (n & 7) {
    case 0: r = i; break;
    case 1: r = i * 3; break;
    case 2: r = out[i]; break;
    case 3: r = i / 7; break;
    case 4: r = ~i; break;
    case 5: r = i << 4; break;
    case 6: r = out[i + 1] - 1; break;
    default: r = 9;
    }
    out[i] = r;
}

extern "C" __global__ void loops(int *out, int n, int m)
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        if (i == m)
            continue;
        for (int j = i; j < m; j += (int)threadIdx.x + 1) {
            if (out[j] < 0)
                goto done;
            if (out[j] == 5)
                break;
            s += j & 1 ? out[j] : -out[i];
        }
        if (s > 1000)
            return;
    }
done:
    out[threadIdx.x] = s;
}

extern "C" __global__ void calls(int *out, int k)
{
    pair p = {k, (int)threadIdx.x};
    p = make(p, fib(k));
    out[threadIdx.x] = table[k & 1](p.b) + (int)p.a;
}
