/*
 * The device as its driver's user sees it: memory, copies, the carve-out. Copies take no simulated
 * time; they pass through L2 as the model says.
 */
#include "rt/rt.h"

#include <stdlib.h>
#include <string.h>

#include "rt/queue/state.h"
#include "rt/state.h"
#include "util/error.h"

static bool physical(void *ctx, uint64_t vaddr, uint64_t *paddr)
{
    return vmem_physical(ctx, vaddr, paddr);
}

static bool table_entry(void *ctx, uint32_t level, uint64_t vaddr, uint64_t *paddr)
{
    return vmem_entry(ctx, level, vaddr, paddr);
}

int rt_create(struct rt **out, const struct model *model)
{
    *out = NULL;
    struct rt *rt = calloc(1, sizeof *rt);
    if (!rt || !(rt->model = malloc(sizeof *rt->model))) {
        free(rt);
        return error_memory();
    }
    memcpy(rt->model, model, sizeof *model);
    rt->preferred_carveout = model->carveout.initial;
    services_create(rt);
    int rc = queue_create(rt);
    rc = rc == 0 ? exec_memory_create(&rt->memory, model->vm.memory_bytes) : rc;
    if (rc == 0) {
        rc = vmem_create(&rt->vmem, model, rt->memory);
    }
    if (rc == 0) {
        struct gpu_translate translate = {
            .physical = physical, .ctx = &rt->vmem, .entry = table_entry};
        rc = gpu_create(&rt->gpu, rt->model, rt->memory, &translate);
    }
    if (rc < 0) {
        rt_destroy(rt);
        return rc;
    }
    *out = rt;
    return 0;
}

void rt_destroy(struct rt *rt)
{
    if (!rt) {
        return;
    }
    queue_destroy(rt);
    while (rt->modules) {
        rt_module_unload(rt, rt->modules);
    }
    gpu_destroy(rt->gpu);
    images_destroy(rt);
    services_destroy(rt);
    free(rt->fault);
    vmem_destroy(&rt->vmem);
    exec_memory_destroy(rt->memory);
    free(rt->model);
    free(rt);
}

const struct model *rt_model(const struct rt *rt)
{
    return rt->model;
}

struct gpu *rt_gpu(struct rt *rt)
{
    return rt->gpu;
}

int rt_set_threads(struct rt *rt, uint32_t threads)
{
    return gpu_set_threads(rt->gpu, threads);
}

void rt_set_cancel(struct rt *rt, const volatile int *cancel)
{
    rt->cancel = cancel;
    gpu_set_cancel(rt->gpu, cancel);
}

int context_check(const struct rt *rt)
{
    return rt->fault ? error_set(SONDE_EFAULT, "after an earlier fault: %s", rt->fault) : 0;
}

void rt_recover(struct rt *rt)
{
    free(rt->fault);
    rt->fault = NULL;
}

bool rt_memory_full(const struct rt *rt)
{
    return rt->vmem.full;
}

int rt_mem_alloc(struct rt *rt, uint64_t *address, uint64_t bytes)
{
    return memory_take(rt, address, bytes, 1);
}

int memory_take(struct rt *rt, uint64_t *address, uint64_t bytes, uint64_t least_align)
{
    *address = 0;
    uint64_t start;
    int rc = context_check(rt);
    if (rc < 0) {
        return rc;
    }
    rc = vmem_take_aligned(&rt->vmem, &start, bytes, least_align);
    if (rc < 0) {
        return rc;
    }
    rc = exec_memory_map(rt->memory, start, bytes);
    if (rc < 0) {
        vmem_give(&rt->vmem, vmem_find(&rt->vmem, start));
        return rc;
    }
    *address = start;
    return 0;
}

int memory_give(struct rt *rt, uint64_t address)
{
    const struct vmem_range *range = vmem_find(&rt->vmem, address);
    /* Arrays and local memory have ranges too, but are no allocations. */
    if (!range || !exec_memory_valid(rt->memory, address, range->bytes)) {
        return error_set(SONDE_EINPUT, "no allocation begins at address 0x%llx",
                         (unsigned long long)address);
    }
    int rc = exec_memory_unmap(rt->memory, address);
    vmem_give(&rt->vmem, range);
    gpu_forget_translations(rt->gpu);
    return rc;
}

int rt_mem_free(struct rt *rt, uint64_t address)
{
    if (address == 0) {
        return 0;
    }
    if ((rt->heap && address == rt->heap_address) || address == rt->grid_workspace ||
        modules_hold(rt, address)) {
        return error_set(SONDE_EINPUT, "what begins at address 0x%llx is the driver's to free",
                         (unsigned long long)address);
    }
    return memory_give(rt, address);
}

static int range_check(struct rt *rt, const char *what, uint64_t address, uint64_t bytes)
{
    int rc = context_check(rt);
    if (rc < 0) {
        return rc;
    }
    if (exec_memory_valid(rt->memory, address, bytes)) {
        return 0;
    }
    char near[256];
    exec_memory_describe(rt->memory, address, near, sizeof near);
    return error_set(SONDE_EINPUT, "%s of %llu bytes at address 0x%llx leaves its allocation: %s",
                     what, (unsigned long long)bytes, (unsigned long long)address, near);
}

/* A device address is the host address of the byte (exec/memory.h). */
static void *host_pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

int rt_copy_to_device(struct rt *rt, uint64_t dst, const void *src, uint64_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    int rc = range_check(rt, "a copy to the device", dst, bytes);
    if (rc == 0) {
        memcpy(host_pointer(dst), src, bytes);
        gpu_host_copy(rt->gpu, dst, bytes, true);
    }
    return rc;
}

int rt_copy_from_device(struct rt *rt, void *dst, uint64_t src, uint64_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    int rc = range_check(rt, "a copy from the device", src, bytes);
    if (rc == 0) {
        memcpy(dst, host_pointer(src), bytes);
        gpu_host_copy(rt->gpu, src, bytes, false);
    }
    return rc;
}

int rt_memset(struct rt *rt, uint64_t dst, uint8_t value, uint64_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    int rc = range_check(rt, "a memset", dst, bytes);
    if (rc == 0) {
        memset(host_pointer(dst), value, bytes);
        gpu_host_copy(rt->gpu, dst, bytes, true);
    }
    return rc;
}

int rt_set_carveout(struct rt *rt, uint64_t shared_bytes, uint64_t *l1_bytes_got)
{
    const struct carveout_spec *carveout = &rt->model->carveout;
    if (carveout->count > 0 && carveout->follows_preference) {
        uint32_t choice = 0;
        if (!carveout_that_holds(rt->model, shared_bytes, &choice)) {
            return error_set(SONDE_EINPUT, "%s has no carve-out with %llu bytes of shared memory",
                             rt->model->name, (unsigned long long)shared_bytes);
        }
        rt->preferred_carveout = choice;
    }
    if (l1_bytes_got) {
        struct cache_spec l1 = rt->model->l1_data;
        uint64_t shared;
        if (carveout->count > 0) {
            model_carve(&l1, &shared, rt->model, rt->preferred_carveout);
        }
        *l1_bytes_got = l1.enabled ? l1.size_bytes : 0;
    }
    return 0;
}

bool carveout_that_holds(const struct model *model, uint64_t shared_bytes, uint32_t *choice)
{
    const struct carveout_spec *carveout = &model->carveout;
    bool found = false;
    for (uint32_t i = 0; i < carveout->count; i++) {
        uint64_t bytes = carveout->choice[i].shared_bytes;
        if (bytes >= shared_bytes && (!found || bytes < carveout->choice[*choice].shared_bytes)) {
            *choice = i;
            found = true;
        }
    }
    return found;
}
