/*
 * A real GPU through libcuda.so.1, which is opened when a device of this kind is asked for: the
 * driver compiles the probes' PTX, and nothing of a CUDA toolkit is needed. Calls are synchronous.
 * A fault of a kernel loses the context: every later call says so instead of failing in strange
 * ways.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda.h"
#include "util/error.h"

#define JIT_LOG_BYTES 3000
/* More shared memory must be asked for, per kernel; what a kernel declares counts as well. */
#define STATIC_SHARED_LIMIT (49152 - 1024)

/* The library stays loaded: the driver starts threads that do not survive its unloading. */
static bool load_api(struct cuda_api *api, const char *library, bool any)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        error_set(SONDE_EDEVICE, "no CUDA driver: cannot load %s (%.200s)", library,
                  reason ? reason : "no reason given");
        return false;
    }
    /* Within `sonde run` the library of that name is our own. */
    if (!any && dlsym(handle, "shim_device")) {
        error_set(SONDE_EDEVICE, "no CUDA driver: %s is the simulator's", library);
        return false;
    }
    /* A pointer from dlsym() becomes a function pointer by way of its bytes: ISO C has no cast for
     * it. */
    void *symbol;
#define CUDA_LOOK_UP(member, name, arguments)                                                      \
    symbol = dlsym(handle, name);                                                                  \
    memcpy(&api->member, &symbol, sizeof(symbol));
#define CUDA_REQUIRE(member, name, arguments)                                                      \
    CUDA_LOOK_UP(member, name, arguments)                                                          \
    if (!symbol) {                                                                                 \
        dlclose(handle);                                                                           \
        error_set(SONDE_EDEVICE, "%s is no usable CUDA driver: it has no %s", library, name);      \
        return false;                                                                              \
    }
    CUDA_CALLS(CUDA_REQUIRE)
    CUDA_OPTIONAL_CALLS(CUDA_LOOK_UP)
#undef CUDA_REQUIRE
#undef CUDA_LOOK_UP
    return true;
}

static int attribute(const struct cuda_api *api, cu_device handle, int number)
{
    int value = 0;
    return api->device_attribute(&value, number, handle) == CU_SUCCESS && value > 0 ? value : 0;
}

static void describe_uuid(char text[40], const struct cuda_api *api, cu_device handle)
{
    struct cu_uuid uuid;
    if (!api->device_uuid || api->device_uuid(&uuid, handle) != CU_SUCCESS) {
        return;
    }
    char *p = text;
    for (int i = 0; i < 16; i++) {
        p += sprintf(p, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid.bytes[i]);
    }
}

static int describe(struct device_info *info, const struct cuda_api *api, cu_device handle)
{
    int version = 0;
    size_t memory_bytes = 0;
    *info = (struct device_info){.kind = DEVICE_CUDA};
    int rc = cuda_api_check(api, api->device_name(info->name, sizeof(info->name), handle),
                            "cuDeviceGetName");
    if (rc == SONDE_OK) {
        rc = cuda_api_check(api, api->device_memory(&memory_bytes, handle), "cuDeviceTotalMem");
    }
    if (rc == SONDE_OK) {
        rc = cuda_api_check(api, api->driver_version(&version), "cuDriverGetVersion");
    }
    if (rc < 0) {
        return rc;
    }
    info->name[sizeof(info->name) - 1] = '\0';
    snprintf(info->driver, sizeof(info->driver), "CUDA %d.%d", version / 1000, version % 1000 / 10);
    info->compute_major = (uint32_t)attribute(api, handle, CU_COMPUTE_MAJOR);
    info->compute_minor = (uint32_t)attribute(api, handle, CU_COMPUTE_MINOR);
    info->sms = (uint32_t)attribute(api, handle, CU_MULTIPROCESSOR_COUNT);
    info->clock_hz = (uint64_t)attribute(api, handle, CU_CLOCK_RATE) * 1000;
    info->memory_bytes = memory_bytes;
    info->l2_bytes_reported = (uint64_t)attribute(api, handle, CU_L2_CACHE_SIZE);
    info->memory_bandwidth_reported = (uint64_t)attribute(api, handle, CU_MEMORY_CLOCK_RATE) *
                                      (1000 / 4) *
                                      (uint64_t)attribute(api, handle, CU_GLOBAL_MEMORY_BUS_WIDTH);
    info->shared_per_sm_bytes = (uint64_t)attribute(api, handle, CU_MAX_SHARED_PER_SM);
    int opt_in = attribute(api, handle, CU_MAX_SHARED_PER_BLOCK_OPTIN);
    info->shared_per_block_bytes =
        (uint64_t)(opt_in ? opt_in : attribute(api, handle, CU_MAX_SHARED_PER_BLOCK));
    info->max_threads_per_block = (uint32_t)attribute(api, handle, CU_MAX_THREADS_PER_BLOCK);
    describe_uuid(info->uuid, api, handle);
    return SONDE_OK;
}

/* ---- modules and kernels ---- */

static void free_module(struct cuda *cuda, struct device_module *module)
{
    for (struct device_kernel *kernel = module->kernels, *next; kernel; kernel = next) {
        next = kernel->next;
        free(kernel);
    }
    if (!cuda->lost[0] && cuda->api.context_set(cuda->context) == CU_SUCCESS) {
        cuda->api.module_unload(module->module);
    }
    free(module);
}

/* The compiler's log is the useful part of its error. */
static int compile(struct cuda *cuda, cu_module *module, const char *name, const char *ptx)
{
    char log[JIT_LOG_BYTES] = "";
    int options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
    cu_result result = cuda->api.module_load(module, ptx, 2, options, values);
    int rc = cuda_check(cuda, result, "cuModuleLoadDataEx");
    if (rc < 0) {
        log[sizeof(log) - 1] = '\0';
        char lines[JIT_LOG_BYTES + 1024];
        snprintf(lines, sizeof(lines), "%s: %.512s%s%s", name, error_text(), log[0] ? "\n" : "",
                 log);
        rc = error_set_lines(rc, lines);
    }
    return rc;
}

static int cuda_module_load(struct device *device, struct device_module **out, const char *name,
                            const char *ptx, size_t length)
{
    struct cuda *cuda = cuda_of(device);
    struct device_module *module = calloc(1, sizeof(*module));
    char *text = malloc(length + 1); /* the driver wants a zero byte at the end */
    if (!module || !text) {
        free(module);
        free(text);
        return error_memory();
    }
    int rc = cuda_enter(cuda);
    if (rc == SONDE_OK && memchr(ptx, '\0', length)) {
        rc = error_set(SONDE_EINPUT, "%s: holds a zero byte", name);
    }
    if (rc == SONDE_OK) {
        memcpy(text, ptx, length);
        text[length] = '\0';
        rc = compile(cuda, &module->module, name, text);
    }
    free(text);
    if (rc < 0) {
        free(module);
        return rc;
    }
    module->next = cuda->modules;
    cuda->modules = module;
    *out = module;
    return SONDE_OK;
}

static void cuda_module_unload(struct device *device, struct device_module *module)
{
    struct cuda *cuda = cuda_of(device);
    struct device_module **link = &cuda->modules;
    while (*link != module) {
        link = &(*link)->next;
    }
    *link = module->next;
    free_module(cuda, module);
}

static int cuda_kernel_get(struct device *device, struct device_kernel **out,
                           struct device_module *module, const char *name)
{
    struct cuda *cuda = cuda_of(device);
    cu_function function;
    int rc = cuda_enter(cuda);
    if (rc == SONDE_OK) {
        char what[160];
        snprintf(what, sizeof(what), "kernel '%.100s'", name);
        rc = cuda_check(cuda, cuda->api.module_function(&function, module->module, name), what);
    }
    if (rc < 0) {
        return rc;
    }
    struct device_kernel *kernel = calloc(1, sizeof(*kernel));
    if (!kernel) {
        return error_memory();
    }
    *kernel = (struct device_kernel){.function = function, .next = module->kernels};
    module->kernels = kernel;
    *out = kernel;
    return SONDE_OK;
}

/* ---- memory ---- */

static int cuda_mem_alloc(struct device *device, uint64_t *address, uint64_t bytes)
{
    struct cuda *cuda = cuda_of(device);
    char what[64];
    snprintf(what, sizeof(what), "allocating %llu bytes", (unsigned long long)bytes);
    int rc = cuda_enter(cuda);
    return rc < 0 ? rc : cuda_check(cuda, cuda->api.memory_alloc(address, bytes), what);
}

static int cuda_mem_free(struct device *device, uint64_t address)
{
    struct cuda *cuda = cuda_of(device);
    int rc = cuda_enter(cuda);
    return rc < 0 ? rc : cuda_check(cuda, cuda->api.memory_free(address), "cuMemFree");
}

static int cuda_copy_to(struct device *device, uint64_t dst, const void *src, uint64_t bytes)
{
    struct cuda *cuda = cuda_of(device);
    int rc = cuda_enter(cuda);
    return rc < 0 ? rc : cuda_check(cuda, cuda->api.copy_to(dst, src, bytes), "cuMemcpyHtoD");
}

static int cuda_copy_from(struct device *device, void *dst, uint64_t src, uint64_t bytes)
{
    struct cuda *cuda = cuda_of(device);
    int rc = cuda_enter(cuda);
    return rc < 0 ? rc : cuda_check(cuda, cuda->api.copy_from(dst, src, bytes), "cuMemcpyDtoH");
}

/* ---- launches ---- */

/*
 * The driver takes a percentage of the largest shared memory and rounds it up to a division that
 * the GPU has. Each block also needs what the driver reserves in it. GPUs before Volta have no such
 * preference; they keep their default, which holds what a block may have.
 */
static int cuda_set_carveout(struct device *device, struct device_kernel *kernel,
                             uint64_t shared_bytes)
{
    struct cuda *cuda = cuda_of(device);
    uint64_t largest = device->info.shared_per_sm_bytes;
    uint64_t needed = shared_bytes + cuda->reserved_shared_bytes;
    int rc = cuda_enter(cuda);
    if (rc < 0 || device->info.compute_major < 7) {
        return rc;
    }
    if (largest == 0 || needed < shared_bytes || needed > largest) {
        return error_set(SONDE_EUNSUPPORTED,
                         "%s has %llu bytes of shared memory in an SM, not %llu", device->info.name,
                         (unsigned long long)largest, (unsigned long long)needed);
    }
    int percent = (int)((needed * 100 + largest - 1) / largest);
    return cuda_check(cuda, cuda->api.function_set(kernel->function, CU_FUNCTION_CARVEOUT, percent),
                      "asking for a division of L1 and shared memory");
}

static int allow_dynamic_shared(struct cuda *cuda, struct device_kernel *kernel, uint32_t bytes)
{
    if (bytes <= STATIC_SHARED_LIMIT || bytes <= kernel->dynamic_shared_bytes) {
        return SONDE_OK;
    }
    if (bytes > cuda->device.info.shared_per_block_bytes) {
        return error_set(SONDE_EUNSUPPORTED, "%s gives a block %llu bytes of shared memory, not %u",
                         cuda->device.info.name,
                         (unsigned long long)cuda->device.info.shared_per_block_bytes, bytes);
    }
    cu_result result =
        cuda->api.function_set(kernel->function, CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)bytes);
    int rc = cuda_check(cuda, result, "asking for dynamic shared memory");
    if (rc == SONDE_OK) {
        kernel->dynamic_shared_bytes = bytes;
    }
    return rc;
}

/* An event before and behind a launch; none where the driver lacks them. */
struct clocked {
    cu_event begin, end;
};

static void clock_begin(struct cuda *cuda, struct clocked *clocked)
{
    const struct cuda_api *api = &cuda->api;
    bool able = api->event_create && api->event_destroy && api->event_record && api->event_elapsed;
    if (able && api->event_create(&clocked->begin, 0) == CU_SUCCESS &&
        api->event_create(&clocked->end, 0) == CU_SUCCESS) {
        api->event_record(clocked->begin, NULL);
    }
}

/* Behind the launch; the events are waited for with the kernel. */
static void clock_end(struct cuda *cuda, const struct clocked *clocked)
{
    if (clocked->end) {
        cuda->api.event_record(clocked->end, NULL);
    }
}

static void clock_read(struct cuda *cuda, const struct clocked *clocked)
{
    float ms = 0;
    if (clocked->begin && clocked->end &&
        cuda->api.event_elapsed(&ms, clocked->begin, clocked->end) == CU_SUCCESS) {
        cuda->device.launch_us = (double)ms * 1000;
    }
    if (clocked->begin) {
        cuda->api.event_destroy(clocked->begin);
    }
    if (clocked->end) {
        cuda->api.event_destroy(clocked->end);
    }
}

static int start_kernel(struct cuda *cuda, struct device_kernel *kernel,
                        const struct device_launch *launch, cu_stream stream)
{
    void *args[DEVICE_MAX_ARGS];
    memcpy(args, launch->args, sizeof(args)); /* the driver reads them; its type has no const */
    cu_result result = cuda->api.launch(
        kernel->function, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
        launch->block[1], launch->block[2], launch->dynamic_shared_bytes, stream, args, NULL);
    return cuda_check(cuda, result, "cuLaunchKernel");
}

static int cuda_launch(struct device *device, struct device_kernel *kernel,
                       const struct device_launch *launch)
{
    struct cuda *cuda = cuda_of(device);
    struct clocked clocked = {0};
    int rc = cuda_enter(cuda);
    if (rc == SONDE_OK) {
        rc = allow_dynamic_shared(cuda, kernel, launch->dynamic_shared_bytes);
    }
    if (rc == SONDE_OK && launch->clocked) {
        device->launch_us = 0;
        clock_begin(cuda, &clocked);
    }
    rc = rc < 0 ? rc : start_kernel(cuda, kernel, launch, NULL);
    if (rc == SONDE_OK) {
        clock_end(cuda, &clocked);
        rc = cuda_check(cuda, cuda->api.context_synchronize(), "the kernel");
    }
    clock_read(cuda, &clocked);
    return rc;
}

#define NON_BLOCKING 1 /* CU_STREAM_NON_BLOCKING */

static int cuda_launch_together(struct device *device, struct device_kernel *const *kernels,
                                const struct device_launch *launches, uint32_t count)
{
    struct cuda *cuda = cuda_of(device);
    const struct cuda_api *api = &cuda->api;
    cu_stream streams[DEVICE_MAX_TOGETHER] = {NULL};
    if (!api->stream_create || !api->stream_destroy) {
        return error_set(SONDE_EUNSUPPORTED, "the driver has no streams");
    }
    int rc = cuda_enter(cuda);
    for (uint32_t i = 0; i < count && rc == SONDE_OK; i++) {
        rc = allow_dynamic_shared(cuda, kernels[i], launches[i].dynamic_shared_bytes);
        rc = rc < 0 ? rc
                    : cuda_check(cuda, api->stream_create(&streams[i], NON_BLOCKING), "a stream");
    }
    bool begun = rc == SONDE_OK;
    for (uint32_t i = 0; i < count && rc == SONDE_OK; i++) {
        rc = start_kernel(cuda, kernels[i], &launches[i], streams[i]);
    }
    if (begun) {
        int ended = cuda_check(cuda, api->context_synchronize(), "kernels beside each other");
        rc = rc < 0 ? rc : ended;
    }
    for (uint32_t i = 0; i < count && streams[i]; i++) {
        api->stream_destroy(streams[i]);
    }
    return rc;
}

static void cuda_close(struct device *device)
{
    struct cuda *cuda = cuda_of(device);
    for (struct device_module *module = cuda->modules, *next; module; module = next) {
        next = module->next;
        free_module(cuda, module);
    }
    cuda_unmap_all(cuda);
    if (cuda->context) {
        cuda->api.context_release(cuda->handle);
    }
    free(cuda);
}

static const struct device_ops cuda_ops = {
    .close = cuda_close,
    .module_load = cuda_module_load,
    .module_unload = cuda_module_unload,
    .kernel_get = cuda_kernel_get,
    .mem_alloc = cuda_mem_alloc,
    .mem_free = cuda_mem_free,
    .copy_to = cuda_copy_to,
    .copy_from = cuda_copy_from,
    .module_global = cuda_module_global,
    .mem_map = cuda_mem_map,
    .mem_unmap = cuda_mem_unmap,
    .texture_create = cuda_texture_create,
    .texture_destroy = cuda_texture_destroy,
    .image_create = cuda_image_create,
    .image_destroy = cuda_image_destroy,
    .image_copy = cuda_image_copy,
    .texture_object = cuda_texture_object,
    .surface_object = cuda_surface_object,
    .surface_destroy = cuda_surface_destroy,
    .set_shared_bank_bytes = cuda_set_shared_bank_bytes,
    .set_carveout = cuda_set_carveout,
    .launch = cuda_launch,
    .launch_together = cuda_launch_together,
};

/* ---- opening and listing ---- */

/* The driver, started, and how many GPUs it has (at least one). */
static int start_driver(struct cuda_api *api, int *count, const char *library, bool any)
{
    if (!load_api(api, library, any)) {
        return SONDE_EDEVICE;
    }
    int rc = cuda_api_check(api, api->init(0), "starting the CUDA driver (cuInit)");
    if (rc == SONDE_OK) {
        rc = cuda_api_check(api, api->device_count(count), "cuDeviceGetCount");
    }
    if (rc == SONDE_OK && *count <= 0) {
        rc = error_set(SONDE_EDEVICE, "the CUDA driver finds no GPU");
    }
    return rc;
}

static int open_device(struct cuda *cuda, unsigned ordinal, const char *library, bool any)
{
    int count = 0;
    int rc = start_driver(&cuda->api, &count, library, any);
    if (rc < 0) {
        return rc;
    }
    if (ordinal >= (unsigned)count) {
        return error_set(SONDE_EDEVICE, "there is no GPU %u: the driver has %d, counted from 0",
                         ordinal, count);
    }
    rc = cuda_api_check(&cuda->api, cuda->api.device_get(&cuda->handle, (int)ordinal),
                        "cuDeviceGet");
    if (rc == SONDE_OK) {
        rc = describe(&cuda->device.info, &cuda->api, cuda->handle);
    }
    if (rc == SONDE_OK) {
        cuda->reserved_shared_bytes =
            (uint32_t)attribute(&cuda->api, cuda->handle, CU_RESERVED_SHARED_PER_BLOCK);
        rc = cuda_api_check(&cuda->api, cuda->api.context_retain(&cuda->context, cuda->handle),
                            "cuDevicePrimaryCtxRetain");
    }
    return rc < 0 ? rc : cuda_enter(cuda);
}

static int open_any(struct device **out, unsigned ordinal, const char *library, bool any)
{
    struct cuda *cuda = calloc(1, sizeof(*cuda));
    if (!cuda) {
        return error_memory();
    }
    cuda->device.ops = &cuda_ops;
    int rc = open_device(cuda, ordinal, library, any);
    if (rc < 0) {
        cuda_close(&cuda->device);
        /* Whatever keeps a GPU from being opened, it is not available. */
        return rc == SONDE_EDEVICE ? rc : error_prefix(SONDE_EDEVICE, "cuda:%u", ordinal);
    }
    *out = &cuda->device;
    return SONDE_OK;
}

int cuda_open(struct device **out, unsigned ordinal, const char *library)
{
    return open_any(out, ordinal, library, false);
}

int cuda_open_any(struct device **out, unsigned ordinal, const char *library)
{
    return open_any(out, ordinal, library, true);
}

static int push(struct listing_vec *rows, const struct device_listing *row)
{
    return vec_push(rows, *row) < 0 ? error_memory() : SONDE_OK;
}

int cuda_list(struct listing_vec *rows, const char *library)
{
    struct cuda_api api;
    int count = 0;
    struct device_listing row = {.spec = "cuda:", .info = {.kind = DEVICE_CUDA}};
    if (start_driver(&api, &count, library, false) < 0) {
        snprintf(row.why, sizeof(row.why), "%s", error_text());
        return push(rows, &row);
    }
    for (int i = 0; i < count; i++) {
        cu_device handle;
        row = (struct device_listing){.info = {.kind = DEVICE_CUDA}};
        snprintf(row.spec, sizeof(row.spec), "cuda:%d", i);
        int rc = cuda_api_check(&api, api.device_get(&handle, i), "cuDeviceGet");
        rc = rc < 0 ? rc : describe(&row.info, &api, handle);
        row.available = rc == SONDE_OK;
        snprintf(row.why, sizeof(row.why), "%s", rc < 0 ? error_text() : "");
        rc = push(rows, &row);
        if (rc < 0) {
            return rc;
        }
    }
    return SONDE_OK;
}
