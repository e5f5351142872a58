/*
 * The same kernels on a real GPU. The driver compiles the PTX; its parameters are read from the
 * text by our own parser, as the driver does not tell them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/exec/target.h"
#include "api/handles.h"
#include "device/device.h"
#include "util/container/vec.h"
#include "util/error.h"
#include "util/fileio.h"

#define ZERO_CHUNK_BYTES ((uint64_t)1 << 20)

struct cuda_target {
    struct exec_target target;
    struct device *device;
    struct device_module *module;
    struct ptx_module *text;
    struct VEC_FIELDS(uint64_t) buffers; /* addresses, freed at the end */
};

static struct cuda_target *cuda_of(struct exec_target *target)
{
    return (struct cuda_target *)target;
}

static const struct ptx_var *cuda_param(const struct exec_kernel *kernel, uint32_t i)
{
    const struct ptx_func *func = kernel->parameters;
    return &func->params[i];
}

/* The entry of that name, or the only one; NULL after error_set(). */
static const struct ptx_func *find_entry(const struct ptx_module *text, const char *name)
{
    uint32_t entries = 0;
    const struct ptx_func *found = NULL;
    for (uint32_t i = 0; i < text->func_count; i++) {
        const struct ptx_func *func = text->funcs[i];
        if (func->is_entry && (!name || strcmp(func->name, name) == 0)) {
            found = func;
            entries++;
        }
    }
    if (entries == 1) {
        return found;
    }
    if (name) {
        error_set(SONDE_EUSAGE, "%s: there is no kernel '%s'", text->file, name);
    } else {
        error_set(SONDE_EUSAGE, "%s: %u kernels: say which with --kernel", text->file, entries);
    }
    return NULL;
}

static int cuda_kernel(struct exec_target *target, struct exec_kernel *out, const char *name)
{
    struct cuda_target *cuda = cuda_of(target);
    const struct ptx_func *func = find_entry(cuda->text, name);
    if (!func) {
        return SONDE_EUSAGE;
    }
    struct device_kernel *kernel;
    int rc = device_kernel_get(cuda->device, &kernel, cuda->module, func->name);
    if (rc == 0) {
        *out = (struct exec_kernel){.name = func->name,
                                    .handle = kernel,
                                    .parameters = func,
                                    .param_count = func->param_count,
                                    .param = cuda_param};
    }
    return rc;
}

static int cuda_alloc(struct exec_target *target, uint64_t *address, uint64_t bytes)
{
    struct cuda_target *cuda = cuda_of(target);
    int rc = device_mem_alloc(cuda->device, address, bytes);
    if (rc == 0 && vec_push(&cuda->buffers, *address) < 0) {
        device_mem_free(cuda->device, *address);
        return error_memory();
    }
    return rc;
}

static int cuda_clear(struct device *device, uint64_t address, uint64_t bytes)
{
    uint64_t chunk = bytes < ZERO_CHUNK_BYTES ? bytes : ZERO_CHUNK_BYTES;
    void *zeros = calloc(1, chunk);
    int rc = zeros ? 0 : error_memory();
    for (uint64_t at = 0; rc == 0 && at < bytes; at += chunk) {
        rc = device_copy_to(device, address + at, zeros, bytes - at < chunk ? bytes - at : chunk);
    }
    free(zeros);
    return rc;
}

static int cuda_write(struct exec_target *target, uint64_t address, const void *data,
                      uint64_t bytes)
{
    struct device *device = cuda_of(target)->device;
    return data ? device_copy_to(device, address, data, bytes) : cuda_clear(device, address, bytes);
}

static int cuda_read(struct exec_target *target, void *data, uint64_t address, uint64_t bytes)
{
    return device_copy_from(cuda_of(target)->device, data, address, bytes);
}

static int cuda_image(struct exec_target *target, void **image, const struct image_spec *spec,
                      const void *texels)
{
    struct device *device = cuda_of(target)->device;
    struct device_image *made;
    int rc = device_image_create(device, &made, spec);
    rc = rc < 0 ? rc : device_image_write(device, made, 0, texels);
    *image = rc < 0 ? NULL : made; /* the context owns it */
    return rc;
}

static int cuda_image_read(struct exec_target *target, void *texels, void *image)
{
    return device_image_read(cuda_of(target)->device, texels, image, 0);
}

static int cuda_texture(struct exec_target *target, uint64_t *handle, void *image,
                        const struct texture_view *view)
{
    return device_texture_object(cuda_of(target)->device, handle, image, view);
}

static int cuda_surface(struct exec_target *target, uint64_t *handle, void *image)
{
    return device_surface_object(cuda_of(target)->device, handle, image);
}

static int cuda_launch(struct exec_target *target, const struct exec_request *request,
                       struct strbuf *costs)
{
    struct cuda_target *cuda = cuda_of(target);
    struct device_launch launch = {.dynamic_shared_bytes = request->dynamic_shared_bytes,
                                   .arg_count = request->arg_count,
                                   .clocked = true};
    if (request->cooperative) {
        return error_set(SONDE_EUNSUPPORTED, "--cooperative is for simulated devices");
    }
    if (request->arg_count > DEVICE_MAX_ARGS) {
        return error_set(SONDE_EUNSUPPORTED, "at most %d arguments on a real GPU", DEVICE_MAX_ARGS);
    }
    memcpy(launch.grid, request->grid, sizeof(launch.grid));
    memcpy(launch.block, request->block, sizeof(launch.block));
    for (uint32_t i = 0; i < request->arg_count; i++) {
        launch.args[i] = request->args[i];
        launch.arg_sizes[i] = (uint32_t)cuda_param(request->kernel, i)->size;
    }
    int rc = device_launch(cuda->device, request->kernel->handle, &launch);
    if (rc == 0 && cuda->device->launch_us > 0) {
        strbuf_printf(costs, "time_us           %.1f\n", cuda->device->launch_us);
    }
    return rc;
}

static bool cuda_full(const struct exec_target *target)
{
    (void)target; /* the driver's errors say so themselves */
    return false;
}

static void cuda_close(struct exec_target *target)
{
    struct cuda_target *cuda = cuda_of(target);
    for (size_t i = 0; i < cuda->buffers.count; i++) {
        device_mem_free(cuda->device, cuda->buffers.data[i]);
    }
    vec_free(&cuda->buffers);
    if (cuda->module) {
        device_module_unload(cuda->device, cuda->module);
    }
    if (cuda->text) {
        ptx_module_destroy(cuda->text);
    }
    if (cuda->device) {
        device_close(cuda->device);
    }
    free(cuda);
}

static const struct exec_target_ops ops = {
    .close = cuda_close,
    .kernel = cuda_kernel,
    .alloc = cuda_alloc,
    .write = cuda_write,
    .read = cuda_read,
    .image = cuda_image,
    .image_read = cuda_image_read,
    .texture = cuda_texture,
    .surface = cuda_surface,
    .launch = cuda_launch,
    .full = cuda_full,
};

/* What only a simulator does must not be passed over in silence. */
static int check_options(const struct sonde_exec_options *options)
{
    const char *what = options->link_count > 0  ? "linking several files"
                       : options->functional    ? "--functional"
                       : options->stats_path    ? "--stats"
                       : options->profile       ? "--profile"
                       : options->timeline_path ? "--timeline"
                       : options->cold          ? "--cold"
                       : options->summary       ? "--summary"
                       : options->printf_bytes  ? "--printf-buffer"
                       : options->heap_bytes    ? "--heap"
                       : options->threads       ? "--threads"
                                                : NULL;
    return what ? error_set(SONDE_EUSAGE, "%s is for simulated devices", what) : 0;
}

static int load(struct cuda_target *cuda, const char *device_spec, const char *path)
{
    char *ptx;
    size_t size;
    int rc = file_read_all(&ptx, &size, path, PTX_LIMIT_BYTES);
    rc = rc < 0 ? api_read_result(rc) : 0;
    if (rc < 0) {
        return rc;
    }
    rc = ptx_parse_late(&cuda->text, path, ptx, size);
    rc = rc < 0 ? api_read_result(rc) : device_open(&cuda->device, device_spec);
    rc = rc < 0 ? rc : device_module_load(cuda->device, &cuda->module, path, ptx, size);
    free(ptx);
    return rc;
}

int exec_target_cuda(struct exec_target **out, const char *device_spec,
                     const struct sonde_exec_options *options)
{
    *out = NULL;
    int rc = check_options(options);
    if (rc < 0) {
        return rc;
    }
    struct cuda_target *cuda = calloc(1, sizeof(*cuda));
    if (!cuda) {
        return error_memory();
    }
    cuda->target.ops = &ops;
    rc = load(cuda, device_spec, options->ptx_path);
    if (rc < 0) {
        cuda_close(&cuda->target);
        return rc;
    }
    *out = &cuda->target;
    return 0;
}
