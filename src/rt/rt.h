/*
 * What a CUDA driver does, over the simulated GPU: modules, memory, copies, launches. Physical
 * frames are allocated and page tables kept here; the GPU asks for translations. The drop-in
 * libcuda and libcudart (shim/) lie over it, so it follows the driver API's notions.
 */
#ifndef SONDE_RT_RT_H
#define SONDE_RT_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/gpu.h"
#include "isa/image.h"
#include "model/model.h"

struct rt;
struct rt_module;
struct rt_kernel;

int rt_create(struct rt **out, const struct model *model); /* copies what it needs of the model */
/* With all memory below 4 GiB, for modules of .address_size 32. */
int rt_create_narrow(struct rt **out, const struct model *model);
void rt_destroy(struct rt *rt);
const struct model *rt_model(const struct rt *rt);

/* 256-byte aligned, page-mapped. What is freed while kernels of the queue run goes when none does.
 */
int rt_mem_alloc(struct rt *rt, uint64_t *address, uint64_t bytes);
int rt_mem_free(struct rt *rt, uint64_t address);
int rt_copy_to_device(struct rt *rt, uint64_t dst, const void *src, uint64_t bytes);
int rt_copy_from_device(struct rt *rt, void *dst, uint64_t src, uint64_t bytes);
int rt_memset(struct rt *rt, uint64_t dst, uint8_t value, uint64_t bytes);

/* Whether the last allocation failed because the device's memory is full, not the host's. */
bool rt_memory_full(const struct rt *rt);

int rt_module_load(struct rt *rt, struct rt_module **out, const char *file, const char *ptx,
                   size_t length);
/*
 * SONDE_EINPUT for a module whose .target the device (NULL), or a model, does not run: one above
 * its compute capability; sm_90a anywhere but on 9.0; sm_100f beyond 10.x. A driver refuses it;
 * loading here does not, as studies and tests run today's PTX on machines of any age (ADR 0009).
 */
int rt_module_check_target(const struct rt_module *module, const struct model *model);
void rt_module_unload(struct rt *rt, struct rt_module *module);
/* A function that the module calls and that nobody defines, which is an error when a kernel with
 * the call is asked for; NULL: there is none. */
const char *rt_module_undefined(const struct rt_module *module);
/*
 * A linker, as cuLinkCreate() and its like: PTX texts are added, and completed into one module.
 * Mistakes in a text are told when it is added; what is undefined, defined twice or differs between
 * them when they are completed. A linker that has completed or failed can only be destroyed.
 */
struct rt_link;
int rt_link_create(struct rt *rt, struct rt_link **out);
int rt_link_add(struct rt_link *link, const char *file, const char *ptx, size_t length);
int rt_link_complete(struct rt_link *link, struct rt_module **out);
void rt_link_destroy(struct rt_link *link); /* NULL is allowed */

/* `name` NULL: the module's only kernel; SONDE_EUSAGE when it has several. */
int rt_kernel_get(struct rt_module *module, struct rt_kernel **out, const char *name);
int rt_global_get(struct rt_module *module, const char *name, uint64_t *address, uint64_t *bytes);

struct rt_launch {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    const void *const *args; /* one pointer a parameter, as cuLaunchKernel */
    uint32_t arg_count;
    bool functional; /* no timing */
    /* The blocks may wait for each other (cooperative groups' this_grid().sync()). SONDE_EINPUT if
     * not all of them can be resident at once. */
    bool cooperative;
    uint32_t cluster[3];       /* blocks of a cluster; 0: as the kernel says, or 1 */
    bool cluster_non_portable; /* up to 16 blocks, not 8 */
    uint64_t max_cycles;       /* a timed launch faults after so many; 0: never */
};
/*
 * SONDE_EFAULT: the kernel faulted. As on a real GPU the context is spoilt then: launches, copies
 * and allocations give SONDE_EFAULT with the first fault's text, until rt_destroy() or
 * rt_recover().
 */
int rt_launch(struct rt *rt, struct rt_kernel *kernel, const struct rt_launch *launch,
              uint64_t *cycles);
/* What a driver cannot do: the context may be used again, its memory as the fault left it. */
void rt_recover(struct rt *rt);
/* Instructions of all functional launches so far; either may be NULL. (Of timed ones: gpu_stats.)
 */
void rt_functional_insns(const struct rt *rt, uint64_t *warp_insns, uint64_t *thread_insns);

/*
 * Output of the device's printf, handed over at the end of each launch, also of one that faults; in
 * the order in which the calls were executed. NULL: it is thrown away. What a launch prints beyond
 * the buffer overwrites its oldest calls; rt_print_lost() counts those that were lost.
 */
void rt_set_print(struct rt *rt, void (*print)(void *ctx, const char *text, size_t bytes),
                  void *ctx);
uint64_t rt_print_lost(const struct rt *rt);

/* What cuCtxSetLimit() sets. The heap's size is fixed by the first launch that uses it. */
enum rt_limit { RT_LIMIT_PRINTF_FIFO, RT_LIMIT_MALLOC_HEAP, RT_LIMIT_COUNT };
int rt_set_limit(struct rt *rt, enum rt_limit limit, uint64_t bytes);
uint64_t rt_get_limit(const struct rt *rt, enum rt_limit limit);

/*
 * Images: arrays, which have memory and a layout of their own, and linear memory of the program's
 * seen as texels (IMAGE_BUFFER, IMAGE_PITCH; `spec->address`). What does not fit together is
 * SONDE_EINPUT by name. Objects on a destroyed image stay; a kernel that uses one faults.
 */
struct rt_image;
int rt_image_create(struct rt *rt, struct rt_image **out, const struct image_spec *spec);
int rt_image_destroy(struct rt *rt, struct rt_image *image);
/* One level as an image of its own, which goes with the whole; of an image of one level itself. */
int rt_image_level(struct rt *rt, struct rt_image **out, struct rt_image *image, uint32_t level);
/* The whole image, its texels read as if they had another format of the same size. */
int rt_image_as(struct rt *rt, struct rt_image **out, struct rt_image *image,
                struct texel_format format);
const struct image_spec *rt_image_spec(const struct rt_image *image);
/* A memory checker does not expect the program to destroy it. */
void rt_image_keep(struct rt *rt, const struct rt_image *image);
/*
 * Texels of an array from or to the host, from (x, y, z) on; z counts slices of depth, or layers
 * and, of cubes, faces. Rows and slices lie row_bytes and slice_bytes apart on the host; 0: as
 * near as they can.
 */
struct rt_image_region {
    uint32_t level, x, y, z, width, height, depth;
    uint64_t row_bytes, slice_bytes;
};
/* A level as a whole. */
int rt_image_whole(struct rt_image_region *out, const struct rt_image *image, uint32_t level);
int rt_image_write(struct rt *rt, struct rt_image *image, const struct rt_image_region *region,
                   const void *from);
/* Whether the level has all of the region: what write and read refuse, before they are done. */
int rt_image_check(const struct rt_image *image, const struct rt_image_region *region);
int rt_image_read(struct rt *rt, void *to, const struct rt_image *image,
                  const struct rt_image_region *region);
/* Objects: handles that kernels take as a .u64, or that a .texref or .surfref is bound to. */
int rt_texture_object(struct rt *rt, uint64_t *handle, const struct rt_image *image,
                      const struct texture_view *view);
int rt_surface_object(struct rt *rt, uint64_t *handle, const struct rt_image *image);
int rt_surface_destroy(struct rt *rt, uint64_t handle);
/* A module's .texref or .surfref means this object from now on; handle 0: none. */
int rt_reference_bind(struct rt_module *module, const char *name, uint64_t handle);
/* What is bound to it; 0: nothing. */
int rt_reference_bound(struct rt_module *module, const char *name, uint64_t *handle);
/*
 * A texture over linear memory: one dimension, texels of one 32-bit unsigned integer. `bytes` is a
 * multiple of 4. Fetches beside it give 0. The handle is what kernels take as a .u64.
 */
int rt_texture_create(struct rt *rt, uint64_t *handle, uint64_t address, uint64_t bytes);
int rt_texture_destroy(struct rt *rt, uint64_t handle);
/* The width of shared memory's banks from the next launch on: 4, 8, or 0 for the default.
 * SONDE_EUNSUPPORTED where the model has no such choice. */
int rt_set_shared_bank_bytes(struct rt *rt, uint32_t bytes);

/* Prefer this much shared memory per SM (bytes); the nearest choice of the model that holds it. */
int rt_set_carveout(struct rt *rt, uint64_t shared_bytes, uint64_t *l1_bytes_got);
/* No preference, as before the first. */
void rt_drop_carveout(struct rt *rt);
/* What kernels are told of the device's attributes (CUdevice_attribute): 0, or a cudaError_t. */
void rt_provide_attributes(struct rt *rt, int (*attribute)(int *value, int number));
const char *rt_kernel_name(const struct rt_kernel *kernel);
const struct exec_program *rt_kernel_program(const struct rt_kernel *kernel);
void rt_kernel_info(const struct rt_kernel *kernel, uint32_t *registers, uint32_t *static_shared,
                    uint32_t *local_bytes);
/* The kernel's parameters as declared (name, type, size): what a launch's arguments must fit. */
uint32_t rt_kernel_param_count(const struct rt_kernel *kernel);
const struct ptx_var *rt_kernel_param(const struct rt_kernel *kernel, uint32_t i);
/* Host threads that launches may use, see gpu_set_threads(). SONDE_EINPUT. */
int rt_set_threads(struct rt *rt, uint32_t threads);
/* Launches stop with SONDE_EINTERRUPTED when *cancel becomes non-zero; NULL: never. */
void rt_set_cancel(struct rt *rt, const volatile int *cancel);
/* Told of now and then while launches run; borrowed. NULL: nobody listens. */
struct progress;
void rt_set_progress(struct rt *rt, const struct progress *progress);
/* The error of such a stop tells where the warps are. */
void rt_tell_when_cancelled(struct rt *rt);
/* Caches and TLBs are emptied before each launch that finds the GPU idle. */
void rt_set_cold(struct rt *rt);
struct gpu *rt_gpu(struct rt *rt);

/*
 * From now on timed launches that did alike are simulated in part, and the others estimated
 * (docs/adr/0014); what they do to memory is the same. Before the first launch. rt_sampler() says
 * what was simulated, and tells totals with intervals; NULL where it was not asked for.
 */
struct sampler;
struct sampler_spec;
int rt_sample(struct rt *rt, const struct sampler_spec *spec);
const struct sampler *rt_sampler(const struct rt *rt);

/*
 * The memory checker (check/check.h) looks at all launches without timing from now on; to be asked
 * for before anything is allocated. Freed addresses are not given out again as long as there are
 * others, and allocations lie apart. rt_check() is NULL where it was not asked for.
 */
struct check;
int rt_check_enable(struct rt *rt);
struct check *rt_check(const struct rt *rt);
struct check *rt_check_detach(struct rt *rt); /* to be destroyed by the caller */

#endif
