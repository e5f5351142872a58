/* Memory. */
#include <string.h>

#include "shim/driver/driver.h"

static int take(uint64_t *out, size_t bytes, enum shim_memory kind, unsigned flags)
{
    struct rt *rt;
    int code = out && bytes ? driver_enter(&rt) : SHIM_INVALID;
    return code == SHIM_OK ? shim_memory_take(out, bytes, kind, flags) : code;
}

EXPORT int cuMemAlloc_v2(uint64_t *out, size_t bytes)
{
    return driver_result(take(out, bytes, SHIM_MEMORY_DEVICE, 0));
}

EXPORT int cuMemAllocPitch_v2(uint64_t *out, size_t *pitch, size_t width, size_t height,
                              unsigned element)
{
    if (!pitch || (element != 4 && element != 8 && element != 16)) {
        return driver_result(SHIM_INVALID);
    }
    uint64_t bytes = shim_pitched(pitch, width, height, 1);
    return driver_result(bytes == UINT64_MAX ? SHIM_INVALID
                                             : take(out, bytes, SHIM_MEMORY_DEVICE, 0));
}

EXPORT int cuMemFree_v2(uint64_t address)
{
    struct rt *rt;
    int code = driver_enter(&rt);
    return driver_result(code == SHIM_OK ? shim_memory_give(address, false) : code);
}

EXPORT int cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    return driver_result(flags > 7 ? SHIM_INVALID
                                   : take((uint64_t *)out, bytes, SHIM_MEMORY_PINNED, flags));
}

EXPORT int cuMemAllocHost_v2(void **out, size_t bytes)
{
    return driver_result(take((uint64_t *)out, bytes, SHIM_MEMORY_PINNED, 0));
}

EXPORT int cuMemFreeHost(void *pointer)
{
    struct rt *rt;
    int code = driver_enter(&rt);
    return driver_result(code == SHIM_OK ? shim_memory_give((uintptr_t)pointer, true) : code);
}

EXPORT int cuMemAllocManaged(uint64_t *out, size_t bytes, unsigned flags)
{
    return driver_result(flags != 1 && flags != 2 ? SHIM_INVALID
                                                  : take(out, bytes, SHIM_MEMORY_MANAGED, flags));
}

EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    struct rt *rt;
    uint64_t left = 0, all = 0;
    int code = free_bytes && total ? driver_enter(&rt) : SHIM_INVALID;
    code = code == SHIM_OK ? shim_memory_info(&left, &all) : code;
    if (code == SHIM_OK) {
        *free_bytes = left;
        *total = all;
    }
    return driver_result(code);
}

EXPORT int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
    struct rt *rt;
    int code = driver_enter(&rt);
    return driver_result(code == SHIM_OK ? shim_memory_register(pointer, bytes, flags) : code);
}

EXPORT int cuMemHostUnregister(void *pointer)
{
    struct rt *rt;
    int code = driver_enter(&rt);
    return driver_result(code == SHIM_OK ? shim_memory_unregister(pointer) : code);
}

EXPORT int cuMemHostGetDevicePointer_v2(uint64_t *out, void *pointer, unsigned flags)
{
    struct rt *rt;
    int code = out && flags == 0 ? driver_enter(&rt) : SHIM_INVALID;
    return driver_result(code == SHIM_OK ? shim_memory_device_pointer(out, pointer) : code);
}

EXPORT int cuMemHostGetFlags(unsigned *flags, void *pointer)
{
    struct shim_range range;
    if (!flags || !shim_memory_find(&range, (uintptr_t)pointer)) {
        return driver_result(SHIM_INVALID);
    }
    *flags = range.flags | 2;
    return driver_result(SHIM_OK);
}

EXPORT int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address)
{
    struct shim_range range;
    struct rt *rt;
    int code = driver_enter(&rt);
    if (code == SHIM_OK && !shim_memory_find(&range, address)) {
        code = SHIM_NOT_FOUND;
    }
    if (code == SHIM_OK && base) {
        *base = range.address;
    }
    if (code == SHIM_OK && bytes) {
        *bytes = range.bytes;
    }
    return driver_result(code);
}

enum {
    POINTER_CONTEXT = 1,
    POINTER_TYPE = 2,
    POINTER_DEVICE = 3,
    POINTER_HOST = 4,
    POINTER_BUFFER = 7,
    POINTER_MANAGED = 8,
    POINTER_ORDINAL = 9,
    POINTER_START = 11,
    POINTER_SIZE = 12,
    POINTER_MAPPED = 13,
};

static int pointer_attribute(void *out, int attribute, uint64_t address)
{
    struct shim_range range;
    if (!shim_memory_find(&range, address)) {
        return SHIM_INVALID;
    }
    bool host = range.kind == SHIM_MEMORY_PINNED || range.kind == SHIM_MEMORY_REGISTERED;
    switch (attribute) {
    case POINTER_TYPE:
        *(unsigned *)out = host ? 1 : 2;
        return SHIM_OK;
    case POINTER_DEVICE:
        if (range.host && address - range.host < range.bytes) {
            address = range.address + (address - range.host);
        }
        *(uint64_t *)out = address;
        return SHIM_OK;
    case POINTER_HOST:
        *(uint64_t *)out = range.host ? range.host + (address - range.address) : address;
        return range.kind == SHIM_MEMORY_DEVICE ? SHIM_INVALID : SHIM_OK;
    case POINTER_BUFFER:
        *(uint64_t *)out = range.address;
        return SHIM_OK;
    case POINTER_MANAGED:
        *(int *)out = range.kind == SHIM_MEMORY_MANAGED;
        return SHIM_OK;
    case POINTER_ORDINAL:
        *(int *)out = 0;
        return SHIM_OK;
    case POINTER_START:
        *(uint64_t *)out = range.address;
        return SHIM_OK;
    case POINTER_SIZE:
        *(size_t *)out = range.bytes;
        return SHIM_OK;
    case POINTER_MAPPED:
        *(int *)out = 1;
        return SHIM_OK;
    case POINTER_CONTEXT:
        *(void **)out = NULL;
        return SHIM_OK;
    default:
        return SHIM_NOT_SUPPORTED;
    }
}

EXPORT int cuPointerGetAttribute(void *out, int attribute, uint64_t address)
{
    struct rt *rt;
    int code = out ? driver_enter(&rt) : SHIM_INVALID;
    return driver_result(code == SHIM_OK ? pointer_attribute(out, attribute, address) : code);
}

EXPORT int cuPointerGetAttributes(unsigned count, const int *attributes, void **out,
                                  uint64_t address)
{
    struct rt *rt;
    int code = attributes && out ? driver_enter(&rt) : SHIM_INVALID;
    for (unsigned i = 0; code == SHIM_OK && i < count; i++) {
        if (pointer_attribute(out[i], attributes[i], address) != SHIM_OK) {
            *(int *)out[i] = 0;
        }
    }
    return driver_result(code);
}

static int advise(uint64_t address, size_t bytes, int advice, int place)
{
    struct rt *rt;
    int code = advice > SHIM_HINT_NOT_ACCESSED ? SHIM_INVALID : driver_enter(&rt);
    return code == SHIM_OK ? shim_hint(address, bytes, (enum shim_hint)advice, place) : code;
}

EXPORT int cuMemAdvise(uint64_t address, size_t bytes, int advice, int device)
{
    return driver_result(advise(address, bytes, advice, device));
}

EXPORT int cuMemAdvise_v2(uint64_t address, size_t bytes, int advice, struct abi_location where)
{
    int place = 0;
    bool anywhere = advice <= SHIM_HINT_NOT_READ_MOSTLY || advice == SHIM_HINT_NOT_PREFERRED;
    int code = anywhere ? SHIM_OK : shim_hint_place(&place, where.type, where.id);
    return driver_result(code == SHIM_OK ? advise(address, bytes, advice, place) : SHIM_INVALID);
}

EXPORT int cuMemRangeGetAttributes(void **data, size_t *sizes, const int *attributes, size_t count,
                                   uint64_t address, size_t bytes)
{
    struct rt *rt;
    int code = driver_enter(&rt);
    return driver_result(
        code == SHIM_OK ? shim_hints_of(data, sizes, attributes, count, address, bytes) : code);
}

EXPORT int cuMemRangeGetAttribute(void *data, size_t size, int attribute, uint64_t address,
                                  size_t bytes)
{
    return cuMemRangeGetAttributes(&data, &size, &attribute, 1, address, bytes);
}
