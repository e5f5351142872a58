/*
 * Kernels in the manner of libraries, written to find what does not run (later.cu). `later FOLDER`
 * runs all of FOLDER/later.ptx, `later FOLDER NAME...` those. The bytes that each leaves are to be
 * those of an H200 (FOLDER/later.h200 has their hashes) and its values near the host's own. Numbers
 * are real ones, so that each rounding shows. Each is launched twice: at the first launch no cache
 * has its instructions.
 */
#include <math.h>
#include <stdbool.h>

#include "shim/hosts/host.h"
#include "tiled/tiled.h"

/* Types of tensors, as the driver numbers them, are the first column's. */
enum kind { E4M3, E5M2, S8, U8, F16, BF16, TF32 };
static const struct {
    int tensor;
    uint32_t bytes, fraction, bias, lowest, exponents;
} kinds[] = {
    [E4M3] = {0, 1, 3, 7, 4, 6},      [E5M2] = {0, 1, 2, 15, 12, 6},
    [S8] = {0, 1, 0, 0, 0, 0},        [U8] = {0, 1, 0, 0, 0, 0},
    [F16] = {6, 2, 10, 15, 10, 7},    [BF16] = {9, 2, 7, 127, 120, 9},
    [TF32] = {7, 4, 23, 127, 120, 9},
};

struct matrix {
    int rows, columns;
    double *at;
    address there;
};

static handle module;
static bool all_right = true;
static const char *recorded; /* the file of hashes */

static void *make(size_t bytes)
{
    void *memory = calloc(1, bytes);
    EXPECT(memory);
    return memory;
}

/* A number's bits, and what it is. */
static uint32_t number(double *value, enum kind kind)
{
    if (kind == S8 || kind == U8) {
        uint8_t code = (uint8_t)draw();
        *value = kind == S8 ? (int8_t)code : code;
        return code;
    }
    uint32_t fraction = draw() & ((1u << kinds[kind].fraction) - 1), sign = draw() & 1;
    uint32_t exponent = kinds[kind].lowest + draw() % kinds[kind].exponents;
    *value = ldexp((1u << kinds[kind].fraction) + fraction,
                   (int)exponent - (int)kinds[kind].bias - (int)kinds[kind].fraction);
    *value = sign ? -*value : *value;
    return sign << (kinds[kind].bytes * 8 - 1) | exponent << kinds[kind].fraction | fraction;
}

static address upload(const void *from, size_t bytes)
{
    address there;
    OK(cuMemAlloc_v2(&there, bytes));
    OK(cuMemcpyHtoD_v2(there, from, bytes));
    return there;
}

static struct matrix drawn(int rows, int columns, enum kind kind)
{
    struct matrix m = {.rows = rows, .columns = columns};
    size_t count = (size_t)rows * columns, bytes = kinds[kind].bytes;
    uint8_t *codes = make(count * bytes);
    m.at = make(count * sizeof *m.at);
    for (size_t i = 0; i < count; i++) {
        uint32_t code = number(&m.at[i], kind);
        memcpy(codes + i * bytes, &code, bytes);
    }
    m.there = upload(codes, count * bytes);
    free(codes);
    return m;
}

static void forget(struct matrix *m)
{
    free(m->at);
    OK(cuMemFree_v2(m->there));
}

static address zeros(size_t bytes)
{
    address there;
    OK(cuMemAlloc_v2(&there, bytes));
    OK(cuMemsetD32_v2(there, 0, bytes / 4));
    return there;
}

static void plane(struct map *map, enum kind kind, const struct matrix *m, uint32_t box_bytes,
                  uint32_t box_height)
{
    static const uint32_t steps[] = {1, 1};
    uint64_t bytes = kinds[kind].bytes, size[] = {(uint64_t)m->columns, (uint64_t)m->rows};
    uint64_t stride[] = {size[0] * bytes};
    uint32_t box[] = {box_bytes / (uint32_t)bytes, box_height};
    OK(cuTensorMapEncodeTiled(map->words, kinds[kind].tensor, 2, m->there, size, stride, box, steps,
                              0,
                              box_bytes == 128  ? 3
                              : box_bytes == 64 ? 2
                                                : 1,
                              2, 0));
}

static void run(const char *name, const unsigned grid[3], unsigned threads, unsigned shared,
                void **args)
{
    handle f = function(module, name);
    if (shared > 40960) { /* beside what the kernel has itself */
        OK(cuFuncSetAttribute(f, DYNAMIC_SHARED, (int)shared));
    }
    for (int launch = 0; launch < 2; launch++) {
        OK(cuLaunchKernel(f, grid[0], grid[1], grid[2], threads, 1, 1, shared, NULL, args, NULL));
        OK(cuCtxSynchronize());
    }
}

/* ---- results ---- */

static double of_half(uint16_t code)
{
    double value = (code & 0x7c00) ? ldexp((code & 0x3ff) + 1024, (code >> 10 & 31) - 25)
                                   : ldexp(code & 0x3ff, -24);
    return code & 0x8000 ? -value : value;
}

enum result { FLOATS, HALVES, BFLOATS, WHOLE };

static double read_as(const uint8_t *bytes, size_t i, enum result kind)
{
    uint16_t code;
    int32_t whole;
    float value;
    if (kind == HALVES || kind == BFLOATS) {
        memcpy(&code, bytes + 2 * i, 2);
        uint32_t wide = (uint32_t)code << 16;
        memcpy(&value, &wide, 4);
        return kind == HALVES ? of_half(code) : value;
    }
    memcpy(&whole, bytes + 4 * i, 4);
    memcpy(&value, bytes + 4 * i, 4);
    return kind == WHOLE ? whole : value;
}

/* A line of the file: the kernel's name, and the hash. */
static bool is_recorded(const char *name, uint64_t hash)
{
    char of[64];
    unsigned long long value;
    bool found = false;
    FILE *file = fopen(recorded, "r");
    EXPECT(file);
    while (!found && fscanf(file, "%63s %llx", of, &value) == 2) {
        found = strcmp(of, name) == 0 && value == hash;
    }
    fclose(file);
    return found;
}

/* How many values are further from what is wanted than `near` of what was added; whether the bytes
 * are the card's, where it is known how the card makes them. Frees what is wanted and the output.
 */
static void tell(const char *name, bool exact, address out, double *wanted, const double *added,
                 size_t count, enum result kind, double near)
{
    size_t bytes = count * (kind == HALVES || kind == BFLOATS ? 2 : 4), far = 0;
    uint8_t *got = make(bytes);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    OK(cuMemcpyDtoH_v2(got, out, bytes));
    OK(cuMemFree_v2(out));
    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ got[i]) * UINT64_C(0x100000001b3);
    }
    for (size_t i = 0; i < count; i++) {
        far += !(fabs(read_as(got, i, kind) - wanted[i]) <= near * added[i]);
    }
    bool same = !exact || is_recorded(name, hash);
    printf("%s %016llx%s: %zu of %zu values are far from the host's\n", name,
           (unsigned long long)hash, same ? "" : " (not the card's)", far, count);
    all_right &= far == 0 && same;
    free(got);
    free(wanted);
}

/* ---- products ---- */

static const struct product {
    const char *name;
    enum kind a, b;
    enum result kind;
    int n, row_bytes, stages, groups, across, down; /* as in later.cu */
    int tiles_m, tiles_n, steps, blocks;
    double sign, near;
} products[] = {
    {"bf16_ring", BF16, BF16, FLOATS, 96, 128, 3, 2, 1, 1, 3, 2, 5, 4, 1, 1e-5},
    {"narrow_pair", E5M2, E4M3, FLOATS, 128, 64, 4, 1, 2, 1, 3, 4, 7, 4, 1, 2e-3},
    {"whole_pair", S8, U8, WHOLE, 64, 32, 5, 2, 1, 2, 4, 3, 9, 4, 1, 0},
    {"tf32_square", TF32, TF32, FLOATS, 64, 128, 2, 1, 2, 2, 4, 4, 6, 8, 1, 2e-3},
    {"half_row", F16, F16, HALVES, 128, 128, 4, 1, 4, 1, 3, 4, 3, 8, -1, 2e-2},
    {"narrow_half", E4M3, E4M3, HALVES, 96, 64, 3, 2, 1, 2, 4, 2, 4, 4, -1, 2e-2},
    {"bf16_eight", BF16, BF16, FLOATS, 64, 64, 5, 2, 2, 4, 4, 4, 11, 8, 1, 1e-5},
};

/* a bt', and the sums of the absolute values of what is added. */
static double *product_of(double **added, const struct matrix *a, const struct matrix *b,
                          double sign)
{
    size_t n = (size_t)b->rows;
    double *out = make(a->rows * n * sizeof *out);
    *added = make(a->rows * n * sizeof **added);
    for (size_t i = 0; i < a->rows * n; i++) {
        for (int k = 0; k < a->columns; k++) {
            double term = a->at[i / n * a->columns + k] * b->at[i % n * b->columns + k];
            out[i] += sign * term;
            (*added)[i] += fabs(term);
        }
    }
    return out;
}

static void persistent(const struct product *p)
{
    int depth = p->row_bytes / (int)kinds[p->a].bytes, rows = 64 * p->groups, steps = p->steps;
    int tiles_m = p->tiles_m, tiles_n = p->tiles_n;
    struct matrix a = drawn(tiles_m * rows, steps * depth, p->a);
    struct matrix b = drawn(tiles_n * p->n, steps * depth, p->b);
    struct map map_a, map_b;
    size_t count = (size_t)a.rows * b.rows;
    address c = zeros(count * 4);
    double *added, *wanted = product_of(&added, &a, &b, p->sign);
    plane(&map_a, p->a, &a, (uint32_t)p->row_bytes, (uint32_t)(rows / p->across));
    plane(&map_b, p->b, &b, (uint32_t)p->row_bytes, (uint32_t)(p->n / p->down));
    void *args[] = {&map_a, &map_b, &c, &tiles_m, &tiles_n, &steps, &depth};
    run(p->name, (unsigned[]){(unsigned)p->blocks, 1, 1}, 128 * (unsigned)(p->groups + 1),
        (unsigned)(p->stages * p->row_bytes * (rows + p->n)), args);
    tell(p->name, true, c, wanted, added, count, p->kind, p->near);
    free(added);
    forget(&a);
    forget(&b);
}

/* ---- others ---- */

static void attend_turns(void)
{
    int keys = 384, heads = 2;
    float scale = 0.125f * 1.44269504f;
    struct matrix q = drawn(heads * keys, 64, BF16), k = drawn(heads * keys, 64, BF16);
    struct matrix v = drawn(heads * keys, 64, BF16);
    struct map map_q, map_k, map_v;
    size_t count = (size_t)heads * keys * 64;
    address out = zeros(count * 2), sums = zeros((size_t)heads * keys * 4);
    double *wanted = make(count * 8), *added = make(count * 8), *score = make((size_t)keys * 8);
    double *logs = make((size_t)heads * keys * 8), *ones = make((size_t)heads * keys * 8);
    for (int row = 0; row < heads * keys; row++) {
        int first = row / keys * keys;
        double top = -INFINITY, sum = 0;
        for (int j = first; j <= row; j++) {
            double *s = &score[j - first];
            *s = 0;
            for (int i = 0; i < 64; i++) {
                *s += q.at[row * 64 + i] * k.at[j * 64 + i];
            }
            top = fmax(top, *s);
        }
        for (int j = first; j <= row; j++) {
            double part = exp2((score[j - first] - top) * scale);
            sum += part;
            for (int i = 0; i < 64; i++) {
                wanted[row * 64 + i] += part * v.at[j * 64 + i];
                added[row * 64 + i] += part * fabs(v.at[j * 64 + i]);
            }
        }
        logs[row] = top * scale + log2(sum);
        ones[row] = fabs(top * scale) + 1;
        for (int i = 0; i < 64; i++) {
            wanted[row * 64 + i] /= sum;
            added[row * 64 + i] /= sum;
        }
    }
    plane(&map_q, BF16, &q, 128, 128);
    plane(&map_k, BF16, &k, 128, 64);
    plane(&map_v, BF16, &v, 128, 64);
    void *args[] = {&map_q, &map_k, &map_v, &out, &sums, &keys, &scale};
    run("attend_turns", (unsigned[]){(unsigned)keys / 128, (unsigned)heads, 1}, 384, 6 * 8192,
        args);
    tell("attend_turns", true, out, wanted, added, count, BFLOATS, 2e-2);
    tell("attend_turns_sums", false, sums, logs, ones, (size_t)heads * keys, FLOATS,
         1e-5); /* lg2 */
    free(ones);
    free(added);
    free(score);
    forget(&q);
    forget(&k);
    forget(&v);
}

static void softmax_sent(void)
{
    int rows = 6, width = 4096;
    struct matrix in = drawn(rows, width, TF32);
    size_t count = (size_t)rows * width;
    address out = zeros(count * 4);
    double *wanted = make(count * 8);
    for (int row = 0; row < rows; row++) {
        const double *x = in.at + (size_t)row * width;
        double top = -INFINITY, sum = 0;
        for (int i = 0; i < width; i++) {
            top = fmax(top, x[i]);
        }
        for (int i = 0; i < width; i++) {
            sum += exp(x[i] - top);
        }
        for (int i = 0; i < width; i++) {
            wanted[(size_t)row * width + i] = exp(x[i] - top) / sum;
        }
    }
    double *added = make(count * 8);
    memcpy(added, wanted, count * 8);
    void *args[] = {&out, &in.there, &width};
    run("softmax_sent", (unsigned[]){(unsigned)rows * 8, 1, 1}, 128, 0, args);
    tell("softmax_sent", true, out, wanted, added, count, FLOATS, 1e-5);
    free(added);
    forget(&in);
}

static void rows_through(void)
{
    int rows = 37;
    struct matrix in = drawn(rows, 1024, BF16), before = drawn(rows, 1024, BF16);
    size_t count = (size_t)rows * 1024;
    double *wanted = make(count * 8), *added = make(count * 8);
    for (int row = 0; row < rows; row++) {
        const double *x = in.at + (size_t)row * 1024;
        double sum = 0, squares = 0;
        for (int i = 0; i < 1024; i++) {
            sum += x[i];
            squares += x[i] * x[i];
        }
        double mean = sum / 1024, spread = sqrt(squares / 1024 - mean * mean + 1e-5);
        for (int i = 0; i < 1024; i++) {
            size_t at = (size_t)row * 1024 + i;
            wanted[at] = 2 * (x[i] - mean) / spread + before.at[at]; /* of two launches */
            added[at] = 2 * fabs((x[i] - mean) / spread) + fabs(before.at[at]);
        }
    }
    void *args[] = {&before.there, &in.there, &rows};
    run("rows_through", (unsigned[]){3, 1, 1}, 128, 0, args);
    tell("rows_through", true, before.there, wanted, added, count, BFLOATS, 1e-2);
    free(added);
    free(before.at);
    forget(&in);
}

static void four_bits(void)
{
    int n = 128, steps = 5, rows = 128, k = steps * 64;
    struct matrix b = drawn(n, k, BF16), scales = drawn(1, rows, TF32), a = {rows, k, NULL, 0};
    struct map map_b;
    size_t count = (size_t)rows * n;
    uint32_t *codes = make((size_t)rows * k / 2);
    a.at = make((size_t)rows * k * 8);
    for (int i = 0; i < rows * k; i++) {
        uint32_t code = draw() % 16;
        codes[i / 8] |= code << i % 8 * 4;
        a.at[i] = ((int)code - 8) * scales.at[i / k];
    }
    a.there = upload(codes, (size_t)rows * k / 2);
    free(codes);
    address c = zeros(count * 4);
    double *added, *wanted = product_of(&added, &a, &b, 1);
    plane(&map_b, BF16, &b, 128, 64);
    void *args[] = {&c, &a.there, &scales.there, &map_b, &n, &steps};
    run("four_bits", (unsigned[]){(unsigned)n / 64, (unsigned)rows / 64, 1}, 128, 2 * 8192, args);
    tell("four_bits", true, c, wanted, added, count, FLOATS, 1e-5);
    free(added);
    forget(&a);
    forget(&b);
    forget(&scales);
}

static void split_cluster(void)
{
    int m = 100, n = 136, k = 640;
    struct matrix a = drawn(m, k, BF16), b = drawn(n, k, BF16);
    size_t count = (size_t)m * n;
    address c = zeros(count * 4);
    double *added, *wanted = product_of(&added, &a, &b, 1);
    void *args[] = {&c, &a.there, &b.there, &m, &n, &k};
    run("split_cluster", (unsigned[]){3, 2, 4}, 128, 0, args);
    tell("split_cluster", true, c, wanted, added, count, FLOATS, 1e-5);
    free(added);
    forget(&a);
    forget(&b);
}

static void scaled_bytes(void)
{
    int n = 128, steps = 6, rows = 128, k = steps * 64;
    struct matrix a = drawn(rows, k, E4M3), b = drawn(n, k, E4M3);
    struct matrix by_row = drawn(rows, steps, TF32), by_tile = drawn(n / 64, steps, TF32);
    size_t count = (size_t)rows * n;
    address c = zeros(count * 2);
    double *wanted = make(count * 8), *added = make(count * 8);
    for (size_t i = 0; i < count; i++) {
        size_t row = i / n, column = i % n;
        for (int x = 0; x < k; x++) {
            double term = a.at[row * k + x] * b.at[column * k + x] *
                          by_row.at[row * steps + x / 64] *
                          by_tile.at[column / 64 * steps + x / 64];
            wanted[i] += term;
            added[i] += fabs(term);
        }
    }
    void *args[] = {&c, &a.there, &b.there, &by_row.there, &by_tile.there, &n, &steps};
    run("scaled_bytes", (unsigned[]){(unsigned)n / 64, (unsigned)rows / 64, 1}, 160, 0, args);
    tell("scaled_bytes", true, c, wanted, added, count, HALVES, 1e-2);
    free(added);
    forget(&a);
    forget(&b);
    forget(&by_row);
    forget(&by_tile);
}

static const struct {
    const char *name;
    void (*run)(void);
} others[] = {
    {"attend_turns", attend_turns},   {"softmax_sent", softmax_sent},
    {"rows_through", rows_through},   {"four_bits", four_bits},
    {"split_cluster", split_cluster}, {"scaled_bytes", scaled_bytes},
};

int main(int argc, char **argv)
{
    EXPECT(argc > 1);
    module = begin(argv, "later.ptx");
    recorded = path_of(argv, "later.h200");
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        if (is_wanted(products[i].name, argc, argv)) {
            state = UINT64_C(0x9E3779B97F4A7C15) + i;
            persistent(&products[i]);
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (is_wanted(others[i].name, argc, argv)) {
            state = UINT64_C(0xD1B54A32D192ED03) + i;
            others[i].run();
        }
    }
    return all_right ? 0 : 1;
}
