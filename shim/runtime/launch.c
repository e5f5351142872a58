/* Configurations of launches that are on their way, and what a launch is made of. */
#include <string.h>

#include "shim/runtime/runtime.h"
#include "util/container/vec.h"

struct configuration {
    struct abi_dim3 grid, block;
    size_t shared_bytes;
    void *stream;
};
/* The arguments of a launch may contain launches. */
#define NESTED_MAX 64
static _Thread_local struct configuration stack[NESTED_MAX];
static _Thread_local unsigned depth;

EXPORT unsigned __cudaPushCallConfiguration(struct abi_dim3 grid, struct abi_dim3 block,
                                            size_t shared_bytes, void *stream)
{
    if (depth == NESTED_MAX) {
        last(SHIM_BAD_CONFIGURATION);
        return 1;
    }
    stack[depth++] = (struct configuration){grid, block, shared_bytes, stream};
    return 0;
}

EXPORT int __cudaPopCallConfiguration(struct abi_dim3 *grid, struct abi_dim3 *block,
                                      size_t *shared_bytes, void *stream)
{
    if (depth == 0) {
        return last(52 /* no configuration */);
    }
    const struct configuration *top = &stack[--depth];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *(void **)stream = top->stream;
    return SHIM_OK;
}

int launch_of(struct shim_launch *out, const void *host, struct abi_dim3 grid,
              struct abi_dim3 block, void **args, size_t shared_bytes)
{
    static void *const none[1];
    *out = (struct shim_launch){.grid = {grid.x, grid.y, grid.z},
                                .block = {block.x, block.y, block.z},
                                .dynamic_shared_bytes = shared_bytes,
                                .args = args ? args : none};
    int code = function_of(&out->function, host);
    return code == SHIM_NOT_FOUND ? SHIM_BAD_FUNCTION : code;
}

EXPORT int __cudaGetKernel(void **kernel, const void *host)
{
    struct shim_function *function;
    int code = function_of(&function, host);
    *kernel = function;
    return code == SHIM_OK ? code : last(code); /* the launch itself follows */
}

EXPORT int cudaGetKernel(void **kernel, const void *host)
{
    return last(kernel ? __cudaGetKernel(kernel, host) : SHIM_INVALID);
}

EXPORT int cudaGetFuncBySymbol(void **function, const void *host)
{
    return last(function ? __cudaGetKernel(function, host) : SHIM_INVALID);
}
