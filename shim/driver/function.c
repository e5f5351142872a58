/* Functions: attributes, occupancy. */
#include "model/model.h"
#include "shim/driver/driver.h"

static int check(void *function)
{
    struct rt *rt;
    int code = driver_enter(&rt);
    return code != SHIM_OK || shim_handle_is(function, SHIM_FUNCTION) ? code : SHIM_BAD_HANDLE;
}

static const enum shim_setting settings[] = {
    SHIM_SET_DYNAMIC_SHARED,       SHIM_SET_CARVEOUT,       SHIM_SET_CLUSTER_REQUIRED,
    SHIM_SET_CLUSTER_WIDTH,        SHIM_SET_CLUSTER_HEIGHT, SHIM_SET_CLUSTER_DEPTH,
    SHIM_SET_CLUSTER_NON_PORTABLE, SHIM_SET_CLUSTER_POLICY};

static int attribute_get(int *value, int attribute, void *function)
{
    struct shim_function_info info;
    int code = value ? check(function) : SHIM_INVALID;
    if (code != SHIM_OK) {
        return code;
    }
    if (attribute >= 8 && attribute <= 15) {
        *value = shim_function_setting(function, settings[attribute - 8]);
        if (attribute == 8 && *value == 0) {
            shim_attribute(value, 8);
        }
        return SHIM_OK;
    }
    code = shim_function_info(function, &info);
    const uint32_t values[] = {
        info.max_threads, info.shared_bytes, info.const_bytes, info.local_bytes,
        info.registers,   info.ptx_version,  info.target,      0};
    if (code == SHIM_OK && (attribute < 0 || attribute > 7)) {
        code = SHIM_INVALID;
    }
    if (code == SHIM_OK) {
        *value = (int)values[attribute];
    }
    return code;
}

EXPORT int cuFuncGetAttribute(int *value, int attribute, void *function)
{
    return driver_result(attribute_get(value, attribute, function));
}

EXPORT int cuFuncSetAttribute(void *function, int attribute, int value)
{
    int code = attribute >= 8 && attribute <= 15 ? check(function) : SHIM_INVALID;
    return driver_result(
        code == SHIM_OK ? shim_function_set(function, settings[attribute - 8], value) : code);
}

EXPORT int cuKernelGetAttribute(int *value, int attribute, void *kernel, int device)
{
    return driver_result(device ? SHIM_BAD_DEVICE : attribute_get(value, attribute, kernel));
}

EXPORT int cuKernelSetAttribute(int attribute, int value, void *kernel, int device)
{
    return device ? driver_result(SHIM_BAD_DEVICE) : cuFuncSetAttribute(kernel, attribute, value);
}

EXPORT int cuFuncSetCacheConfig(void *function, int config)
{
    int code = config >= 0 && config <= 3 ? check(function) : SHIM_INVALID;
    return driver_result(code == SHIM_OK ? shim_function_set(function, SHIM_SET_CACHE, config)
                                         : code);
}

EXPORT int cuFuncSetSharedMemConfig(void *function, int config)
{
    return driver_result(config >= 0 && config <= 2 ? check(function) : SHIM_INVALID);
}

EXPORT int cuFuncGetModule(void **module, void *function)
{
    int code = module ? check(function) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *module = shim_function_module(function);
    }
    return driver_result(code);
}

EXPORT int cuFuncGetName(const char **name, void *function)
{
    int code = name ? check(function) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *name = shim_function_name(function);
    }
    return driver_result(code);
}

EXPORT int cuKernelGetName(const char **name, void *kernel)
{
    return cuFuncGetName(name, kernel);
}

EXPORT int cuFuncGetParamInfo(void *function, size_t i, size_t *offset, size_t *bytes)
{
    size_t size;
    int code = offset ? check(function) : SHIM_INVALID;
    return driver_result(
        code == SHIM_OK ? shim_function_param(function, i, offset, bytes ? bytes : &size) : code);
}

EXPORT int cuFuncIsLoaded(int *state, void *function)
{
    int code = state ? check(function) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *state = 1;
    }
    return driver_result(code);
}

EXPORT int cuFuncLoad(void *function)
{
    return driver_result(check(function));
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *function,
                                                                int threads, size_t shared,
                                                                unsigned flags)
{
    int code = blocks && threads > 0 && flags <= 1 ? check(function) : SHIM_INVALID;
    return driver_result(
        code == SHIM_OK ? shim_occupancy(blocks, function, (unsigned)threads, shared) : code);
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                       size_t shared)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared,
                                                                0);
}

EXPORT int cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *threads, void *function,
                                                     size_t (*shared)(int), size_t bytes, int limit,
                                                     unsigned flags)
{
    int code = grid && threads && flags <= 1 ? check(function) : SHIM_INVALID;
    return driver_result(code == SHIM_OK
                             ? shim_occupancy_best(grid, threads, function, shared, bytes, limit)
                             : code);
}

EXPORT int cuOccupancyMaxPotentialBlockSize(int *grid, int *threads, void *function,
                                            size_t (*shared)(int), size_t bytes, int limit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, threads, function, shared, bytes, limit,
                                                     0);
}

EXPORT int cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, void *function, int blocks,
                                                   int threads)
{
    int code = bytes && blocks > 0 && threads > 0 ? check(function) : SHIM_INVALID;
    return driver_result(code == SHIM_OK ? shim_available_shared(bytes, function, blocks, threads)
                                         : code);
}

static int clusters_asked(struct shim_launch *out, void *function,
                          const struct abi_launch_config_driver *config)
{
    *out = (struct shim_launch){.function = function,
                                .block = {config->block[0], config->block[1], config->block[2]},
                                .dynamic_shared_bytes = config->shared_bytes};
    shim_launch_attributes(out, config->attributes, config->attribute_count);
    return check(function);
}

EXPORT int cuOccupancyMaxPotentialClusterSize(int *blocks, void *function,
                                              const struct abi_launch_config_driver *config)
{
    struct shim_launch asked;
    int code = blocks && config ? clusters_asked(&asked, function, config) : SHIM_INVALID;
    return driver_result(code == SHIM_OK ? shim_largest_cluster(blocks, &asked) : code);
}

EXPORT int cuOccupancyMaxActiveClusters(int *clusters, void *function,
                                        const struct abi_launch_config_driver *config)
{
    struct shim_launch asked;
    int size;
    int code = clusters && config ? clusters_asked(&asked, function, config) : SHIM_INVALID;
    return driver_result(code == SHIM_OK ? shim_active_clusters(clusters, &size, &asked) : code);
}
