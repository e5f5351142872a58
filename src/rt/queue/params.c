/* What is put into streams and graphs is told to be wrong when it is put in. */
#include "rt/queue/state.h"
#include "util/error.h"

/* What does not fit an SM, or, of a cooperative launch, the GPU. */
static int fit_check(struct rt *rt, struct rt_kernel *kernel, const struct rt_launch *launch)
{
    uint32_t blocks, threads = launch->block[0] * launch->block[1] * launch->block[2];
    int rc = rt_occupancy(rt, &blocks, kernel, threads, launch->dynamic_shared_bytes);
    if (rc == 0 && blocks == 0) {
        return error_set(SONDE_EINPUT,
                         "%s: a block of %u threads with %u bytes of dynamic shared memory does "
                         "not fit a multiprocessor",
                         kernel->func->name, threads, launch->dynamic_shared_bytes);
    }
    uint64_t grid = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    if (rc == 0 && launch->cooperative && grid > (uint64_t)blocks * rt->model->sms) {
        return error_set(SONDE_EINPUT,
                         "%s: a cooperative launch of %llu blocks, but at most %llu can be "
                         "resident at once",
                         kernel->func->name, (unsigned long long)grid,
                         (unsigned long long)blocks * rt->model->sms);
    }
    return rc;
}

static int launch_params_check(struct rt *rt, const struct rt_node_params *params)
{
    int rc = launch_check(rt, params->kernel, &params->launch);
    if (rc < 0) {
        return rc;
    }
    return fit_check(rt, params->kernel, &params->launch);
}

static int condition_check(const struct rt *rt, const struct rt_node_params *params)
{
    size_t most = params->when == RT_CONDITION_SWITCH ? RT_BODIES_MAX
                  : params->when == RT_CONDITION_IF   ? 2
                                                      : 1;
    if (params->condition == 0 || params->condition > rt->queue->conditions.count) {
        return error_set(SONDE_EINPUT, "a condition that is none");
    }
    if (params->body_count == 0 || params->body_count > most) {
        return error_set(SONDE_EINPUT, "a condition with %zu graphs", params->body_count);
    }
    return 0;
}

int params_check(struct rt *rt, const struct rt_node_params *params)
{
    switch (params->kind) {
    case RT_NODE_LAUNCH:
        return launch_params_check(rt, params);
    case RT_NODE_COPY:
        return copy_check(rt, &params->copy);
    case RT_NODE_MEMSET:
        return memset_check(rt, &params->memset);
    case RT_NODE_HOST:
        return params->host ? 0 : error_set(SONDE_EINPUT, "a host function that is none");
    case RT_NODE_RECORD:
    case RT_NODE_WAIT:
        return params->event ? 0 : error_set(SONDE_EINPUT, "an event that is none");
    case RT_NODE_CHILD:
        return params->child ? 0 : error_set(SONDE_EINPUT, "a graph that is none");
    case RT_NODE_CONDITION:
        return condition_check(rt, params);
    default:
        return 0;
    }
}
