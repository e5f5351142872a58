/*
 * What a driver provides for the paths beside global memory: the place of local memory, the mode of
 * shared memory's banks. Textures and surfaces: image.c.
 *
 * Local memory is backed as drivers do it: one block for all warps that can be resident, made when
 * a launch first needs it and kept, larger when a later launch needs more. It belongs to no
 * allocation of the program, so an access to it by a global address is out of bounds.
 */
#include "rt/state.h"
#include "util/error.h"

int rt_set_shared_bank_bytes(struct rt *rt, uint32_t bytes)
{
    return gpu_set_shared_bank_bytes(rt->gpu, bytes);
}

int local_memory_provide(struct rt *rt, const struct exec_launch *launch, bool shares)
{
    uint64_t needed = gpu_local_bytes(rt->gpu, launch, shares), address;
    if (needed <= rt->local_bytes) {
        return 0;
    }
    if (!gpu_is_idle(rt->gpu)) {
        return GPU_LATER;
    }
    gpu_set_local(rt->gpu, 0, 0);
    if (rt->local_bytes > 0) {
        vmem_give(&rt->vmem, vmem_find(&rt->vmem, rt->local_address));
        gpu_forget_translations(rt->gpu);
        rt->local_bytes = 0;
    }
    int rc = vmem_take(&rt->vmem, &address, needed);
    if (rc < 0) {
        return error_prefix(rc, "local memory of the warps that can be resident");
    }
    rt->local_address = address;
    rt->local_bytes = needed;
    gpu_set_local(rt->gpu, address, needed);
    return 0;
}
