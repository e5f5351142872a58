/* Workloads through a driver, by device.h: a real GPU, or the simulator as a device; see machine.h.
 */
#include <string.h>

#include "device/device.h"
#include "util/clock.h"
#include "util/error.h"
#include "workloads/machine.h"

static int load(struct workbench *bench, const char *name, const char *ptx, size_t bytes)
{
    struct device_module *module = NULL;
    int rc = device_module_load(bench->device, &module, name, ptx, bytes);
    bench->module = module;
    return rc;
}

static void unload(struct workbench *bench)
{
    device_module_unload(bench->device, bench->module);
}

static int alloc(struct workbench *bench, uint64_t *address, size_t bytes)
{
    return device_mem_alloc(bench->device, address, bytes);
}

static void free_memory(struct workbench *bench, uint64_t address)
{
    device_mem_free(bench->device, address);
}

static int copy_to(struct workbench *bench, uint64_t to, const void *from, size_t bytes)
{
    return device_copy_to(bench->device, to, from, bytes);
}

static int copy_from(struct workbench *bench, void *to, uint64_t from, size_t bytes)
{
    return device_copy_from(bench->device, to, from, bytes);
}

static int global(struct workbench *bench, const char *name, uint64_t *address, uint64_t *bytes)
{
    return device_module_global(bench->device, bench->module, name, address, bytes);
}

static int texture(struct workbench *bench, struct workbench_texture *out,
                   const struct image_spec *spec, const void *texels)
{
    const struct texture_view view = workbench_view(spec);
    struct device_image *image = NULL;
    int rc = device_image_create(bench->device, &image, spec);
    out->image = image;
    rc = rc < 0 || !texels ? rc : device_image_write(bench->device, image, 0, texels);
    return rc < 0 ? rc : device_texture_object(bench->device, &out->handle, image, &view);
}

static void texture_destroy(struct workbench *bench, const struct workbench_texture *texture)
{
    if (texture->handle) {
        device_texture_destroy(bench->device, texture->handle);
    }
    device_image_destroy(bench->device, texture->image);
}

/* A device that is simulated wants to know how long arguments are; a driver reads that in the
 * module. Kernels here are run on a driver's. */
static int launch(struct workbench *bench, const struct workbench_call *call, uint64_t *cycles,
                  uint64_t *ns)
{
    struct device_launch launch = {.dynamic_shared_bytes = call->shared,
                                   .arg_count = call->arg_count};
    struct device_kernel *kernel;
    if (call->arg_count > DEVICE_MAX_ARGS) {
        return error_set(SONDE_EINTERNAL, "%s has %u parameters, a launch %d at most", call->kernel,
                         call->arg_count, DEVICE_MAX_ARGS);
    }
    memcpy(launch.args, call->args, call->arg_count * sizeof *call->args);
    memcpy(launch.grid, call->shape.grid, sizeof launch.grid);
    memcpy(launch.block, call->shape.block, sizeof launch.block);
    int rc = device_kernel_get(bench->device, &kernel, bench->module, call->kernel);
    uint64_t start_ns = time_monotonic_ns();
    rc = rc < 0 ? rc : device_launch(bench->device, kernel, &launch);
    *ns = time_monotonic_ns() - start_ns;
    *cycles = 0; /* a driver does not tell */
    return rc;
}

const struct workbench_machine workbench_driven = {
    .load = load,
    .unload = unload,
    .alloc = alloc,
    .free = free_memory,
    .copy_to = copy_to,
    .copy_from = copy_from,
    .global = global,
    .texture = texture,
    .texture_destroy = texture_destroy,
    .launch = launch,
};
