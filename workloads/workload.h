/*
 * Workloads: well-known GPU programs written anew, to run on a simulated GPU or through a driver
 * on a real one, with their results held against the host's. A workload is a folder: NAME.cu, the
 * NAME.ptx that nvcc made of it (regenerate.sh), and NAME.c with its host side, workload_NAME():
 * make inputs from a fixed seed, launch, check. workloads.def lists them.
 */
#ifndef SONDE_WORKLOADS_WORKLOAD_H
#define SONDE_WORKLOADS_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/container/arena.h"
#include "util/rng.h"

struct device;
struct gpu_stats;
struct image_spec;
struct rt;
struct workbench_machine;

/* Told of every timed launch: its kernel and what it alone has counted. */
typedef void workload_launched(void *ctx, const char *kernel, const struct gpu_stats *stats);

/* How to run a workload; what is 0 is as the workload has it. */
struct workload_settings {
    const char *folder; /* its PTX is read below; NULL: as it was when this was built */
    uint32_t size;      /* 0: the size of a quick run */
    uint32_t block;     /* threads of a CTA; bfs, frontier */
    uint32_t depth;     /* planes along z; laplace3d */
    bool functional;
    workload_launched *launched; /* NULL: nobody */
    void *ctx;
};

/* One run of a workload: its device, its memory, and what its launches cost. */
struct workbench {
    const struct workbench_machine *machine; /* machine.h */
    struct rt *rt;                           /* on the simulator */
    struct device *device;                   /* through a driver; one of them is NULL */
    void *module;
    bool check_target;   /* the module's target is held against the simulated device */
    struct arena *arena; /* the host's arrays, until the run has ended */
    struct rng rng;
    const struct workload_settings *settings; /* during the run */
    uint32_t size;
    uint64_t *buffers; /* device memory, freed after the run */
    uint32_t buffer_count;
    struct workbench_texture *textures; /* likewise */
    uint32_t texture_count;
    uint64_t launches, launch_ns; /* the host's time within launches */
    uint64_t launch_cpu_ns;       /* that of its processors there */
    uint64_t cycles;              /* timed launches only */
    uint64_t thread_insns;        /* functional launches only */
    uint64_t digest;              /* of all bytes that the host has read back */
};

enum { WORKLOAD_PLAIN = 0, WORKLOAD_BLOCK = 1, WORKLOAD_DEPTH = 2 };

struct workload {
    const char *name;
    uint32_t small_size, full_size;
    uint32_t knows;     /* settings besides the size: WORKLOAD_BLOCK, WORKLOAD_DEPTH */
    const char *target; /* of its PTX: sm_75 ... */
    int (*run)(struct workbench *bench);
};

#define WORKLOAD(name, small, full, knows, target) int workload_##name(struct workbench *bench);
#include "workloads/workloads.def"
#undef WORKLOAD

extern const struct workload workloads[];
extern const uint32_t workload_count;
const struct workload *workload_find(const char *name); /* NULL: no such workload */
/* All that is built in and decides what a run of it counts, but for the simulator: its PTX, its
 * quick size, and the host's sides of all workloads. */
uint64_t workload_hash(const struct workload *workload);
/* The model that runs it where nothing else is said: one of the age of its instructions. */
const char *workload_model(const struct workload *workload);

/*
 * Run a workload of `size` on `rt`, functionally or timed; its PTX is read below `folder`.
 * `*result` receives the counts (its pointers mean nothing any more). A result that differs from
 * the host's is SONDE_EINTERNAL with the element in the text; a target that the model does not have
 * is SONDE_EINPUT, but for sm_75 (ADR 0009).
 */
int workload_run(struct workbench *result, struct rt *rt, const struct workload *workload,
                 const char *folder, uint32_t size, bool functional);
/* The same with all that can be set. SONDE_EUSAGE for what the workload does not know. */
int workload_run_with(struct workbench *result, struct rt *rt, const struct workload *workload,
                      const struct workload_settings *settings);

/* On what a driver gives, cuda:N: the same host program; counts launches and their time alone. */
int workload_run_on(struct workbench *result, struct device *device,
                    const struct workload *workload, const struct workload_settings *settings);

/* For the host files. */

/* A zeroed array on the host; the error is set when it is NULL. */
void *workbench_array(struct workbench *bench, size_t count, size_t element_bytes);
float *workbench_floats(struct workbench *bench, size_t count, float low, float high); /* random */
/* Device memory with a copy of `data`, or zeroed when it is NULL. */
int workbench_upload(struct workbench *bench, uint64_t *address, const void *data, size_t bytes);
int workbench_write(struct workbench *bench, uint64_t address, const void *data, size_t bytes);
int workbench_download(struct workbench *bench, void *data, uint64_t address, size_t bytes);
/* Writes a variable of the module, which must be as long. */
int workbench_symbol(struct workbench *bench, const char *name, const void *data, size_t bytes);
/* A texture of memory of one's own (spec->address) or of an array, which is filled with `texels`;
 * integers stay integers, nearest texel, coordinates in texels. */
int workbench_texture(struct workbench *bench, uint64_t *handle, const struct image_spec *spec,
                      const void *texels);

struct workbench_shape {
    uint32_t grid[3], block[3];
};
/* `shared`: bytes of dynamic shared memory of a CTA, up to what the device lets a launch ask for. A
 * pointer a parameter; clusters are as the kernel says. */
int workbench_launch(struct workbench *bench, const char *kernel, struct workbench_shape shape,
                     uint32_t shared, const void *const *args, uint32_t arg_count);
#define WORKBENCH_LAUNCH_SHARED(bench, kernel, shape, shared, ...)                                 \
    workbench_launch((bench), (kernel), (shape), (shared), (const void *const[]){__VA_ARGS__},     \
                     sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *))
#define WORKBENCH_LAUNCH(bench, kernel, shape, ...)                                                \
    WORKBENCH_LAUNCH_SHARED(bench, kernel, shape, 0, __VA_ARGS__)

/* Both compare all elements; `relative` 0 wants equal bits of the value. */
int workbench_expect_floats(const float *got, const double *wanted, size_t count, double relative,
                            double absolute);
int workbench_expect_words(const uint32_t *got, const uint32_t *wanted, size_t count);

#endif
