/*
 * Loading of the probes' kernels, when first needed: on real GPUs the driver compiles them, which
 * takes time. A kernel file is the variant for ld.global.ca; another cache operator is put in its
 * place in the text, so that there is one text for all. The text that is loaded is the one whose
 * hash is recorded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/live.h"
#include "util/embed.h"
#include "util/error.h"

extern const struct embedded_file probe_kernel_files[];

/* Replaces the operator after every "ld.global." that has one; both have two letters. */
static void set_operator(char *text, const char *op)
{
    static const char load[] = "ld.global.ca";
    for (char *at = text; (at = strstr(at, load)) != NULL; at += sizeof(load) - 1) {
        memcpy(at + sizeof(load) - 3, op, 2);
    }
}

static int load_module(struct probe_live *live, struct device_module **module, const char *file,
                       const char *variant, const char *op)
{
    char name[48];
    snprintf(name, sizeof(name), "%s.ptx", file);
    const struct embedded_file *source = embed_find(probe_kernel_files, name);
    if (!source) {
        return error_set(SONDE_EINTERNAL, "there is no kernel file '%s'", name);
    }
    char *text = malloc(source->size_bytes + 1);
    if (!text) {
        return error_memory();
    }
    memcpy(text, source->data, source->size_bytes);
    text[source->size_bytes] = '\0';
    if (op) {
        set_operator(text, op);
    }
    snprintf(name, sizeof(name), "%s.ptx", variant);
    int rc = device_module_load(live->device, module, name, text, source->size_bytes);
    if (rc == 0) {
        rc = traceset_add_kernel(live->set, variant, text, source->size_bytes);
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

/* The module of a file's variant: an entry of its own, without a kernel, in front of its kernels.
 */
static int find_module(struct probe_live *live, struct device_module **module, const char *file,
                       const char *variant, const char *op)
{
    struct loaded_kernel *found = find_loaded(live, variant);
    if (found) {
        *module = found->module;
        return SONDE_OK;
    }
    if (vec_reserve(&live->kernels, live->kernels.count + 1) < 0) {
        return error_memory();
    }
    struct loaded_kernel entry = {0};
    int rc = load_module(live, &entry.module, file, variant, op);
    if (rc == 0) {
        snprintf(entry.name, sizeof(entry.name), "%s", variant);
        live->kernels.data[live->kernels.count++] = entry;
        *module = entry.module;
    } else if (entry.module) {
        device_module_unload(live->device, entry.module);
    }
    return rc;
}

int kernel_find(struct probe_live *live, struct device_kernel **out, const char *file,
                const char *entry, const char *op)
{
    char variant[16], name[40];
    snprintf(variant, sizeof(variant), "%s%s%s", file, op ? "." : "", op ? op : "");
    snprintf(name, sizeof(name), "%s:%s", variant, entry);
    struct loaded_kernel *found = find_loaded(live, name);
    if (found) {
        *out = found->kernel;
        return SONDE_OK;
    }
    struct device_module *module = NULL;
    int rc = find_module(live, &module, file, variant, op);
    if (rc < 0) {
        return rc;
    }
    struct loaded_kernel kernel = {0};
    snprintf(kernel.name, sizeof(kernel.name), "%s", name);
    rc = device_kernel_get(live->device, &kernel.kernel, module, entry);
    if (rc == 0 && vec_push(&live->kernels, kernel) < 0) {
        rc = error_memory();
    }
    *out = kernel.kernel;
    return rc;
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
