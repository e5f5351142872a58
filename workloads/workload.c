/* The table of workloads and what their host files share: memory, launches, comparisons. */
#include "workloads/workload.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rt/rt.h"
#include "workloads/machine.h"
#include "util/glue/embed.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/hash.h"

extern const struct embedded_file workload_embedded[];

#define BUFFERS_MAX 24
#define TEXTURES_MAX 4
#define PTX_LIMIT_BYTES (1u << 20)
#define PATH_MAX_BYTES 1024

#define WORKLOAD(name, small, full, knows, target)                                                 \
    {#name, small, full, WORKLOAD_##knows, #target, workload_##name},
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

/* The oldest target of nvcc 13, which stands for any: studies run it on models of any age. */
static bool runs_anywhere(const struct workload *workload)
{
    return strcmp(workload->target, "sm_75") == 0;
}

const char *workload_model(const struct workload *workload)
{
    return runs_anywhere(workload) ? "gtx780" : "h200";
}

static int load_file(struct workbench *bench, const char *folder, const char *name)
{
    char path[PATH_MAX_BYTES];
    char *text = NULL;
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s/%s/%s.ptx", folder, name, name);
    int rc = file_read_all(&text, &bytes, path, PTX_LIMIT_BYTES);
    if (rc == 0) {
        rc = bench->machine->load(bench, path, text, bytes);
    }
    free(text);
    return rc;
}

/* NULL: it was not built in. */
static const struct embedded_file *built_in(const char *name)
{
    char file_name[64];
    snprintf(file_name, sizeof file_name, "%s.ptx", name);
    return embed_find(workload_embedded, file_name);
}

uint64_t workload_hash(const struct workload *workload)
{
    const struct embedded_file *file = built_in(workload->name);
    uint64_t hash = hash_bytes(HASH_BEGIN, SONDE_WORKLOADS_HOST, strlen(SONDE_WORKLOADS_HOST));
    hash = hash_word(hash, workload->small_size);
    return file ? hash_bytes(hash, file->data, file->size_bytes) : hash;
}

static int load_module(struct workbench *bench, const char *name)
{
    if (bench->settings->folder) {
        return load_file(bench, bench->settings->folder, name);
    }
    const struct embedded_file *file = built_in(name);
    return file
               ? bench->machine->load(bench, file->name, (const char *)file->data, file->size_bytes)
               : error_set(SONDE_EINTERNAL, "%s.ptx was not built in", name);
}

static int check_settings(const struct workload *workload, const struct workload_settings *settings)
{
    const char *what = settings->block && !(workload->knows & WORKLOAD_BLOCK)   ? "block"
                       : settings->depth && !(workload->knows & WORKLOAD_DEPTH) ? "depth"
                                                                                : NULL;
    return what ? error_set(SONDE_EUSAGE, "workload %s has no %s to set", workload->name, what) : 0;
}

static void put_away(struct workbench *bench)
{
    for (uint32_t i = 0; i < bench->texture_count; i++) {
        bench->machine->texture_destroy(bench, &bench->textures[i]);
    }
    for (uint32_t i = 0; i < bench->buffer_count; i++) {
        bench->machine->free(bench, bench->buffers[i]);
    }
    if (bench->module) {
        bench->machine->unload(bench);
    }
    arena_destroy(bench->arena);
}

static int run_on(struct workbench *bench, const struct workload *workload,
                  const struct workload_settings *settings)
{
    uint64_t buffers[BUFFERS_MAX];
    struct workbench_texture textures[TEXTURES_MAX];
    int rc = check_settings(workload, settings);
    if (rc < 0) {
        return rc;
    }
    bench->settings = settings;
    bench->check_target = !runs_anywhere(workload);
    bench->buffers = buffers;
    bench->textures = textures;
    bench->size = settings->size ? settings->size : workload->small_size;
    bench->arena = arena_create();
    rng_seed(&bench->rng, 1);
    rc = bench->arena ? load_module(bench, workload->name) : error_memory();
    if (rc == 0) {
        rc = workload->run(bench);
    }
    put_away(bench);
    return rc < 0 ? error_prefix(rc, "workload %s", workload->name) : 0;
}

int workload_run_with(struct workbench *result, struct rt *rt, const struct workload *workload,
                      const struct workload_settings *settings)
{
    struct workbench bench = {.machine = &workbench_simulated, .rt = rt};
    uint64_t before, after;
    rt_functional_insns(rt, NULL, &before);
    int rc = run_on(&bench, workload, settings);
    rt_functional_insns(rt, NULL, &after);
    bench.thread_insns = after - before;
    *result = bench;
    return rc;
}

int workload_run_on(struct workbench *result, struct device *device,
                    const struct workload *workload, const struct workload_settings *settings)
{
    struct workbench bench = {.machine = &workbench_driven, .device = device};
    int rc = run_on(&bench, workload, settings);
    *result = bench;
    return rc;
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
    void *zeros = data ? NULL : calloc(bytes ? bytes : 1, 1);
    if (bench->buffer_count == BUFFERS_MAX) {
        free(zeros);
        return error_set(SONDE_EINTERNAL, "more than %d buffers", BUFFERS_MAX);
    }
    int rc = data || zeros ? bench->machine->alloc(bench, address, bytes) : error_memory();
    if (rc == 0) {
        bench->buffers[bench->buffer_count++] = *address;
        rc = bench->machine->copy_to(bench, *address, data ? data : zeros, bytes);
    }
    free(zeros);
    return rc;
}

int workbench_write(struct workbench *bench, uint64_t address, const void *data, size_t bytes)
{
    return bench->machine->copy_to(bench, address, data, bytes);
}

int workbench_download(struct workbench *bench, void *data, uint64_t address, size_t bytes)
{
    int rc = bench->machine->copy_from(bench, data, address, bytes);
    if (rc == 0) {
        bench->digest = hash_bytes(bench->digest ? bench->digest : HASH_BEGIN, data, bytes);
    }
    return rc;
}

int workbench_symbol(struct workbench *bench, const char *name, const void *data, size_t bytes)
{
    uint64_t address, there;
    int rc = bench->machine->global(bench, name, &address, &there);
    if (rc == 0 && there != bytes) {
        rc = error_set(SONDE_EINTERNAL, "'%s' has %" PRIu64 " bytes in the module, %zu on the host",
                       name, there, bytes);
    }
    return rc < 0 ? rc : bench->machine->copy_to(bench, address, data, bytes);
}

struct texture_view workbench_view(const struct image_spec *spec)
{
    return (struct texture_view){.address = {TEXTURE_CLAMP, TEXTURE_CLAMP, TEXTURE_CLAMP},
                                 .as_integer = spec->format.kind != TEXEL_FLOAT};
}

int workbench_texture(struct workbench *bench, uint64_t *handle, const struct image_spec *spec,
                      const void *texels)
{
    if (bench->texture_count == TEXTURES_MAX) {
        return error_set(SONDE_EINTERNAL, "more than %d textures", TEXTURES_MAX);
    }
    struct workbench_texture *texture = &bench->textures[bench->texture_count];
    *texture = (struct workbench_texture){0};
    int rc = bench->machine->texture(bench, texture, spec, texels);
    bench->texture_count += texture->image != NULL;
    *handle = texture->handle;
    return rc;
}

static uint64_t processor_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int workbench_launch(struct workbench *bench, const char *kernel, struct workbench_shape shape,
                     uint32_t shared, const void *const *args, uint32_t arg_count)
{
    const struct workbench_call call = {kernel, shape, shared, args, arg_count};
    uint64_t cycles = 0, ns = 0, began = processor_ns();
    int rc = bench->machine->launch(bench, &call, &cycles, &ns);
    bench->launch_cpu_ns += processor_ns() - began;
    bench->launch_ns += ns;
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
