/*
 * A CUDA driver of one kernel, for the tests of cuda.c: memory is host memory, a "module" is any
 * text that does not hold the word broken, and its kernel `add` adds its third argument to the
 * first two's array. Errors are sticky after a fault, as the driver's are.
 */
#include "support/fake_cuda.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/cuda_api.h"

struct fake_cuda fake_cuda = {.count = 2, .compute_major = 9};
static int sticky;

/* Declarations from the same table that cuda.c calls by, so that a wrong signature does not
 * compile. */
#define DECLARE(member, symbol, arguments) cu_result fake_##member arguments __asm__(symbol);
CUDA_CALLS(DECLARE)
CUDA_OPTIONAL_CALLS(DECLARE)
#undef DECLARE

cu_result fake_init(unsigned flags)
{
    sticky = 0;
    return flags == 0 ? fake_cuda.init_result : 1;
}

cu_result fake_driver_version(int *version)
{
    *version = 13020;
    return 0;
}

cu_result fake_error_name(cu_result error, const char **text)
{
    *text = error == 700   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == 218 ? "CUDA_ERROR_INVALID_PTX"
            : error == 500 ? "CUDA_ERROR_NOT_FOUND"
            : error == 2   ? "CUDA_ERROR_OUT_OF_MEMORY"
                           : NULL;
    return *text ? 0 : 1;
}

cu_result fake_error_string(cu_result error, const char **text)
{
    *text = error == 700 ? "an illegal memory access was encountered" : NULL;
    return *text ? 0 : 1;
}

cu_result fake_device_count(int *count)
{
    *count = fake_cuda.count;
    return 0;
}

cu_result fake_device_get(cu_device *device, int ordinal)
{
    *device = 40 + ordinal;
    return ordinal < fake_cuda.count ? 0 : 101;
}

cu_result fake_device_name(char *name, int length, cu_device device)
{
    strncpy(name, device == 40 ? "Fake GPU" : "Other GPU", (size_t)length);
    return 0;
}

cu_result fake_device_attribute(int *value, int attribute, cu_device device)
{
    (void)device;
    switch (attribute) {
    case CU_MAX_THREADS_PER_BLOCK:
        *value = 1024;
        return 0;
    case CU_MAX_SHARED_PER_BLOCK:
        *value = 49152;
        return 0;
    case CU_CLOCK_RATE:
        *value = 1980000;
        return 0;
    case CU_MULTIPROCESSOR_COUNT:
        *value = 132;
        return 0;
    case CU_L2_CACHE_SIZE:
        *value = 60 << 20;
        return 0;
    case CU_COMPUTE_MAJOR:
        *value = fake_cuda.compute_major;
        return 0;
    case CU_COMPUTE_MINOR:
        *value = 0;
        return 0;
    case CU_MAX_SHARED_PER_SM:
        *value = 233472;
        return 0;
    case CU_MAX_SHARED_PER_BLOCK_OPTIN:
        *value = 232448;
        return 0;
    case CU_RESERVED_SHARED_PER_BLOCK:
        *value = 1024;
        return 0;
    default:
        return 1;
    }
}

cu_result fake_device_memory(size_t *bytes, cu_device device)
{
    (void)device;
    *bytes = (size_t)140 << 30;
    return 0;
}

cu_result fake_device_uuid(struct cu_uuid *uuid, cu_device device)
{
    for (int i = 0; i < 16; i++) {
        uuid->bytes[i] = (unsigned char)(i * 16 + device - 40);
    }
    return 0;
}

cu_result fake_context_retain(cu_context *context, cu_device device)
{
    if (fake_cuda.no_context) {
        return 2;
    }
    fake_cuda.retained++;
    *context = (cu_context)(uintptr_t)device;
    return 0;
}

cu_result fake_context_release(cu_device device)
{
    (void)device;
    fake_cuda.released++;
    return 0;
}

cu_result fake_context_set(cu_context context)
{
    fake_cuda.set_current++;
    return context ? sticky : 201;
}

cu_result fake_context_synchronize(void)
{
    sticky = fake_cuda.launch_result;
    return fake_cuda.launch_result;
}

cu_result fake_module_load(cu_module *module, const void *image, unsigned count, int *options,
                           void **values)
{
    if (strstr(image, "broken")) {
        char *log = values[0];
        if (count == 2 && options[0] == CU_JIT_ERROR_LOG && options[1] == CU_JIT_ERROR_LOG_BYTES) {
            strncpy(log, "ptxas error : line 1: broken", (uintptr_t)values[1]);
        }
        return 218;
    }
    fake_cuda.loaded++;
    *module = (cu_module)(uintptr_t)77;
    return 0;
}

cu_result fake_module_unload(cu_module module)
{
    (void)module;
    fake_cuda.unloaded++;
    return 0;
}

cu_result fake_module_function(cu_function *function, cu_module module, const char *name)
{
    (void)module;
    *function = (cu_function)(uintptr_t)99;
    return strcmp(name, "add") == 0 ? 0 : 500;
}

cu_result fake_memory_alloc(cu_pointer *address, size_t bytes)
{
    if (bytes > (size_t)1 << 30) {
        return 2;
    }
    fake_cuda.allocated++;
    *address = (uintptr_t)malloc(bytes);
    return *address ? 0 : 2;
}

cu_result fake_memory_free(cu_pointer address)
{
    fake_cuda.freed++;
    free((void *)(uintptr_t)address);
    return 0;
}

cu_result fake_copy_to(cu_pointer target, const void *source, size_t bytes)
{
    memcpy((void *)(uintptr_t)target, source, bytes);
    return 0;
}

cu_result fake_copy_from(void *target, cu_pointer source, size_t bytes)
{
    memcpy(target, (const void *)(uintptr_t)source, bytes);
    return 0;
}

cu_result fake_function_set(cu_function function, int attribute, int value)
{
    (void)function;
    if (attribute == CU_FUNCTION_CARVEOUT) {
        fake_cuda.carveout_percent = value;
    } else {
        fake_cuda.dynamic_limit = value;
    }
    return 0;
}

cu_result fake_launch(cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                      cu_stream stream, void **arguments, void **extra)
{
    (void)function;
    if (stream || extra) {
        return 1;
    }
    fake_cuda.grid[0] = grid_x, fake_cuda.grid[1] = grid_y, fake_cuda.grid[2] = grid_z;
    fake_cuda.block[0] = block_x, fake_cuda.block[1] = block_y, fake_cuda.block[2] = block_z;
    fake_cuda.shared_bytes = shared_bytes;
    uint32_t *array = (uint32_t *)(uintptr_t) * (uint64_t *)arguments[0];
    for (uint32_t i = 0; i < *(uint32_t *)arguments[1]; i++) {
        array[i] += *(uint32_t *)arguments[2];
    }
    return 0;
}

cu_result fake_module_global(cu_pointer *address, size_t *bytes, cu_module module, const char *name)
{
    static uint32_t constants[16];
    (void)module;
    *address = (uintptr_t)constants;
    *bytes = sizeof(constants);
    return strcmp(name, "constants") == 0 ? 0 : 500;
}

cu_result fake_bank_config(cu_function function, int config)
{
    (void)function;
    fake_cuda.bank_config = config;
    return 0;
}

/* One array at a time. */
cu_result fake_array_create(cu_array *array, const struct cu_array_spec *spec)
{
    fake_cuda.array.width = spec->width;
    fake_cuda.array.height = spec->height;
    fake_cuda.array.depth = spec->depth;
    fake_cuda.array.format = spec->format;
    fake_cuda.array.channels = spec->channels;
    fake_cuda.array.flags = spec->flags;
    fake_cuda.array.levels = 1;
    fake_cuda.array.alive++;
    *array = (cu_array)&fake_cuda.array;
    return 0;
}

cu_result fake_array_destroy(cu_array array)
{
    return array == (cu_array)&fake_cuda.array && fake_cuda.array.alive-- == 1 ? 0 : 1;
}

cu_result fake_mipmap_create(cu_mipmap *mipmap, const struct cu_array_spec *spec, unsigned levels)
{
    cu_array array;
    fake_array_create(&array, spec);
    fake_cuda.array.levels = levels;
    *mipmap = (cu_mipmap)(void *)array;
    return 0;
}

cu_result fake_mipmap_level(cu_array *array, cu_mipmap mipmap, unsigned level)
{
    *array = (cu_array)(void *)mipmap;
    return level < fake_cuda.array.levels ? 0 : 1;
}

cu_result fake_mipmap_destroy(cu_mipmap mipmap)
{
    return fake_array_destroy((cu_array)(void *)mipmap);
}

cu_result fake_copy_box(const struct cu_box *box)
{
    fake_cuda.array.copied_bytes[0] = box->width_bytes;
    fake_cuda.array.copied_bytes[1] = box->height;
    fake_cuda.array.copied_bytes[2] = box->depth;
    return (box->from.memory_type == CU_SIDE_ARRAY) != (box->to.memory_type == CU_SIDE_ARRAY) ? 0
                                                                                              : 1;
}

cu_result fake_surface_create(uint64_t *handle, const struct cu_texture_resource *resource)
{
    *handle = (uint64_t)++fake_cuda.surfaces;
    return resource->type == CU_RESOURCE_ARRAY ? 0 : 1;
}

cu_result fake_surface_destroy(uint64_t handle)
{
    return handle == (uint64_t)fake_cuda.surfaces-- ? 0 : 1;
}

cu_result fake_texture_create(uint64_t *handle, const struct cu_texture_resource *resource,
                              const struct cu_texture_view *view, const void *resource_view)
{
    if (resource->type == CU_RESOURCE_ARRAY || resource->type == CU_RESOURCE_MIPMAP) {
        *handle = (uint64_t)++fake_cuda.textures;
        return (void *)resource->as.array == (void *)&fake_cuda.array ? 0 : 1;
    }
    if (resource->type != CU_RESOURCE_LINEAR || resource->as.linear.channels != 1 ||
        resource->as.linear.format != CU_FORMAT_UNSIGNED_32 || view->flags != CU_READ_AS_INTEGER ||
        resource_view) {
        return 1;
    }
    fake_cuda.texture_address = resource->as.linear.address;
    fake_cuda.texture_bytes = resource->as.linear.bytes;
    *handle = (uint64_t)++fake_cuda.textures;
    return 0;
}

cu_result fake_texture_destroy(uint64_t handle)
{
    return handle == (uint64_t)fake_cuda.textures-- ? 0 : 1;
}

enum { PAGE_BYTES = 2 << 20 };

static int is_on_this_device(const struct cu_location *location)
{
    return location->type == CU_LOCATION_DEVICE && location->id == 40;
}

cu_result fake_granularity(size_t *bytes, const struct cu_memory_kind *kind, int option)
{
    *bytes = PAGE_BYTES;
    return kind->type == CU_MEMORY_PINNED && is_on_this_device(&kind->location) ? option : 1;
}

/* Addresses without memory, as the driver's. */
cu_result fake_range_reserve(cu_pointer *address, size_t bytes, size_t alignment, cu_pointer near,
                             uint64_t flags)
{
    void *range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *address = (uintptr_t)range;
    fake_cuda.ranges++;
    return range == MAP_FAILED || alignment || near || flags ? 2 : 0;
}

cu_result fake_range_free(cu_pointer address, size_t bytes)
{
    fake_cuda.ranges--;
    return munmap((void *)(uintptr_t)address, bytes) == 0 ? 0 : 1;
}

cu_result fake_page_create(uint64_t *page, size_t bytes, const struct cu_memory_kind *kind,
                           uint64_t flags)
{
    if (bytes != PAGE_BYTES || !is_on_this_device(&kind->location) || flags) {
        return 1;
    }
    if (fake_cuda.page_limit && fake_cuda.pages_mapped >= fake_cuda.page_limit) {
        return 2;
    }
    *page = (uint64_t)++fake_cuda.pages_created;
    return 0;
}

cu_result fake_page_release(uint64_t page)
{
    fake_cuda.pages_released++;
    return page == (uint64_t)fake_cuda.pages_created ? 0 : 1;
}

/* Marks the pages that are mapped, so that none is mapped twice or left out. */
static cu_pointer mapped_pages[64];

static cu_pointer *find_page(cu_pointer address)
{
    for (int i = 0; i < 64; i++) {
        if (mapped_pages[i] == address) {
            return &mapped_pages[i];
        }
    }
    return NULL;
}

cu_result fake_page_map(cu_pointer address, size_t bytes, size_t offset, uint64_t page,
                        uint64_t flags)
{
    cu_pointer *place = find_page(0);
    if (!place || find_page(address) || bytes != PAGE_BYTES || offset || flags ||
        page != (uint64_t)fake_cuda.pages_created) {
        return 1;
    }
    fake_cuda.pages_mapped++;
    fake_cuda.neighbours += find_page(address - PAGE_BYTES) == place - 1 && place > mapped_pages;
    *place = address;
    return 0;
}

cu_result fake_page_unmap(cu_pointer address, size_t bytes)
{
    for (cu_pointer at = address; at < address + bytes; at += PAGE_BYTES) {
        cu_pointer *place = find_page(at);
        if (!place) {
            return 1;
        }
        *place = 0;
        fake_cuda.pages_mapped--;
    }
    return mprotect((void *)(uintptr_t)address, bytes, PROT_NONE) == 0 ? 0 : 1;
}

cu_result fake_page_access(cu_pointer address, size_t bytes, const struct cu_access *access,
                           size_t count)
{
    fake_cuda.accessible_bytes += bytes;
    for (cu_pointer at = address; at < address + bytes; at += PAGE_BYTES) {
        if (!find_page(at)) {
            return 1;
        }
    }
    if (count != 1 || !is_on_this_device(&access->location) ||
        access->flags != CU_ACCESS_READ_WRITE) {
        return 1;
    }
    return mprotect((void *)(uintptr_t)address, bytes, PROT_READ | PROT_WRITE) == 0 ? 0 : 1;
}
