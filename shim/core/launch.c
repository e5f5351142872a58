/*
 * Launches: what a program gives becomes what the queue takes. Arguments come as pointers, one a
 * parameter, or as one block as the kernel has it (CU_LAUNCH_PARAM_BUFFER_POINTER).
 */
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "ptx/ir.h"
#include "shim/abi.h"
#include "shim/core/options.h"
#include "shim/core/shim.h"
#include "util/error.h"

void shim_launch_attributes(struct shim_launch *launch, const struct abi_attribute *attributes,
                            unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct abi_attribute *attribute = &attributes[i];
        if (attribute->id == ABI_ATTRIBUTE_COOPERATIVE) {
            launch->cooperative = attribute->value.number != 0;
        } else if (attribute->id == ABI_ATTRIBUTE_CLUSTER) {
            launch->cluster[0] = attribute->value.cluster.x;
            launch->cluster[1] = attribute->value.cluster.y;
            launch->cluster[2] = attribute->value.cluster.z;
        } else if (attribute->id == ABI_ATTRIBUTE_PROGRAMMATIC_EVENT ||
                   attribute->id == ABI_ATTRIBUTE_COMPLETION_EVENT) {
            launch->event[attribute->id == ABI_ATTRIBUTE_COMPLETION_EVENT] = attribute->value.event;
        }
    }
}

static int args_fill(const void **pointers, const struct rt_kernel *kernel,
                     const struct shim_launch *launch)
{
    uint32_t count = rt_kernel_param_count(kernel);
    if (count > SHIM_PARAMS_MAX) {
        return SHIM_INVALID;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_var *param = rt_kernel_param(kernel, i);
        if (launch->args) {
            pointers[i] = launch->args[i];
        } else if (launch->packed &&
                   (uint64_t)param->offset + param->size <= launch->packed_bytes) {
            pointers[i] = (const uint8_t *)launch->packed + param->offset;
        } else {
            return SHIM_INVALID;
        }
    }
    return SHIM_OK;
}

/*
 * A block may have more shared memory than 48 KiB, what the function has itself among it, only if
 * so much dynamic one was asked for (an H200 refuses 48 KiB beside 24 bytes), and no more than the
 * device gives.
 */
#define SHARED_WITHOUT_ASKING (48u << 10)

static int shared_check(struct shim_function *function, const struct rt_kernel *kernel,
                        const struct shim_launch *launch)
{
    uint32_t registers, fixed, local;
    uint64_t most = shim_model()->driver.shared_per_block_bytes;
    uint64_t asked = (uint64_t)shim_function_setting(function, SHIM_SET_DYNAMIC_SHARED);
    rt_kernel_info(kernel, &registers, &fixed, &local);
    bool fits = (launch->dynamic_shared_bytes <= asked ||
                 (uint64_t)launch->dynamic_shared_bytes + fixed <= SHARED_WITHOUT_ASKING) &&
                (most == 0 || launch->dynamic_shared_bytes + fixed <= most);
    return fits ? SHIM_OK : SHIM_INVALID;
}

void launch_clusters(struct rt_launch *out, const struct shim_launch *launch)
{
    struct shim_function *function = launch->function;
    memcpy(out->cluster, launch->cluster, sizeof out->cluster);
    if (out->cluster[0] == 0) {
        out->cluster[0] = (uint32_t)shim_function_setting(function, SHIM_SET_CLUSTER_WIDTH);
        out->cluster[1] = (uint32_t)shim_function_setting(function, SHIM_SET_CLUSTER_HEIGHT);
        out->cluster[2] = (uint32_t)shim_function_setting(function, SHIM_SET_CLUSTER_DEPTH);
    }
    out->cluster_non_portable = shim_function_setting(function, SHIM_SET_CLUSTER_NON_PORTABLE) > 0;
}

/* All blocks are resident at once, or the launch is refused now, not when it begins. */
static int cooperative_check(const struct shim_launch *launch)
{
    int clusters = 0, size = 1;
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t wanted = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    if (!launch->cooperative || threads == 0 || threads > 1024) {
        return SHIM_OK;
    }
    int code = shim_active_clusters(&clusters, &size, launch);
    if (code == SHIM_OK && wanted > (uint64_t)clusters * (uint64_t)size) {
        code = SHIM_TOO_LARGE;
    }
    return code;
}

/* A program that does not look at errors would end well without its kernel having run. */
static int kernel_need(struct rt_kernel **kernel, struct shim_function *function)
{
    int code = shim_function_need(function, kernel);
    if (code == SHIM_BAD_PTX || code == SHIM_BAD_IMAGE || code == SHIM_NO_IMAGE ||
        code == SHIM_NOT_FOUND) {
        report_not_run();
    }
    return code;
}

int shim_launch_fill(struct rt *rt, struct rt_launch *out, struct rt_kernel **kernel,
                     const void **pointers, const struct shim_launch *launch)
{
    (void)rt;
    struct shim_function *function = launch->function;
    int code = kernel_need(kernel, function);
    code = code == SHIM_OK ? shared_check(function, *kernel, launch) : code;
    code = code == SHIM_OK ? cooperative_check(launch) : code;
    code = code == SHIM_OK ? args_fill(pointers, *kernel, launch) : code;
    if (code != SHIM_OK) {
        return code;
    }
    *out = (struct rt_launch){.args = pointers,
                              .arg_count = rt_kernel_param_count(*kernel),
                              .dynamic_shared_bytes = (uint32_t)launch->dynamic_shared_bytes,
                              .cooperative = launch->cooperative};
    memcpy(out->grid, launch->grid, sizeof out->grid);
    memcpy(out->block, launch->block, sizeof out->block);
    launch_clusters(out, launch);
    out->functional = !report_wants_timing(shim_function_name(function));
    out->max_cycles = options()->max_cycles; /* who never ends by itself is stopped */
    return SHIM_OK;
}

/*
 * A block of parameters may be shorter than they are: what is missing is zero (CUDA leaves it
 * undefined). A longer one is refused.
 */
static int packed_complete(struct shim_launch *launch, void **owned)
{
    struct rt_kernel *kernel;
    int code = kernel_need(&kernel, launch->function);
    uint32_t count = code == SHIM_OK ? rt_kernel_param_count(kernel) : 0;
    const struct ptx_var *end = count ? rt_kernel_param(kernel, count - 1) : NULL;
    size_t bytes = end ? end->offset + end->size : 0;
    if (code != SHIM_OK || launch->packed_bytes >= bytes) {
        return code == SHIM_OK && launch->packed_bytes > bytes ? SHIM_OUT_OF_RESOURCES : code;
    }
    *owned = calloc(1, bytes);
    if (!*owned) {
        return SHIM_NO_MEMORY;
    }
    memcpy(*owned, launch->packed, launch->packed_bytes);
    launch->packed = *owned;
    launch->packed_bytes = bytes;
    return SHIM_OK;
}

static int events_check(const struct shim_launch *launch)
{
    for (int i = 0; i < 2; i++) {
        if (launch->event[i] && !shim_handle_is(launch->event[i], SHIM_EVENT)) {
            return SHIM_BAD_HANDLE;
        }
    }
    return SHIM_OK;
}

static int events_record(const struct shim_launch *launch, struct rt_stream *stream)
{
    int code = SHIM_OK;
    for (int i = 0; code == SHIM_OK && i < 2; i++) {
        code = launch->event[i] ? shim_code(rt_event_record(launch->event[i], stream)) : SHIM_OK;
    }
    return code;
}

int shim_launch(struct rt_stream *stream, const struct shim_launch *given)
{
    const void *pointers[SHIM_PARAMS_MAX];
    struct shim_launch launch = *given;
    struct rt_launch request;
    struct rt_kernel *kernel;
    void *owned = NULL;
    int code = events_check(given);
    code = code == SHIM_OK && launch.packed ? packed_complete(&launch, &owned) : code;
    if (code == SHIM_OK) {
        code = shim_launch_fill(rt_stream_rt(stream), &request, &kernel, pointers, &launch);
    }
    if (code == SHIM_OK) {
        code = shim_launch_code(rt_enqueue_launch(stream, kernel, &request));
    }
    code = code == SHIM_OK ? events_record(given, stream) : code;
    free(owned);
    return code;
}
