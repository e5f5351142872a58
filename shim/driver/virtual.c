/*
 * Virtual memory management: addresses are reserved, physical memory is made, mapped there and
 * given access. Reserving takes memory at once, as the device's range has no addresses without
 * memory behind them; mapping checks what a driver checks. Mapping one memory at two places is
 * refused, since there is only one place for it.
 */
#include <stdlib.h>
#include <string.h>

#include "shim/driver/driver.h"
#include "util/container/vec.h"

#define GRANULE (2u << 20)

struct physical {
    uint64_t bytes, mapped_at; /* 0: nowhere */
    struct abi_pool_props props;
    bool released;
};

struct reservation {
    uint64_t address, bytes;
};

static VEC(struct reservation) reservations;

EXPORT int cuMemGetAllocationGranularity(size_t *bytes, const void *props, int option)
{
    (void)option;
    if (!bytes || !props) {
        return driver_result(SHIM_INVALID);
    }
    *bytes = GRANULE;
    return driver_result(SHIM_OK);
}

EXPORT int cuMemAddressReserve(uint64_t *out, size_t bytes, size_t align, uint64_t wanted,
                               unsigned long long flags)
{
    struct rt *rt;
    uint64_t address;
    (void)wanted;
    int code = out && bytes && bytes % GRANULE == 0 && flags == 0 && align <= GRANULE
                   ? driver_enter(&rt)
                   : SHIM_INVALID;
    code = code == SHIM_OK ? shim_memory_take(&address, bytes, SHIM_MEMORY_DEVICE, 0) : code;
    if (code != SHIM_OK) {
        return driver_result(code);
    }
    if (vec_push(&reservations, (struct reservation){address, bytes}) < 0) {
        shim_memory_give(address, false);
        return driver_result(SHIM_NO_MEMORY);
    }
    *out = address;
    return driver_result(SHIM_OK);
}

EXPORT int cuMemAddressFree(uint64_t address, size_t bytes)
{
    for (size_t i = 0; i < reservations.count; i++) {
        if (reservations.data[i].address == address && reservations.data[i].bytes == bytes) {
            reservations.data[i] = vec_last(&reservations);
            reservations.count--;
            return driver_result(shim_memory_give(address, false));
        }
    }
    return driver_result(SHIM_INVALID);
}

static bool reserved(uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < reservations.count; i++) {
        const struct reservation *r = &reservations.data[i];
        if (address >= r->address && address - r->address <= r->bytes &&
            bytes <= r->bytes - (address - r->address)) {
            return true;
        }
    }
    return false;
}

EXPORT int cuMemCreate(uint64_t *out, size_t bytes, const struct abi_pool_props *props,
                       unsigned long long flags)
{
    struct rt *rt;
    uint64_t left, total;
    int code = out && props && bytes && bytes % GRANULE == 0 && flags == 0 ? driver_enter(&rt)
                                                                           : SHIM_INVALID;
    code = code == SHIM_OK ? shim_memory_info(&left, &total) : code;
    if (code == SHIM_OK && bytes > total) {
        code = SHIM_NO_MEMORY;
    }
    struct physical *physical = code == SHIM_OK ? calloc(1, sizeof *physical) : NULL;
    if (!physical) {
        return driver_result(code == SHIM_OK ? SHIM_NO_MEMORY : code);
    }
    physical->bytes = bytes;
    memcpy(&physical->props, props, 32); /* what CUmemAllocationProp has */
    shim_handle_add(physical, SHIM_PHYSICAL);
    *out = (uintptr_t)physical;
    return driver_result(SHIM_OK);
}

static struct physical *physical_of(uint64_t handle)
{
    struct physical *physical = (struct physical *)(uintptr_t)handle;
    return shim_handle_is(physical, SHIM_PHYSICAL) ? physical : NULL;
}

static void free_unused(struct physical *physical)
{
    if (physical->released && !physical->mapped_at) {
        shim_handle_remove(physical);
        free(physical);
    }
}

EXPORT int cuMemRelease(uint64_t handle)
{
    struct physical *physical = physical_of(handle);
    if (!physical || physical->released) {
        return driver_result(SHIM_INVALID);
    }
    physical->released = true;
    free_unused(physical);
    return driver_result(SHIM_OK);
}

static VEC(struct physical *) mapped;

EXPORT int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
                    unsigned long long flags)
{
    struct physical *physical = physical_of(handle);
    if (!physical || offset != 0 || flags != 0 || bytes != physical->bytes ||
        !reserved(address, bytes)) {
        return driver_result(SHIM_INVALID);
    }
    if (physical->mapped_at) {
        shim_say("one memory cannot be mapped at two addresses");
        return driver_result(SHIM_NOT_SUPPORTED);
    }
    if (vec_push(&mapped, physical) < 0) {
        return driver_result(SHIM_NO_MEMORY);
    }
    physical->mapped_at = address;
    return driver_result(SHIM_OK);
}

EXPORT int cuMemUnmap(uint64_t address, size_t bytes)
{
    bool found = false;
    for (size_t i = mapped.count; i-- > 0;) {
        struct physical *physical = mapped.data[i];
        if (physical->mapped_at >= address && physical->mapped_at - address < bytes) {
            physical->mapped_at = 0;
            mapped.data[i] = vec_last(&mapped);
            mapped.count--;
            free_unused(physical);
            found = true;
        }
    }
    return driver_result(found ? SHIM_OK : SHIM_INVALID);
}

EXPORT int cuMemSetAccess(uint64_t address, size_t bytes, const struct abi_access *access,
                          size_t count)
{
    if (!reserved(address, bytes) || !access || count == 0) {
        return driver_result(SHIM_INVALID);
    }
    for (size_t i = 0; i < count; i++) {
        if (access[i].location.type != 1 || access[i].location.id != 0) {
            return driver_result(SHIM_BAD_DEVICE);
        }
    }
    return driver_result(SHIM_OK);
}

EXPORT int cuMemGetAccess(unsigned long long *flags, const struct abi_location *location,
                          uint64_t address)
{
    if (!flags || !location || !reserved(address, 1)) {
        return driver_result(SHIM_INVALID);
    }
    *flags = 3;
    return driver_result(SHIM_OK);
}

EXPORT int cuMemGetAllocationPropertiesFromHandle(void *props, uint64_t handle)
{
    const struct physical *physical = physical_of(handle);
    if (!physical || !props) {
        return driver_result(SHIM_INVALID);
    }
    memcpy(props, &physical->props, 32);
    return driver_result(SHIM_OK);
}

EXPORT int cuMemRetainAllocationHandle(uint64_t *handle, void *address)
{
    for (size_t i = 0; handle && i < mapped.count; i++) {
        if ((uint64_t)(uintptr_t)address - mapped.data[i]->mapped_at < mapped.data[i]->bytes) {
            *handle = (uintptr_t)mapped.data[i];
            mapped.data[i]->released = false;
            return driver_result(SHIM_OK);
        }
    }
    return driver_result(SHIM_INVALID);
}

/* There is no other process to share with. */
EXPORT int cuMemExportToShareableHandle(void *out, uint64_t handle, int type,
                                        unsigned long long flags)
{
    (void)type, (void)flags;
    return driver_result(out && physical_of(handle) ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int cuMemImportFromShareableHandle(uint64_t *out, void *from, int type)
{
    (void)from, (void)type;
    return driver_result(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int cuIpcGetMemHandle(void *out, uint64_t address)
{
    (void)address;
    return driver_result(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

struct ipc_handle {
    char bytes[64];
};

EXPORT int cuIpcOpenMemHandle_v2(uint64_t *out, struct ipc_handle handle, unsigned flags)
{
    (void)handle, (void)flags;
    return driver_result(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int cuIpcCloseMemHandle(uint64_t address)
{
    (void)address;
    return driver_result(SHIM_NOT_SUPPORTED);
}

EXPORT int cuIpcGetEventHandle(void *out, void *event)
{
    (void)event;
    return driver_result(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}

EXPORT int cuIpcOpenEventHandle(void **out, struct ipc_handle handle)
{
    (void)handle;
    return driver_result(out ? SHIM_NOT_SUPPORTED : SHIM_INVALID);
}
