/*
 * Kernels in the manner in which libraries for Hopper are written now (kernels.cu), held against
 * sums of the host's own. `tiled FOLDER` runs all of FOLDER/kernels.ptx and prints a line each;
 * `tiled FOLDER NAME...` those. Each is launched twice from the same memory: at the first launch no
 * cache has its instructions, constants or tensor maps. On a GPU it is linked with the vendor's
 * library, on a simulated one it runs under `sonde run`. Products are of small whole numbers, so
 * that results are exact.
 */
#include <math.h>
#include <stdbool.h>

#include "shim/hosts/host.h"
#include "tiled/tiled.h"

int cuTensorMapEncodeIm2col(uint32_t *, int, unsigned, address, const uint64_t *, const uint64_t *,
                            const int *, const int *, unsigned, unsigned, const uint32_t *, int,
                            int, int, int);

#define TILE 64
#define TILE_BYTES 8192

enum { BYTES = 0, HALVES = 6, FLOATS = 7 }; /* types of tensors, as the driver numbers them */

static handle module;

/* ---- numbers ---- */

/* Whole numbers of at most 2048, and halves of such. */
static uint16_t half_of(double value)
{
    uint16_t sign = value < 0 ? 0x8000 : 0;
    int exponent;
    double fraction = frexp(fabs(value), &exponent); /* in [0.5, 1) */
    if (value == 0) {
        return 0;
    }
    return (uint16_t)(sign | (uint16_t)((exponent + 14) << 10) |
                      ((uint16_t)(fraction * 2048) & 0x3ff));
}

static double of_half(uint16_t code)
{
    double value = (code & 0x7c00) ? ldexp((code & 0x3ff) + 1024, (code >> 10 & 31) - 25)
                                   : ldexp(code & 0x3ff, -24);
    return code & 0x8000 ? -value : value;
}

/* -4 to 3. */
static uint8_t e4m3_of(int value)
{
    static const uint8_t codes[] = {0, 0x38, 0x40, 0x44, 0x48};
    return (uint8_t)(codes[value < 0 ? -value : value] | (value < 0 ? 0x80 : 0));
}

struct matrix {
    int rows, columns;
    double *at;
    address there;
};

static void *make(size_t bytes)
{
    void *memory = calloc(1, bytes);
    EXPECT(memory);
    return memory;
}

/* The host's numbers of a kernel's matrices. */
static double *numbers[8];
static int number_count;

static struct matrix whole_numbers(int rows, int columns)
{
    struct matrix m = {.rows = rows, .columns = columns};
    EXPECT(number_count < (int)(sizeof numbers / sizeof *numbers));
    m.at = numbers[number_count++] = make((size_t)rows * columns * sizeof *m.at);
    for (int i = 0; i < rows * columns; i++) {
        m.at[i] = (int)(draw() % 8) - 4;
    }
    return m;
}

/* What a kernel's part has taken, and what was there before its first launch. */
static struct {
    address at;
    size_t bytes;
    void *before;
} taken[16];
static int taken_count;

static address device_bytes(size_t bytes)
{
    EXPECT(taken_count < (int)(sizeof taken / sizeof *taken));
    taken[taken_count].bytes = bytes;
    OK(cuMemAlloc_v2(&taken[taken_count].at, bytes));
    return taken[taken_count++].at;
}

static void keep(void)
{
    for (int i = 0; i < taken_count; i++) {
        taken[i].before = make(taken[i].bytes);
        OK(cuMemcpyDtoH_v2(taken[i].before, taken[i].at, taken[i].bytes));
    }
}

static void put_back(void)
{
    for (int i = 0; i < taken_count; i++) {
        OK(cuMemcpyHtoD_v2(taken[i].at, taken[i].before, taken[i].bytes));
        free(taken[i].before);
    }
}

static void give_back(void)
{
    while (number_count > 0) {
        free(numbers[--number_count]);
    }
    while (taken_count > 0) {
        OK(cuMemFree_v2(taken[--taken_count].at));
    }
}

static address upload(const void *from, size_t bytes)
{
    address there = device_bytes(bytes);
    OK(cuMemcpyHtoD_v2(there, from, bytes));
    return there;
}

static struct matrix halves(int rows, int columns)
{
    struct matrix m = whole_numbers(rows, columns);
    uint16_t *codes = make((size_t)rows * columns * 2);
    for (int i = 0; i < rows * columns; i++) {
        codes[i] = half_of(m.at[i]);
    }
    m.there = upload(codes, (size_t)rows * columns * 2);
    free(codes);
    return m;
}

static struct matrix bytes_of(int rows, int columns, bool e4m3)
{
    struct matrix m = whole_numbers(rows, columns);
    uint8_t *codes = make((size_t)rows * columns);
    for (int i = 0; i < rows * columns; i++) {
        codes[i] = e4m3 ? e4m3_of((int)m.at[i]) : (uint8_t)(int)m.at[i];
    }
    m.there = upload(codes, (size_t)rows * columns);
    free(codes);
    return m;
}

/* a b, or a bt; of the columns [first, last) of k. */
static double product_at(const struct matrix *a, const struct matrix *b, bool turned, int row,
                         int column, int first, int last)
{
    double sum = 0;
    for (int k = first; k < last; k++) {
        sum += a->at[row * a->columns + k] *
               b->at[turned ? column * b->columns + k : k * b->columns + column];
    }
    return sum;
}

static double *product(const struct matrix *a, const struct matrix *b, bool turned)
{
    int n = turned ? b->rows : b->columns;
    double *out = make((size_t)a->rows * n * sizeof *out);
    for (int i = 0; i < a->rows * n; i++) {
        out[i] = product_at(a, b, turned, i / n, i % n, 0, a->columns);
    }
    return out;
}

/* ---- outputs ---- */

enum kind { F32, F16, BF16 };

static double read_as(const uint8_t *bytes, size_t i, enum kind kind)
{
    uint16_t code;
    float value;
    if (kind == F32) {
        memcpy(&value, bytes + 4 * i, 4);
        return value;
    }
    memcpy(&code, bytes + 2 * i, 2);
    if (kind == F16) {
        return of_half(code);
    }
    uint32_t wide = (uint32_t)code << 16;
    memcpy(&value, &wide, 4);
    return value;
}

static bool all_right = true;

/* Frees what is wanted. */
static void expect(const char *name, address out, double *wanted, size_t count, enum kind kind,
                   double tolerance)
{
    size_t bytes = count * (kind == F32 ? 4 : 2), wrong = 0;
    uint8_t *got = make(bytes);
    OK(cuMemcpyDtoH_v2(got, out, bytes));
    for (size_t i = 0; i < count; i++) {
        double value = read_as(got, i, kind);
        if (fabs(value - wanted[i]) <= tolerance) {
            continue;
        }
        if (wrong++ == 0) {
            printf("%s: element %zu is %g, wanted %g\n", name, i, value, wanted[i]);
        }
    }
    printf("%s: %zu of %zu values are wrong\n", name, wrong, count);
    all_right &= wrong == 0;
    free(got);
    free(wanted);
}

static address zeros(size_t bytes)
{
    address there = device_bytes(bytes);
    OK(cuMemsetD32_v2(there, 0, bytes / 4));
    return there;
}

/* ---- tensor maps and launches ---- */

/* Of rows one after the other, with 128-byte swizzle where `swizzle` is 3. */
static void plane(struct map *map, int type, address there, uint64_t width, uint64_t height,
                  uint32_t box_width, uint32_t box_height, int swizzle)
{
    static const uint32_t steps[] = {1, 1};
    uint64_t bytes = type == BYTES ? 1 : type == HALVES ? 2 : 4;
    uint64_t size[] = {width, height}, stride[] = {width * bytes};
    uint32_t box[] = {box_width, box_height};
    OK(cuTensorMapEncodeTiled(map->words, type, 2, there, size, stride, box, steps, 0, swizzle, 0,
                              0));
}

static void run(const char *name, const unsigned grid[3], unsigned threads, unsigned shared,
                void **args)
{
    handle f = function(module, name);
    if (shared > 40960) { /* beside what the kernel has itself */
        OK(cuFuncSetAttribute(f, DYNAMIC_SHARED, (int)shared));
    }
    keep();
    OK(cuLaunchKernel(f, grid[0], grid[1], grid[2], threads, 1, 1, shared, NULL, args, NULL));
    OK(cuCtxSynchronize());
    put_back();
    OK(cuLaunchKernel(f, grid[0], grid[1], grid[2], threads, 1, 1, shared, NULL, args, NULL));
    OK(cuCtxSynchronize());
}

/* ---- kernels ---- */

static void pingpong(void)
{
    struct matrix a = halves(256, 128), b = halves(192, 128);
    struct map map_a, map_b, map_c;
    int tiles_m = 4, tiles_n = 3, steps = 2;
    address c = zeros((size_t)256 * 192 * 2);
    plane(&map_a, HALVES, a.there, 128, 256, TILE, TILE, 3);
    plane(&map_b, HALVES, b.there, 128, 192, TILE, TILE, 3);
    plane(&map_c, HALVES, c, 192, 256, TILE, TILE, 0);
    void *args[] = {&map_a, &map_b, &map_c, &tiles_m, &tiles_n, &steps};
    run("pingpong", (unsigned[]){2, 1, 1}, 384, 10 * TILE_BYTES, args);
    expect("pingpong", c, product(&a, &b, true), (size_t)256 * 192, F16, 0);
}

static void reducing(void)
{
    struct matrix a = halves(128, 512), b = halves(128, 512);
    struct map map_a, map_b, map_c;
    int steps = 2;
    address c = zeros((size_t)128 * 128 * 4);
    plane(&map_a, HALVES, a.there, 512, 128, TILE, TILE, 3);
    plane(&map_b, HALVES, b.there, 512, 128, TILE, TILE, 3);
    plane(&map_c, FLOATS, c, 128, 128, TILE, TILE, 0);
    void *args[] = {&map_a, &map_b, &map_c, &steps};
    run("reducing", (unsigned[]){2, 2, 4}, 128, 4 * TILE_BYTES, args);
    expect("reducing", c, product(&a, &b, true), (size_t)128 * 128, F32, 0);
}

static void multicast(void)
{
    struct matrix a = halves(128, 320), b = halves(256, 320);
    struct map map_a, map_b;
    int n = 256, steps = 5;
    address c = zeros((size_t)128 * 256 * 4);
    plane(&map_a, HALVES, a.there, 320, 128, TILE, TILE / 2, 3);
    plane(&map_b, HALVES, b.there, 320, 256, TILE, TILE, 3);
    void *args[] = {&c, &map_a, &map_b, &n, &steps};
    run("multicast", (unsigned[]){4, 2, 1}, 160, 4 * TILE_BYTES, args);
    expect("multicast", c, product(&a, &b, true), (size_t)128 * 256, F32, 0);
}

static void stream_k(void)
{
    struct matrix a = halves(128, 224), b = halves(192, 224);
    int tiles = 6, tiles_n = 3, n = 192, k = 224;
    address c = zeros((size_t)128 * 192 * 4), sums = zeros((size_t)5 * 32 * 128 * 4);
    address told = zeros(64);
    void *args[] = {&c, &a.there, &b.there, &sums, &told, &tiles, &tiles_n, &n, &k};
    run("stream_k", (unsigned[]){5, 1, 1}, 128, 0, args);
    expect("stream_k", c, product(&a, &b, true), (size_t)128 * 192, F32, 0);
}

static void promoted(void)
{
    struct matrix a = bytes_of(128, 512, true), b = bytes_of(64, 512, true);
    struct map map_a, map_b;
    int n = 64, steps = 4;
    float scale_a[128 * 4], scale_b[4];
    double *wanted = make((size_t)128 * 64 * sizeof *wanted);
    for (int i = 0; i < 128 * 4; i++) {
        scale_a[i] = (float)ldexp(1, (int)(draw() % 3));
        scale_b[i % 4] = i % 2 ? 0.5f : 2.0f;
    }
    for (int i = 0; i < 128 * 64 * 4; i++) {
        int at = i / 4, k = i % 4;
        wanted[at] += (double)scale_a[at / 64 * 4 + k] * (double)scale_b[k] *
                      product_at(&a, &b, true, at / 64, at % 64, k * 128, k * 128 + 128);
    }
    for (int i = 0; i < 128 * 64; i++) { /* to bf16, nearest and even */
        double unit = wanted[i] == 0 ? 1 : ldexp(1, ilogb(wanted[i]) - 7);
        wanted[i] = rint(wanted[i] / unit) * unit;
    }
    address c = zeros((size_t)128 * 64 * 2);
    address there_a = upload(scale_a, sizeof scale_a), there_b = upload(scale_b, sizeof scale_b);
    plane(&map_a, BYTES, a.there, 512, 128, 128, TILE, 3);
    plane(&map_b, BYTES, b.there, 512, 64, 128, TILE, 3);
    void *args[] = {&c, &map_a, &map_b, &there_a, &there_b, &n, &steps};
    run("promoted", (unsigned[]){1, 2, 1}, 128, 4 * TILE_BYTES, args);
    expect("promoted", c, wanted, (size_t)128 * 64, BF16, 0);
}

static void grouped(void)
{
    static const int heights[] = {100, 36, 192};
    int groups = 3, rows = 328;
    struct matrix a = halves(rows, 128), b = halves(groups * 64, 128);
    struct map like;
    double *wanted = make((size_t)rows * 64 * sizeof *wanted);
    for (int g = 0, row = 0; g < groups; g++) {
        for (int end = row + heights[g]; row < end; row++) {
            for (int j = 0; j < 64; j++) {
                wanted[row * 64 + j] = product_at(&a, &b, true, row, g * 64 + j, 0, 128);
            }
        }
    }
    address c = zeros((size_t)rows * 64 * 4), maps = zeros(4 * 256);
    address there = upload(heights, sizeof heights);
    plane(&like, HALVES, a.there, 128, 64, TILE, TILE, 3);
    void *args[] = {&c, &a.there, &b.there, &maps, &there, &groups, &like};
    run("grouped", (unsigned[]){4, 1, 1}, 128, 4 * TILE_BYTES, args);
    expect("grouped", c, wanted, (size_t)rows * 64, F32, 0);
}

/* Of numbers small enough for exponents that differ little. */
static void shrink(struct matrix *m)
{
    uint16_t *codes = make((size_t)m->rows * m->columns * 2);
    for (int i = 0; i < m->rows * m->columns; i++) {
        m->at[i] /= 8;
        codes[i] = half_of(m->at[i]);
    }
    OK(cuMemcpyHtoD_v2(m->there, codes, (size_t)m->rows * m->columns * 2));
    free(codes);
}

static void split_kv(void)
{
    struct matrix q = halves(16, 64), k = halves(512, 64), v = halves(512, 64);
    double *wanted = make((size_t)16 * 64 * sizeof *wanted);
    shrink(&q);
    for (int row = 0; row < 16; row++) {
        double weight[512], total = 0;
        for (int i = 0; i < 512; i++) {
            weight[i] = exp(product_at(&q, &k, true, row, i, 0, 64) / 8);
            total += weight[i];
        }
        for (int i = 0; i < 512 * 64; i++) {
            wanted[row * 64 + i % 64] += weight[i / 64] * v.at[i] / total;
        }
    }
    address out = zeros(16 * 64 * 4);
    void *args[] = {&out, &q.there, &k.there, &v.there};
    run("split_kv", (unsigned[]){4, 1, 1}, 128, 0, args);
    expect("split_kv", out, wanted, 16 * 64, F32, 2e-3); /* the weights are rounded to halves */
}

/* Images of 8 x 8 pixels of 64 channels; row (filter), column 64 (3 y + x) + channel. */
static double convolved(const struct matrix *in, const struct matrix *filter, int pixel, int to)
{
    double sum = 0;
    int image = pixel / 64, y = pixel / 8 % 8, x = pixel % 8;
    for (int i = 0; i < 9 * 64; i++) {
        int from_y = y + i / 64 / 3 - 1, from_x = x + i / 64 % 3 - 1;
        if (from_y >= 0 && from_y < 8 && from_x >= 0 && from_x < 8) {
            sum += in->at[(image * 64 + from_y * 8 + from_x) * 64 + i % 64] *
                   filter->at[to * 9 * 64 + i];
        }
    }
    return sum;
}

static void convolution(void)
{
    static const uint64_t size[] = {64, 8, 8, 3}, stride[] = {128, 1024, 8192};
    static const uint32_t steps[] = {1, 1, 1, 1};
    static const int corner[] = {-1, -1};
    struct matrix in = halves(3 * 64, 64), filter = halves(64, 9 * 64);
    struct map map_in, map_filter;
    double *wanted = make((size_t)3 * 64 * 64 * sizeof *wanted);
    shrink(&in);
    for (int i = 0; i < 3 * 64 * 64; i++) {
        double sum = convolved(&in, &filter, i / 64, i % 64);
        wanted[i] = sum < 0 ? 0 : sum;
    }
    address out = zeros((size_t)3 * 64 * 64 * 2);
    OK(cuTensorMapEncodeIm2col(map_in.words, HALVES, 4, in.there, size, stride, corner, corner, 64,
                               64, steps, 0, 3, 0, 0));
    plane(&map_filter, HALVES, filter.there, (uint64_t)9 * 64, 64, TILE, TILE, 3);
    void *args[] = {&out, &map_in, &map_filter};
    /* 48 KiB and the kernel's own 24 bytes: refused unless they were asked for. */
    GIVES(1, cuLaunchKernel(function(module, "convolution"), 3, 1, 1, 128, 1, 1, 6 * TILE_BYTES,
                            NULL, args, NULL));
    run("convolution", (unsigned[]){3, 1, 1}, 128, 6 * TILE_BYTES, args);
    expect("convolution", out, wanted, (size_t)3 * 64 * 64, F16, 0.125); /* half a last place */
}

static void mixed(void)
{
    struct matrix a = bytes_of(64, 192, false), b = halves(192, 128);
    struct map map_b;
    int n = 128, k = 192;
    address c = zeros((size_t)64 * 128 * 4);
    plane(&map_b, HALVES, b.there, 128, 192, TILE, TILE, 3);
    void *args[] = {&c, &a.there, &map_b, &n, &k};
    run("mixed", (unsigned[]){2, 1, 1}, 128, TILE_BYTES, args);
    expect("mixed", c, product(&a, &b, false), (size_t)64 * 128, F32, 0);
}

static struct matrix floats(int rows, int columns)
{
    struct matrix m = whole_numbers(rows, columns);
    float *codes = make((size_t)rows * columns * 4);
    for (int i = 0; i < rows * columns; i++) {
        codes[i] = (float)m.at[i];
    }
    m.there = upload(codes, (size_t)rows * columns * 4);
    free(codes);
    return m;
}

static void threads_copy(void)
{
    struct matrix a = floats(128, 160), b = floats(64, 160);
    int n = 64, k = 160;
    address c = zeros((size_t)128 * 64 * 4);
    void *args[] = {&c, &a.there, &b.there, &n, &k};
    run("threads_copy", (unsigned[]){1, 2, 1}, 128, 0, args);
    expect("threads_copy", c, product(&a, &b, true), (size_t)128 * 64, F32, 0);
}

static void norm_rows(void)
{
    struct matrix in = floats(3, 2048);
    float eps = 1e-5f;
    double *wanted = make((size_t)3 * 2048 * sizeof *wanted);
    double *columns = make(2048 * sizeof *columns);
    for (int row = 0; row < 3; row++) {
        const double *from = in.at + (size_t)row * 2048;
        double sum = 0, squares = 0;
        for (int i = 0; i < 2048; i++) {
            sum += from[i] / 2048;
            squares += from[i] * from[i] / 2048;
            columns[i] += from[i];
        }
        for (int i = 0; i < 2048; i++) {
            wanted[row * 2048 + i] = (from[i] - sum) / sqrt(squares - sum * sum + (double)eps);
        }
    }
    address out = zeros((size_t)3 * 2048 * 4), sums = zeros(2048 * 4);
    void *args[] = {&out, &sums, &in.there, &eps};
    run("norm_rows", (unsigned[]){12, 1, 1}, 128, 0, args);
    expect("norm_rows", out, wanted, (size_t)3 * 2048, F32, 1e-6);
    expect("norm_rows, columns", sums, columns, 2048, F32, 0);
}

static uint16_t bfloat_of(double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, 4);
    return (uint16_t)(bits >> 16);
}

/* Batches of bf16. */
static struct matrix bfloats(int rows, int columns)
{
    struct matrix m = whole_numbers(rows, columns);
    uint16_t *codes = make((size_t)rows * columns * 2);
    for (int i = 0; i < rows * columns; i++) {
        codes[i] = bfloat_of(m.at[i]);
    }
    m.there = upload(codes, (size_t)rows * columns * 2);
    free(codes);
    return m;
}

static void pile(struct map *map, address there, uint64_t width, uint64_t height, uint64_t depth)
{
    static const uint32_t steps[] = {1, 1, 1}, box[] = {TILE, 2 * TILE, 1};
    uint64_t size[] = {width, height, depth}, stride[] = {width * 2, width * height * 2};
    enum { BFLOATS = 9 };
    OK(cuTensorMapEncodeTiled(map->words, BFLOATS, 3, there, size, stride, box, steps, 0, 3, 2, 0));
}

static void cooperative(void)
{
    struct matrix a = bfloats(2 * 128, 320), b = bfloats(2 * 128, 320), bias = floats(1, 128);
    struct map map_a, map_b;
    int n = 128, rows = 128, steps = 5;
    double *wanted = make((size_t)2 * 128 * 128 * sizeof *wanted);
    for (int i = 0; i < 2 * 128 * 128; i++) {
        int batch = i / (128 * 128), row = i / 128, column = i % 128;
        double sum = product_at(&a, &b, true, row, batch * 128 + column, 0, 320) + bias.at[column];
        wanted[i] = sum < 0 ? 0 : sum;
    }
    address c = zeros((size_t)2 * 128 * 128 * 4);
    pile(&map_a, a.there, 320, 128, 2);
    pile(&map_b, b.there, 320, 128, 2);
    void *args[] = {&c, &map_a, &map_b, &bias.there, &n, &rows, &steps};
    run("cooperative", (unsigned[]){1, 1, 2}, 384, 12 * TILE_BYTES, args);
    expect("cooperative", c, wanted, (size_t)2 * 128 * 128, F32, 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} kernels[] = {
    {"pingpong", pingpong},         {"reducing", reducing},       {"multicast", multicast},
    {"stream_k", stream_k},         {"promoted", promoted},       {"grouped", grouped},
    {"split_kv", split_kv},         {"convolution", convolution}, {"mixed", mixed},
    {"threads_copy", threads_copy}, {"norm_rows", norm_rows},     {"cooperative", cooperative},
};

int main(int argc, char **argv)
{
    int count = 0;
    EXPECT(argc > 1);
    module = begin(argv, "kernels.ptx");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!is_wanted(kernels[i].name, argc, argv)) {
            continue;
        }
        state = UINT64_C(0x9E3779B97F4A7C15) + i;
        kernels[i].run();
        give_back();
        count++;
    }
    return count > 0 && all_right ? 0 : 1;
}
