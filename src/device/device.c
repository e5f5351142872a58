/*
 * Device names to devices, and the checked calls. What a device is lies in the backends: sim.c,
 * cuda.c, replay.c.
 */
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

#include "device/backend.h"
#include "util/error.h"

/* What follows "sim:" and the like, or NULL. */
static const char *after(const char *spec, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(spec, prefix, length) == 0 ? spec + length : NULL;
}

static int open_cuda(struct device **out, const char *number,
                     int (*open)(struct device **out, unsigned ordinal, const char *library))
{
    char *end;
    unsigned long ordinal = strtoul(number, &end, 10);
    if (*number < '0' || *number > '9' || *end != '\0' || ordinal > 1023) {
        return error_set(SONDE_EUSAGE, "'cuda:%.60s': expected the number of a GPU, as in cuda:0",
                         number);
    }
    return open(out, (unsigned)ordinal, CUDA_LIBRARY);
}

int device_open(struct device **out, const char *spec)
{
    const char *name;
    if ((name = after(spec, "sim:")) && *name) {
        return sim_open(out, name);
    }
    if ((name = after(spec, "cuda:"))) {
        return open_cuda(out, name, cuda_open);
    }
    if ((name = after(spec, "replay:")) && *name) {
        return replay_open(out, name);
    }
    return device_unknown(spec);
}

int device_open_as_program(struct device **out, const char *spec)
{
    const char *number = after(spec, "cuda:");
    return number ? open_cuda(out, number, cuda_open_any) : device_open(out, spec);
}

int device_unknown(const char *spec)
{
    const char *colon = strchr(spec, ':');
    const char *meant = sim_meant(colon ? colon + 1 : spec);
    if (meant && (!colon || strncmp(spec, "sim:", 4) != 0)) {
        return error_set(SONDE_EUSAGE, "'%.100s' is no device; did you mean 'sim:%.100s'?", spec,
                         meant);
    }
    return error_set(SONDE_EUSAGE,
                     "'%.100s' is no device: expected sim:NAME, sim:PATH.yaml, cuda:N or "
                     "replay:FILE",
                     spec);
}

void device_close(struct device *device)
{
    if (device) {
        device->ops->close(device);
    }
}

int device_list(struct device_listing **out, size_t *count)
{
    struct listing_vec rows = {0};
    int rc = sim_list(&rows);
    if (rc == SONDE_OK) {
        rc = cuda_list(&rows, CUDA_LIBRARY);
    }
    if (rc < 0) {
        vec_free(&rows);
        return rc;
    }
    *out = rows.data;
    *count = rows.count;
    return SONDE_OK;
}

static int unsupported(const struct device *device, const char *what)
{
    return error_set(SONDE_EUNSUPPORTED, "%s cannot %s", device->info.name, what);
}

int device_module_load(struct device *device, struct device_module **out, const char *name,
                       const char *ptx, size_t length)
{
    return device->ops->module_load ? device->ops->module_load(device, out, name, ptx, length)
                                    : unsupported(device, "load a module");
}

void device_module_unload(struct device *device, struct device_module *module)
{
    if (module && device->ops->module_unload) {
        device->ops->module_unload(device, module);
    }
}

int device_kernel_get(struct device *device, struct device_kernel **out,
                      struct device_module *module, const char *name)
{
    return device->ops->kernel_get ? device->ops->kernel_get(device, out, module, name)
                                   : unsupported(device, "look up a kernel");
}

int device_mem_alloc(struct device *device, uint64_t *address, uint64_t bytes)
{
    return device->ops->mem_alloc ? device->ops->mem_alloc(device, address, bytes)
                                  : unsupported(device, "allocate memory");
}

int device_mem_free(struct device *device, uint64_t address)
{
    return device->ops->mem_free ? device->ops->mem_free(device, address)
                                 : unsupported(device, "free memory");
}

int device_copy_to(struct device *device, uint64_t dst, const void *src, uint64_t bytes)
{
    return device->ops->copy_to ? device->ops->copy_to(device, dst, src, bytes)
                                : unsupported(device, "copy memory");
}

int device_copy_from(struct device *device, void *dst, uint64_t src, uint64_t bytes)
{
    return device->ops->copy_from ? device->ops->copy_from(device, dst, src, bytes)
                                  : unsupported(device, "copy memory");
}

int device_set_carveout(struct device *device, struct device_kernel *kernel, uint64_t shared_bytes)
{
    return device->ops->set_carveout ? device->ops->set_carveout(device, kernel, shared_bytes)
                                     : unsupported(device, "divide L1 and shared memory");
}

int device_module_global(struct device *device, struct device_module *module, const char *name,
                         uint64_t *address, uint64_t *bytes)
{
    return device->ops->module_global
               ? device->ops->module_global(device, module, name, address, bytes)
               : unsupported(device, "look up a module's variable");
}

int device_mem_map(struct device *device, uint64_t *address, uint64_t bytes, uint64_t *page_bytes)
{
    return device->ops->mem_map ? device->ops->mem_map(device, address, bytes, page_bytes)
                                : unsupported(device, "map memory page by page");
}

int device_mem_unmap(struct device *device, uint64_t address)
{
    return device->ops->mem_unmap ? device->ops->mem_unmap(device, address)
                                  : unsupported(device, "unmap memory");
}

int device_texture_create(struct device *device, uint64_t *handle, uint64_t address, uint64_t bytes)
{
    return device->ops->texture_create ? device->ops->texture_create(device, handle, address, bytes)
                                       : unsupported(device, "fetch through textures");
}

int device_texture_destroy(struct device *device, uint64_t handle)
{
    return device->ops->texture_destroy ? device->ops->texture_destroy(device, handle)
                                        : unsupported(device, "fetch through textures");
}

int device_image_create(struct device *device, struct device_image **out,
                        const struct image_spec *spec)
{
    *out = NULL;
    return device->ops->image_create ? device->ops->image_create(device, out, spec)
                                     : unsupported(device, "make images");
}

int device_image_destroy(struct device *device, struct device_image *image)
{
    return device->ops->image_destroy ? device->ops->image_destroy(device, image)
                                      : unsupported(device, "make images");
}

int device_image_write(struct device *device, struct device_image *image, uint32_t level,
                       const void *texels)
{
    return device->ops->image_copy
               ? device->ops->image_copy(device, image, level, (void *)(uintptr_t)texels, true)
               : unsupported(device, "make images");
}

int device_image_read(struct device *device, void *texels, struct device_image *image,
                      uint32_t level)
{
    return device->ops->image_copy ? device->ops->image_copy(device, image, level, texels, false)
                                   : unsupported(device, "make images");
}

int device_texture_object(struct device *device, uint64_t *handle, struct device_image *image,
                          const struct texture_view *view)
{
    *handle = 0;
    return device->ops->texture_object ? device->ops->texture_object(device, handle, image, view)
                                       : unsupported(device, "fetch through textures");
}

int device_surface_object(struct device *device, uint64_t *handle, struct device_image *image)
{
    *handle = 0;
    return device->ops->surface_object ? device->ops->surface_object(device, handle, image)
                                       : unsupported(device, "write surfaces");
}

int device_surface_destroy(struct device *device, uint64_t handle)
{
    return device->ops->surface_destroy ? device->ops->surface_destroy(device, handle)
                                        : unsupported(device, "write surfaces");
}

int device_set_shared_bank_bytes(struct device *device, struct device_kernel *kernel,
                                 uint32_t bytes)
{
    return device->ops->set_shared_bank_bytes
               ? device->ops->set_shared_bank_bytes(device, kernel, bytes)
               : unsupported(device, "choose the width of shared memory's banks");
}

int device_launch(struct device *device, struct device_kernel *kernel,
                  const struct device_launch *launch)
{
    if (!device->ops->launch) {
        return unsupported(device, "launch a kernel");
    }
    if (launch->arg_count > DEVICE_MAX_ARGS) {
        return error_set(SONDE_EUSAGE, "a launch has %u arguments; %d are the most",
                         launch->arg_count, DEVICE_MAX_ARGS);
    }
    return device->ops->launch(device, kernel, launch);
}

int device_launch_together(struct device *device, struct device_kernel *const *kernels,
                           const struct device_launch *launches, uint32_t count)
{
    if (!device->ops->launch_together) {
        return unsupported(device, "run kernels beside each other");
    }
    if (count > DEVICE_MAX_TOGETHER) {
        return error_set(SONDE_EUSAGE, "%u kernels beside each other; %d are the most", count,
                         DEVICE_MAX_TOGETHER);
    }
    return device->ops->launch_together(device, kernels, launches, count);
}
