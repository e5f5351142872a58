/* Allocations: linear, pinned, managed, pitched. */
#include <string.h>

#include "shim/runtime/runtime.h"

EXPORT int cudaMalloc(void **out, size_t bytes)
{
    struct rt *rt;
    if (!out) {
        return last(SHIM_INVALID);
    }
    *out = NULL;
    if (bytes == 0) {
        return last(shim_device(&rt));
    }
    return last(shim_memory_take((uint64_t *)out, bytes, SHIM_MEMORY_DEVICE, 0));
}

EXPORT int cudaFree(void *pointer)
{
    struct rt *rt;
    if (!pointer) {
        return last(shim_device(&rt)); /* programs use it to begin */
    }
    return last(shim_memory_give((uintptr_t)pointer, false));
}

EXPORT int cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    if (!out || (flags & ~7u)) {
        return last(SHIM_INVALID);
    }
    *out = NULL;
    if (bytes == 0) {
        return last(SHIM_OK);
    }
    return last(shim_memory_take((uint64_t *)out, bytes, SHIM_MEMORY_PINNED, flags));
}

EXPORT int cudaMallocHost(void **out, size_t bytes)
{
    return cudaHostAlloc(out, bytes, 0);
}

EXPORT int cudaFreeHost(void *pointer)
{
    return last(pointer ? shim_memory_give((uintptr_t)pointer, true) : SHIM_OK);
}

EXPORT int cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
    if (!out || (flags != 1 && flags != 2)) {
        return last(SHIM_INVALID);
    }
    if (bytes == 0) {
        *out = NULL;
        return last(SHIM_OK);
    }
    return last(shim_memory_take((uint64_t *)out, bytes, SHIM_MEMORY_MANAGED, flags));
}

EXPORT int cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    if (!out || !pitch) {
        return last(SHIM_INVALID);
    }
    uint64_t bytes = shim_pitched(pitch, width, height, 1);
    return bytes == UINT64_MAX ? last(SHIM_INVALID) : cudaMalloc(out, bytes);
}

EXPORT int cudaMalloc3D(struct abi_pitched *out, struct abi_extent extent)
{
    if (!out) {
        return last(SHIM_INVALID);
    }
    *out = (struct abi_pitched){.xsize = extent.width, .ysize = extent.height};
    uint64_t bytes = shim_pitched(&out->pitch, extent.width, extent.height, extent.depth);
    return bytes == UINT64_MAX ? last(SHIM_INVALID) : cudaMalloc(&out->ptr, bytes);
}

EXPORT int cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    return last(shim_memory_register(pointer, bytes, flags));
}

EXPORT int cudaHostUnregister(void *pointer)
{
    return last(shim_memory_unregister(pointer));
}

EXPORT int cudaHostGetDevicePointer(void **out, void *pointer, unsigned flags)
{
    if (!out || flags != 0) {
        return last(SHIM_INVALID);
    }
    return last(shim_memory_device_pointer((uint64_t *)out, pointer));
}

EXPORT int cudaHostGetFlags(unsigned *flags, void *pointer)
{
    struct shim_range range;
    if (!flags || !shim_memory_find(&range, (uintptr_t)pointer) ||
        (range.kind != SHIM_MEMORY_PINNED && range.kind != SHIM_MEMORY_REGISTERED)) {
        return last(SHIM_INVALID);
    }
    *flags = range.flags | 2; /* all of it is mapped */
    return last(SHIM_OK);
}

EXPORT int cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    uint64_t left = 0, all = 0;
    int code = shim_memory_info(&left, &all);
    if (free_bytes) {
        *free_bytes = left;
    }
    if (total) {
        *total = all;
    }
    return last(code);
}

EXPORT int cudaPointerGetAttributes(struct abi_pointer_attributes *out, const void *pointer)
{
    struct shim_range range;
    struct rt *rt;
    if (!out) {
        return last(SHIM_INVALID);
    }
    int code = shim_device(&rt);
    *out = (struct abi_pointer_attributes){.device = -2};
    if (code != SHIM_OK || !shim_memory_find(&range, (uintptr_t)pointer)) {
        return last(code);
    }
    static const int types[] = {0, 2, 1, 3, 1};
    out->type = types[range.kind];
    out->device = 0;
    out->device_pointer = (void *)pointer;
    out->host_pointer = range.kind == SHIM_MEMORY_DEVICE ? NULL : (void *)pointer;
    if (range.host) {
        uint64_t offset = (uintptr_t)pointer - range.host;
        if (offset >= range.bytes) {
            offset = (uintptr_t)pointer - range.address;
        }
        out->device_pointer = (void *)(uintptr_t)(range.address + offset);
        out->host_pointer = (void *)(uintptr_t)(range.host + offset);
    }
    return last(SHIM_OK);
}

EXPORT int cudaGetSymbolAddress(void **out, const void *host)
{
    struct variable variable;
    int code = out ? variable_of(&variable, host) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *out = (void *)(uintptr_t)variable.address;
    }
    return last(code);
}

EXPORT int cudaGetSymbolSize(size_t *out, const void *host)
{
    struct variable variable;
    int code = out ? variable_of(&variable, host) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *out = variable.bytes;
    }
    return last(code);
}

static int advise(const void *pointer, size_t bytes, int advice, int place)
{
    return last(advice > SHIM_HINT_NOT_ACCESSED
                    ? SHIM_INVALID
                    : shim_hint((uintptr_t)pointer, bytes, (enum shim_hint)advice, place));
}

static int advise_at(const void *pointer, size_t bytes, int advice, struct abi_location where)
{
    int place = 0;
    bool anywhere = advice <= SHIM_HINT_NOT_READ_MOSTLY || advice == SHIM_HINT_NOT_PREFERRED;
    int code = anywhere ? SHIM_OK : shim_hint_place(&place, where.type, where.id);
    return code == SHIM_OK ? advise(pointer, bytes, advice, place) : last(code);
}

#if SHIM_RUNTIME >= 13
EXPORT int cudaMemAdvise(const void *pointer, size_t bytes, int advice, struct abi_location where)
{
    return advise_at(pointer, bytes, advice, where);
}
#else
EXPORT int cudaMemAdvise(const void *pointer, size_t bytes, int advice, int device)
{
    return advise(pointer, bytes, advice, device);
}

EXPORT int cudaMemAdvise_v2(const void *pointer, size_t bytes, int advice,
                            struct abi_location where)
{
    return advise_at(pointer, bytes, advice, where);
}
#endif

EXPORT int cudaMemRangeGetAttributes(void **data, size_t *sizes, const int *attributes,
                                     size_t count, const void *pointer, size_t bytes)
{
    return last(shim_hints_of(data, sizes, attributes, count, (uintptr_t)pointer, bytes));
}

EXPORT int cudaMemRangeGetAttribute(void *data, size_t size, int attribute, const void *pointer,
                                    size_t bytes)
{
    return cudaMemRangeGetAttributes(&data, &size, &attribute, 1, pointer, bytes);
}
