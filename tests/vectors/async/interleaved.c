/*
 * Boxes of interleaved tensors: `interleaved FOLDER` runs each line of FOLDER/h200_interleaved.txt,
 * which says what the box is, and compares what it left with what an H200 left. The kernel is in
 * interleaved.cu.
 */
#include "async.h"

#define ELEMENTS 65536
#define SHARED_ELEMENTS 16384
#define UNTOUCHED 0xeeee
enum { LOAD, STORE, IM2COL };

static const char *at;

static int64_t next(void)
{
    char *end;
    int64_t value = strtoll(at, &end, 10);
    EXPECT(end != at);
    at = end;
    return value;
}

struct box {
    int kind, type, rank, interleave, swizzle, fill, lower[3], upper[3], coordinates[8];
    uint64_t size[5], stride[5];
    uint32_t box[5], step[5];
};

static void read_box(struct box *b)
{
    int *const heads[] = {&b->kind, &b->type, &b->rank, &b->interleave, &b->swizzle, &b->fill};
    *b = (struct box){0};
    for (int i = 0; i < 6; i++)
        *heads[i] = (int)next();
    bool pixels = b->kind == IM2COL;
    for (int i = 0; i < b->rank; i++)
        b->size[i] = (uint64_t)next();
    for (int i = 0; i + 1 < b->rank; i++)
        b->stride[i] = (uint64_t)next();
    for (int i = 0; pixels && i + 2 < b->rank; i++)
        b->lower[i] = (int)next();
    for (int i = 0; pixels && i + 2 < b->rank; i++)
        b->upper[i] = (int)next();
    for (int i = 0; i < (pixels ? 2 : b->rank); i++)
        b->box[i] = (uint32_t)next();
    for (int i = 0; i < b->rank; i++)
        b->step[i] = (uint32_t)next();
    for (int i = 0; i < b->rank; i++)
        b->coordinates[i] = (int)next();
    for (int i = 0; pixels && i + 2 < b->rank; i++)
        b->coordinates[5 + i] = (int)next();
}

/* Runs of what goes up by one, and of what stays alike. */
static void describe(char *out, size_t size, const uint16_t *got, bool stored)
{
    int count = stored ? ELEMENTS : SHARED_ELEMENTS;
    size_t length = 0;
    out[0] = '\0';
    for (int i = 0, end; i < count; i = end) {
        int step = i + 1 < count ? (uint16_t)(got[i + 1] - got[i]) : 0;
        for (end = i + 1; end < count && (uint16_t)(got[end] - got[end - 1]) == step && step <= 1;)
            end++;
        step = step > 1 ? 0 : step;
        if (got[i] != (stored ? (uint16_t)i : UNTOUCHED))
            length += (size_t)snprintf(out + length, size - length, "%s%d:%s%x*%d",
                                       length ? " " : "", i, step ? "+" : "=", got[i], end - i);
        EXPECT(length < size);
    }
}

static void run(handle module, struct box *b, char *out, size_t size)
{
    static uint16_t in[ELEMENTS], left[SHARED_ELEMENTS];
    static _Alignas(64) uint32_t map[32];
    address tensor, result;
    for (int i = 0; i < ELEMENTS; i++)
        in[i] = (uint16_t)i;
    OK(cuMemAlloc_v2(&tensor, sizeof in));
    OK(cuMemAlloc_v2(&result, sizeof left + 8));
    OK(cuMemcpyHtoD_v2(tensor, in, sizeof in));
    int refused =
        b->kind == IM2COL
            ? cuTensorMapEncodeIm2col(map, b->type, (unsigned)b->rank, tensor, b->size, b->stride,
                                      b->lower, b->upper, b->box[0], b->box[1], b->step,
                                      b->interleave, b->swizzle, 0, b->fill)
            : cuTensorMapEncodeTiled(map, b->type, (unsigned)b->rank, tensor, b->size, b->stride,
                                     b->box, b->step, b->interleave, b->swizzle, 0, b->fill);
    snprintf(out, size, "refused");
    if (!refused) {
        void *args[] = {map, b->coordinates, &b->rank, &b->kind, &result};
        OK(cuLaunchKernel(function(module, "box"), 1, 1, 1, 64, 1, 1, 2 * SHARED_ELEMENTS, NULL,
                          args, NULL));
        OK(cuCtxSynchronize());
        OK(cuMemcpyDtoH_v2(in, tensor, sizeof in));
        OK(cuMemcpyDtoH_v2(left, result, sizeof left));
        describe(out, size, b->kind == STORE ? in : left, b->kind == STORE);
    }
    OK(cuMemFree_v2(tensor));
    OK(cuMemFree_v2(result));
}

int main(int argc, char **argv)
{
    static char line[65536], got[65536];
    int cases = 0, wrong = 0;
    EXPECT(argc > 1);
    handle module = begin(argv, "interleaved.ptx");
    FILE *file = fopen(path_of(argv, "h200_interleaved.txt"), "r");
    EXPECT(file);
    while (fgets(line, sizeof line, file)) {
        struct box b;
        char *wanted = strstr(line, " => ");
        if (line[0] == '#' || !wanted)
            continue;
        line[strcspn(line, "\n")] = '\0';
        *wanted = '\0';
        at = line;
        read_box(&b);
        run(module, &b, got, sizeof got);
        cases++;
        if (strcmp(got, wanted + 4) != 0) {
            printf("%s: %.200s, on the card %.200s\n", line, got, wanted + 4);
            wrong++;
        }
    }
    (void)fclose(file);
    printf("%d boxes, %d wrong\n", cases, wrong);
    return cases > 100 && wrong == 0 ? 0 : 1;
}
