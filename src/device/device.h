/*
 * The contract of a device that probes run on. A backend is one file that ends in one struct of
 * operations: sim.c (the simulator, through rt), cuda.c (a real GPU through libcuda.so.1, opened at
 * run time; PTX is compiled by the driver), replay.c (a recording: it launches nothing and answers
 * only what was recorded; see trace/source.h). Calls are synchronous. A device is used by one
 * thread.
 */
#ifndef SONDE_DEVICE_DEVICE_H
#define SONDE_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/image.h"

enum device_kind { DEVICE_SIM, DEVICE_CUDA, DEVICE_REPLAY };

/*
 * What a driver query tells. Printed beside results; never evidence for them: infer cannot see
 * this struct.
 */
struct device_info {
    enum device_kind kind;
    char name[128];
    char driver[64]; /* driver version, or "sonde VERSION" */
    uint32_t compute_major, compute_minor;
    uint32_t sms;
    uint64_t clock_hz;
    uint64_t memory_bytes;
    uint64_t l2_bytes_reported;
    uint64_t shared_per_sm_bytes, shared_per_block_bytes; /* opt-in maximum per block */
    uint64_t memory_bandwidth_reported; /* bytes a second: the memory clock's both edges on all of
                                           the bus; 0: not told */
    uint32_t max_threads_per_block;
    char uuid[40]; /* empty if none */
};

struct device;
struct device_module;
struct device_kernel;
struct traceset;

struct device_image;

#define DEVICE_MAX_ARGS 128
struct device_launch {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    const void *args[DEVICE_MAX_ARGS]; /* pointer to each argument's value */
    uint32_t arg_sizes[DEVICE_MAX_ARGS];
    uint32_t arg_count;
    /* A set-up of which only what it writes matters: a simulator runs it without time, and its
     * caches stay as they were (they hold no data, only which lines are there). Hardware takes no
     * notice. */
    bool untimed;
    bool clocked; /* hardware: tell in device.launch_us what it took, between two events */
};

struct device_ops {
    void (*close)(struct device *device);
    int (*module_load)(struct device *device, struct device_module **out, const char *name,
                       const char *ptx, size_t length);
    void (*module_unload)(struct device *device, struct device_module *module);
    int (*kernel_get)(struct device *device, struct device_kernel **out,
                      struct device_module *module, const char *name);
    int (*mem_alloc)(struct device *device, uint64_t *address, uint64_t bytes);
    int (*mem_free)(struct device *device, uint64_t address);
    int (*copy_to)(struct device *device, uint64_t dst, const void *src, uint64_t bytes);
    int (*copy_from)(struct device *device, void *dst, uint64_t src, uint64_t bytes);
    int (*module_global)(struct device *device, struct device_module *module, const char *name,
                         uint64_t *address, uint64_t *bytes);
    int (*mem_map)(struct device *device, uint64_t *address, uint64_t bytes, uint64_t *page_bytes);
    int (*mem_unmap)(struct device *device, uint64_t address);
    int (*texture_create)(struct device *device, uint64_t *handle, uint64_t address,
                          uint64_t bytes);
    int (*texture_destroy)(struct device *device, uint64_t handle);
    int (*image_create)(struct device *device, struct device_image **out,
                        const struct image_spec *spec);
    int (*image_destroy)(struct device *device, struct device_image *image);
    int (*image_copy)(struct device *device, struct device_image *image, uint32_t level,
                      void *texels, bool to_device);
    int (*texture_object)(struct device *device, uint64_t *handle, struct device_image *image,
                          const struct texture_view *view);
    int (*surface_object)(struct device *device, uint64_t *handle, struct device_image *image);
    int (*surface_destroy)(struct device *device, uint64_t handle);
    int (*set_shared_bank_bytes)(struct device *device, struct device_kernel *kernel,
                                 uint32_t bytes);
    /* Ask for at least this much shared memory per SM for the kernel's launches; the rest is L1. */
    int (*set_carveout)(struct device *device, struct device_kernel *kernel, uint64_t shared_bytes);
    int (*launch)(struct device *device, struct device_kernel *kernel,
                  const struct device_launch *launch);
    int (*launch_together)(struct device *device, struct device_kernel *const *kernels,
                           const struct device_launch *launches, uint32_t count);
};

struct device {
    const struct device_ops *ops; /* NULL members: this backend cannot */
    struct device_info info;
    const struct traceset *recording; /* replay only, else NULL; owned by the device */
    /* What its launches have cost the host so far: of a simulator about microseconds, counted by
     * the traffic that was simulated and so the same every time; 0 where nobody counts. */
    uint64_t work;
    double launch_us; /* the last launch that was `clocked`; 0: the backend could not tell */
    const volatile int *cancel; /* a launch stops with SONDE_EINTERRUPTED when it becomes
                                   non-zero, where the backend can; NULL: never */
};

/*
 * Open "sim:NAME", "sim:PATH.yaml", "cuda:N" or "replay:FILE". SONDE_EDEVICE (with the reason: no
 * driver, no such GPU), SONDE_EINPUT (bad model or recording), SONDE_EUSAGE (not a device name).
 */
int device_open(struct device **out, const char *spec);
/* "cuda:N" as a program opens it: within `sonde run` its driver is the simulator's, which nobody
 * shall take for a GPU to be measured. */
int device_open_as_program(struct device **out, const char *spec);
/* SONDE_EUSAGE: `spec` is no device's name; the text says which one may have been meant. */
int device_unknown(const char *spec);
void device_close(struct device *device);

/* Everything `sonde devices` lists: spec strings with info; a backend that is absent tells why. */
struct device_listing {
    char spec[160];
    struct device_info info;
    bool available;
    char why[256];
};
int device_list(struct device_listing **out, size_t *count); /* free() the array */

/* Checked wrappers: SONDE_EUNSUPPORTED where the backend lacks the operation. */
int device_module_load(struct device *device, struct device_module **out, const char *name,
                       const char *ptx, size_t length);
void device_module_unload(struct device *device, struct device_module *module);
int device_kernel_get(struct device *device, struct device_kernel **out,
                      struct device_module *module, const char *name);
int device_mem_alloc(struct device *device, uint64_t *address, uint64_t bytes);
int device_mem_free(struct device *device, uint64_t address);
int device_copy_to(struct device *device, uint64_t dst, const void *src, uint64_t bytes);
int device_copy_from(struct device *device, void *dst, uint64_t src, uint64_t bytes);
/* Where a module's variable lies: .global, or .const as copies see it. */
int device_module_global(struct device *device, struct device_module *module, const char *name,
                         uint64_t *address, uint64_t *bytes);
/*
 * Memory of pages that are mapped one by one, in the smallest size that the driver has
 * (*page_bytes), neighbours in no physical order. With *address 0 a new buffer; else that buffer
 * grows to at least `bytes`: its address may change, what it held is lost. When it fails, the
 * buffer is as it was.
 */
int device_mem_map(struct device *device, uint64_t *address, uint64_t bytes, uint64_t *page_bytes);
int device_mem_unmap(struct device *device, uint64_t address);
/* A one-dimensional texture of 32-bit unsigned integers over linear memory (aligned to 512 bytes);
 * the handle is what a kernel takes as a .u64 parameter for bindless fetches. */
int device_texture_create(struct device *device, uint64_t *handle, uint64_t address,
                          uint64_t bytes);
int device_texture_destroy(struct device *device, uint64_t handle);
/*
 * Images (isa/image.h): arrays, and views of linear memory, whose address and pitch are then
 * aligned as the driver wants it. Copies are of a whole level, rows, slices and layers without
 * gaps; of arrays only. Objects are destroyed before their image; a texture's by
 * device_texture_destroy().
 */
int device_image_create(struct device *device, struct device_image **out,
                        const struct image_spec *spec);
int device_image_destroy(struct device *device, struct device_image *image);
int device_image_write(struct device *device, struct device_image *image, uint32_t level,
                       const void *texels);
int device_image_read(struct device *device, void *texels, struct device_image *image,
                      uint32_t level);
int device_texture_object(struct device *device, uint64_t *handle, struct device_image *image,
                          const struct texture_view *view);
int device_surface_object(struct device *device, uint64_t *handle, struct device_image *image);
int device_surface_destroy(struct device *device, uint64_t handle);
/* The width of shared memory's banks for the kernel's launches, 4 or 8; 0: the default again.
 * SONDE_EUNSUPPORTED where there is nothing to choose. */
int device_set_shared_bank_bytes(struct device *device, struct device_kernel *kernel,
                                 uint32_t bytes);
int device_set_carveout(struct device *device, struct device_kernel *kernel, uint64_t shared_bytes);
int device_launch(struct device *device, struct device_kernel *kernel,
                  const struct device_launch *launch);
/* Several at once, each in a stream of its own: beside each other, if the device can. Those that
 * wait for each other give up after a time of their own. */
#define DEVICE_MAX_TOGETHER 8
int device_launch_together(struct device *device, struct device_kernel *const *kernels,
                           const struct device_launch *launches, uint32_t count);

#endif
