/*
 * The driver's calls for paths to memory other than plain loads from plain memory: pages mapped one
 * by one, textures over linear memory, a module's constants, the width of shared memory's banks. A
 * driver without one of these calls is a device that cannot (SONDE_EUNSUPPORTED).
 */
#include <stdio.h>
#include <stdlib.h>

#include "device/cuda.h"
#include "util/divisor.h"
#include "util/error.h"

static int lacks(struct cuda *cuda, const char *call)
{
    return error_set(SONDE_EUNSUPPORTED, "the driver of %s has no %s", cuda->device.info.name,
                     call);
}

int cuda_module_global(struct device *device, struct device_module *module, const char *name,
                       uint64_t *address, uint64_t *bytes)
{
    struct cuda *cuda = cuda_of(device);
    size_t size = 0;
    char what[160];
    int rc = cuda_enter(cuda);
    if (rc < 0 || !cuda->api.module_global) {
        return rc < 0 ? rc : lacks(cuda, "cuModuleGetGlobal");
    }
    snprintf(what, sizeof(what), "variable '%.100s'", name);
    rc = cuda_check(cuda, cuda->api.module_global(address, &size, module->module, name), what);
    *bytes = size;
    return rc;
}

/* ---- pages ---- */

static struct cu_memory_kind page_kind(const struct cuda *cuda)
{
    return (struct cu_memory_kind){.type = CU_MEMORY_PINNED,
                                   .location = {CU_LOCATION_DEVICE, cuda->handle}};
}

/* Addresses for all of the device's memory, so that a buffer grows where it is. */
static int reserve_range(struct cuda *cuda, struct cuda_mapping *mapping)
{
    struct cu_memory_kind kind = page_kind(cuda);
    size_t page_bytes = 0;
    int rc = cuda_check(cuda, cuda->api.granularity(&page_bytes, &kind, 0),
                        "cuMemGetAllocationGranularity");
    if (rc < 0) {
        return rc;
    }
    if (page_bytes == 0) {
        return error_set(SONDE_EDEVICE, "%s has pages of 0 bytes", cuda->device.info.name);
    }
    uint64_t pages = (cuda->device.info.memory_bytes + page_bytes - 1) / page_bytes;
    *mapping =
        (struct cuda_mapping){.page_bytes = page_bytes, .reserved_bytes = pages * page_bytes};
    return cuda_check(cuda,
                      cuda->api.range_reserve(&mapping->address, mapping->reserved_bytes, 0, 0, 0),
                      "cuMemAddressReserve");
}

/* The page belongs to its mapping alone once it is released: unmapping frees it. */
static int map_page(struct cuda *cuda, const struct cuda_mapping *mapping, uint64_t offset)
{
    struct cu_memory_kind kind = page_kind(cuda);
    uint64_t page;
    int rc = cuda_check(cuda, cuda->api.page_create(&page, mapping->page_bytes, &kind, 0),
                        "cuMemCreate");
    if (rc < 0) {
        return rc;
    }
    cu_result mapped =
        cuda->api.page_map(mapping->address + offset, mapping->page_bytes, 0, page, 0);
    cu_result released = cuda->api.page_release(page);
    return cuda_check(cuda, mapped != CU_SUCCESS ? mapped : released, "cuMemMap");
}

static bool is_cancelled(const struct cuda *cuda)
{
    return cuda->device.cancel && *cuda->device.cancel;
}

/*
 * Pages that are created one after the other often lie one after the other in physical memory, and
 * hardware may translate such neighbours with one entry. So the pages of an extension are
 * dealt out over its addresses with a step near the golden section, which visits each place
 * once when it has no divisor in common with their number.
 */
static uint64_t dealing_step(uint64_t pages)
{
    uint64_t step = pages - pages * 3 / 8;
    while (common_divisor(step, pages) != 1) {
        step++;
    }
    return step;
}

static void unmap_dealt(struct cuda *cuda, const struct cuda_mapping *mapping, uint64_t mapped,
                        uint64_t pages)
{
    uint64_t step = dealing_step(pages), from = mapping->address + mapping->mapped_bytes;
    for (uint64_t i = 0; i < mapped; i++) {
        cuda->api.page_unmap(from + i * step % pages * mapping->page_bytes, mapping->page_bytes);
    }
}

static int extend_mapping(struct cuda *cuda, struct cuda_mapping *mapping, uint64_t bytes)
{
    uint64_t from = mapping->mapped_bytes, mapped = 0;
    if (bytes > mapping->reserved_bytes) {
        return error_set(SONDE_ENOMEM, "%s has fewer than %llu bytes of memory",
                         cuda->device.info.name, (unsigned long long)bytes);
    }
    if (bytes <= from) {
        return SONDE_OK;
    }
    uint64_t pages = (bytes - from + mapping->page_bytes - 1) / mapping->page_bytes;
    uint64_t step = dealing_step(pages);
    int rc = SONDE_OK;
    while (rc == SONDE_OK && mapped < pages) {
        rc = is_cancelled(cuda)
                 ? error_set(SONDE_EINTERRUPTED, "the measurement was interrupted")
                 : map_page(cuda, mapping, from + mapped * step % pages * mapping->page_bytes);
        mapped += rc == SONDE_OK;
    }
    if (rc == SONDE_OK) {
        struct cu_access access = {{CU_LOCATION_DEVICE, cuda->handle}, CU_ACCESS_READ_WRITE};
        rc = cuda_check(
            cuda,
            cuda->api.page_access(mapping->address + from, pages * mapping->page_bytes, &access, 1),
            "cuMemSetAccess");
    }
    if (rc < 0) {
        unmap_dealt(cuda, mapping, mapped, pages);
    } else {
        mapping->mapped_bytes = from + pages * mapping->page_bytes;
    }
    return rc;
}

static void release_mapping(struct cuda *cuda, struct cuda_mapping *mapping)
{
    if (!cuda->lost[0] && cuda->api.context_set(cuda->context) == CU_SUCCESS) {
        if (mapping->mapped_bytes > 0) {
            cuda->api.page_unmap(mapping->address, mapping->mapped_bytes);
        }
        cuda->api.range_free(mapping->address, mapping->reserved_bytes);
    }
    free(mapping);
}

static struct cuda_mapping **find_mapping(struct cuda *cuda, uint64_t address)
{
    struct cuda_mapping **link = &cuda->mappings;
    while (*link && (*link)->address != address) {
        link = &(*link)->next;
    }
    return link;
}

static int create_mapping(struct cuda *cuda, uint64_t *address, uint64_t bytes,
                          uint64_t *page_bytes)
{
    struct cuda_mapping *mapping = calloc(1, sizeof(*mapping));
    if (!mapping) {
        return error_memory();
    }
    int rc = reserve_range(cuda, mapping);
    if (rc < 0) {
        free(mapping);
        return rc;
    }
    rc = extend_mapping(cuda, mapping, bytes);
    if (rc < 0) {
        release_mapping(cuda, mapping);
        return rc;
    }
    mapping->next = cuda->mappings;
    cuda->mappings = mapping;
    *address = mapping->address;
    *page_bytes = mapping->page_bytes;
    return SONDE_OK;
}

int cuda_mem_map(struct device *device, uint64_t *address, uint64_t bytes, uint64_t *page_bytes)
{
    struct cuda *cuda = cuda_of(device);
    const struct cuda_api *api = &cuda->api;
    int rc = cuda_enter(cuda);
    if (rc < 0) {
        return rc;
    }
    if (!api->granularity || !api->range_reserve || !api->range_free || !api->page_create ||
        !api->page_release || !api->page_map || !api->page_unmap || !api->page_access) {
        return lacks(cuda, "virtual-memory calls");
    }
    if (*address == 0) {
        return create_mapping(cuda, address, bytes, page_bytes);
    }
    struct cuda_mapping *mapping = *find_mapping(cuda, *address);
    if (!mapping) {
        return error_set(SONDE_EUSAGE, "0x%llx is no mapped memory", (unsigned long long)*address);
    }
    *page_bytes = mapping->page_bytes;
    return extend_mapping(cuda, mapping, bytes);
}

int cuda_mem_unmap(struct device *device, uint64_t address)
{
    struct cuda *cuda = cuda_of(device);
    struct cuda_mapping **link = find_mapping(cuda, address), *mapping = *link;
    if (!mapping) {
        return error_set(SONDE_EUSAGE, "0x%llx is no mapped memory", (unsigned long long)address);
    }
    *link = mapping->next;
    release_mapping(cuda, mapping);
    return SONDE_OK;
}

void cuda_unmap_all(struct cuda *cuda)
{
    for (struct cuda_mapping *mapping = cuda->mappings, *next; mapping; mapping = next) {
        next = mapping->next;
        release_mapping(cuda, mapping);
    }
    cuda->mappings = NULL;
}

/* ---- textures, banks ---- */

int cuda_texture_create(struct device *device, uint64_t *handle, uint64_t address, uint64_t bytes)
{
    struct cuda *cuda = cuda_of(device);
    struct cu_texture_resource resource = {
        .type = CU_RESOURCE_LINEAR,
        .as.linear = {
            .address = address, .format = CU_FORMAT_UNSIGNED_32, .channels = 1, .bytes = bytes}};
    struct cu_texture_view view = {.flags = CU_READ_AS_INTEGER};
    int rc = cuda_enter(cuda);
    if (rc < 0 || !cuda->api.texture_create || !cuda->api.texture_destroy) {
        return rc < 0 ? rc : lacks(cuda, "texture objects");
    }
    return cuda_check(cuda, cuda->api.texture_create(handle, &resource, &view, NULL),
                      "cuTexObjectCreate");
}

int cuda_texture_destroy(struct device *device, uint64_t handle)
{
    struct cuda *cuda = cuda_of(device);
    int rc = cuda_enter(cuda);
    if (rc < 0 || !cuda->api.texture_destroy) {
        return rc < 0 ? rc : lacks(cuda, "texture objects");
    }
    return cuda_check(cuda, cuda->api.texture_destroy(handle), "cuTexObjectDestroy");
}

/* Only Kepler (compute capability 3) has banks of two widths; other GPUs' drivers take the call and
 * do nothing. */
int cuda_set_shared_bank_bytes(struct device *device, struct device_kernel *kernel, uint32_t bytes)
{
    struct cuda *cuda = cuda_of(device);
    int rc = cuda_enter(cuda);
    if (rc < 0) {
        return rc;
    }
    if (device->info.compute_major != 3) {
        return error_set(SONDE_EUNSUPPORTED, "the width of shared memory's banks is fixed on %s",
                         device->info.name);
    }
    if (!cuda->api.bank_config) {
        return lacks(cuda, "cuFuncSetSharedMemConfig");
    }
    if (bytes != 0 && bytes != 4 && bytes != 8) {
        return error_set(SONDE_EUSAGE, "banks of %u bytes: expected 4 or 8", bytes);
    }
    int config = bytes == 4   ? CU_BANKS_FOUR_BYTES
                 : bytes == 8 ? CU_BANKS_EIGHT_BYTES
                              : CU_BANKS_DEFAULT;
    return cuda_check(cuda, cuda->api.bank_config(kernel->function, config),
                      "cuFuncSetSharedMemConfig");
}
