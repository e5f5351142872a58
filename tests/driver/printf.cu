// Device printf: every conversion, sizes and flags, results, overflow.
#include <cstdio>

extern "C" __global__ void formats(int *results, const char *text)
{
    if (threadIdx.x != 0)
        return;
    int *r = results;
    *r++ = printf("plain 100%%\n");
    *r++ = printf("%d %i %u %o %x %X\n", -7, 42, 4000000000u, 8, 0xbeef, 0xbeef);
    *r++ = printf("[%5d] [%-5d] [%05d] [%+d] [% d] [%#x] [%#o]\n", 42, 42, 42, 42, 42, 42, 42);
    *r++ = printf("%ld %lld %lu %llx %hd %hhd\n", -5000000000l, -6000000000ll, 7000000000ul,
                  0x123456789abcull, 70000, 300);
    *r++ = printf("%f %.2f %10.3f %-10.1f| %e %E %g %G %a %A\n", 1.5, 2.345, 3.14159, 2.5, 12345.678,
                  0.00012, 1e-10, 1e20, 1.0, 0.5);
    *r++ = printf("%c%c%c [%3c] [%-3c]\n", 'a', 'b', 'c', 'd', 'e');
    *r++ = printf("%s [%8s] [%-8s] [%.2s]\n", "text", "right", "left", "cut off");
    *r++ = printf("%p %p\n", (void *)0x1234, (void *)0);
    *r++ = printf("[%*d] [%-*d] [%.*f]\n", 6, 1, 6, 2, 3, 1.23456);
    *r++ = printf("%s %s\n", text, (const char *)nullptr);
    *r++ = printf("%f %f %f\n", 1.0 / 0.0, -1.0 / 0.0, 3.0f);
    *r++ = printf("%d %q %d%\n", 1, 2);
    *r++ = printf(nullptr);
    *r++ = printf("%5000d\n", 1);
    *r++ = printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d "
                  "%d %d %d %d %d\n",
                  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
                  24, 25, 26, 27, 28, 29, 30, 31, 32, 33);
    *r++ = printf("");
}

extern "C" __global__ void everyone()
{
    if (threadIdx.x % 3 == 0)
        printf("block %d thread %d\n", blockIdx.x, threadIdx.x);
}

extern "C" __global__ void many(int count)
{
    for (int i = 0; i < count; i++)
        printf("line %d\n", i);
}

// The text is read when printf is called, not when its output is shown.
extern "C" __global__ void changing(char *text)
{
    text[0] = 'a';
    text[1] = 0;
    printf("%s\n", text);
    text[0] = 'b';
    printf("%s\n", text);
    __shared__ char shared[4];
    shared[0] = 's';
    shared[1] = 0;
    printf("%s\n", shared);
}

// One warp writes a text, another prints it after the barrier.
extern "C" __global__ void across(char *text)
{
    if (threadIdx.x < 16)
        text[threadIdx.x] = threadIdx.x < 15 ? 'a' + threadIdx.x : 0;
    __syncthreads();
    if (threadIdx.x == 40)
        printf("%s\n", text);
}

extern "C" __global__ void from_anywhere(const char *format, const void *list)
{
    printf(format, 1);
    printf("%s\n", (const char *)list);
}
