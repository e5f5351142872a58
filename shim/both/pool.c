/* Memory pools, and the memory of graphs. */
#include "shim/both/pool.h"

/* Whether memory is taken again; nothing here depends on it. */
static int reuse[3] = {1, 1, 1};
static struct rt_pool *chosen; /* NULL: the default one */
static unsigned chosen_generation;

static struct rt_pool *pool_of(void *handle)
{
    struct rt *rt;
    if (DEVICE_OF(&rt) != SHIM_OK) {
        return NULL;
    }
    return handle == rt_pool_default(rt) || shim_handle_is(handle, SHIM_POOL) ? handle : NULL;
}

static struct rt_pool *current(struct rt *rt)
{
    return chosen && chosen_generation == shim_generation() ? chosen : rt_pool_default(rt);
}

int pool_serve(void **out, size_t bytes, void *handle, struct rt_stream *stream)
{
    uint64_t address = 0;
    struct rt_pool *pool = handle ? pool_of(handle) : current(rt_stream_rt(stream));
    if (!out || !pool) {
        return SHIM_INVALID;
    }
    int code = bytes ? shim_code(rt_enqueue_alloc(stream, pool, &address, bytes)) : SHIM_OK;
    *out = (void *)(uintptr_t)address;
    return code;
}

EXPORT int NAME(DeviceGetDefaultMemPool)(void **pool, int device)
{
    struct rt *rt;
    if (!pool || device != 0) {
        return RESULT(pool ? SHIM_BAD_DEVICE : SHIM_INVALID);
    }
    int code = DEVICE_OF(&rt);
    *pool = code == SHIM_OK ? rt_pool_default(rt) : NULL;
    return RESULT(code);
}

EXPORT int NAME(DeviceGetMemPool)(void **pool, int device)
{
    struct rt *rt;
    if (!pool || device != 0) {
        return RESULT(pool ? SHIM_BAD_DEVICE : SHIM_INVALID);
    }
    int code = DEVICE_OF(&rt);
    *pool = code == SHIM_OK ? current(rt) : NULL;
    return RESULT(code);
}

EXPORT int NAME(DeviceSetMemPool)(int device, void *pool)
{
    if (device != 0 || !pool_of(pool)) {
        return RESULT(device ? SHIM_BAD_DEVICE : SHIM_INVALID);
    }
    chosen = pool;
    chosen_generation = shim_generation();
    return RESULT(SHIM_OK);
}

EXPORT int NAME(MemPoolCreate)(void **out, const struct abi_pool_props *props)
{
    if (!out || !props || props->location.type != 1 || props->location.id != 0) {
        return RESULT(SHIM_INVALID);
    }
    if (props->handles != 0) { /* for other processes */
        return RESULT(SHIM_NOT_SUPPORTED);
    }
    struct rt *rt;
    struct rt_pool *pool;
    int code = DEVICE_OF(&rt);
    code = code == SHIM_OK ? shim_code(rt_pool_create(rt, &pool)) : code;
    code = code == SHIM_OK ? shim_handle_add(pool, SHIM_POOL) : code;
    if (code == SHIM_OK) {
        *out = pool;
    }
    return RESULT(code);
}

EXPORT int NAME(MemPoolDestroy)(void *pool)
{
    if (!shim_handle_is(pool, SHIM_POOL)) {
        return RESULT(SHIM_INVALID);
    }
    chosen = chosen == pool ? NULL : chosen;
    shim_handle_remove(pool);
    return RESULT(shim_code(rt_pool_destroy(pool)));
}

enum {
    POOL_REUSE_FIRST = 1, /* to 3: ints */
    POOL_THRESHOLD = 4,
    POOL_RESERVED,
    POOL_RESERVED_HIGH,
    POOL_USED,
    POOL_USED_HIGH,
};

EXPORT int NAME(MemPoolSetAttribute)(void *handle, int attribute, void *value)
{
    struct rt_pool *pool = pool_of(handle);
    if (!pool || !value || attribute < POOL_REUSE_FIRST || attribute > POOL_USED_HIGH) {
        return RESULT(SHIM_INVALID);
    }
    if (attribute < POOL_THRESHOLD) {
        reuse[attribute - 1] = *(int *)value;
    } else if (attribute == POOL_THRESHOLD) {
        rt_pool_set_threshold(pool, *(uint64_t *)value);
    } else if ((attribute == POOL_RESERVED_HIGH || attribute == POOL_USED_HIGH) &&
               *(uint64_t *)value == 0) {
        rt_pool_reset_high(pool);
    } else {
        return RESULT(SHIM_INVALID);
    }
    return RESULT(SHIM_OK);
}

EXPORT int NAME(MemPoolGetAttribute)(void *handle, int attribute, void *value)
{
    const struct rt_pool *pool = pool_of(handle);
    struct rt_pool_info info;
    if (!pool || !value || attribute < POOL_REUSE_FIRST || attribute > POOL_USED_HIGH) {
        return RESULT(SHIM_INVALID);
    }
    if (attribute < POOL_THRESHOLD) {
        *(int *)value = reuse[attribute - 1];
        return RESULT(SHIM_OK);
    }
    rt_pool_info(pool, &info);
    const uint64_t values[] = {info.threshold, info.reserved_bytes, info.reserved_high,
                               info.used_bytes, info.used_high};
    *(uint64_t *)value = values[attribute - POOL_THRESHOLD];
    return RESULT(SHIM_OK);
}

EXPORT int NAME(MemPoolTrimTo)(void *pool, size_t bytes)
{
    return RESULT(pool_of(pool) ? shim_code(rt_pool_trim(pool, bytes)) : SHIM_INVALID);
}

EXPORT int NAME(MemPoolSetAccess)(void *pool, const struct abi_access *access, size_t count)
{
    if (!pool_of(pool) || !access) {
        return RESULT(SHIM_INVALID);
    }
    for (size_t i = 0; i < count; i++) {
        if (access[i].location.type != 1 || access[i].location.id != 0) {
            return RESULT(SHIM_BAD_DEVICE);
        }
        if (access[i].flags != 3) { /* its own device cannot lose it */
            return RESULT(SHIM_INVALID);
        }
    }
    return RESULT(SHIM_OK);
}

EXPORT int NAME(MemPoolGetAccess)(int *flags, void *pool, struct abi_location *location)
{
    if (!flags || !pool_of(pool) || !location || location->type != 1 || location->id != 0) {
        return RESULT(SHIM_INVALID);
    }
    *flags = 3;
    return RESULT(SHIM_OK);
}

/* There is no other process to share with, and no other device. */
EXPORT int NAME(MemPoolExportToShareableHandle)(void *out, void *pool, int type, unsigned flags)
{
    (void)type, (void)flags;
    (void)out, (void)pool;
    return RESULT(SHIM_INVALID); /* no pool is made for it */
}

EXPORT int NAME(MemPoolImportFromShareableHandle)(void **pool, void *handle, int type,
                                                  unsigned flags)
{
    (void)handle, (void)type, (void)flags;
    return RESULT(pool ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int NAME(MemPoolExportPointer)(void *out, void *pointer)
{
    (void)pointer;
    return RESULT(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int NAME(MemPoolImportPointer)(void **out, void *pool, void *data)
{
    (void)pool, (void)data;
    return RESULT(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

/* Memory that graphs hold: none is kept between their launches. */
EXPORT int NAME(DeviceGetGraphMemAttribute)(int device, int attribute, void *value)
{
    if (device != 0 || !value || attribute < 0 || attribute > 3) {
        return RESULT(device ? SHIM_BAD_DEVICE : SHIM_INVALID);
    }
    *(uint64_t *)value = 0;
    return RESULT(SHIM_OK);
}

EXPORT int NAME(DeviceSetGraphMemAttribute)(int device, int attribute, void *value)
{
    return RESULT(device ? SHIM_BAD_DEVICE : value && attribute >= 0 ? SHIM_OK : SHIM_INVALID);
}

EXPORT int NAME(DeviceGraphMemTrim)(int device)
{
    return RESULT(device ? SHIM_BAD_DEVICE : SHIM_OK);
}

/* By a place instead of a device. */
static int place_check(const struct abi_location *place, int type)
{
    if (!place || type != 1) { /* pinned memory of a device's */
        return SHIM_INVALID;
    }
    return place->type == 1 && place->id == 0 ? SHIM_OK : SHIM_BAD_DEVICE;
}

EXPORT int NAME(MemGetDefaultMemPool)(void **pool, const struct abi_location *place, int type)
{
    int code = place_check(place, type);
    return code == SHIM_OK ? NAME(DeviceGetDefaultMemPool)(pool, 0) : RESULT(code);
}

EXPORT int NAME(MemGetMemPool)(void **pool, const struct abi_location *place, int type)
{
    int code = place_check(place, type);
    return code == SHIM_OK ? NAME(DeviceGetMemPool)(pool, 0) : RESULT(code);
}

EXPORT int NAME(MemSetMemPool)(const struct abi_location *place, int type, void *pool)
{
    int code = place_check(place, type);
    return code == SHIM_OK ? NAME(DeviceSetMemPool)(0, pool) : RESULT(code);
}
