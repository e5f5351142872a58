/*
 * Machine instructions of kernels of the study h200 against the counters of the card
 * (studies/h200/recorded.tsv, warp_insns): those that run in a fraction of a second, of every
 * class, none of which is set aside. docs/lowering.md has all of them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/rt.h"
#include "study/kernels/kernels.h"
#include "util/error.h"
#include "util/fileio.h"

#define FILE_BYTES (64u << 20)
#define WARP_INSNS_COLUMN 6
#define MOST 0.15   /* of each kernel */
#define MEDIAN 0.05 /* of all */

static const char *const names[] = {
    "chain_fma", "reduce_halves", "scan_shuffle",   "nbody_tiled",  "mandelbrot",
    "collatz",   "layer_norm",    "chain_root",     "bitonic_step", "read16",
    "dropout",   "segments",      "convolve7_tiled"};
#define NAMES (sizeof names / sizeof *names)

static const struct kernel_row *find_row(const char *name)
{
    for (size_t i = 0; i < kernel_row_count; i++)
        if (strcmp(kernel_rows[i].name, name) == 0)
            return &kernel_rows[i];
    return NULL;
}

/* The row of the recording that begins with the kernel's name and size. */
static double recorded(const char *recording, const struct kernel_row *row)
{
    char key[128];
    (void)snprintf(key, sizeof key, "\n%s\t%" PRIu64 "\t", row->name, row->sizes[0]);
    const char *at = strstr(recording, key);
    for (int column = 0; at && column < WARP_INSNS_COLUMN; column++)
        at = strchr(at + 1, '\t');
    return at ? strtod(at, NULL) : 0;
}

static int fill(struct rt *rt, const struct kernel_plan *plan, uint64_t *buffers, void **args)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < plan->arg_count; i++) {
        const struct kernel_arg *arg = &plan->args[i];
        args[i] = (void *)(uintptr_t)&arg->value;
        if (arg->bytes == 0)
            continue;
        void *bytes = calloc(1, arg->bytes);
        if (!bytes)
            return error_memory();
        kernel_fill(bytes, arg, i);
        rc = rt_mem_alloc(rt, &buffers[i], arg->bytes);
        rc = rc < 0 ? rc : rt_copy_to_device(rt, buffers[i], bytes, arg->bytes);
        free(bytes);
        args[i] = &buffers[i];
    }
    return rc;
}

static int run(struct gpu_stats *stats, struct rt *rt, const char *folder,
               const struct kernel_row *row)
{
    struct rt_module *module;
    struct rt_kernel *kernel;
    struct kernel_plan plan = {0};
    uint64_t buffers[KERNEL_ARGS], cycles;
    void *args[KERNEL_ARGS];
    char path[512], *text = NULL;
    size_t length;
    (void)snprintf(path, sizeof path, "%s/kernels/%s.ptx", folder, row->file);
    kernel_plan(&plan, row, row->sizes[0]);
    int rc = file_read_all(&text, &length, path, FILE_BYTES);
    rc = rc < 0 ? rc : rt_module_load(rt, &module, path, text, length);
    rc = rc < 0 ? rc : rt_kernel_get(module, &kernel, row->entry);
    rc = rc < 0 ? rc : fill(rt, &plan, buffers, args);
    struct rt_launch launch = {.grid = {plan.grid[0], plan.grid[1], plan.grid[2]},
                               .block = {plan.block[0], plan.block[1], plan.block[2]},
                               .args = (const void *const *)args,
                               .arg_count = plan.arg_count};
    rc = rc < 0 ? rc : rt_launch(rt, kernel, &launch, &cycles);
    gpu_stats(rt_gpu(rt), stats);
    free(text);
    return rc;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int measure(double *error, struct model *model, const char *folder, const char *recording,
                   const char *name)
{
    const struct kernel_row *row = find_row(name);
    double card = row ? recorded(recording, row) : 0;
    struct rt *rt = NULL;
    struct gpu_stats stats = {0};
    if (!row || card == 0 || kernel_is_set_aside(name))
        return error_set(SONDE_EINPUT, "%s is not recorded, or set aside", name);
    int rc = rt_create(&rt, model);
    rc = rc < 0 ? rc : run(&stats, rt, folder, row);
    rt_destroy(rt);
    double ratio = (double)stats.machine_insns / card;
    *error = fabs(ratio - 1);
    (void)printf("%-16s card %9.0f, lowered %9" PRIu64 " (%.3f), PTX %9" PRIu64 "\n", name, card,
                 stats.machine_insns, ratio, stats.warp_insns);
    return rc;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".";
    char path[512], *recording = NULL;
    size_t length;
    struct model *model = NULL;
    double errors[NAMES];
    (void)snprintf(path, sizeof path, "%s/recorded.tsv", folder);
    int rc = file_read_all(&recording, &length, path, FILE_BYTES);
    rc = rc < 0 ? rc : model_load(&model, "gtx780");
    if (rc == 0)
        model->sm.lowering = LOWERING_HOPPER;
    for (size_t i = 0; rc == 0 && i < NAMES; i++)
        rc = measure(&errors[i], model, folder, recording, names[i]);
    if (model)
        model_destroy(model);
    free(recording);
    if (rc < 0) {
        (void)fprintf(stderr, "%s\n", error_text());
        return 1;
    }
    qsort(errors, NAMES, sizeof *errors, compare);
    (void)printf("median error %.3f, largest %.3f\n", errors[NAMES / 2], errors[NAMES - 1]);
    return errors[NAMES / 2] > MEDIAN || errors[NAMES - 1] > MOST;
}
