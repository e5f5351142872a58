/* Contexts. All of them are views of the one device: what one allocates the others see. */
#include <stdlib.h>

#include "shim/driver/driver.h"

#define NESTED_MAX 64

struct context {
    unsigned flags;
    struct context *older; /* of those that are destroyed */
};

static bool initialised, implicit;
static struct context primary;
static unsigned primary_users, created;
/* Stacks may still hold them: their memory is not used again, so that no new one is taken for one
 * of them. */
static struct context *destroyed;
static _Thread_local struct context *stack[NESTED_MAX];
static _Thread_local unsigned depth;

/* The runtime makes the primary context everybody's who has none. */
void shim_runtime_begins(void)
{
    initialised = true;
    implicit = true;
}

bool driver_initialised(void)
{
    return initialised;
}

int driver_result(int code)
{
    shim_count_call();
    shim_call_ends();
    return code == SHIM_BAD_CONFIGURATION || code == SHIM_BAD_DIRECTION || code == 12 ? SHIM_INVALID
                                                                                      : code;
}

static bool is_context(const void *context)
{
    return context == &primary || shim_handle_is(context, SHIM_CONTEXT);
}

/* The current context is one that was destroyed below another, or in another thread. */
static bool is_stale(void)
{
    const struct context *top = depth > 0 ? stack[depth - 1] : &primary;
    return top == &primary ? depth > 0 && primary_users == 0 && !implicit : !is_context(top);
}

int driver_enter(struct rt **rt)
{
    if (!initialised) {
        return SHIM_NOT_INITIALISED;
    }
    if (depth == 0 && !implicit) {
        return SHIM_BAD_CONTEXT;
    }
    return is_stale() ? SHIM_CONTEXT_DESTROYED : shim_device(rt);
}

int driver_stream(struct rt_stream **out, void *handle, bool own)
{
    struct rt *rt;
    int code = driver_enter(&rt);
    *out = code == SHIM_OK ? shim_stream(rt, handle, own) : NULL;
    return code != SHIM_OK || *out ? code : SHIM_BAD_HANDLE;
}

EXPORT int cuInit(unsigned flags)
{
    if (flags != 0) {
        return driver_result(SHIM_INVALID);
    }
    initialised = shim_model() != NULL;
    return driver_result(initialised ? SHIM_OK : SHIM_NO_DEVICE);
}

static int push(struct context *context)
{
    if (depth == NESTED_MAX) {
        return SHIM_NO_MEMORY;
    }
    stack[depth++] = context;
    return SHIM_OK;
}

static int create(void **out, unsigned flags, int device)
{
    struct rt *rt;
    if (!initialised || device != 0 || !out) {
        return !initialised ? SHIM_NOT_INITIALISED : !out ? SHIM_INVALID : SHIM_BAD_DEVICE;
    }
    struct context *context = calloc(1, sizeof *context);
    int code = context ? shim_device(&rt) : SHIM_NO_MEMORY;
    code = code == SHIM_OK ? shim_handle_add(context, SHIM_CONTEXT) : code;
    code = code == SHIM_OK ? push(context) : code;
    if (code != SHIM_OK) {
        free(context);
        return code;
    }
    context->flags = flags;
    created++;
    *out = context;
    return SHIM_OK;
}

EXPORT int cuCtxCreate_v2(void **out, unsigned flags, int device)
{
    return driver_result(create(out, flags, device));
}

EXPORT int cuCtxCreate_v3(void **out, void *affinity, int count, unsigned flags, int device)
{
    (void)affinity;
    return driver_result(count ? SHIM_NOT_SUPPORTED : create(out, flags, device));
}

EXPORT int cuCtxCreate_v4(void **out, void *params, unsigned flags, int device)
{
    (void)params;
    return driver_result(create(out, flags, device));
}

/* What contexts allocated goes when nobody is left to use it. */
static void unused_reset(void)
{
    if (created == 0 && primary_users == 0 && !implicit) {
        shim_reset();
    }
}

EXPORT int cuCtxDestroy_v2(void *handle)
{
    struct context *context = handle;
    if (!shim_handle_is(context, SHIM_CONTEXT)) { /* the primary one is not in the table */
        return driver_result(SHIM_BAD_CONTEXT);
    }
    if (depth > 0 && stack[depth - 1] == context) {
        depth--;
    }
    shim_handle_remove(context);
    context->older = destroyed;
    destroyed = context;
    created--;
    unused_reset();
    return driver_result(SHIM_OK);
}

EXPORT int cuCtxPushCurrent_v2(void *context)
{
    return driver_result(is_context(context) ? push(context) : SHIM_BAD_CONTEXT);
}

EXPORT int cuCtxPopCurrent_v2(void **context)
{
    if (depth == 0 && !implicit) {
        return driver_result(SHIM_BAD_CONTEXT);
    }
    struct context *top = depth > 0 ? stack[depth - 1] : &primary;
    depth -= depth > 0;
    if (context) {
        *context = top;
    }
    return driver_result(SHIM_OK);
}

EXPORT int cuCtxSetCurrent(void *context)
{
    if (context && !is_context(context)) {
        return driver_result(SHIM_BAD_CONTEXT);
    }
    depth -= depth > 0;
    return driver_result(context ? push(context) : SHIM_OK);
}

static void *current(void)
{
    return depth > 0 ? stack[depth - 1] : implicit ? &primary : NULL;
}

EXPORT int cuCtxGetCurrent(void **context)
{
    if (!context || !initialised) {
        return driver_result(initialised ? SHIM_INVALID : SHIM_NOT_INITIALISED);
    }
    *context = current();
    return driver_result(SHIM_OK);
}

/* Streams belong to the device, and so to whichever context asks. */
EXPORT int cuStreamGetCtx(void *stream, void **context)
{
    struct rt_stream *in;
    int code = context ? driver_stream(&in, stream, false) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *context = current();
    }
    return driver_result(code);
}

EXPORT int cuStreamGetCtx_ptsz(void *stream, void **context)
{
    return cuStreamGetCtx(stream, context);
}

EXPORT int cuStreamGetCtx_v2(void *stream, void **context, void **green)
{
    if (green) {
        *green = NULL; /* there are none */
    }
    return cuStreamGetCtx(stream, context);
}

EXPORT int cuStreamGetCtx_v2_ptsz(void *stream, void **context, void **green)
{
    return cuStreamGetCtx_v2(stream, context, green);
}

EXPORT int cuCtxGetDevice(int *device)
{
    if (!device || (depth == 0 && !implicit)) {
        return driver_result(device ? SHIM_BAD_CONTEXT : SHIM_INVALID);
    }
    *device = 0;
    return driver_result(SHIM_OK);
}

EXPORT int cuCtxGetFlags(unsigned *flags)
{
    if (!flags || depth == 0) {
        return driver_result(flags ? SHIM_BAD_CONTEXT : SHIM_INVALID);
    }
    if (is_stale()) {
        return driver_result(SHIM_CONTEXT_DESTROYED);
    }
    *flags = stack[depth - 1]->flags;
    return driver_result(SHIM_OK);
}

EXPORT int cuCtxGetApiVersion(void *context, unsigned *version)
{
    if (!version || (context && !is_context(context))) {
        return driver_result(version ? SHIM_BAD_CONTEXT : SHIM_INVALID);
    }
    *version = 3020;
    return driver_result(SHIM_OK);
}

EXPORT int cuCtxGetId(void *context, unsigned long long *id)
{
    if (!id) {
        return driver_result(SHIM_INVALID);
    }
    *id = (uintptr_t)(context ? context : depth > 0 ? stack[depth - 1] : NULL);
    return driver_result(SHIM_OK);
}

EXPORT int cuCtxSynchronize(void)
{
    struct rt *rt;
    int code = driver_enter(&rt);
    return driver_result(code == SHIM_OK ? shim_code(rt_sync(rt)) : code);
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
    struct rt *rt;
    if (!initialised || device != 0 || !context) {
        return driver_result(!initialised ? SHIM_NOT_INITIALISED
                             : !context   ? SHIM_INVALID
                                          : SHIM_BAD_DEVICE);
    }
    primary_users++;
    *context = &primary;
    return driver_result(shim_device(&rt));
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
    if (device != 0 || primary_users == 0) {
        return driver_result(device ? SHIM_BAD_DEVICE : SHIM_BAD_CONTEXT);
    }
    primary_users--;
    unused_reset();
    return driver_result(SHIM_OK);
}

EXPORT int cuDevicePrimaryCtxReset_v2(int device)
{
    return driver_result(device ? SHIM_BAD_DEVICE : shim_reset());
}

EXPORT int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
    primary.flags = flags;
    return driver_result(device ? SHIM_BAD_DEVICE : SHIM_OK);
}

EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    if (device != 0 || !flags || !active) {
        return driver_result(device ? SHIM_BAD_DEVICE : SHIM_INVALID);
    }
    *flags = primary.flags;
    *active = primary_users > 0;
    return driver_result(SHIM_OK);
}

EXPORT int cuCtxResetPersistingL2Cache(void)
{
    return driver_result(SHIM_OK);
}

EXPORT int cuCtxEnablePeerAccess(void *context, unsigned flags)
{
    (void)flags;
    return driver_result(is_context(context) ? SHIM_BAD_CONTEXT : SHIM_NO_PEER);
}

EXPORT int cuCtxDisablePeerAccess(void *context)
{
    return driver_result(is_context(context) ? SHIM_PEER_NOT_ENABLED : SHIM_BAD_CONTEXT);
}

EXPORT int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    struct rt *rt;
    int low = 0, high = 0;
    int code = driver_enter(&rt);
    if (code == SHIM_OK) {
        rt_stream_priorities(rt, &low, &high);
    }
    if (least) {
        *least = low;
    }
    if (greatest) {
        *greatest = high;
    }
    return driver_result(code);
}

EXPORT int cuCtxSetLimit(int limit, size_t value)
{
    struct rt *rt;
    int code = driver_enter(&rt);
    return driver_result(code == SHIM_OK ? shim_limit_set(limit, value) : code);
}

EXPORT int cuCtxGetLimit(size_t *value, int limit)
{
    struct rt *rt;
    int code = value ? driver_enter(&rt) : SHIM_INVALID;
    if (code == SHIM_OK && shim_limit_get(value, limit) != SHIM_OK) {
        code = 215; /* no such limit */
    }
    return driver_result(code);
}

static int cache_config;

EXPORT int cuCtxSetCacheConfig(int config)
{
    cache_config = config;
    return driver_result(config < 0 || config > 3 ? SHIM_INVALID : SHIM_OK);
}

EXPORT int cuCtxGetCacheConfig(int *config)
{
    if (!config) {
        return driver_result(SHIM_INVALID);
    }
    *config = cache_config;
    return driver_result(SHIM_OK);
}

/* How wide banks of shared memory are: asked for by old programs, and no longer to be chosen. */
EXPORT int cuCtxGetSharedMemConfig(int *config)
{
    if (!config) {
        return driver_result(SHIM_INVALID);
    }
    *config = 1; /* 4 bytes */
    return driver_result(SHIM_OK);
}

EXPORT int cuCtxSetSharedMemConfig(int config)
{
    return driver_result(config < 0 || config > 2 ? SHIM_INVALID : SHIM_OK);
}

/* Names of before there was a second form; their parameters are the same. */
EXPORT int cuDevicePrimaryCtxRelease(int device)
{
    return cuDevicePrimaryCtxRelease_v2(device);
}

EXPORT int cuDevicePrimaryCtxReset(int device)
{
    return cuDevicePrimaryCtxReset_v2(device);
}

EXPORT int cuDevicePrimaryCtxSetFlags(int device, unsigned flags)
{
    return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}
