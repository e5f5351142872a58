/*
 * Kernels in today's style (programs.cu; `nvcc -ptx -arch=sm_90a -O3` makes programs.ptx) beside
 * what the host makes of the same numbers. `async_programs FOLDER [SIZE]` runs each twice, checks
 * what it left and prints its name; it fails if one is wrong. On a GPU it is linked with the
 * vendor's library, on a simulated one it runs under `sonde run`.
 */
#include <math.h>

#include "async.h"

#define ROW 1024
#define DEPTH 64

static handle module;
static float *got;
static double *wanted;
static int wrong;
static uint32_t seed = 1;

static uint32_t next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static address upload(const void *data, size_t bytes)
{
    address at;
    OK(cuMemAlloc_v2(&at, bytes));
    if (data) {
        OK(cuMemcpyHtoD_v2(at, data, bytes));
    } else {
        OK(cuMemsetD32_v2(at, 0, bytes / 4));
    }
    return at;
}

static void *array(size_t count, size_t bytes)
{
    void *p = calloc(count, bytes);
    EXPECT(p);
    return p;
}

/* Small whole numbers as halves: -4 to 3. */
static uint16_t half_of(int value)
{
    static const uint16_t of[] = {0xc400, 0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200};
    return of[value + 4];
}

static uint16_t *halves(float *values, size_t count)
{
    uint16_t *bits = array(count, 2);
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)(next() % 8) - 4;
        bits[i] = half_of((int)values[i]);
    }
    return bits;
}

static void start(const char *name, unsigned x, unsigned y, unsigned threads, unsigned shared,
                  void **args)
{
    handle f = function(module, name);
    OK(cuFuncSetAttribute(f, 8, (int)shared)); /* 48 KiB would hold what is static, too */
    OK(cuLaunchKernel(f, x, y, 1, threads, 1, 1, shared, NULL, args, NULL));
    OK(cuCtxSynchronize());
}

static void check(const char *name, address at, size_t count, double tolerance)
{
    double worst = 0;
    OK(cuMemcpyDtoH_v2(got, at, count * 4));
    for (size_t i = 0; i < count; i++) {
        double error = fabs(got[i] - wanted[i]);
        worst = error > worst || error != error ? error : worst;
    }
    bool right = worst <= tolerance;
    printf("%s %s\n", name, right ? "right" : "WRONG");
    if (!right) {
        printf("  off by %g, %g is allowed\n", worst, tolerance);
    }
    wrong += !right;
}

static void encode(uint32_t map[32], int type, address at, unsigned n, unsigned x, unsigned y,
                   int swizzle)
{
    uint64_t size[] = {n, n}, stride[] = {(uint64_t)n * (type == 6 ? 2 : 4)};
    uint32_t box[] = {x, y}, step[] = {1, 1};
    OK(cuTensorMapEncodeTiled(map, type, 2, at, size, stride, box, step, 0, swizzle, 0, 0));
}

static void products(unsigned n)
{
    static uint32_t map_a[32] __attribute__((aligned(64))), map_b[32] __attribute__((aligned(64)));
    size_t count = (size_t)n * n;
    float *a = array(count, 4), *b = array(count, 4);
    uint16_t *bits_a = halves(a, count), *bits_b = halves(b, count);
    address at_a = upload(bits_a, count * 2), at_b = upload(bits_b, count * 2),
            at = upload(NULL, count * 4);
    for (size_t i = 0; i < count; i++) {
        wanted[i] = 0;
        for (size_t k = 0; k < n; k++) {
            wanted[i] += (double)a[i / n * n + k] * b[k * n + i % n];
        }
    }
    void *args[] = {&at, &at_a, &at_b, &n};
    for (int i = 0; i < 2; i++) {
        start("matmul_copy", n / 64, n / 64, 128, 0, args);
    }
    check("matmul_copy", at, count, 0);
    for (size_t i = 0; i < count; i++) {
        wanted[i] = 0;
        for (size_t k = 0; k < n; k++) {
            wanted[i] += (double)a[i / n * n + k] * b[i % n * n + k];
        }
    }
    encode(map_a, 6, at_a, n, 64, 64, 3);
    encode(map_b, 6, at_b, n, 64, 64, 3);
    void *mapped[] = {&at, map_a, map_b, &n};
    for (int i = 0; i < 2; i++) {
        start("matmul_wgmma", n / 64, n / 64, 160, 49152, mapped);
    }
    check("matmul_wgmma", at, count, 0);
    free(a);
    free(b);
    free(bits_a);
    free(bits_b);
}

static void rows(unsigned n)
{
    size_t count = (size_t)n * ROW;
    float *in = array(count, 4);
    for (size_t i = 0; i < count; i++) {
        in[i] = (float)(next() % 4096) / 512 - 4;
    }
    address at_in = upload(in, count * 4), at = upload(NULL, count * 4);
    void *args[] = {&at, &at_in, &n};
    for (size_t r = 0; r < n; r++) {
        double sum = 0, squares = 0;
        const float *row = in + r * ROW;
        for (int i = 0; i < ROW; i++) {
            sum += row[i] / ROW;
        }
        for (int i = 0; i < ROW; i++) {
            squares += (row[i] - sum) * (row[i] - sum) / ROW;
        }
        for (int i = 0; i < ROW; i++) {
            wanted[r * ROW + (size_t)i] = (row[i] - sum) / sqrt(squares + 1e-5);
        }
    }
    start("layer_norm", (n + 7) / 8, 1, 256, 0, args);
    start("layer_norm", (n + 7) / 8, 1, 256, 0, args);
    check("layer_norm", at, count, 1e-4);
    for (size_t r = 0; r < n; r++) {
        double sum = 0;
        const float *row = in + r * ROW;
        for (int i = 0; i < ROW; i++) {
            sum += exp(row[i]);
        }
        for (int i = 0; i < ROW; i++) {
            wanted[r * ROW + (size_t)i] = exp(row[i]) / sum;
        }
    }
    start("softmax", (n + 7) / 8, 1, 256, 0, args);
    start("softmax", (n + 7) / 8, 1, 256, 0, args);
    check("softmax", at, count, 1e-6);
    free(in);
}

static double at_point(const float *in, long n, long x, long y)
{
    return x < 0 || y < 0 || x >= n || y >= n ? 0 : in[y * n + x];
}

static void stencil(unsigned n)
{
    static uint32_t map[32] __attribute__((aligned(64)));
    size_t count = (size_t)n * n;
    float *in = array(count, 4);
    for (size_t i = 0; i < count; i++) {
        in[i] = (float)(next() % 1024);
    }
    address at_in = upload(in, count * 4), at = upload(NULL, count * 4);
    for (size_t i = 0; i < count; i++) {
        long x = (long)(i % n), y = (long)(i / n), w = (long)n;
        wanted[i] = at_point(in, w, x - 1, y) + at_point(in, w, x + 1, y) +
                    at_point(in, w, x, y - 1) + at_point(in, w, x, y + 1) - 4 * in[i];
    }
    encode(map, 7, at_in, n, 40, 34, 0);
    void *args[] = {&at, map, &n};
    start("stencil_box", n / 32, n / 32, 256, 0, args);
    start("stencil_box", n / 32, n / 32, 256, 0, args);
    check("stencil_box", at, count, 0);
    free(in);
}

static void histogram(unsigned n)
{
    uint32_t *in = array(n, 4), bins[1024];
    for (size_t i = 0; i < n; i++) {
        in[i] = next();
        wanted[in[i] % 1024] = 0;
    }
    memset(wanted, 0, sizeof bins * 2);
    for (size_t i = 0; i < n; i++) {
        wanted[in[i] % 1024]++;
    }
    address at_in = upload(in, (size_t)n * 4), at = upload(NULL, sizeof bins),
            twice = upload(NULL, sizeof bins);
    void *args[] = {&twice, &at_in, &n};
    start("histogram_cluster", 64, 1, 256, 0, args);
    args[0] = &at;
    start("histogram_cluster", 64, 1, 256, 0, args);
    OK(cuMemcpyDtoH_v2(bins, at, sizeof bins));
    for (int i = 0; i < 1024; i++) {
        got[i] = (float)bins[i];
    }
    OK(cuMemcpyHtoD_v2(at, got, sizeof bins));
    check("histogram_cluster", at, 1024, 0);
    free(in);
}

static void split_k(unsigned n)
{
    unsigned k = n * 4;
    size_t count = (size_t)32 * k;
    float *a = array(count, 4), *b = array((size_t)k * n, 4);
    for (size_t i = 0; i < count; i++) {
        a[i] = (float)(next() % 16);
    }
    for (size_t i = 0; i < (size_t)k * n; i++) {
        b[i] = (float)(next() % 16);
    }
    for (size_t i = 0; i < (size_t)32 * n; i++) {
        wanted[i] = 0;
        for (size_t j = 0; j < k; j++) {
            wanted[i] += (double)a[i / n * k + j] * b[j * n + i % n];
        }
    }
    address at_a = upload(a, count * 4), at_b = upload(b, (size_t)k * n * 4),
            at = upload(NULL, (size_t)32 * n * 4);
    void *args[] = {&at, &at_a, &at_b, &n, &k};
    start("split_k", n / 32 * 4, 1, 256, 0, args);
    start("split_k", n / 32 * 4, 1, 256, 0, args);
    check("split_k", at, (size_t)32 * n, 0);
    free(a);
    free(b);
}

static void attend(const float *q, const float *k, const float *v, unsigned n, size_t row)
{
    double sum = 0, most = -1e30, *weights = array(n, sizeof *weights);
    for (size_t j = 0; j < n; j++) {
        for (int d = 0; d < DEPTH; d++) {
            weights[j] += (double)q[row * DEPTH + (size_t)d] * k[j * DEPTH + (size_t)d] / 8;
        }
        most = weights[j] > most ? weights[j] : most;
    }
    for (size_t j = 0; j < n; j++) {
        sum += weights[j] = exp(weights[j] - most);
    }
    for (size_t d = 0; d < DEPTH; d++) {
        wanted[row * DEPTH + d] = 0;
        for (size_t j = 0; j < n; j++) {
            wanted[row * DEPTH + d] += weights[j] / sum * v[j * DEPTH + d];
        }
    }
    free(weights);
}

static void attention(unsigned n)
{
    size_t count = (size_t)n * DEPTH;
    float *values[3];
    address at[3], out = upload(NULL, count * 4);
    for (int i = 0; i < 3; i++) {
        values[i] = array(count, 4);
        uint16_t *bits = halves(values[i], count);
        at[i] = upload(bits, count * 2);
        free(bits);
    }
    for (size_t row = 0; row < n; row++) {
        attend(values[0], values[1], values[2], n, row);
    }
    void *args[] = {&out, &at[0], &at[1], &at[2], &n};
    unsigned shared = (32 + 128 + 128 + 32) * (DEPTH + 8) * 2 + 64 * (DEPTH + 4) * 4;
    start("attention", n / 32, 1, 128, shared, args);
    start("attention", n / 32, 1, 128, shared, args);
    check("attention", out, count, 4e-3);
    static uint32_t maps[3][32] __attribute__((aligned(64)));
    for (int i = 0; i < 3; i++) {
        OK(cuTensorMapEncodeTiled(maps[i], 6, 2, at[i], (uint64_t[]){DEPTH, n},
                                  (uint64_t[]){DEPTH * 2}, (uint32_t[]){64, 64}, (uint32_t[]){1, 1},
                                  0, 3, 0, 0));
        free(values[i]);
    }
    void *mapped[] = {&out, maps[0], maps[1], maps[2], &n};
    OK(cuMemsetD32_v2(out, 0, count));
    start("attention_wgmma", n / 64, 1, 160, 40960, mapped);
    start("attention_wgmma", n / 64, 1, 160, 40960, mapped);
    check("attention_wgmma", out, count, 4e-3);
}

int main(int argc, char **argv)
{
    unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 128;
    EXPECT(argc > 1 && n % 64 == 0 && n <= 4096);
    module = begin(argv, "programs.ptx");
    got = array((size_t)n * ROW + (size_t)n * n, sizeof *got);
    wanted = array((size_t)n * ROW + (size_t)n * n, sizeof *wanted);
    products(n);
    rows(n);
    stencil(n);
    histogram(n * 64);
    split_k(n);
    attention(n);
    return wrong > 0;
}
