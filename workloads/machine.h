/*
 * What a workload runs on: the simulator (simulated.c) or a driver's GPU (driven.c). The host files
 * see neither; workload.c asks one of the two.
 */
#ifndef SONDE_WORKLOADS_MACHINE_H
#define SONDE_WORKLOADS_MACHINE_H

#include "isa/image.h"
#include "workloads/workload.h"

struct workbench_texture {
    uint64_t handle; /* 0: not yet */
    void *image;     /* NULL: there is none */
};

struct workbench_call {
    const char *kernel;
    struct workbench_shape shape;
    uint32_t shared;         /* bytes of dynamic shared memory */
    const void *const *args; /* one pointer a parameter */
    uint32_t arg_count;
};

struct workbench_machine {
    int (*load)(struct workbench *bench, const char *name, const char *ptx, size_t bytes);
    void (*unload)(struct workbench *bench);
    int (*alloc)(struct workbench *bench, uint64_t *address, size_t bytes);
    void (*free)(struct workbench *bench, uint64_t address);
    int (*copy_to)(struct workbench *bench, uint64_t to, const void *from, size_t bytes);
    int (*copy_from)(struct workbench *bench, void *to, uint64_t from, size_t bytes);
    int (*global)(struct workbench *bench, const char *name, uint64_t *address, uint64_t *bytes);
    int (*texture)(struct workbench *bench, struct workbench_texture *out,
                   const struct image_spec *spec, const void *texels);
    void (*texture_destroy)(struct workbench *bench, const struct workbench_texture *texture);
    /* Returns when the kernel has ended; *ns is the host's time. */
    int (*launch)(struct workbench *bench, const struct workbench_call *call, uint64_t *cycles,
                  uint64_t *ns);
};

/* How workloads read a texture: see workbench_texture(). */
struct texture_view workbench_view(const struct image_spec *spec);

extern const struct workbench_machine workbench_simulated, workbench_driven;

#endif
