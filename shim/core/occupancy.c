/* How many blocks of a function an SM holds, and clusters of them the GPU, by the model. */
#include <string.h>

#include "exec/exec.h"
#include "model/model.h"
#include "shim/core/shim.h"

int shim_occupancy(int *blocks, struct shim_function *function, unsigned threads, uint64_t shared)
{
    struct rt *rt;
    struct rt_kernel *kernel;
    uint32_t count = 0;
    int code = shim_function_need(function, &kernel);
    code = code == SHIM_OK ? shim_enter(&rt) : code;
    if (code != SHIM_OK) {
        return code;
    }
    code = shim_code(rt_occupancy(rt, &count, kernel, threads, shared));
    *blocks = (int)count;
    shim_leave(rt);
    return code;
}

/* The most with which so many blocks still fit, by halving the interval. */
int shim_available_shared(size_t *bytes, struct shim_function *function, int blocks, int threads)
{
    int fit = 0;
    uint64_t low = 0, high = shim_model()->driver.shared_per_block_bytes + 1;
    int code = shim_occupancy(&fit, function, (unsigned)threads, 0);
    if (code != SHIM_OK || fit < blocks) {
        return code == SHIM_OK ? SHIM_INVALID : code;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        code = shim_occupancy(&fit, function, (unsigned)threads, middle);
        if (code == SHIM_OK && fit >= blocks) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *bytes = low;
    return SHIM_OK;
}

/* `tells`: what no launch may have is told once, as where one is refused. */
static int clusters_of(int *clusters, int *size, struct rt_launch *asked,
                       struct shim_function *function, bool tells)
{
    struct rt *rt;
    struct rt_kernel *kernel;
    uint32_t count = 0, blocks = 1;
    int code = shim_function_need(function, &kernel);
    code = code == SHIM_OK ? shim_enter(&rt) : code;
    if (code != SHIM_OK) {
        return code;
    }
    int rc = rt_occupancy_clusters(rt, &count, &blocks, kernel, asked);
    code = rc == 0 ? SHIM_OK : tells ? shim_launch_code(rc) : SHIM_INVALID;
    *clusters = (int)count;
    *size = (int)blocks;
    shim_leave(rt);
    return code;
}

static struct rt_launch launch_of(const struct shim_launch *launch)
{
    uint64_t bytes = launch->dynamic_shared_bytes;
    struct rt_launch asked = {.dynamic_shared_bytes =
                                  bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX};
    memcpy(asked.block, launch->block, sizeof asked.block);
    launch_clusters(&asked, launch);
    return asked;
}

int shim_active_clusters(int *clusters, int *size, const struct shim_launch *launch)
{
    struct rt_launch asked = launch_of(launch);
    return clusters_of(clusters, size, &asked, launch->function, true);
}

/* The function's own size, or the largest power of two of which one fits. */
int shim_largest_cluster(int *blocks, const struct shim_launch *launch)
{
    struct rt_launch asked = launch_of(launch);
    int clusters = 0, size = 0;
    uint32_t most = shim_model()->driver.compute_major >= 9 ? EXEC_CLUSTER_MAX : 1;
    memset(asked.cluster, 0, sizeof asked.cluster);
    int code = clusters_of(&clusters, &size, &asked, launch->function, true);
    for (*blocks = size; code == SHIM_OK && size == 1 && most > 1; most /= 2) {
        asked.cluster[0] = most;
        int unused, rc = clusters_of(&clusters, &unused, &asked, launch->function, false);
        if (rc == SHIM_OK && clusters > 0) {
            *blocks = (int)most;
            break;
        }
    }
    return code;
}

struct shared_callback {
    size_t (*fn)(int threads);
    uint64_t constant;
};

static uint64_t shared_of(void *ctx, uint32_t threads)
{
    const struct shared_callback *callback = ctx;
    return callback->fn ? callback->fn((int)threads) : callback->constant;
}

int shim_occupancy_best(int *grid, int *threads, struct shim_function *function,
                        size_t (*shared)(int threads), uint64_t constant, int limit)
{
    struct rt *rt;
    struct rt_kernel *kernel;
    uint32_t best = 0, blocks = 0;
    struct shared_callback callback = {shared, constant};
    int code = shim_function_need(function, &kernel);
    code = code == SHIM_OK ? shim_enter(&rt) : code;
    if (code != SHIM_OK) {
        return code;
    }
    code = shim_code(rt_occupancy_best(rt, &best, &blocks, kernel, shared_of, &callback,
                                       limit > 0 ? (uint32_t)limit : 0));
    *grid = (int)blocks;
    *threads = (int)best;
    shim_leave(rt);
    return code;
}
