/*
 * Memory pools, and what only exists between processes or devices. Pools count what is taken from
 * them; the memory itself is the device's. It is taken at once, which a program cannot tell from
 * taking it when the stream gets there, and given back when the stream has got there.
 */
#include <stdlib.h>
#include <string.h>

#include "shim/runtime/pool.h"
#include "util/container/vec.h"

struct pool {
    uint64_t used, used_high, threshold;
    int reuse[3];
    bool is_default;
};

static struct pool default_pool = {.reuse = {1, 1, 1}, .is_default = true};
static struct pool *current = &default_pool;

struct taken {
    uint64_t address, bytes;
    struct pool *pool;
};
static VEC(struct taken) taken;

static struct pool *pool_of(void *handle)
{
    return handle == &default_pool || shim_handle_is(handle, SHIM_POOL) ? handle : NULL;
}

int pool_take(void **out, size_t bytes, void *handle)
{
    struct pool *pool = handle ? pool_of(handle) : current;
    struct rt *rt;
    uint64_t address;
    if (!out || !pool) {
        return SHIM_INVALID;
    }
    *out = NULL;
    if (bytes == 0) {
        return SHIM_OK;
    }
    int code = shim_memory_take(&address, bytes, SHIM_MEMORY_DEVICE, 0);
    code = code == SHIM_OK ? shim_enter(&rt) : code;
    if (code != SHIM_OK) {
        return code;
    }
    if (vec_push(&taken, (struct taken){address, bytes, pool}) < 0) {
        code = SHIM_NO_MEMORY;
    } else {
        pool->used += bytes;
        pool->used_high = pool->used > pool->used_high ? pool->used : pool->used_high;
        *out = (void *)(uintptr_t)address;
    }
    shim_leave(rt);
    return code;
}

int pool_give(void *pointer)
{
    struct rt *rt;
    int code = shim_memory_give((uintptr_t)pointer, false);
    if (code == SHIM_OK && (code = shim_enter(&rt)) == SHIM_OK) {
        for (size_t i = 0; i < taken.count; i++) {
            if (taken.data[i].address == (uintptr_t)pointer) {
                taken.data[i].pool->used -= taken.data[i].bytes;
                taken.data[i] = vec_last(&taken);
                taken.count--;
                break;
            }
        }
        shim_leave(rt);
    }
    return code;
}

EXPORT int cudaDeviceGetDefaultMemPool(void **pool, int device)
{
    if (!pool || device != 0) {
        return last(pool ? SHIM_BAD_DEVICE : SHIM_INVALID);
    }
    *pool = &default_pool;
    return last(SHIM_OK);
}

EXPORT int cudaDeviceGetMemPool(void **pool, int device)
{
    if (!pool || device != 0) {
        return last(pool ? SHIM_BAD_DEVICE : SHIM_INVALID);
    }
    *pool = current;
    return last(SHIM_OK);
}

EXPORT int cudaDeviceSetMemPool(int device, void *pool)
{
    if (device != 0 || !pool_of(pool)) {
        return last(device ? SHIM_BAD_DEVICE : SHIM_INVALID);
    }
    current = pool;
    return last(SHIM_OK);
}

EXPORT int cudaMemPoolCreate(void **out, const struct abi_pool_props *props)
{
    if (!out || !props || props->location.type != 1 || props->location.id != 0) {
        return last(SHIM_INVALID);
    }
    if (props->handles != 0) { /* for other processes */
        return last(SHIM_NOT_SUPPORTED);
    }
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool || shim_handle_add(pool, SHIM_POOL) != SHIM_OK) {
        free(pool);
        return last(SHIM_NO_MEMORY);
    }
    memcpy(pool->reuse, default_pool.reuse, sizeof pool->reuse);
    *out = pool;
    return last(SHIM_OK);
}

/* What is taken from it stays until it is freed, and is then the default one's. */
EXPORT int cudaMemPoolDestroy(void *handle)
{
    struct pool *pool = pool_of(handle);
    if (!pool || pool->is_default) {
        return last(SHIM_INVALID);
    }
    for (size_t i = 0; i < taken.count; i++) {
        if (taken.data[i].pool == pool) {
            taken.data[i].pool = &default_pool;
            default_pool.used += taken.data[i].bytes;
        }
    }
    current = current == pool ? &default_pool : current;
    shim_handle_remove(pool);
    free(pool);
    return last(SHIM_OK);
}

enum {
    POOL_REUSE_FIRST = 1, /* to 3: ints */
    POOL_THRESHOLD = 4,
    POOL_RESERVED,
    POOL_RESERVED_HIGH,
    POOL_USED,
    POOL_USED_HIGH,
};

EXPORT int cudaMemPoolSetAttribute(void *handle, int attribute, void *value)
{
    struct pool *pool = pool_of(handle);
    if (!pool || !value || attribute < POOL_REUSE_FIRST || attribute > POOL_USED_HIGH) {
        return last(SHIM_INVALID);
    }
    if (attribute < POOL_THRESHOLD) {
        pool->reuse[attribute - 1] = *(int *)value;
    } else if (attribute == POOL_THRESHOLD) {
        pool->threshold = *(uint64_t *)value;
    } else if ((attribute == POOL_RESERVED_HIGH || attribute == POOL_USED_HIGH) &&
               *(uint64_t *)value == 0) {
        pool->used_high = pool->used;
    } else {
        return last(SHIM_INVALID);
    }
    return last(SHIM_OK);
}

EXPORT int cudaMemPoolGetAttribute(void *handle, int attribute, void *value)
{
    const struct pool *pool = pool_of(handle);
    if (!pool || !value || attribute < POOL_REUSE_FIRST || attribute > POOL_USED_HIGH) {
        return last(SHIM_INVALID);
    }
    if (attribute < POOL_THRESHOLD) {
        *(int *)value = pool->reuse[attribute - 1];
        return last(SHIM_OK);
    }
    const uint64_t values[] = {pool->threshold, pool->used, pool->used_high, pool->used,
                               pool->used_high};
    *(uint64_t *)value = values[attribute - POOL_THRESHOLD];
    return last(SHIM_OK);
}

EXPORT int cudaMemPoolTrimTo(void *pool, size_t bytes)
{
    (void)bytes;
    return last(pool_of(pool) ? SHIM_OK : SHIM_INVALID);
}

EXPORT int cudaMemPoolSetAccess(void *pool, const struct abi_access *access, size_t count)
{
    if (!pool_of(pool) || !access) {
        return last(SHIM_INVALID);
    }
    for (size_t i = 0; i < count; i++) {
        if (access[i].location.type != 1 || access[i].location.id != 0) {
            return last(SHIM_BAD_DEVICE);
        }
        if (access[i].flags != 3) { /* its own device cannot lose it */
            return last(SHIM_INVALID);
        }
    }
    return last(SHIM_OK);
}

EXPORT int cudaMemPoolGetAccess(int *flags, void *pool, struct abi_location *location)
{
    if (!flags || !pool_of(pool) || !location || location->type != 1 || location->id != 0) {
        return last(SHIM_INVALID);
    }
    *flags = 3;
    return last(SHIM_OK);
}

/* There is no other process to share with, and no other device. */
EXPORT int cudaMemPoolExportToShareableHandle(void *out, void *pool, int type, unsigned flags)
{
    (void)type, (void)flags;
    return last(out && pool_of(pool) ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int cudaMemPoolImportFromShareableHandle(void **pool, void *handle, int type, unsigned flags)
{
    (void)handle, (void)type, (void)flags;
    return last(pool ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int cudaMemPoolExportPointer(void *out, void *pointer)
{
    (void)pointer;
    return last(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int cudaMemPoolImportPointer(void **out, void *pool, void *data)
{
    (void)pool, (void)data;
    return last(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int cudaIpcGetMemHandle(void *out, void *pointer)
{
    (void)pointer;
    return last(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

struct ipc_handle {
    char bytes[64];
};

EXPORT int cudaIpcOpenMemHandle(void **out, struct ipc_handle handle, unsigned flags)
{
    (void)handle, (void)flags;
    return last(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int cudaIpcCloseMemHandle(void *pointer)
{
    (void)pointer;
    return last(SHIM_NOT_SUPPORTED);
}

EXPORT int cudaIpcGetEventHandle(void *out, void *event)
{
    (void)event;
    return last(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int cudaIpcOpenEventHandle(void **out, struct ipc_handle handle)
{
    (void)handle;
    return last(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

/* Memory that graphs hold: none is kept between their launches. */
EXPORT int cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value)
{
    if (device != 0 || !value || attribute < 0 || attribute > 3) {
        return last(device ? SHIM_BAD_DEVICE : SHIM_INVALID);
    }
    *(uint64_t *)value = 0;
    return last(SHIM_OK);
}

EXPORT int cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value)
{
    return last(device ? SHIM_BAD_DEVICE : value && attribute >= 0 ? SHIM_OK : SHIM_INVALID);
}

EXPORT int cudaDeviceGraphMemTrim(int device)
{
    return last(device ? SHIM_BAD_DEVICE : SHIM_OK);
}
