/*
 * Launches: what a program gives becomes what the queue takes. Arguments come as pointers, one a
 * parameter, or as one block as the kernel has it (CU_LAUNCH_PARAM_BUFFER_POINTER).
 */
#include <string.h>

#include "model/model.h"
#include "ptx/ir.h"
#include "shim/core/options.h"
#include "shim/core/shim.h"
#include "util/error.h"

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

/* A block may have more dynamic shared memory than any device's 48 KiB only if it was asked for. */
#define SHARED_WITHOUT_ASKING (48u << 10)

static int shared_check(struct shim_function *function, const struct shim_launch *launch)
{
    uint64_t most = shim_model()->driver.shared_per_block_bytes;
    uint64_t allowed = (uint64_t)shim_function_setting(function, SHIM_SET_DYNAMIC_SHARED);
    if (launch->dynamic_shared_bytes <= SHARED_WITHOUT_ASKING ||
        launch->dynamic_shared_bytes <= allowed || most <= SHARED_WITHOUT_ASKING) {
        return launch->dynamic_shared_bytes > UINT32_MAX ? SHIM_INVALID : SHIM_OK;
    }
    return SHIM_INVALID;
}

int shim_launch_fill(struct rt *rt, struct rt_launch *out, struct rt_kernel **kernel,
                     const void **pointers, const struct shim_launch *launch)
{
    (void)rt;
    struct shim_function *function = launch->function;
    int code = shim_function_need(function, kernel);
    code = code == SHIM_OK ? shared_check(function, launch) : code;
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
    memcpy(out->cluster, launch->cluster, sizeof out->cluster);
    if (out->cluster[0] == 0) {
        out->cluster[0] = (uint32_t)shim_function_setting(function, SHIM_SET_CLUSTER_WIDTH);
        out->cluster[1] = (uint32_t)shim_function_setting(function, SHIM_SET_CLUSTER_HEIGHT);
        out->cluster[2] = (uint32_t)shim_function_setting(function, SHIM_SET_CLUSTER_DEPTH);
    }
    out->functional = !report_wants_timing(shim_function_name(function));
    return SHIM_OK;
}

int shim_launch(struct rt_stream *stream, const struct shim_launch *launch)
{
    const void *pointers[SHIM_PARAMS_MAX];
    struct rt_launch request;
    struct rt_kernel *kernel;
    int code = shim_launch_fill(rt_stream_rt(stream), &request, &kernel, pointers, launch);
    if (code != SHIM_OK) {
        return code;
    }
    return shim_launch_code(rt_enqueue_launch(stream, kernel, &request));
}
