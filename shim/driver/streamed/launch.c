/* Launches. */
#include "shim/driver/driver.h"

/* Parameters come one by one, or in one block that `extra` names. */
static int extra_read(struct shim_launch *out, void **extra)
{
    for (size_t i = 0; extra && extra[i] != ABI_PARAM_END; i += 2) {
        if (extra[i] == ABI_PARAM_POINTER) {
            out->packed = extra[i + 1];
        } else if (extra[i] == ABI_PARAM_SIZE) {
            out->packed_bytes = *(const size_t *)extra[i + 1];
        } else {
            return SHIM_INVALID;
        }
    }
    return SHIM_OK;
}

static int launch(struct shim_launch *request, void *function, void *stream, void **args,
                  void **extra)
{
    static void *const none[1];
    struct rt_stream *in;
    int code = driver_stream(&in, stream, OWN_STREAM);
    if (code == SHIM_OK && !shim_handle_is(function, SHIM_FUNCTION)) {
        code = SHIM_BAD_HANDLE;
    }
    if (code == SHIM_OK && args && extra) {
        code = SHIM_INVALID;
    }
    request->function = function;
    request->args = args ? args : extra ? NULL : none;
    code = code == SHIM_OK ? extra_read(request, extra) : code;
    return code == SHIM_OK ? shim_launch(in, request) : code;
}

EXPORT int STREAMED(cuLaunchKernel)(void *function, unsigned grid_x, unsigned grid_y,
                                    unsigned grid_z, unsigned block_x, unsigned block_y,
                                    unsigned block_z, unsigned shared_bytes, void *stream,
                                    void **args, void **extra)
{
    struct shim_launch request = {.grid = {grid_x, grid_y, grid_z},
                                  .block = {block_x, block_y, block_z},
                                  .dynamic_shared_bytes = shared_bytes};
    return driver_result(launch(&request, function, stream, args, extra));
}

EXPORT int STREAMED(cuLaunchCooperativeKernel)(void *function, unsigned grid_x, unsigned grid_y,
                                               unsigned grid_z, unsigned block_x, unsigned block_y,
                                               unsigned block_z, unsigned shared_bytes,
                                               void *stream, void **args)
{
    struct shim_launch request = {.grid = {grid_x, grid_y, grid_z},
                                  .block = {block_x, block_y, block_z},
                                  .dynamic_shared_bytes = shared_bytes,
                                  .cooperative = true};
    return driver_result(launch(&request, function, stream, args, NULL));
}

EXPORT int STREAMED(cuLaunchKernelEx)(const struct abi_launch_config_driver *config, void *function,
                                      void **args, void **extra)
{
    if (!config) {
        return driver_result(SHIM_INVALID);
    }
    struct shim_launch request = {.grid = {config->grid[0], config->grid[1], config->grid[2]},
                                  .block = {config->block[0], config->block[1], config->block[2]},
                                  .dynamic_shared_bytes = config->shared_bytes};
    shim_launch_attributes(&request, config->attributes, config->attribute_count);
    return driver_result(launch(&request, function, config->stream, args, extra));
}
