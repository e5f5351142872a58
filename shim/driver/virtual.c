/*
 * Virtual memory management: addresses are reserved, physical memory is made, mapped there and
 * given access. Reserving takes memory at once, as the device's range has no addresses without
 * memory behind them. Physical memory is a file of its own, which is shown wherever it is mapped:
 * at several places at once, or later at another. Timing knows two places as two memories.
 */
#define _GNU_SOURCE /* memfd_create() */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim/driver/driver.h"
#include "util/container/vec.h"

#define GRANULE (2u << 20)

struct physical {
    uint64_t bytes, handles, places; /* how often the program and mappings refer to it */
    struct abi_pool_props props;
    int file;
};

struct mapping {
    uint64_t address;
    struct physical *physical;
};

struct reservation {
    uint64_t address, bytes;
    uint64_t
        taken; /* where the memory behind them begins: at an alignment above a granule before */
};

static VEC(struct reservation) reservations;
static VEC(struct mapping) mapped;

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
    uint64_t taken, more = align > GRANULE ? align - GRANULE : 0;
    (void)wanted;
    bool power = (align & (align - 1)) == 0;
    int code = out && bytes && bytes % GRANULE == 0 && flags == 0 && power ? driver_enter(&rt)
                                                                           : SHIM_INVALID;
    if (code == SHIM_OK && bytes > UINT64_MAX - more) {
        code = SHIM_NO_MEMORY;
    }
    code = code == SHIM_OK ? shim_memory_take(&taken, bytes + more, SHIM_MEMORY_DEVICE, 0) : code;
    if (code != SHIM_OK) {
        return driver_result(code);
    }
    uint64_t address = more ? (taken + align - 1) & ~(uint64_t)(align - 1) : taken;
    if (vec_push(&reservations, (struct reservation){address, bytes, taken}) < 0) {
        shim_memory_give(taken, false);
        return driver_result(SHIM_NO_MEMORY);
    }
    *out = address;
    return driver_result(SHIM_OK);
}

EXPORT int cuMemAddressFree(uint64_t address, size_t bytes)
{
    for (size_t i = 0; i < reservations.count; i++) {
        if (reservations.data[i].address == address && reservations.data[i].bytes == bytes) {
            for (size_t k = 0; k < mapped.count; k++) {
                if (mapped.data[k].address - address < bytes) {
                    return driver_result(SHIM_INVALID);
                }
            }
            uint64_t taken = reservations.data[i].taken;
            reservations.data[i] = vec_last(&reservations);
            reservations.count--;
            return driver_result(shim_memory_give(taken, false));
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
    physical->file = memfd_create("sonde-physical", MFD_CLOEXEC);
    if (physical->file < 0 || ftruncate(physical->file, (off_t)bytes) != 0) {
        if (physical->file >= 0) {
            close(physical->file);
        }
        free(physical);
        return driver_result(SHIM_NO_MEMORY);
    }
    physical->bytes = bytes;
    physical->handles = 1;
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
    if (physical->handles == 0 && physical->places == 0) {
        shim_handle_remove(physical);
        close(physical->file);
        free(physical);
    }
}

EXPORT int cuMemRelease(uint64_t handle)
{
    struct physical *physical = physical_of(handle);
    if (!physical || physical->handles == 0) {
        return driver_result(SHIM_INVALID);
    }
    physical->handles--;
    free_unused(physical);
    return driver_result(SHIM_OK);
}

/* Of the file, or, with none, the reservation's own memory again. */
static bool show(uint64_t address, uint64_t bytes, int file)
{
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    return mmap((void *)(uintptr_t)address, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file,
                0) != MAP_FAILED;
}

static bool is_free(uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < mapped.count; i++) {
        const struct mapping *m = &mapped.data[i];
        if (m->address < address + bytes && address < m->address + m->physical->bytes) {
            return false;
        }
    }
    return true;
}

/* Work that is under way uses what has been there. */
static int settle(void)
{
    struct rt *rt;
    int code = driver_enter(&rt);
    return code == SHIM_OK ? shim_code(rt_sync(rt)) : code;
}

EXPORT int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
                    unsigned long long flags)
{
    struct physical *physical = physical_of(handle);
    if (!physical || physical->handles == 0 || offset != 0 || flags != 0 ||
        bytes != physical->bytes || !reserved(address, bytes) || !is_free(address, bytes)) {
        return driver_result(SHIM_INVALID);
    }
    int code = settle();
    if (code != SHIM_OK) {
        return driver_result(code);
    }
    if (vec_push(&mapped, ((struct mapping){address, physical})) < 0) {
        return driver_result(SHIM_NO_MEMORY);
    }
    if (!show(address, bytes, physical->file)) {
        mapped.count--;
        return driver_result(SHIM_SYSTEM);
    }
    physical->places++;
    return driver_result(SHIM_OK);
}

/* Whole mappings, and as many as lie there: none is no mistake to the driver. */
EXPORT int cuMemUnmap(uint64_t address, size_t bytes)
{
    if (bytes == 0 || !reserved(address, bytes)) {
        return driver_result(SHIM_INVALID);
    }
    for (size_t i = 0; i < mapped.count; i++) {
        const struct mapping *m = &mapped.data[i];
        uint64_t end = m->address + m->physical->bytes;
        bool touches = m->address < address + bytes && address < end;
        if (touches && (m->address < address || end > address + bytes)) {
            return driver_result(SHIM_INVALID);
        }
    }
    int code = settle();
    for (size_t i = mapped.count; code == SHIM_OK && i-- > 0;) {
        struct mapping gone = mapped.data[i];
        if (gone.address - address < bytes) {
            mapped.data[i] = vec_last(&mapped);
            mapped.count--;
            code = show(gone.address, gone.physical->bytes, -1) ? SHIM_OK : SHIM_SYSTEM;
            gone.physical->places--;
            free_unused(gone.physical);
        }
    }
    return driver_result(code);
}

/* All of it is mapped. */
static bool covered(uint64_t address, uint64_t bytes)
{
    uint64_t found = 0;
    for (size_t i = 0; i < mapped.count; i++) {
        const struct mapping *m = &mapped.data[i];
        uint64_t begin = m->address > address ? m->address : address;
        uint64_t end = m->address + m->physical->bytes;
        end = end < address + bytes ? end : address + bytes;
        found += end > begin ? end - begin : 0;
    }
    return found == bytes;
}

EXPORT int cuMemSetAccess(uint64_t address, size_t bytes, const struct abi_access *access,
                          size_t count)
{
    if (!reserved(address, bytes) || !access || count == 0 || !covered(address, bytes)) {
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
        struct physical *physical = mapped.data[i].physical;
        if ((uint64_t)(uintptr_t)address - mapped.data[i].address < physical->bytes) {
            *handle = (uintptr_t)physical;
            physical->handles++;
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
