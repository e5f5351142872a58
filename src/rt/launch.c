/*
 * Launches: the checks a driver makes before it lets a grid onto the GPU, the parameter block, and
 * the carve-out of this launch.
 */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "core/occupancy.h"
#include "rt/sampling.h"
#include "rt/queue/queue.h"
#include "rt/state.h"
#include "util/error.h"

#define GRID_WORKSPACE_BYTES 64
/* CUDA C Programming Guide, "Technical Specifications per Compute Capability", the same since 3.0.
 */
static const uint32_t max_grid[3] = {2147483647, 65535, 65535};
static const uint32_t max_block[3] = {1024, 1024, 64};

static const char axis[3] = {'x', 'y', 'z'};

static int shape_check(const struct ptx_func *func, const struct rt_launch *launch)
{
    uint64_t threads = 1, allowed = 1;
    for (int i = 0; i < 3; i++) {
        if (launch->grid[i] == 0 || launch->grid[i] > max_grid[i]) {
            return error_set(SONDE_EINPUT, "%s: grid.%c is %u, not in 1 to %u", func->name, axis[i],
                             launch->grid[i], max_grid[i]);
        }
        if (launch->block[i] == 0 || launch->block[i] > max_block[i]) {
            return error_set(SONDE_EINPUT, "%s: block.%c is %u, not in 1 to %u", func->name,
                             axis[i], launch->block[i], max_block[i]);
        }
        if (func->reqntid[0] && launch->block[i] != (func->reqntid[i] ? func->reqntid[i] : 1)) {
            return error_set(SONDE_EINPUT, "%s: block.%c is %u, but .reqntid wants %u", func->name,
                             axis[i], launch->block[i], func->reqntid[i]);
        }
        threads *= launch->block[i];
        allowed *= func->maxntid[i] ? func->maxntid[i] : 1;
    }
    if (func->maxntid[0] && threads > allowed) {
        return error_set(SONDE_EINPUT, "%s: %llu threads a block, but .maxntid allows %llu",
                         func->name, (unsigned long long)threads, (unsigned long long)allowed);
    }
    if (threads > RT_BLOCK_THREADS_MAX) {
        return error_set(SONDE_EINPUT, "%s: %llu threads a block, at most %d are possible",
                         func->name, (unsigned long long)threads, RT_BLOCK_THREADS_MAX);
    }
    return 0;
}

#define CLUSTER_PORTABLE 8 /* CUDA C++ Programming Guide, "Thread Block Clusters" */

/* The launch's own, else the kernel's; 1 along axes that neither names. */
static void cluster_of(uint32_t cluster[3], const struct ptx_func *func,
                       const struct rt_launch *launch)
{
    const uint32_t *from = launch->cluster[0] ? launch->cluster : func->reqnctapercluster;
    for (int i = 0; i < 3; i++) {
        cluster[i] = from[i] ? from[i] : 1;
    }
}

/* cluster_of() that may be, whatever the grid. */
static int cluster_fit(uint32_t cluster[3], const struct ptx_func *func,
                       const struct rt_launch *launch)
{
    uint32_t most = launch->cluster_non_portable ? EXEC_CLUSTER_MAX : CLUSTER_PORTABLE;
    uint64_t size = 1;
    cluster_of(cluster, func, launch);
    most = func->maxclusterrank && func->maxclusterrank < most ? func->maxclusterrank : most;
    for (int i = 0; i < 3; i++) {
        uint32_t wanted = func->reqnctapercluster[i] ? func->reqnctapercluster[i] : 1;
        if (func->reqnctapercluster[0] && cluster[i] != wanted) {
            return error_set(SONDE_EINPUT, "%s: cluster.%c is %u, but .reqnctapercluster wants %u",
                             func->name, axis[i], cluster[i], wanted);
        }
        size *= cluster[i];
        if (size > most) {
            return error_set(SONDE_EINPUT,
                             "%s: clusters of %u x %u x %u blocks, at most %u are possible%s",
                             func->name, cluster[0], cluster[1], cluster[2], most,
                             most == CLUSTER_PORTABLE ? " without the attribute for more" : "");
        }
    }
    return 0;
}

int rt_occupancy_clusters(struct rt *rt, uint32_t *clusters, uint32_t *size,
                          const struct rt_kernel *kernel, const struct rt_launch *launch)
{
    uint32_t blocks, cluster[3];
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint32_t bounded = threads > UINT32_MAX ? UINT32_MAX : (uint32_t)threads;
    *clusters = 0;
    int rc = cluster_fit(cluster, kernel->func, launch);
    rc = rc < 0 ? rc : rt_occupancy(rt, &blocks, kernel, bounded, launch->dynamic_shared_bytes);
    if (rc == 0) {
        *size = cluster[0] * cluster[1] * cluster[2];
        *clusters = (uint32_t)gpu_resident_clusters(rt->model, blocks, *size);
    }
    return rc;
}

static int cluster_check(const struct ptx_func *func, const struct rt_launch *launch)
{
    uint32_t cluster[3];
    int rc = cluster_fit(cluster, func, launch);
    for (int i = 0; rc == 0 && i < 3; i++) {
        if (launch->grid[i] % cluster[i]) {
            return error_set(SONDE_EINPUT, "%s: cluster.%c is %u, which does not divide %u blocks",
                             func->name, axis[i], cluster[i], launch->grid[i]);
        }
    }
    return rc;
}

int launch_pack(uint8_t **out, const struct ptx_func *func, const struct rt_launch *launch)
{
    *out = NULL;
    if (launch->arg_count != func->param_count) {
        return error_set(SONDE_EINPUT, "%s takes %u arguments, %u were given", func->name,
                         func->param_count, launch->arg_count);
    }
    uint8_t *params = calloc(1, func->param_bytes + 1u);
    if (!params) {
        return error_memory();
    }
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (!launch->args[i]) {
            free(params);
            return error_set(SONDE_EINPUT, "%s: argument %u is missing", func->name, i);
        }
        memcpy(params + func->params[i].offset, launch->args[i], func->params[i].size);
    }
    *out = params;
    return 0;
}

static uint64_t shared_bytes_of(const struct rt_kernel *kernel, const struct rt_launch *launch)
{
    return (uint64_t)exec_program_shared_bytes(kernel->program) + launch->dynamic_shared_bytes;
}

int launch_shared_check(const struct rt *rt, const struct rt_kernel *kernel,
                        const struct rt_launch *launch)
{
    uint64_t limit = rt->model->driver.shared_per_block_bytes;
    uint64_t shared_bytes = shared_bytes_of(kernel, launch);
    if (limit > 0 && shared_bytes > limit) {
        return error_set(SONDE_EINPUT,
                         "a block wants %llu bytes of shared memory, at most %llu are possible",
                         (unsigned long long)shared_bytes, (unsigned long long)limit);
    }
    return 0;
}

/* A launch that has no preference takes what is in force if it finds others there: it may then run
 * beside them. */
static bool stays_beside(const struct rt *rt, const struct rt_launch *launch, uint64_t shared_bytes)
{
    const struct carveout_spec *carveout = &rt->model->carveout;
    uint32_t now = gpu_carveout_in_force(rt->gpu);
    return carveout->follows_occupancy && !rt->prefers_carveout && !launch->cooperative &&
           !gpu_is_idle(rt->gpu) && carveout->choice[now].shared_bytes >= shared_bytes;
}

static int carveout_choose(struct rt *rt, const struct rt_kernel *kernel,
                           const struct rt_launch *launch)
{
    if (rt->model->carveout.count == 0) {
        return 0;
    }
    const uint32_t *block = launch->block;
    struct cta_needs needs;
    occupancy_needs(&needs, &rt->model->sm, block[0] * block[1] * block[2],
                    exec_program_register_count(kernel->program), shared_bytes_of(kernel, launch));
    bool stays = stays_beside(rt, launch, needs.shared_bytes);
    return gpu_set_carveout(rt->gpu,
                            stays ? gpu_carveout_in_force(rt->gpu) : carveout_for(rt, &needs));
}

/*
 * A cooperative launch: all blocks fit the GPU at once, and there is a zeroed workspace for their
 * barrier, which the driver of a real GPU provides too.
 */
static int cooperative_prepare(struct rt *rt, struct exec_launch *launch)
{
    const uint32_t *grid = launch->grid;
    const char *limit = "";
    uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2]; /* below 2^63: shape_check() */
    uint64_t fit = gpu_resident_ctas(rt->gpu, launch, &limit);
    if (blocks > fit) {
        return error_set(SONDE_EINPUT,
                         "a cooperative launch of %llu blocks, but at most %llu can be resident "
                         "at once (limited by %s)",
                         (unsigned long long)blocks, (unsigned long long)fit, limit);
    }
    if (!rt->grid_workspace) {
        int rc = memory_take(rt, &rt->grid_workspace, GRID_WORKSPACE_BYTES, 1);
        if (rc < 0) {
            return error_prefix(rc, "the workspace of a cooperative launch");
        }
    }
    launch->cooperative = true;
    launch->grid_workspace = rt->grid_workspace;
    return rt_memset(rt, rt->grid_workspace, 0, GRID_WORKSPACE_BYTES);
}

/* The caller waits for the launch. */
static bool is_alone(const void *ctx)
{
    (void)ctx;
    return true;
}

static int launch_functional(struct rt *rt, const struct exec_launch *launch)
{
    struct exec_run_options options = {.interrupt = rt->cancel,
                                       .tells = rt->tells_cancelled,
                                       .progress = rt->progress,
                                       .alone = is_alone};
    int rc = gpu_team(rt->gpu, &options.team);
    rc = rc == 0 ? exec_run_launch_with(launch, &options) : rc;
    rt->warp_insns += options.warp_insns;
    rt->thread_insns += options.thread_insns;
    return rc;
}

void rt_functional_insns(const struct rt *rt, uint64_t *warp_insns, uint64_t *thread_insns)
{
    if (warp_insns) {
        *warp_insns = rt->warp_insns;
    }
    if (thread_insns) {
        *thread_insns = rt->thread_insns;
    }
}

int launch_check(struct rt *rt, const struct rt_kernel *kernel, const struct rt_launch *launch)
{
    int rc = context_check(rt);
    if (rc == 0) {
        rc = shape_check(kernel->func, launch);
    }
    return rc == 0 ? cluster_check(kernel->func, launch) : rc;
}

int launch_prepare(struct rt *rt, struct exec_launch *run, struct rt_kernel *kernel,
                   const struct rt_launch *launch, const uint8_t *params, bool shares)
{
    int rc = exec_program_uses_heap(kernel->program) ? services_heap_provide(rt) : 0;
    if (rc == 0) {
        rc = launch_shared_check(rt, kernel, launch);
    }
    if (rc == 0) {
        rc = carveout_choose(rt, kernel, launch);
    }
    if (rc < 0) {
        return rc;
    }
    *run = (struct exec_launch){.program = kernel->program,
                                .memory = rt->memory,
                                .params = params,
                                .param_bytes = kernel->func->param_bytes,
                                .dynamic_shared_bytes = launch->dynamic_shared_bytes,
                                .launch_id = rt->launches,
                                .services = &rt->services};
    memcpy(run->grid, launch->grid, sizeof run->grid);
    memcpy(run->block, launch->block, sizeof run->block);
    cluster_of(run->cluster, kernel->func, launch);
    run->explicit_cluster = launch->cluster[0] > 0 || kernel->func->explicit_cluster;
    launch_see_objects(rt, run);
    run->observer = rt->check && launch->functional ? check_observer(rt->check) : NULL;
    const struct sm_spec *sm = &rt->model->sm;
    run->yield_after = sm->divergence == DIVERGENCE_INDEPENDENT ? sm->yield_after : 0;
    if (launch->cooperative) {
        rc = cooperative_prepare(rt, run);
    } else if (launch->functional) {
        const char *limit = "";
        run->resident_ctas = gpu_resident_ctas(rt->gpu, run, &limit);
    }
    return rc == 0 && !launch->functional ? local_memory_provide(rt, run, shares) : rc;
}

void launch_see_objects(const struct rt *rt, struct exec_launch *run)
{
    run->textures = rt->textures.data;
    run->texture_count = (uint32_t)rt->textures.count;
    run->surfaces = rt->surfaces.data;
    run->surface_count = (uint32_t)rt->surfaces.count;
}

int launch_ended(struct rt *rt, const struct rt_kernel *kernel, int rc)
{
    services_flush(rt);
    checking_ended(rt, kernel, rc);
    if (rc == SONDE_EFAULT) {
        context_spoil(rt, rc);
    }
    /* A fault's text names the kernel, behind the place in its source. */
    return rc < 0 && rc != SONDE_EFAULT ? error_prefix(rc, "%s", kernel->func->name) : rc;
}

void launch_cool(struct rt *rt)
{
    if (rt->cold && gpu_is_idle(rt->gpu)) {
        gpu_empty_caches(rt->gpu);
    }
}

static int launch_timed(struct rt *rt, struct rt_kernel *kernel, struct exec_launch *run,
                        uint64_t max_cycles, uint64_t *cycles)
{
    struct sampling sampling;
    uint64_t spent = 0;
    int rc = sampling_begin(rt, &sampling, kernel, run, true);
    if (rc < 0) {
        return rc;
    }
    if (sampling.what == SAMPLING_ESTIMATES) {
        spent = sampling.estimated_cycles;
    } else {
        rc = gpu_launch(rt->gpu, run, max_cycles, &spent);
        int noted = sampling_end(rt, &sampling, kernel, spent, rc);
        rc = rc == 0 ? noted : rc;
    }
    if (cycles) {
        *cycles = spent;
    }
    return rc;
}

int rt_launch(struct rt *rt, struct rt_kernel *kernel, const struct rt_launch *launch,
              uint64_t *cycles)
{
    if (cycles) {
        *cycles = 0;
    }
    int rc = launch_check(rt, kernel, launch);
    uint8_t *params = NULL;
    if (rc == 0) {
        rc = launch_pack(&params, kernel->func, launch);
    }
    if (rc < 0) {
        return rc;
    }
    struct exec_launch run;
    rc = launch_prepare(rt, &run, kernel, launch, params, false);
    if (rc == 0) {
        rt->launches++;
        launch_cool(rt);
        rc = launch->functional ? launch_functional(rt, &run)
                                : launch_timed(rt, kernel, &run, launch->max_cycles, cycles);
    }
    free(params);
    rc = launch_ended(rt, kernel, rc);
    rt->fault_told = rc == SONDE_EFAULT;
    return rc;
}
