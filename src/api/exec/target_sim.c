/*
 * Kernels on a simulated GPU: the model, the program (of one file, or linked of several), launches
 * with what they cost, statistics of all of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/exec/report.h"
#include "api/exec/target.h"
#include "api/handles.h"
#include "model/model.h"
#include "profile/profile.h"
#include "profile/timeline.h"
#include "rt/queue/queue.h"
#include "rt/rt.h"
#include "statistics/statistics.h"
#include "statistics/summary.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/progress.h"

struct sim_target {
    struct exec_target target;
    const struct sonde_exec_options *options;
    struct rt *rt;
    struct progress progress;
    struct rt_module *module;
    struct statistics statistics;
    struct placements placements;
    struct profile *profile;   /* NULL: none is wanted */
    struct timeline *timeline; /* the same */
    unsigned launches;
    uint64_t prints_lost; /* that a launch's costs have told of */
};

static struct sim_target *sim_of(struct exec_target *target)
{
    return (struct sim_target *)target;
}

/* ---- loading ---- */

static int add_file(struct rt_link *link, const char *path)
{
    char *ptx;
    size_t size;
    int rc = file_read_all(&ptx, &size, path, PTX_LIMIT_BYTES);
    if (rc == 0) {
        rc = rt_link_add(link, path, ptx, size);
        free(ptx);
    }
    return rc;
}

static int load_linked(struct sim_target *sim)
{
    const struct sonde_exec_options *options = sim->options;
    struct rt_link *link;
    int rc = rt_link_create(sim->rt, &link);
    rc = rc < 0 ? rc : add_file(link, options->ptx_path);
    for (size_t i = 0; rc == 0 && i < options->link_count; i++) {
        rc = add_file(link, options->link_paths[i]);
    }
    rc = rc < 0 ? rc : rt_link_complete(link, &sim->module);
    rt_link_destroy(link);
    return rc;
}

static int load_alone(struct sim_target *sim)
{
    const char *path = sim->options->ptx_path;
    char *ptx;
    size_t size;
    int rc = file_read_all(&ptx, &size, path, PTX_LIMIT_BYTES);
    if (rc == 0) {
        rc = rt_module_load(sim->rt, &sim->module, path, ptx, size);
        free(ptx);
    }
    return rc;
}

static int set_limits(struct sim_target *sim)
{
    const struct sonde_exec_options *options = sim->options;
    int rc = 0;
    if (options->printf_bytes > 0) {
        rc = rt_set_limit(sim->rt, RT_LIMIT_PRINTF_FIFO, options->printf_bytes);
    }
    if (rc == 0 && options->heap_bytes > 0) {
        rc = rt_set_limit(sim->rt, RT_LIMIT_MALLOC_HEAP, options->heap_bytes);
    }
    if (rc == 0 && options->threads > 0) {
        rc = rt_set_threads(sim->rt, options->threads);
    }
    return rc == SONDE_EINPUT ? SONDE_EUSAGE : rc;
}

/* Does the file's text say so? What is wrong with it is told when it is loaded. */
static bool has_narrow_pointers(const char *path)
{
    char *ptx;
    size_t size;
    struct ptx_module *module;
    if (file_read_all(&ptx, &size, path, PTX_LIMIT_BYTES) < 0) {
        return false;
    }
    bool narrow = ptx_parse_late(&module, path, ptx, size) == 0;
    if (narrow) {
        narrow = module->address_size == 32;
        ptx_module_destroy(module);
    }
    free(ptx);
    return narrow;
}

/* With the shipped model of the least compute capability that runs it, where there is one. */
static int refuse_target(const struct sim_target *sim)
{
    char why[400];
    const char *found = NULL;
    uint32_t least = UINT32_MAX;
    snprintf(why, sizeof why, "%s", error_text());
    for (size_t i = 0; i < model_builtin_count(); i++) {
        struct model *model;
        if (model_load(&model, model_builtin_name(i)) == 0) {
            uint32_t capability = 16 * model->driver.compute_major + model->driver.compute_minor;
            if (capability < least && rt_module_check_target(sim->module, model) == 0) {
                least = capability;
                found = model_builtin_name(i);
            }
            model_destroy(model);
        }
    }
    return error_set(SONDE_EINPUT, "%s; %s%s%s--any-target runs it all the same", why,
                     found ? "-d sim:" : "", found ? found : "", found ? " has it, and " : "");
}

static int load(struct sim_target *sim, const char *model_name)
{
    const struct sonde_exec_options *options = sim->options;
    struct model *model;
    int rc = model_load(&model, model_name);
    if (rc < 0) {
        return api_read_result(rc);
    }
    rc = has_narrow_pointers(options->ptx_path) ? rt_create_narrow(&sim->rt, model)
                                                : rt_create(&sim->rt, model);
    model_destroy(model);
    rc = rc < 0 ? rc : set_limits(sim);
    rc = rc == 0 && options->check ? exec_check_begin(sim->rt, options) : rc;
    rc = rc == 0 && options->profile ? exec_profile_begin(&sim->profile, sim->rt, options) : rc;
    if (rc == 0 && options->timeline_path) {
        rc = timeline_open(&sim->timeline, options->timeline_path, rt_model(sim->rt));
    }
    if (rc == SONDE_EUSAGE) {
        return rc;
    }
    if (rc == 0) {
        rc = options->link_count > 0 ? load_linked(sim) : load_alone(sim);
    }
    if (rc < 0) {
        return api_read_result(rc);
    }
    rc = options->any_target ? 0 : rt_module_check_target(sim->module, NULL);
    if (rc < 0) {
        return refuse_target(sim);
    }
    if (sim->timeline) {
        timeline_attach(sim->timeline, rt_gpu(sim->rt));
    }
    rt_set_cancel(sim->rt, options->watch.cancel);
    rt_tell_when_cancelled(sim->rt);
    sim->progress = (struct progress){options->watch.progress, options->watch.ctx};
    if (options->watch.progress) {
        rt_set_progress(sim->rt, &sim->progress);
    }
    if (options->cold) {
        rt_set_cold(sim->rt);
    }
    rt_set_print(sim->rt, options->print, options->print_ctx);
    return 0;
}

/* ---- the operations ---- */

static const struct ptx_var *sim_param(const struct exec_kernel *kernel, uint32_t i)
{
    return rt_kernel_param(kernel->parameters, i);
}

static int sim_kernel(struct exec_target *target, struct exec_kernel *out, const char *name)
{
    struct rt_kernel *kernel;
    int rc = rt_kernel_get(sim_of(target)->module, &kernel, name);
    if (rc == 0) {
        *out = (struct exec_kernel){
            .name = rt_kernel_name(kernel),
            .handle = kernel,
            .parameters = kernel,
            .param_count = rt_kernel_param_count(kernel),
            .param = sim_param,
        };
    }
    return rc;
}

static int sim_alloc(struct exec_target *target, uint64_t *address, uint64_t bytes)
{
    return exec_check_alloc(sim_of(target)->rt, address, bytes, target->spec);
}

static int sim_write(struct exec_target *target, uint64_t address, const void *data, uint64_t bytes)
{
    struct rt *rt = sim_of(target)->rt;
    return data ? rt_copy_to_device(rt, address, data, bytes) : rt_memset(rt, address, 0, bytes);
}

static int sim_read(struct exec_target *target, void *data, uint64_t address, uint64_t bytes)
{
    return rt_copy_from_device(sim_of(target)->rt, data, address, bytes);
}

/* What does not fit together was written on the command line. */
static int as_usage(int rc)
{
    return rc == SONDE_EINPUT ? SONDE_EUSAGE : rc;
}

static int sim_image(struct exec_target *target, void **image, const struct image_spec *spec,
                     const void *texels)
{
    struct rt *rt = sim_of(target)->rt;
    struct rt_image *made;
    struct rt_image_region whole;
    int rc = as_usage(rt_image_create(rt, &made, spec));
    if (rc == 0) {
        rt_image_keep(rt, made);
    }
    rc = rc < 0 ? rc : rt_image_whole(&whole, made, 0);
    rc = rc < 0 ? rc : rt_image_write(rt, made, &whole, texels);
    *image = rc < 0 ? NULL : made; /* the context owns it */
    return rc;
}

static int sim_image_read(struct exec_target *target, void *texels, void *image)
{
    struct rt_image_region whole;
    int rc = rt_image_whole(&whole, image, 0);
    return rc < 0 ? rc : rt_image_read(sim_of(target)->rt, texels, image, &whole);
}

static int sim_texture(struct exec_target *target, uint64_t *handle, void *image,
                       const struct texture_view *view)
{
    return as_usage(rt_texture_object(sim_of(target)->rt, handle, image, view));
}

static int sim_surface(struct exec_target *target, uint64_t *handle, void *image)
{
    return as_usage(rt_surface_object(sim_of(target)->rt, handle, image));
}

static bool is_timed(const struct sonde_exec_options *options)
{
    return !options->functional && !options->check;
}

static void describe(struct sim_target *sim, const struct rt_kernel *kernel,
                     const struct gpu_stats *stats, uint64_t cycles, struct strbuf *costs)
{
    uint64_t lost = rt_print_lost(sim->rt) - sim->prints_lost;
    exec_costs_kernel(costs, kernel);
    if (lost > 0) {
        strbuf_printf(costs, "printf_lost       %" PRIu64 "\n", lost);
    }
    sim->prints_lost += lost;
    if (is_timed(sim->options)) {
        exec_costs_counters(costs, stats, cycles);
    }
}

static void note_launch(struct sim_target *sim, const char *name, uint64_t begin_ps,
                        uint64_t cycles, int rc)
{
    uint64_t end_ps = begin_ps + cycles * rt_model(sim->rt)->core_period_ps;
    uint64_t now_ps = gpu_now_ps(rt_gpu(sim->rt));
    timeline_slice(sim->timeline,
                   &(struct timeline_slice){.name = name,
                                            .category = "kernel",
                                            .begin_ps = begin_ps,
                                            .end_ps = rc == 0 ? end_ps : now_ps,
                                            .cycles = rc == 0 ? cycles : 0,
                                            .status = rc == 0                    ? NULL
                                                      : rc == SONDE_EINTERRUPTED ? "interrupted"
                                                                                 : "failed"});
}

/* What was counted before the launch failed is told; its error stays the one that is reported. */
static void profile_to_the_fault(struct sim_target *sim, struct gpu *gpu,
                                 const struct profile_launch *launch, int code)
{
    char *error = strdup(error_text());
    if (profile_launched(sim->profile, gpu, launch) == 0) {
        exec_profile_end(sim->profile, sim->options);
    }
    error_set_lines(code, error ? error : "memory is out");
    free(error);
}

static void note_statistics(struct sim_target *sim, const struct exec_request *request,
                            const struct profile_launch *launch)
{
    statistics_launched(&sim->statistics,
                        &(struct statistics_launch){.kernel = request->kernel->name,
                                                    .code = exec_program_code(launch->program),
                                                    .grid = launch->grid,
                                                    .block = launch->block,
                                                    .stats = launch->stats});
}

static int sim_launch(struct exec_target *target, const struct exec_request *request,
                      struct strbuf *costs)
{
    struct sim_target *sim = sim_of(target);
    const struct sonde_exec_options *options = sim->options;
    struct gpu *gpu = rt_gpu(sim->rt);
    struct rt_kernel *kernel = request->kernel->handle;
    struct gpu_stats before, stats;
    uint64_t cycles = 0;
    struct rt_launch launch = {
        .dynamic_shared_bytes = request->dynamic_shared_bytes,
        .args = request->args,
        .arg_count = request->arg_count,
        .functional = !is_timed(options),
        .max_cycles = options->max_cycles,
        .cooperative = request->cooperative,
    };
    memcpy(launch.grid, request->grid, sizeof(launch.grid));
    memcpy(launch.block, request->block, sizeof(launch.block));
    bool placed = options->stats_path && sim->launches == 0;
    gpu_stats(gpu, &before);
    if (placed) {
        gpu_set_placed(gpu, placements_note, &sim->placements);
    }
    uint64_t begin_ps = gpu_now_ps(gpu);
    int rc = rt_launch(sim->rt, kernel, &launch, &cycles);
    if (sim->timeline) {
        note_launch(sim, request->kernel->name, begin_ps, cycles, rc);
    }
    gpu_set_placed(gpu, NULL, NULL);
    gpu_stats(gpu, &stats);
    gpu_stats_since(&stats, &before);
    struct profile_launch profiled = {.program = rt_kernel_program(kernel),
                                      .grid = launch.grid,
                                      .block = launch.block,
                                      .stats = &stats,
                                      .faulted = rc < 0};
    if (rc < 0 && sim->profile) {
        profile_to_the_fault(sim, gpu, &profiled, rc);
    }
    if (rc == SONDE_EFAULT && options->check) {
        rt_recover(sim->rt); /* the report tells of it */
        return 0;
    }
    if (rc < 0) {
        return rc;
    }
    sim->launches++;
    note_statistics(sim, request, &profiled);
    describe(sim, kernel, &stats, cycles, costs);
    if (options->summary && is_timed(options)) {
        uint32_t blocks = 0, threads = launch.block[0] * launch.block[1] * launch.block[2];
        (void)rt_occupancy(sim->rt, &blocks, kernel, threads, launch.dynamic_shared_bytes);
        statistics_summary(costs, rt_model(sim->rt), &stats, cycles,
                           blocks * ((threads + WARP_LANES - 1) / WARP_LANES));
    }
    return sim->profile ? profile_launched(sim->profile, gpu, &profiled) : 0;
}

static int sim_finish(struct exec_target *target)
{
    struct sim_target *sim = sim_of(target);
    const char *path = sim->options->stats_path;
    if (sim->options->check) {
        return exec_check_end(sim->rt, sim->options);
    }
    int rc = timeline_close(sim->timeline);
    sim->timeline = NULL;
    rc = rc == 0 && sim->profile ? exec_profile_end(sim->profile, sim->options) : rc;
    if (rc < 0) {
        return rc;
    }
    return path ? statistics_write(path, rt_model(sim->rt), &sim->statistics,
                                   sim->launches == 1 ? &sim->placements : NULL)
                : 0;
}

static bool sim_full(const struct exec_target *target)
{
    const struct sim_target *sim = (const struct sim_target *)target;
    return rt_memory_full(sim->rt);
}

static void sim_close(struct exec_target *target)
{
    struct sim_target *sim = sim_of(target);
    statistics_free(&sim->statistics);
    placements_free(&sim->placements);
    profile_destroy(sim->profile);
    (void)timeline_close(sim->timeline); /* what went before is the error */
    rt_destroy(sim->rt);
    free(sim);
}

static const struct exec_target_ops ops = {
    .close = sim_close,
    .kernel = sim_kernel,
    .alloc = sim_alloc,
    .write = sim_write,
    .read = sim_read,
    .image = sim_image,
    .image_read = sim_image_read,
    .texture = sim_texture,
    .surface = sim_surface,
    .launch = sim_launch,
    .finish = sim_finish,
    .full = sim_full,
};

int exec_target_sim(struct exec_target **out, const char *model,
                    const struct sonde_exec_options *options)
{
    struct sim_target *sim = calloc(1, sizeof(*sim));
    *out = NULL;
    if (!sim) {
        return error_memory();
    }
    sim->target.ops = &ops;
    sim->options = options;
    int rc = load(sim, model);
    if (rc == SONDE_ENOMEM && sim->rt && rt_memory_full(sim->rt)) {
        rc = SONDE_EINPUT; /* the program wants more than the device has */
    }
    if (rc < 0) {
        sim_close(&sim->target);
        return rc;
    }
    *out = &sim->target;
    return 0;
}
