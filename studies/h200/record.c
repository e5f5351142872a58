/*
 * Runs the kernels of the study h200 on a GPU through its driver, with the same PTX and the same
 * launches as the simulator's. `record.sh` builds it and says how the recording is made.
 *
 *   record check          one launch of each: what it leaves (recorded.tsv's results)
 *   record time           launches between events, with emptied caches and with warm ones: ns
 *   record plain          one launch of each and nothing else, for a profiler
 *   record ... NAME       this kernel alone, or those of this file
 *   record ... PART/ALL   every ALLth kernel from PART on
 *
 * One line a launch: kernel, size, and what was asked for.
 */
#include <cuda.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/kernels/kernels.h"

#define FLUSH_BYTES (256u << 20)
#define REPEATS 5
#define MODULES 16
#define PATH_BYTES 512

static void must(CUresult result, const char *what)
{
    const char *name = "unknown";
    if (result != CUDA_SUCCESS) {
        cuGetErrorName(result, &name);
        fprintf(stderr, "record: %s: %s\n", what, name);
        exit(1);
    }
}
#define MUST(call) must(call, #call)

static struct {
    const char *name;
    CUmodule module;
} modules[MODULES];

static CUmodule module_of(const char *folder, const char *name)
{
    size_t i = 0;
    for (; i < MODULES && modules[i].name; i++) {
        if (strcmp(modules[i].name, name) == 0) {
            return modules[i].module;
        }
    }
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s/%s.ptx", folder, name);
    must(i < MODULES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, "modules");
    must(cuModuleLoad(&modules[i].module, path), path);
    modules[i].name = name;
    return modules[i].module;
}

/* A launch with its memory. */
struct launch {
    const struct kernel_row *row;
    struct kernel_plan plan;
    CUfunction function;
    CUdeviceptr buffers[KERNEL_ARGS];
    void *args[KERNEL_ARGS], *host;
};

static void fill(struct launch *launch, uint32_t i)
{
    const struct kernel_arg *arg = &launch->plan.args[i];
    if (arg->fill == FILL_ZERO) {
        MUST(cuMemsetD8(launch->buffers[i], 0, arg->bytes));
        return;
    }
    kernel_fill(launch->host, arg, i);
    MUST(cuMemcpyHtoD(launch->buffers[i], launch->host, arg->bytes));
}

static void prepare(struct launch *launch, const char *folder, const struct kernel_row *row,
                    uint64_t size)
{
    uint64_t most = 0;
    *launch = (struct launch){.row = row};
    kernel_plan(&launch->plan, row, size);
    MUST(cuModuleGetFunction(&launch->function, module_of(folder, row->file), row->entry));
    for (uint32_t i = 0; i < launch->plan.arg_count; i++) {
        uint64_t bytes = launch->plan.args[i].bytes;
        most = bytes > most ? bytes : most;
    }
    launch->host = malloc(most ? most : 1);
    must(launch->host ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY, "malloc");
    for (uint32_t i = 0; i < launch->plan.arg_count; i++) {
        struct kernel_arg *arg = &launch->plan.args[i];
        launch->args[i] = arg->bytes ? (void *)&launch->buffers[i] : (void *)&arg->value;
        if (arg->bytes) {
            MUST(cuMemAlloc(&launch->buffers[i], arg->bytes));
            fill(launch, i);
        }
    }
}

/* What the last launch has changed is as it was before. */
static void refill(struct launch *launch)
{
    for (uint32_t i = 0; i < launch->plan.arg_count; i++) {
        if (launch->plan.args[i].check != CHECK_NOT) {
            fill(launch, i);
        }
    }
}

static void start(const struct launch *launch)
{
    const uint32_t *g = launch->plan.grid, *b = launch->plan.block;
    must(cuLaunchKernel(launch->function, g[0], g[1], g[2], b[0], b[1], b[2], 0, NULL,
                        (void **)launch->args, NULL),
         launch->row->name);
}

static void finish(struct launch *launch)
{
    for (uint32_t i = 0; i < launch->plan.arg_count; i++) {
        if (launch->buffers[i]) {
            MUST(cuMemFree(launch->buffers[i]));
        }
    }
    free(launch->host);
}

static void check(struct launch *launch)
{
    struct kernel_result result = {0};
    start(launch);
    must(cuCtxSynchronize(), launch->row->name);
    for (uint32_t i = 0; i < launch->plan.arg_count; i++) {
        const struct kernel_arg *arg = &launch->plan.args[i];
        if (arg->check != CHECK_NOT) {
            MUST(cuMemcpyDtoH(launch->host, launch->buffers[i], arg->bytes));
            kernel_check(&result, arg, i, launch->host);
        }
    }
    printf("\t%016" PRIx64 "\t%.9g", result.exact, result.about);
}

/* Reads what nobody needs: L2 has nothing else afterwards, and nothing to write. */
static void flush(const char *folder)
{
    static CUdeviceptr from, sums;
    CUfunction function;
    unsigned n = FLUSH_BYTES / 16;
    void *args[] = {&sums, &from, &n};
    if (!from) {
        MUST(cuMemAlloc(&from, FLUSH_BYTES));
        MUST(cuMemAlloc(&sums, 528 * 1024));
        MUST(cuMemsetD8(from, 0, FLUSH_BYTES));
    }
    MUST(cuModuleGetFunction(&function, module_of(folder, "streams"), "read16"));
    MUST(cuLaunchKernel(function, 528, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
}

/* The least of some repeats. */
static double time_of(struct launch *launch, const char *folder, bool cold)
{
    CUevent before, after;
    float least = 1e30f;
    MUST(cuEventCreate(&before, 0));
    MUST(cuEventCreate(&after, 0));
    for (int i = 0; i < REPEATS; i++) {
        float ms;
        refill(launch);
        if (cold) {
            flush(folder);
        } else {
            start(launch);
            must(cuCtxSynchronize(), launch->row->name);
            refill(launch);
        }
        MUST(cuEventRecord(before, NULL));
        start(launch);
        MUST(cuEventRecord(after, NULL));
        must(cuEventSynchronize(after), launch->row->name);
        MUST(cuEventElapsedTime(&ms, before, after));
        least = ms < least ? ms : least;
    }
    MUST(cuEventDestroy(before));
    MUST(cuEventDestroy(after));
    return (double)least * 1e6;
}

static void run(const char *mode, const char *folder, const struct kernel_row *row, uint64_t size)
{
    struct launch launch;
    prepare(&launch, folder, row, size);
    printf("%s\t%" PRIu64, row->name, size);
    if (strcmp(mode, "check") == 0) {
        check(&launch);
    } else if (strcmp(mode, "time") == 0) {
        double cold = time_of(&launch, folder, true);
        printf("\t%.0f\t%.0f", cold, time_of(&launch, folder, false));
    } else {
        start(&launch);
        must(cuCtxSynchronize(), row->name);
    }
    printf("\n");
    fflush(stdout);
    finish(&launch);
}

/* NAME, a file's, PART/ALL or all. */
static bool is_asked(const char *which, size_t row)
{
    unsigned part, all;
    if (which && sscanf(which, "%u/%u", &part, &all) == 2 && all > 0) {
        return row % all == part;
    }
    return !which || strcmp(which, kernel_rows[row].name) == 0 ||
           strcmp(which, kernel_rows[row].file) == 0;
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    if (argc < 3) {
        fprintf(stderr, "usage: record check|time|plain FOLDER [NAME|PART/ALL]\n");
        return 2;
    }
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    for (size_t i = 0; i < kernel_row_count; i++) {
        const struct kernel_row *row = &kernel_rows[i];
        for (int s = 0; s < KERNEL_SIZES && row->sizes[s]; s++) {
            if (is_asked(argc < 4 ? NULL : argv[3], i)) {
                run(argv[1], argv[2], row, row->sizes[s]);
            }
        }
    }
    return 0;
}
