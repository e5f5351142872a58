/*
 * The device as its driver's user sees it: creation, what takes and frees memory, the carve-out.
 */
#include "rt/rt.h"

#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "rt/sampling.h"
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

static int create(struct rt **out, const struct model *model, bool narrow)
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
    device_provide(rt);
    int rc = queue_create(rt);
    if (rc == 0) {
        rc = narrow ? exec_memory_create_narrow(&rt->memory, model->vm.memory_bytes)
                    : exec_memory_create(&rt->memory, model->vm.memory_bytes);
    }
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

int rt_create(struct rt **out, const struct model *model)
{
    return create(out, model, false);
}

int rt_create_narrow(struct rt **out, const struct model *model)
{
    return create(out, model, true);
}

void rt_destroy(struct rt *rt)
{
    if (!rt) {
        return;
    }
    queue_destroy(rt);
    sampling_destroy(rt);
    while (rt->modules) {
        rt_module_unload(rt, rt->modules);
    }
    gpu_destroy(rt->gpu);
    images_destroy(rt);
    services_destroy(rt);
    free(rt->fault);
    vmem_destroy(&rt->vmem);
    exec_memory_destroy(rt->memory);
    check_destroy(rt->check);
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

void rt_set_progress(struct rt *rt, const struct progress *progress)
{
    rt->progress = progress;
    gpu_set_progress(rt->gpu, progress);
}

void rt_tell_when_cancelled(struct rt *rt)
{
    rt->tells_cancelled = true;
    gpu_tell_when_cancelled(rt->gpu);
}

void rt_set_cold(struct rt *rt)
{
    rt->cold = true;
}

void rt_set_cancel(struct rt *rt, const volatile int *cancel)
{
    rt->cancel = cancel;
    gpu_set_cancel(rt->gpu, cancel);
}

int rt_mem_alloc(struct rt *rt, uint64_t *address, uint64_t bytes)
{
    int rc = memory_take(rt, address, bytes, 1);
    if (queue_make_room(rt, bytes, rc)) {
        rc = memory_take(rt, address, bytes, 1);
    }
    if (rc == 0) {
        checking_allocated(rt, *address, bytes, true);
    }
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
    if (rt->queue && queue_has_freed(rt->queue, address)) {
        checking_freed_twice(rt, address);
        return error_set(SONDE_EINPUT, "the allocation at 0x%llx is freed already",
                         (unsigned long long)address);
    }
    return gpu_is_idle(rt->gpu) && !queue_runs(rt->queue) ? memory_give(rt, address)
                                                          : queue_give_later(rt, address);
}

void rt_drop_carveout(struct rt *rt)
{
    rt->preferred_carveout = rt->model->carveout.initial;
    rt->prefers_carveout = false;
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
        rt->prefers_carveout = true;
    }
    if (l1_bytes_got) {
        struct cache_spec l1 = rt->model->l1_data;
        uint64_t shared;
        if (carveout->count > 0) {
            model_carve(&l1, &shared, rt->model, rt->preferred_carveout);
        }
        uint64_t data = l1.data_bytes ? l1.data_bytes : l1.size_bytes;
        *l1_bytes_got = l1.enabled ? data : 0;
    }
    return 0;
}
