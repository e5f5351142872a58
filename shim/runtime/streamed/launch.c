/* Launches. */
#include "shim/runtime/runtime.h"

static int launch(const struct shim_launch *request, void *stream)
{
    struct rt_stream *in;
    int code = stream_of(&in, stream, OWN_STREAM);
    code = code == SHIM_OK ? shim_launch(in, request) : code;
    return code == SHIM_NOT_FOUND ? SHIM_BAD_FUNCTION : code;
}

EXPORT int STREAMED(cudaLaunchKernel)(const void *host, struct abi_dim3 grid, struct abi_dim3 block,
                                      void **args, size_t shared_bytes, void *stream)
{
    struct shim_launch request;
    int code = launch_of(&request, host, grid, block, args, shared_bytes);
    return last(code == SHIM_OK ? launch(&request, stream) : code);
}

EXPORT int STREAMED(__cudaLaunchKernel)(void *kernel, struct abi_dim3 grid, struct abi_dim3 block,
                                        void **args, size_t shared_bytes, void *stream)
{
    return STREAMED(cudaLaunchKernel)(kernel, grid, block, args, shared_bytes, stream);
}

EXPORT int STREAMED(cudaLaunchCooperativeKernel)(const void *host, struct abi_dim3 grid,
                                                 struct abi_dim3 block, void **args,
                                                 size_t shared_bytes, void *stream)
{
    struct shim_launch request;
    int code = launch_of(&request, host, grid, block, args, shared_bytes);
    request.cooperative = true;
    return last(code == SHIM_OK ? launch(&request, stream) : code);
}

EXPORT int STREAMED(cudaLaunchKernelExC)(const struct abi_launch_config *config, const void *host,
                                         void **args)
{
    struct shim_launch request;
    if (!config) {
        return last(SHIM_INVALID);
    }
    int code = launch_of(&request, host, config->grid, config->block, args, config->shared_bytes);
    shim_launch_attributes(&request, config->attributes, config->attribute_count);
    return last(code == SHIM_OK ? launch(&request, config->stream) : code);
}

#if SHIM_RUNTIME < 13 && !defined SHIM_PER_THREAD
struct multi_launch { /* cudaLaunchParams */
    const void *host;
    struct abi_dim3 grid, block;
    void **args;
    size_t shared_bytes;
    void *stream;
};

/* One launch for each device, of which there is one. */
EXPORT int cudaLaunchCooperativeKernelMultiDevice(const struct multi_launch *launches,
                                                  unsigned count, unsigned flags)
{
    if (!launches || count != 1 || flags > 3) {
        return last(SHIM_INVALID);
    }
    return cudaLaunchCooperativeKernel(launches->host, launches->grid, launches->block,
                                       launches->args, launches->shared_bytes, launches->stream);
}
#endif
