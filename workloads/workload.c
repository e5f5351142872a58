/* The table of workloads and what their host files share: memory, launches, comparisons. */
#include "workloads/workload.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/rt.h"
#include "util/clock.h"
#include "util/glue/embed.h"
#include "util/error.h"
#include "util/fileio.h"

extern const struct embedded_file workload_embedded[];

#define BUFFERS_MAX 16
#define PTX_LIMIT_BYTES (1u << 20)
#define PATH_MAX_BYTES 1024

#define WORKLOAD(name, small, full, knows) {#name, small, full, WORKLOAD_##knows, workload_##name},
const struct workload workloads[] = {
#include "workloads/workloads.def"
};
#undef WORKLOAD
const uint32_t workload_count = sizeof workloads / sizeof *workloads;

const struct workload *workload_find(const char *name)
{
    for (uint32_t i = 0; i < workload_count; i++) {
        if (strcmp(workloads[i].name, name) == 0) {
            return &workloads[i];
        }
    }
    return NULL;
}

static int load_file(struct workbench *bench, const char *folder, const char *name)
{
    char path[PATH_MAX_BYTES];
    char *text = NULL;
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s/%s/%s.ptx", folder, name, name);
    int rc = file_read_all(&text, &bytes, path, PTX_LIMIT_BYTES);
    if (rc == 0) {
        rc = rt_module_load(bench->rt, &bench->module, path, text, bytes);
    }
    free(text);
    return rc;
}

static int load_module(struct workbench *bench, const char *name)
{
    if (bench->settings->folder) {
        return load_file(bench, bench->settings->folder, name);
    }
    char file_name[64];
    snprintf(file_name, sizeof file_name, "%s.ptx", name);
    const struct embedded_file *file = embed_find(workload_embedded, file_name);
    return file ? rt_module_load(bench->rt, &bench->module, file_name, (const char *)file->data,
                                 file->size_bytes)
                : error_set(SONDE_EINTERNAL, "%s was not built in", file_name);
}

static int check_settings(const struct workload *workload, const struct workload_settings *settings)
{
    const char *what = settings->block && !(workload->knows & WORKLOAD_BLOCK)   ? "block"
                       : settings->depth && !(workload->knows & WORKLOAD_DEPTH) ? "depth"
                                                                                : NULL;
    return what ? error_set(SONDE_EUSAGE, "workload %s has no %s to set", workload->name, what) : 0;
}

int workload_run_with(struct workbench *result, struct rt *rt, const struct workload *workload,
                      const struct workload_settings *settings)
{
    uint64_t buffers[BUFFERS_MAX];
    struct workbench bench = {.rt = rt, .settings = settings, .buffers = buffers};
    uint64_t before, after;
    int rc = check_settings(workload, settings);
    if (rc < 0) {
        return rc;
    }
    bench.size = settings->size ? settings->size : workload->small_size;
    bench.arena = arena_create();
    rng_seed(&bench.rng, 1);
    rt_functional_insns(rt, NULL, &before);
    rc = bench.arena ? load_module(&bench, workload->name) : error_memory();
    if (rc == 0) {
        rc = workload->run(&bench);
    }
    rt_functional_insns(rt, NULL, &after);
    bench.thread_insns = after - before;
    for (uint32_t i = 0; i < bench.buffer_count; i++) {
        rt_mem_free(rt, buffers[i]);
    }
    if (bench.module) {
        rt_module_unload(rt, bench.module);
    }
    arena_destroy(bench.arena);
    *result = bench;
    return rc < 0 ? error_prefix(rc, "workload %s", workload->name) : 0;
}

int workload_run(struct workbench *result, struct rt *rt, const struct workload *workload,
                 const char *folder, uint32_t size, bool functional)
{
    const struct workload_settings settings = {
        .folder = folder, .size = size, .functional = functional};
    return workload_run_with(result, rt, workload, &settings);
}

void *workbench_array(struct workbench *bench, size_t count, size_t element_bytes)
{
    void *array = arena_array(bench->arena, count, element_bytes);
    if (!array) {
        error_memory();
    }
    return array;
}

float *workbench_floats(struct workbench *bench, size_t count, float low, float high)
{
    float *values = workbench_array(bench, count, sizeof *values);
    for (size_t i = 0; values && i < count; i++) {
        values[i] = low + (high - low) * (float)rng_double(&bench->rng);
    }
    return values;
}

int workbench_upload(struct workbench *bench, uint64_t *address, const void *data, size_t bytes)
{
    if (bench->buffer_count == BUFFERS_MAX) {
        return error_set(SONDE_EINTERNAL, "more than %d buffers", BUFFERS_MAX);
    }
    int rc = rt_mem_alloc(bench->rt, address, bytes);
    if (rc < 0) {
        return rc;
    }
    bench->buffers[bench->buffer_count++] = *address;
    return data ? rt_copy_to_device(bench->rt, *address, data, bytes)
                : rt_memset(bench->rt, *address, 0, bytes);
}

int workbench_write(struct workbench *bench, uint64_t address, const void *data, size_t bytes)
{
    return rt_copy_to_device(bench->rt, address, data, bytes);
}

int workbench_download(struct workbench *bench, void *data, uint64_t address, size_t bytes)
{
    return rt_copy_from_device(bench->rt, data, address, bytes);
}

int workbench_symbol(struct workbench *bench, const char *name, const void *data, size_t bytes)
{
    uint64_t address, there;
    int rc = rt_global_get(bench->module, name, &address, &there);
    if (rc == 0 && there != bytes) {
        rc = error_set(SONDE_EINTERNAL, "'%s' has %" PRIu64 " bytes in the module, %zu on the host",
                       name, there, bytes);
    }
    return rc < 0 ? rc : rt_copy_to_device(bench->rt, address, data, bytes);
}

/* The launch, with what it counts told to whoever asked for it. */
static int launch_counted(struct workbench *bench, struct rt_kernel *code, const char *kernel,
                          const struct rt_launch *launch, uint64_t *cycles)
{
    const struct workload_settings *settings = bench->settings;
    struct gpu_stats before, stats;
    if (!settings->launched || launch->functional) {
        return rt_launch(bench->rt, code, launch, cycles);
    }
    gpu_stats(rt_gpu(bench->rt), &before);
    int rc = rt_launch(bench->rt, code, launch, cycles);
    if (rc == 0) {
        gpu_stats(rt_gpu(bench->rt), &stats);
        gpu_stats_since(&stats, &before);
        settings->launched(settings->ctx, kernel, &stats);
    }
    return rc;
}

int workbench_launch(struct workbench *bench, const char *kernel, struct workbench_shape shape,
                     const void *const *args, uint32_t arg_count)
{
    struct rt_launch launch = {
        .args = args, .arg_count = arg_count, .functional = bench->settings->functional};
    struct rt_kernel *code;
    uint64_t cycles = 0;
    memcpy(launch.grid, shape.grid, sizeof launch.grid);
    memcpy(launch.block, shape.block, sizeof launch.block);
    int rc = rt_kernel_get(bench->module, &code, kernel);
    if (rc < 0) {
        return rc;
    }
    uint64_t start_ns = time_monotonic_ns();
    rc = launch_counted(bench, code, kernel, &launch, &cycles);
    bench->launch_ns += time_monotonic_ns() - start_ns;
    bench->cycles += cycles;
    bench->launches++;
    return rc;
}

int workbench_expect_floats(const float *got, const double *wanted, size_t count, double relative,
                            double absolute)
{
    for (size_t i = 0; i < count; i++) {
        double error = fabs(got[i] - wanted[i]);
        /* A NaN fails too. */
        if (!(error <= absolute + relative * fabs(wanted[i]))) {
            return error_set(SONDE_EINTERNAL, "element %zu is %.9g, the host says %.9g", i,
                             (double)got[i], wanted[i]);
        }
    }
    return 0;
}

int workbench_expect_words(const uint32_t *got, const uint32_t *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (got[i] != wanted[i]) {
            return error_set(SONDE_EINTERNAL, "element %zu is %" PRIu32 ", the host says %" PRIu32,
                             i, got[i], wanted[i]);
        }
    }
    return 0;
}
