/*
 * Asynchronous instructions to the bit. `async FOLDER` runs the kernels of FOLDER/kernels.ptx on
 * operands that follow from the name of each case, and prints a line a case: the name and a hash of
 * all that the kernel left. `async FOLDER RECORDED` holds them against such lines instead: it
 * prints what differs, and fails if anything does. `async FOLDER RECORDED SEED ROUNDS` (RECORDED
 * may be -) runs each product, reduction and atomic instead on ROUNDS times 128 lanes that follow
 * from SEED, and takes one hash of them all. On a GPU it is linked with the vendor's library, on a
 * simulated one it runs under `sonde run`.
 */
#include "async.h"

static address input, output, tensor;
static uint8_t *in, *out;
static handle module;
static struct lines recorded;
static uint64_t state;

uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * UINT64_C(0x2545F4914F6CDD1D);
}

void draw_from(uint64_t seed)
{
    state = seed * UINT64_C(0x9E3779B97F4A7C15) + 12345;
    for (int i = 0; i < 8; i++) {
        draw();
    }
}

static uint64_t hash(const uint8_t *bytes, size_t count)
{
    uint64_t h = UINT64_C(1469598103934665603);
    for (size_t i = 0; i < count; i++) {
        h = (h ^ bytes[i]) * UINT64_C(1099511628211);
    }
    return h;
}

/* Many rounds of other operands are one case. */
static struct {
    unsigned seed, count, now;
    uint64_t sum;
} rounds;

/* What a case left in `out`. */
static void result(const char *name, size_t bytes)
{
    char line[200];
    uint64_t sum = hash(out, bytes);
    if (rounds.count > 0) {
        sum = rounds.sum = (rounds.now ? rounds.sum * 31 : 0) ^ sum;
        if (rounds.now + 1 < rounds.count) {
            return;
        }
        snprintf(line, sizeof line, "%s.%u.%u %016llx", name, rounds.seed, rounds.count,
                 (unsigned long long)sum);
        lines_judge(&recorded, line);
        return;
    }
    snprintf(line, sizeof line, "%s %016llx", name, (unsigned long long)sum);
    lines_judge(&recorded, line);
}

static void fill_words(uint8_t *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = draw();
        memcpy(to + i, &word, 8);
    }
}

static void run(const char *kernel, unsigned blocks, unsigned shared, void **args)
{
    handle f = function(module, kernel);
    if (shared > 49152) {
        OK(cuFuncSetAttribute(f, 8, (int)shared));
    }
    OK(cuLaunchKernel(f, blocks, 1, 1, 128, 1, 1, shared, NULL, args, NULL));
    OK(cuCtxSynchronize());
}

/* ---- wgmma ---- */

#define SHARED 16384
#define D_AT (SHARED + 5 * 512) /* behind shared memory: a's registers, metadata, d's registers */

static uint64_t descriptor(const unsigned *d)
{
    return (uint64_t)(d[0] >> 4) | (uint64_t)(d[1] >> 4) << 16 | (uint64_t)(d[2] >> 4) << 32 |
           (uint64_t)d[3] << 49 | (uint64_t)d[4] << 62;
}

/* Two of four, as bits; of tf32 one of two. */
static void fill_metadata(const char *type)
{
    static const int pairs[] = {4, 8, 12, 9, 13, 14};
    for (int i = 0; i < 128; i++) {
        uint32_t word = 0;
        for (int j = 0; j < 8; j++) {
            uint64_t r = draw() >> 20;
            int code = type_bytes(type) == 4 ? (r & 1 ? 14 : 4) : pairs[r % 6];
            word |= (uint32_t)code << 4 * j;
        }
        memcpy(in + SHARED + 2048 + (size_t)4 * i, &word, 4);
    }
}

static void fill_sums(const struct product *p, int mode)
{
    fill(in + D_AT, (size_t)p->registers * 512, p->d, mode);
    for (int i = 0; p->d[0] == 's' && mode != 0 && i < p->registers * 128; i++) {
        int32_t value = (int32_t)draw() >> (mode == 1 ? 0 : 12);
        if (mode == 2) {
            value = draw() & 64 ? 0x7fffff00 : -0x7fffff00;
        }
        memcpy(in + D_AT + (size_t)4 * i, &value, 4);
    }
}

static void multiply(const struct product *p, const char *name, int mode, unsigned seed,
                     const unsigned *a, const unsigned *b)
{
    size_t bytes = (size_t)p->registers * 512;
    uint64_t da = descriptor(a), db = descriptor(b);
    void *args[] = {&input, &output, &da, &db};
    char full[128];
    draw_from(seed);
    fill(in, SHARED, p->a, mode);
    fill(in + SHARED, 2048, p->a, mode);
    fill_metadata(p->a);
    fill_sums(p, mode);
    OK(cuMemcpyHtoD_v2(input, in, D_AT + bytes));
    run(p->name, 1, 32768, args);
    OK(cuMemcpyDtoH_v2(out, output, bytes));
    snprintf(full, sizeof full, rounds.count ? "%s" : "%s.%d.%u", name, mode, seed);
    result(full, bytes);
}

static void products(void)
{
    static const unsigned a[5] = {0, 128, 256, 0, 0};
    for (size_t i = 0; i < product_count; i++) {
        const struct product *p = &all_products[i];
        unsigned b[5] = {4096, 128, p->sparse ? 512 : 256, 0, 0};
        for (int mode = 0; mode < 6 && strncmp(p->name, "lay", 3) != 0; mode++) {
            for (unsigned seed = 0; seed < 2; seed++) {
                multiply(p, p->name, mode, 100 + seed * 10 + (unsigned)mode, a, b);
            }
        }
        for (size_t k = 0; k < layout_count && strncmp(p->name, "lay", 3) == 0; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s.L%zu", p->name, k);
            multiply(p, name, 5, 7 + (unsigned)k, layouts[k].a, layouts[k].b);
        }
    }
}

/* ---- tensors ---- */

#define TENSOR 262144
#define BOX 32768

static void reset_tensor(void)
{
    draw_from(5);
    fill_words(in, TENSOR);
    OK(cuMemcpyHtoD_v2(tensor, in, TENSOR));
}

/* A load leaves shared memory in `output`, a store takes it from there and changes the tensor. */
static void copy(const char *kernel, const char *name, uint32_t *map, uint32_t bytes,
                 const int32_t *at, bool load)
{
    int32_t c[8];
    char full[128];
    memcpy(c, at, sizeof c);
    void *args[] = {map, &output, &bytes, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7]};
    if (load) {
        OK(cuMemsetD32_v2(output, 0x11111111, BOX));
    } else {
        draw_from(99);
        fill_words(in, BOX);
        OK(cuMemcpyHtoD_v2(output, in, BOX));
    }
    run(kernel, 1, 33792, args);
    OK(cuMemcpyDtoH_v2(out, load ? output : tensor, load ? BOX : TENSOR));
    snprintf(full, sizeof full, "%s.%s", kernel, name);
    result(full, load ? BOX : TENSOR);
}

static uint32_t map[32] __attribute__((aligned(64)));

static void encode(int type, unsigned rank, const uint64_t *size, const uint64_t *stride,
                   const uint32_t *box, int swizzle, int fill)
{
    static const uint32_t steps[] = {1, 1, 1, 1, 1};
    OK(cuTensorMapEncodeTiled(map, type, rank, tensor, size, stride, box, steps, 0, swizzle, 0,
                              fill));
}

static void swizzles(void)
{
    static const int32_t at[5][8] = {{0, 0}, {4, 0}, {8, 3}, {0, 7}, {-4, -2}};
    static const int numbers[] = {0, 4, 5, 6, 7};
    for (int swizzle = 0; swizzle < 4; swizzle++) {
        uint32_t box[] = {swizzle == 1 ? 8 : swizzle == 2 ? 16 : 32, 24};
        for (int i = 0; i < 5; i++) {
            char name[32];
            snprintf(name, sizeof name, "sw%d.%d", swizzle, numbers[i]);
            encode(2, 2, (uint64_t[]){100, 50}, (uint64_t[]){416}, box, swizzle, 0);
            copy("tile_load_2", name, map, box[0] * box[1] * 4, at[i], true);
        }
    }
    for (int type = 4; type < 9; type += type == 5 ? 3 : 1) { /* 8 bytes: the corner is aligned */
        char name[32];
        for (int nan = 0; nan < (type == 8 ? 2 : 1); nan++) {
            snprintf(name, sizeof name, "%s%d", nan ? "nan" : "type", type);
            encode(type, 2, (uint64_t[]){50, 40}, (uint64_t[]){512}, (uint32_t[]){16, 8}, 0, nan);
            copy("tile_load_2", name, map, 1024, (int32_t[8]){-2, 35}, true);
        }
    }
}

static void ranks(void)
{
    static const uint64_t size[] = {37, 11, 7, 5, 3}, stride[] = {80, 960, 7040, 36000};
    static const uint32_t box[] = {16, 6, 4, 3, 2};
    uint32_t bytes = 2;
    for (unsigned rank = 1; rank <= 5; rank++) {
        int32_t first[8] = {0}, edge[8] = {0};
        char kernel[32];
        bytes *= box[rank - 1];
        for (unsigned i = 0; i < 5; i++) {
            edge[i] = i % 2 ? -1 : (int32_t)size[i] - 5;
        }
        encode(1, rank, size, stride, box, 0, 0);
        snprintf(kernel, sizeof kernel, "tile_load_%u", rank);
        copy(kernel, "r0", map, bytes, first, true);
        copy(kernel, "r1", map, bytes, edge, true);
        snprintf(kernel, sizeof kernel, "tile_store_%u", rank);
        copy(kernel, "r0", map, 0, first, false);
        reset_tensor();
        if (rank == 1) { /* no coordinate is negative */
            copy(kernel, "r1", map, 0, edge, false);
            reset_tensor();
        }
    }
}

static void pixels(void)
{
    for (unsigned rank = 3; rank <= 5; rank++) {
        for (int v = 0; v < 6; v++) {
            uint64_t size[] = {40, 11, rank == 3 ? 5 : 7, 5, 3};
            static const uint64_t stride[] = {96, 96 * 11, 96 * 77, 96 * 77 * 5};
            int lower[] = {v == 5 ? 0 : -1, -2, -1}, upper[] = {v == 5 ? 0 : -1, -1, 0};
            uint32_t steps[] = {1, v == 4 ? 2 : 1, v == 4 && rank > 3 ? 3 : 1, 1, 1};
            unsigned channels = 16, count = v == 4 ? 17 : v == 5 ? 64 : 40;
            int32_t at[8] = {8, 0};
            char kernel[32], name[8];
            for (int i = 1; i < 4; i++) {
                at[i] = v & 1 ? 1 : (int[]){-1, -2, -1}[i - 1];
            }
            at[1] = v & 1 ? 1 : lower[0];
            at[rank - 1] = 1;
            if (v >= 2) {
                at[5] = 1;
                at[6] = rank > 3 ? 2 : 0;
                at[7] = rank > 4 ? 1 : 0;
            }
            OK(cuTensorMapEncodeIm2col(map, 6, rank, tensor, size, stride, lower, upper, channels,
                                       count, steps, 0, v == 5, 0, 0));
            snprintf(kernel, sizeof kernel, "im2col_load_%u", rank);
            snprintf(name, sizeof name, "v%d", v);
            copy(kernel, name, map, channels * count * 2, at, true);
        }
    }
}

/* ---- bulk reductions, vector atomics ---- */

static void combine(const char *kernel, unsigned mode, bool atomic)
{
    const char *word = strrchr(kernel, '_') + 1;
    char type[8], name[64];
    snprintf(type, sizeof type, "%s", word);
    type[strcspn(type, "x")] = '\0';
    bool f64 = strcmp(type, "f64") == 0, real = strchr(type, 'f') && !f64;
    size_t half = atomic ? 8192 : 32768;
    draw_from((atomic ? 41 : 21) + (rounds.count ? rounds.seed * 1000 + rounds.now : mode));
    if (real) {
        fill(in, 2 * half, type, (int)mode);
    }
    for (size_t k = 0; !real && k < 2 * half; k += 8) {
        uint64_t r = draw();
        if (f64 && mode) {
            r = (r & UINT64_C(0x800fffffffffffff)) | (0x3ff + (r >> 52 & 15)) << 52;
        }
        memcpy(in + k, &r, 8);
    }
    OK(cuMemcpyHtoD_v2(input, in, 2 * half));
    OK(cuMemsetD32_v2(output, 0, 2048));
    address place = input + half;
    void *args[] = {&place, &input, &output};
    run(kernel, 1, 33792, args);
    OK(cuMemcpyDtoH_v2(out, place, atomic ? 2048 : 4096));
    if (atomic) {
        OK(cuMemcpyDtoH_v2(out + 2048, output, 2048));
    }
    snprintf(name, sizeof name, rounds.count ? "%s" : "%s.%u", kernel, mode);
    result(name, 4096);
}

/* The modes of operands take turns. */
static void many_rounds(void)
{
    static const unsigned a[5] = {0, 128, 256, 0, 0};
    for (size_t i = 0; i < product_count; i++) {
        const struct product *p = &all_products[i];
        const unsigned b[5] = {4096, 128, p->sparse ? 512 : 256, 0, 0};
        for (unsigned r = 0; r < rounds.count && strncmp(p->name, "lay", 3) != 0; r++) {
            rounds.now = r;
            multiply(p, p->name, (int)(r % 6), rounds.seed * 1000 + r, a, b);
        }
    }
    for (size_t i = 0; i < reduction_count; i++) {
        for (rounds.now = 0; rounds.now < rounds.count; rounds.now++) {
            combine(all_reductions[i], rounds.now % 4, false);
        }
    }
    for (size_t i = 0; i < atomic_count; i++) {
        for (rounds.now = 0; rounds.now < rounds.count; rounds.now++) {
            combine(all_atomics[i], rounds.now % 4, true);
        }
    }
}

int main(int argc, char **argv)
{
    EXPECT(argc == 2 || argc == 3 || argc == 5);
    in = malloc(1 << 20);
    out = malloc(1 << 20);
    EXPECT(in && out && lines_read(&recorded, argc >= 3 && strcmp(argv[2], "-") ? argv[2] : NULL));
    module = begin(argv, "kernels.ptx");
    input = take(1 << 18);
    output = take(1 << 18);
    tensor = take(1 << 18);
    if (argc == 5) {
        rounds.seed = (unsigned)strtoul(argv[3], NULL, 10);
        rounds.count = (unsigned)strtoul(argv[4], NULL, 10);
        many_rounds();
        return lines_end(&recorded);
    }
    products();
    reset_tensor();
    swizzles();
    reset_tensor();
    ranks();
    pixels();
    for (unsigned mode = 0; mode < 4; mode++) {
        for (size_t i = 0; i < reduction_count; i++) {
            combine(all_reductions[i], mode, false);
        }
        for (size_t i = 0; i < atomic_count; i++) {
            combine(all_atomics[i], mode, true);
        }
    }
    return lines_end(&recorded);
}
