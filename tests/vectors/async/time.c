/*
 * How long asynchronous instructions take. `async_time FOLDER` runs the kernels of FOLDER/time.ptx
 * and prints a line a case: its name and the cycles of three times, the first of which may find
 * caches empty. `async_time FOLDER RECORDED` holds them against such lines: it prints the cases
 * whose last time is more than NEAR per cent from the recorded one, and fails if they are more than
 * FAR_MOST of them, or if the median is above MEDIAN_MOST per cent. Cases called held_.. set no
 * parameter of a model; of them the median alone is bounded, by HELD_MEDIAN_MOST. `async_time
 * FOLDER - PREFIX` runs those whose names begin so. On a GPU it is linked with the vendor's
 * library, on a simulated one it runs under `sonde run`.
 */
#include "async.h"

#define INPUT_BYTES (8u << 20)
#define TIMES 3
#define NEAR 15
#define FAR_MOST 76
#define MEDIAN_MOST 8
#define HELD_MEDIAN_MOST 15

int cuLaunchKernelEx(const void *, handle, void **, void **);

/* CUlaunchConfig with one attribute, as the driver has it. */
struct config {
    unsigned grid[3], block[3], shared;
    handle stream;
    void *attributes;
    unsigned count;
};
struct attribute {
    int id, pad;
    union {
        unsigned cluster[3];
        char bytes[64];
    } value;
};
#define CLUSTER_DIMENSION 4

struct time_case {
    const char *name;
    unsigned threads, shared, cluster, grid;
    const char *tensor;
};

static const struct time_case cases[] = {
#define CASE(name, threads, shared, cluster, grid, tensor)                                         \
    {name, threads, shared, cluster, grid, tensor},
#include "time_cases.inc"
#undef CASE
};

#define CASES (sizeof cases / sizeof cases[0])

static address input, output;
static FILE *recorded;
static struct errors {
    double of[CASES];
    size_t count, far;
} fitted, held;

/* Boxes of f16: the tensor is twice the box in each dimension, and has 64 elements more in the
 * first.
 */
static void encode(uint32_t map[32], const char *name)
{
    unsigned rank = (unsigned)(name[1] - '0'), i = 0;
    uint64_t size[5], stride[5], bytes = 2;
    uint32_t box[5], step[5] = {1, 1, 1, 1, 1};
    char *at = (char *)(uintptr_t)name + 3;
    for (; i < rank; i++, at++) {
        box[i] = (uint32_t)strtoul(at, &at, 10);
        size[i] = box[i] * 2 + (i == 0 ? 64 : 0);
        bytes *= size[i];
        stride[i] = bytes;
    }
    int width = *(at - 1) == '_' ? (int)strtol(at + 1, NULL, 10) : 0;
    int swizzle = width == 128 ? 3 : width / 32;
    OK(cuTensorMapEncodeTiled(map, 6, rank, input, size, stride, box, step, 0, swizzle, 0, 0));
}

static void judge(const char *name, unsigned cycles)
{
    char line[256];
    unsigned times[TIMES];
    size_t length = strlen(name);
    rewind(recorded);
    while (fgets(line, sizeof line, recorded)) {
        if (strncmp(line, name, length) != 0 || line[length] != '\t' ||
            sscanf(line + length, "%u %u %u", &times[0], &times[1], &times[2]) != TIMES) {
            continue;
        }
        double card = times[TIMES - 1];
        double error = 100 * (cycles > card ? cycles - card : card - cycles) / card;
        struct errors *errors = strncmp(name, "held_", 5) == 0 ? &held : &fitted;
        errors->of[errors->count++] = error;
        if (error > NEAR) {
            printf("%s\t%u\t%u\n", name, times[TIMES - 1], cycles);
            errors->far++;
        }
        return;
    }
    printf("%s is not recorded\n", name);
    exit(1);
}

static void run_case(handle module, const struct time_case *c)
{
    static _Alignas(64) uint32_t map[32];
    uint32_t cycles[TIMES];
    handle f = function(module, c->name);
    void *args[] = {&input, &output, map};
    struct attribute attribute = {.id = CLUSTER_DIMENSION, .value.cluster = {c->cluster, 1, 1}};
    struct config config = {.grid = {c->grid, 1, 1},
                            .block = {c->threads, 1, 1},
                            .shared = c->shared,
                            .attributes = &attribute,
                            .count = c->cluster > 1};
    if (*c->tensor) {
        encode(map, c->tensor);
    }
    OK(cuFuncSetAttribute(f, 8, (int)c->shared));
    OK(cuMemsetD32_v2(output, 0, TIMES));
    OK(cuLaunchKernelEx(&config, f, args, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(cycles, output, sizeof cycles));
    if (recorded) {
        judge(c->name, cycles[TIMES - 1]);
    } else {
        printf("%s\t%u\t%u\t%u\n", c->name, cycles[0], cycles[1], cycles[2]);
        fflush(stdout);
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double summary(struct errors *errors, const char *which)
{
    qsort(errors->of, errors->count, sizeof errors->of[0], by_size);
    double median = errors->count ? errors->of[errors->count / 2] : 100;
    printf("%zu %s cases, median error %.1f %%, %zu of more than %d %%\n", errors->count, which,
           median, errors->far, NEAR);
    return median;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        return 2;
    }
    handle module = begin(argv, "time.ptx");
    OK(cuMemAlloc_v2(&input, INPUT_BYTES));
    OK(cuMemsetD32_v2(input, 0, INPUT_BYTES / 4));
    OK(cuMemAlloc_v2(&output, 4096));
    recorded = argc > 2 && strcmp(argv[2], "-") != 0 ? fopen(argv[2], "r") : NULL;
    EXPECT(argc <= 2 || recorded || argc == 4);
    for (size_t i = 0; i < CASES; i++) {
        if (argc < 4 || strncmp(cases[i].name, argv[3], strlen(argv[3])) == 0) {
            run_case(module, &cases[i]);
        }
    }
    return recorded && (summary(&fitted, "fitted") > MEDIAN_MOST || fitted.far > FAR_MOST ||
                        summary(&held, "held out") > HELD_MEDIAN_MOST);
}
