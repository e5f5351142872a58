// The .param ABI: structures by value and as results, many arguments, pointers to parameters,
// functions that call each other, tables of functions, exits inside of calls.
struct small {
    unsigned char a;
    unsigned short b;
    unsigned int c;
};
struct large {
    int values[20];
    double last;
};

__device__ __noinline__ small shuffle(small s)
{
    small r;
    r.a = (unsigned char)(s.b & 0xff);
    r.b = (unsigned short)(s.c & 0xffff);
    r.c = s.a + s.b;
    return r;
}

// The index is not known when it is compiled, so the parameter needs an address.
__device__ __noinline__ int pick(large l, int i)
{
    return l.values[i] + (int)l.last;
}

// Nothing else keeps the compiler from using the parameter where it lies.
struct array {
    int values[40];
};
__device__ __noinline__ int pick_in_place(array a, int i, int depth)
{
    int *p = &a.values[i];
    if (depth == 0)
        return *p;
    array changed = a;
    changed.values[i] += depth;
    return pick_in_place(changed, i, depth - 1) + *p;
}

__device__ __noinline__ large make(int seed)
{
    large l;
    for (int i = 0; i < 20; i++)
        l.values[i] = seed * i;
    l.last = seed * 0.5;
    return l;
}

__device__ __noinline__ long long many(char a, short b, int c, long long d, float e, double f,
                                       unsigned char g, bool h, int *i, float4 j, int k, int l)
{
    *i += 1;
    return a + b + c + d + (long long)e + (long long)f + g + h + *i + (long long)(j.x + j.y + j.z + j.w) +
           k * l;
}

__device__ int is_odd(int n);
__device__ __noinline__ int is_even(int n)
{
    return n == 0 ? 1 : is_odd(n - 1);
}
__device__ __noinline__ int is_odd(int n)
{
    return n == 0 ? 0 : is_even(n - 1);
}

__device__ __noinline__ int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int sub(int a, int b) { return a - b; }
__device__ __noinline__ int mul(int a, int b) { return a * b; }
typedef int (*operation)(int, int);
__device__ operation operations[3] = {add, sub, mul};

// The callee decides by a pointer that it is handed.
__device__ __noinline__ int apply(operation f, int a, int b)
{
    return f(a, b);
}

__device__ __noinline__ int branchy(int kind, int x)
{
    switch (kind) {
    case 0: return x + 1;
    case 1: return x * 3;
    case 2: return x - 7;
    case 3: return x ^ 0x55;
    case 4: return ~x;
    case 5: return x << 3;
    case 6: return x / 3;
    default: return -x;
    }
}

__device__ __noinline__ void leave(int *out, int t)
{
    out[t] = -t;
    asm volatile("exit;");
}

extern "C" __global__ void calls(int *out)
{
    int t = threadIdx.x, *mine = out + t * 10;
    small s = {(unsigned char)t, (unsigned short)(t * 300), (unsigned)t * 70000u};
    small r = shuffle(s);
    mine[0] = (int)(r.a + r.b * 3 + r.c * 7);
    mine[1] = pick(make(t), t % 20);
    int counter = t;
    long long sum = many((char)-t, (short)(t * 100), t, 1ll << 33, 1.5f, 2.5, 200, t & 1, &counter,
                         make_float4(1, 2, 3, 4), t, 3);
    mine[2] = (int)sum;
    mine[3] = (int)(sum >> 32) + counter * 1000;
    mine[4] = is_even(t) * 2 + is_odd(t);
    mine[5] = ackermann(t % 3, t % 4);
    mine[6] = operations[t % 3](t, 5);
    mine[7] = apply(operations[(t + 1) % 3], t, 9);
    mine[8] = branchy(t % 8, t);
    array a;
    for (int i = 0; i < 40; i++)
        a.values[i] = t * 100 + i;
    mine[8] += pick_in_place(a, t % 40, 2);
    mine[9] = t;
    if (t % 5 == 0)
        leave(out + 640, t);
    mine[9] += 1000;
}
