/*
 * What a kernel is run on: a simulated GPU (target_sim.c, over rt) or a real one (target_cuda.c,
 * over device). Arguments, buffers and results are the same for both.
 */
#ifndef SONDE_API_EXEC_TARGET_H
#define SONDE_API_EXEC_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/image.h"
#include "ptx/ir.h"
#include "sonde/sonde.h"
#include "util/container/strbuf.h"

struct exec_target;

/* Of a target; lives as long as it does. */
struct exec_kernel {
    const char *name;
    void *handle;           /* what is launched */
    const void *parameters; /* what param() reads them from */
    uint32_t param_count;
    const struct ptx_var *(*param)(const struct exec_kernel *kernel, uint32_t i);
};

struct exec_request {
    const struct exec_kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    int cooperative;
    const void *const *args; /* a pointer to each parameter's value */
    uint32_t arg_count;
};

struct exec_target_ops {
    void (*close)(struct exec_target *target);
    /* `name` NULL: the module's only kernel. SONDE_EUSAGE. */
    int (*kernel)(struct exec_target *target, struct exec_kernel *out, const char *name);
    int (*alloc)(struct exec_target *target, uint64_t *address, uint64_t bytes);
    /* `data` NULL: zeros. */
    int (*write)(struct exec_target *target, uint64_t address, const void *data, uint64_t bytes);
    int (*read)(struct exec_target *target, void *data, uint64_t address, uint64_t bytes);
    int (*image)(struct exec_target *target, void **image, const struct image_spec *spec,
                 const void *texels);
    int (*image_read)(struct exec_target *target, void *texels, void *image);
    int (*texture)(struct exec_target *target, uint64_t *handle, void *image,
                   const struct texture_view *view);
    int (*surface)(struct exec_target *target, uint64_t *handle, void *image);
    /* What the launch cost is appended to `costs`, a line each. */
    int (*launch)(struct exec_target *target, const struct exec_request *request,
                  struct strbuf *costs);
    /* When all launches are done: statistics to their file. NULL: nothing to do. */
    int (*finish)(struct exec_target *target);
    /* Is it the device's memory that is full (not the host's)? */
    bool (*full)(const struct exec_target *target);
};

struct exec_target {
    const struct exec_target_ops *ops;
    const char *spec; /* the argument that is allocated for, as written */
};

/* The device with the program loaded. `options` is borrowed until close. On failure *out is NULL.
 */
int exec_target_sim(struct exec_target **out, const char *model,
                    const struct sonde_exec_options *options);
int exec_target_cuda(struct exec_target **out, const char *device_spec,
                     const struct sonde_exec_options *options);

/* costs.c: a launch on a simulated GPU, a line a counter. */
struct rt;
struct rt_kernel;
struct gpu_stats;
void exec_costs_kernel(struct strbuf *out, const struct rt_kernel *kernel);
void exec_costs_counters(struct strbuf *out, const struct gpu_stats *stats, uint64_t cycles);

#define PTX_LIMIT_BYTES ((size_t)64 << 20)

#endif
