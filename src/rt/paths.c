/*
 * What a driver provides for the paths beside global memory: texture objects, the place of local
 * memory, the mode of shared memory's banks.
 *
 * Local memory is backed as drivers do it: one block for all warps that can be resident, made when
 * a launch first needs it and kept, larger when a later launch needs more. It belongs to no
 * allocation of the program, so an access to it by a global address is out of bounds.
 */
#include "rt/state.h"
#include "util/error.h"

#define TEXEL_BYTES 4

int rt_texture_create(struct rt *rt, uint64_t *handle, uint64_t address, uint64_t bytes)
{
    *handle = 0;
    if (bytes == 0 || bytes % TEXEL_BYTES != 0 || address % TEXEL_BYTES != 0) {
        return error_set(SONDE_EINPUT,
                         "a texture of %llu bytes at 0x%llx: texels are %d bytes, aligned",
                         (unsigned long long)bytes, (unsigned long long)address, TEXEL_BYTES);
    }
    if (!exec_memory_valid(rt->memory, address, bytes)) {
        return error_set(SONDE_EINPUT, "a texture of %llu bytes at 0x%llx leaves its allocation",
                         (unsigned long long)bytes, (unsigned long long)address);
    }
    size_t place = 0;
    while (place < rt->textures.count && rt->textures.data[place].bytes > 0) {
        place++;
    }
    struct exec_texture texture = {.address = address, .bytes = bytes};
    if (place < rt->textures.count) {
        rt->textures.data[place] = texture;
    } else if (vec_push(&rt->textures, texture) < 0) {
        return error_memory();
    }
    *handle = EXEC_TEXTURE_HANDLE + place;
    return 0;
}

int rt_texture_destroy(struct rt *rt, uint64_t handle)
{
    uint64_t place = handle - EXEC_TEXTURE_HANDLE;
    if (place >= rt->textures.count || rt->textures.data[place].bytes == 0) {
        return error_set(SONDE_EINPUT, "0x%llx is no texture", (unsigned long long)handle);
    }
    rt->textures.data[place] = (struct exec_texture){0};
    return 0;
}

int rt_set_shared_bank_bytes(struct rt *rt, uint32_t bytes)
{
    return gpu_set_shared_bank_bytes(rt->gpu, bytes);
}

int local_memory_provide(struct rt *rt, const struct exec_launch *launch)
{
    uint64_t needed = gpu_local_bytes(rt->gpu, launch), address;
    if (needed <= rt->local_bytes) {
        return 0;
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
