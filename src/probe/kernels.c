/*
 * Loading of the probes' kernels, when first needed: on real GPUs the driver compiles them, which
 * takes time. The text that is loaded (variants.c) is the one whose hash is recorded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/instruction/instruction.h"
#include "probe/live.h"
#include "util/error.h"

static int load_module(struct probe_live *live, struct device_module **module, const char *file,
                       const char *name, const char *variant)
{
    char file_name[80];
    char *text = NULL;
    int rc = strcmp(file, "instruction") == 0
                 ? instruction_variant(&text, variant)
                 : variant_text(&text, file, variant, live->device->info.compute_major);
    if (rc < 0) {
        return rc;
    }
    size_t length = strlen(text);
    snprintf(file_name, sizeof(file_name), "%s.ptx", name);
    rc = device_module_load(live->device, module, file_name, text, length);
    if (rc == 0) {
        rc = traceset_add_kernel(live->set, name, text, length);
    }
    free(text);
    return rc;
}

static struct loaded_kernel *find_loaded(struct probe_live *live, const char *name)
{
    for (size_t i = 0; i < live->kernels.count; i++) {
        if (strcmp(live->kernels.data[i].name, name) == 0) {
            return &live->kernels.data[i];
        }
    }
    return NULL;
}

/* The name of a file's variant, as it stands in the recording. */
static void name_variant(char name[32], const char *file, const char *variant)
{
    snprintf(name, 32, "%s%s%s", file, variant ? "." : "", variant ? variant : "");
}

/* The module of a file's variant: an entry of its own, without a kernel, in front of its kernels.
 */
static int find_module(struct probe_live *live, struct device_module **module, const char *file,
                       const char *variant)
{
    struct loaded_kernel entry = {0};
    name_variant(entry.name, file, variant);
    struct loaded_kernel *found = find_loaded(live, entry.name);
    if (found) {
        *module = found->module;
        return SONDE_OK;
    }
    if (vec_reserve(&live->kernels, live->kernels.count + 1) < 0) {
        return error_memory();
    }
    int rc = load_module(live, &entry.module, file, entry.name, variant);
    if (rc == 0) {
        live->kernels.data[live->kernels.count++] = entry;
        *module = entry.module;
    } else if (entry.module) {
        device_module_unload(live->device, entry.module);
    }
    return rc;
}

int kernel_find(struct probe_live *live, struct device_kernel **out, const char *file,
                const char *entry, const char *variant)
{
    struct loaded_kernel kernel = {0};
    char name[32];
    name_variant(name, file, variant);
    snprintf(kernel.name, sizeof(kernel.name), "%s:%.15s", name, entry);
    struct loaded_kernel *found = find_loaded(live, kernel.name);
    if (found) {
        *out = found->kernel;
        return SONDE_OK;
    }
    struct device_module *module = NULL;
    int rc = find_module(live, &module, file, variant);
    if (rc < 0) {
        return rc;
    }
    rc = device_kernel_get(live->device, &kernel.kernel, module, entry);
    if (rc == 0 && vec_push(&live->kernels, kernel) < 0) {
        rc = error_memory();
    }
    *out = kernel.kernel;
    return rc;
}

int kernel_variable(struct probe_live *live, struct buffer *where, const char *file,
                    const char *variant, const char *name)
{
    struct device_module *module = NULL;
    int rc = find_module(live, &module, file, variant);
    return rc < 0
               ? rc
               : device_module_global(live->device, module, name, &where->address, &where->bytes);
}

void kernels_unload(struct probe_live *live)
{
    for (size_t i = 0; i < live->kernels.count; i++) {
        if (live->kernels.data[i].module) {
            device_module_unload(live->device, live->kernels.data[i].module);
        }
    }
    vec_free(&live->kernels);
}

struct call call_begin(uint32_t blocks, uint32_t threads, uint32_t dynamic_shared_bytes)
{
    return (struct call){.launch = {.grid = {blocks, 1, 1},
                                    .block = {threads, 1, 1},
                                    .dynamic_shared_bytes = dynamic_shared_bytes}};
}

static void call_value(struct call *call, const void *value, uint32_t size)
{
    uint32_t i = call->launch.arg_count++;
    memcpy(&call->values[i], value, size);
    call->launch.arg_sizes[i] = size;
}

void call_u64(struct call *call, uint64_t value)
{
    call_value(call, &value, sizeof(value));
}

void call_u32(struct call *call, uint32_t value)
{
    call_value(call, &value, sizeof(value));
}

int call_run(struct probe_live *live, struct device_kernel *kernel, struct call *call)
{
    if (live->device->cancel && *live->device->cancel) {
        return error_set(SONDE_EINTERRUPTED, "the measurement was interrupted");
    }
    /* Only now: a call that is returned by value has moved. */
    for (uint32_t i = 0; i < call->launch.arg_count; i++) {
        call->launch.args[i] = &call->values[i];
    }
    return device_launch(live->device, kernel, &call->launch);
}

int call_run_together(struct probe_live *live, struct device_kernel *const *kernels,
                      struct call *calls, uint32_t count)
{
    struct device_launch launches[DEVICE_MAX_TOGETHER];
    if (live->device->cancel && *live->device->cancel) {
        return error_set(SONDE_EINTERRUPTED, "the measurement was interrupted");
    }
    for (uint32_t i = 0; i < count && i < DEVICE_MAX_TOGETHER; i++) {
        launches[i] = calls[i].launch;
        for (uint32_t k = 0; k < launches[i].arg_count; k++) {
            launches[i].args[k] = &calls[i].values[k];
        }
    }
    return device_launch_together(live->device, kernels, launches, count);
}

int call_run_touching(struct probe_live *live, struct device_kernel *kernel, struct call *call)
{
    uint32_t *threads = &call->launch.block[0], asked = *threads;
    while (live->touch_threads && *threads > 32 && *threads >= live->touch_threads) {
        *threads = *threads / 64 * 32;
    }
    int rc = call_run(live, kernel, call);
    while ((rc == SONDE_EINPUT || rc == SONDE_EUNSUPPORTED) && *threads > 32) {
        uint32_t refused = *threads;
        *threads = refused / 64 * 32;
        rc = call_run(live, kernel, call);
        live->touch_threads = rc == 0 ? refused : live->touch_threads;
    }
    *threads = asked;
    return rc;
}

int call_stretch(double *cycles, struct probe_live *live, struct device_kernel *kernel,
                 struct call *call)
{
    uint32_t words[3] = {0};
    int rc = call_run(live, kernel, call);
    if (rc == 0) {
        rc = device_copy_from(live->device, words, live->out.address, sizeof(words));
    }
    if (rc == 0 && words[2] != 0) {
        rc = error_set(SONDE_EDEVICE, "the walk ended %u bytes from its word", words[2]);
    }
    *cycles = (double)(words[1] - words[0]); /* modulo 2^32: the counter may wrap */
    return rc;
}
