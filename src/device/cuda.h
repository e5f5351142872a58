/*
 * What the files of the CUDA backend share: cuda.c (opening, modules, plain memory, launches),
 * cuda_paths.c and cuda_image.c (what only the probes of other paths than plain loads need).
 * Nothing here is seen outside of the backend.
 */
#ifndef SONDE_DEVICE_CUDA_H
#define SONDE_DEVICE_CUDA_H

#include <stdbool.h>

#include "device/backend.h"
#include "device/cuda_api.h"

struct device_kernel {
    cu_function function;
    uint32_t dynamic_shared_bytes; /* what the function is set up for */
    struct device_kernel *next;
};

struct device_module {
    cu_module module;
    struct device_kernel *kernels;
    struct device_module *next;
};

/* A range of addresses whose first `mapped_bytes` have pages. */
struct cuda_mapping {
    cu_pointer address;
    uint64_t reserved_bytes, mapped_bytes, page_bytes;
    struct cuda_mapping *next;
};

struct cuda {
    struct device device;
    struct cuda_api api;
    cu_device handle;
    cu_context context;             /* NULL until retained */
    uint32_t reserved_shared_bytes; /* the driver's own, in each block */
    struct device_module *modules;
    struct cuda_mapping *mappings;
    char lost[256]; /* why the context is lost; empty while it lives */
};

static inline struct cuda *cuda_of(struct device *device)
{
    return (struct cuda *)device;
}

/* ---- cuda_check.c ---- */

/* 0 for success, else the error with what was tried and the driver's words for it. */
int cuda_api_check(const struct cuda_api *api, cu_result result, const char *what);
/* Begins every call: the context must live, and be this thread's current one. */
int cuda_enter(struct cuda *cuda);
/* As cuda_api_check(); a fault is remembered. */
int cuda_check(struct cuda *cuda, cu_result result, const char *what);

/* ---- cuda_paths.c ---- */

int cuda_module_global(struct device *device, struct device_module *module, const char *name,
                       uint64_t *address, uint64_t *bytes);
int cuda_mem_map(struct device *device, uint64_t *address, uint64_t bytes, uint64_t *page_bytes);
int cuda_mem_unmap(struct device *device, uint64_t address);
void cuda_unmap_all(struct cuda *cuda);
int cuda_texture_create(struct device *device, uint64_t *handle, uint64_t address, uint64_t bytes);
int cuda_texture_destroy(struct device *device, uint64_t handle);

/* cuda_image.c */
int cuda_image_create(struct device *device, struct device_image **out,
                      const struct image_spec *spec);
int cuda_image_destroy(struct device *device, struct device_image *image);
int cuda_image_copy(struct device *device, struct device_image *image, uint32_t level, void *texels,
                    bool to_device);
int cuda_texture_object(struct device *device, uint64_t *handle, struct device_image *image,
                        const struct texture_view *view);
int cuda_surface_object(struct device *device, uint64_t *handle, struct device_image *image);
int cuda_surface_destroy(struct device *device, uint64_t handle);

int cuda_set_shared_bank_bytes(struct device *device, struct device_kernel *kernel, uint32_t bytes);

#endif
