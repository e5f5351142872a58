/* Workloads on the simulator, functionally or timed; see machine.h. */
#include <string.h>

#include "rt/rt.h"
#include "util/clock.h"
#include "workloads/machine.h"

static int load(struct workbench *bench, const char *name, const char *ptx, size_t bytes)
{
    struct rt_module *module = NULL;
    int rc = rt_module_load(bench->rt, &module, name, ptx, bytes);
    bench->module = module;
    return rc == 0 && bench->check_target ? rt_module_check_target(module, NULL) : rc;
}

static void unload(struct workbench *bench)
{
    rt_module_unload(bench->rt, bench->module);
}

static int alloc(struct workbench *bench, uint64_t *address, size_t bytes)
{
    return rt_mem_alloc(bench->rt, address, bytes);
}

static void free_memory(struct workbench *bench, uint64_t address)
{
    rt_mem_free(bench->rt, address);
}

static int copy_to(struct workbench *bench, uint64_t to, const void *from, size_t bytes)
{
    return rt_copy_to_device(bench->rt, to, from, bytes);
}

static int copy_from(struct workbench *bench, void *to, uint64_t from, size_t bytes)
{
    return rt_copy_from_device(bench->rt, to, from, bytes);
}

static int global(struct workbench *bench, const char *name, uint64_t *address, uint64_t *bytes)
{
    return rt_global_get(bench->module, name, address, bytes);
}

static int texture(struct workbench *bench, struct workbench_texture *out,
                   const struct image_spec *spec, const void *texels)
{
    const struct texture_view view = workbench_view(spec);
    struct rt_image_region whole;
    struct rt_image *image = NULL;
    int rc = rt_image_create(bench->rt, &image, spec);
    out->image = image;
    if (rc == 0 && texels) {
        rc = rt_image_whole(&whole, image, 0);
        rc = rc < 0 ? rc : rt_image_write(bench->rt, image, &whole, texels);
    }
    return rc < 0 ? rc : rt_texture_object(bench->rt, &out->handle, image, &view);
}

static void texture_destroy(struct workbench *bench, const struct workbench_texture *texture)
{
    if (texture->handle) {
        rt_texture_destroy(bench->rt, texture->handle);
    }
    rt_image_destroy(bench->rt, texture->image);
}

/* The launch, with what it counts told to whoever asked for it. */
static int launch_counted(struct workbench *bench, struct rt_kernel *code, const char *kernel,
                          const struct rt_launch *launch, uint64_t *cycles)
{
    const struct workload_settings *settings = bench->settings;
    struct gpu_stats before, stats;
    if (!settings->launched || launch->functional) {
        return rt_launch(bench->rt, code, launch, cycles);
    }
    gpu_stats(rt_gpu(bench->rt), &before);
    int rc = rt_launch(bench->rt, code, launch, cycles);
    if (rc == 0) {
        gpu_stats(rt_gpu(bench->rt), &stats);
        gpu_stats_since(&stats, &before);
        settings->launched(settings->ctx, kernel, &stats);
    }
    return rc;
}

static int launch(struct workbench *bench, const struct workbench_call *call, uint64_t *cycles,
                  uint64_t *ns)
{
    struct rt_launch launch = {.args = call->args,
                               .arg_count = call->arg_count,
                               .dynamic_shared_bytes = call->shared,
                               .functional = bench->settings->functional};
    struct rt_kernel *code;
    memcpy(launch.grid, call->shape.grid, sizeof launch.grid);
    memcpy(launch.block, call->shape.block, sizeof launch.block);
    int rc = rt_kernel_get(bench->module, &code, call->kernel);
    if (rc < 0) {
        return rc;
    }
    uint64_t start_ns = time_monotonic_ns();
    rc = launch_counted(bench, code, call->kernel, &launch, cycles);
    *ns = time_monotonic_ns() - start_ns;
    return rc;
}

const struct workbench_machine workbench_simulated = {
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
