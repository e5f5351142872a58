/* Functions: what they need, what may be set on them, how many blocks fit. */
#include "shim/runtime/runtime.h"

#include "model/model.h"

EXPORT int cudaFuncGetAttributes(struct abi_func_attributes *out, const void *host)
{
    struct shim_function *function;
    struct shim_function_info info;
    if (!out) {
        return last(SHIM_INVALID);
    }
    int code = function_of(&function, host);
    code = code == SHIM_OK ? shim_function_info(function, &info) : code;
#if SHIM_RUNTIME >= 13
    /* What is no function of the program is taken for the handle of a kernel. */
    code = code == SHIM_BAD_FUNCTION && host ? SHIM_BAD_HANDLE : code;
#endif
    if (code != SHIM_OK) {
        return last(code == SHIM_NOT_FOUND ? SHIM_BAD_FUNCTION : code);
    }
    out->shared_bytes = info.shared_bytes;
    out->const_bytes = info.const_bytes;
    out->local_bytes = info.local_bytes;
    out->max_threads = (int)info.max_threads;
    out->registers = (int)info.registers;
    out->ptx_version = (int)info.ptx_version;
    out->binary_version = (int)info.target;
    out->cache_mode = 0;
    int dynamic = shim_function_setting(function, SHIM_SET_DYNAMIC_SHARED);
    int usual = 0;
    shim_attribute(&usual, 8);
    usual -= (int)info.shared_bytes;
    out->max_dynamic_shared = dynamic > 0 ? dynamic : usual > 0 ? usual : 0;
    out->carveout = shim_function_setting(function, SHIM_SET_CARVEOUT);
#if SHIM_RUNTIME >= 12
    out->cluster_required = shim_function_setting(function, SHIM_SET_CLUSTER_REQUIRED);
    for (int i = 0; i < 3; i++) {
        out->cluster[i] =
            shim_function_setting(function, (enum shim_setting)(SHIM_SET_CLUSTER_WIDTH + i));
    }
    out->cluster_policy = shim_function_setting(function, SHIM_SET_CLUSTER_POLICY);
    out->cluster_non_portable = shim_function_setting(function, SHIM_SET_CLUSTER_NON_PORTABLE);
#endif
    return last(SHIM_OK);
}

EXPORT int cudaFuncSetAttribute(const void *host, int attribute, int value)
{
    static const enum shim_setting settings[] = {
        SHIM_SET_DYNAMIC_SHARED,       SHIM_SET_CARVEOUT,       SHIM_SET_CLUSTER_REQUIRED,
        SHIM_SET_CLUSTER_WIDTH,        SHIM_SET_CLUSTER_HEIGHT, SHIM_SET_CLUSTER_DEPTH,
        SHIM_SET_CLUSTER_NON_PORTABLE, SHIM_SET_CLUSTER_POLICY};
    struct shim_function *function;
    if (attribute < 8 || attribute > 15) {
        return last(SHIM_INVALID);
    }
    int code = function_of(&function, host);
    return last(code == SHIM_OK ? shim_function_set(function, settings[attribute - 8], value)
                                : code);
}

EXPORT int cudaFuncSetCacheConfig(const void *host, int config)
{
    struct shim_function *function;
    if (config < 0 || config > 3) {
        return last(SHIM_INVALID);
    }
    int code = function_of(&function, host);
    return last(code == SHIM_OK ? shim_function_set(function, SHIM_SET_CACHE, config) : code);
}

EXPORT int cudaFuncSetSharedMemConfig(const void *host, int config)
{
    struct shim_function *function;
    return last(config < 0 || config > 2 ? SHIM_INVALID : function_of(&function, host));
}

EXPORT int cudaFuncGetName(const char **name, const void *host)
{
    struct shim_function *function;
    int code = name ? function_of(&function, host) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *name = shim_function_name(function);
    }
    return last(code);
}

EXPORT int cudaFuncGetParamInfo(const void *host, size_t i, size_t *offset, size_t *bytes)
{
    struct shim_function *function;
    size_t size;
    int code = offset ? function_of(&function, host) : SHIM_INVALID;
    return last(code == SHIM_OK ? shim_function_param(function, i, offset, bytes ? bytes : &size)
                                : code);
}

EXPORT int cudaKernelSetAttributeForDevice(void *kernel, int attribute, int value, int device)
{
    return device ? last(SHIM_BAD_DEVICE) : cudaFuncSetAttribute(kernel, attribute, value);
}

EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host,
                                                                  int threads, size_t shared,
                                                                  unsigned flags)
{
    struct shim_function *function;
    if (!blocks || threads <= 0 || flags > 1) {
        return last(SHIM_INVALID);
    }
    int code = function_of(&function, host);
    return last(code == SHIM_OK ? shim_occupancy(blocks, function, (unsigned)threads, shared)
                                : code);
}

EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads,
                                                         size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}

EXPORT int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks,
                                                     int threads)
{
    struct shim_function *function;
    if (!bytes || blocks <= 0 || threads <= 0) {
        return last(SHIM_INVALID);
    }
    int code = function_of(&function, host);
    return last(code == SHIM_OK ? shim_available_shared(bytes, function, blocks, threads) : code);
}

static int clusters_asked(struct shim_launch *out, const void *host,
                          const struct abi_launch_config *config)
{
    *out = (struct shim_launch){.block = {config->block.x, config->block.y, config->block.z},
                                .dynamic_shared_bytes = config->shared_bytes};
    shim_launch_attributes(out, config->attributes, config->attribute_count);
    return function_of(&out->function, host);
}

EXPORT int cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *host,
                                                const struct abi_launch_config *config)
{
    struct shim_launch asked;
    int code = blocks && config ? clusters_asked(&asked, host, config) : SHIM_INVALID;
    return last(code == SHIM_OK ? shim_largest_cluster(blocks, &asked) : code);
}

EXPORT int cudaOccupancyMaxActiveClusters(int *clusters, const void *host,
                                          const struct abi_launch_config *config)
{
    struct shim_launch asked;
    int size;
    int code = clusters && config ? clusters_asked(&asked, host, config) : SHIM_INVALID;
    return last(code == SHIM_OK ? shim_active_clusters(clusters, &size, &asked) : code);
}
