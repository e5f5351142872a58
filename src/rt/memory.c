/*
 * Device memory as the driver hands it out, and copies between it and the host, which take no
 * simulated time here (those of the command queue do) and pass through L2 as the model says.
 */
#include <string.h>

#include "rt/state.h"
#include "util/error.h"

bool rt_memory_full(const struct rt *rt)
{
    return rt->vmem.full;
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
    checking_allocated(rt, start, bytes, false);
    return 0;
}

int memory_give(struct rt *rt, uint64_t address)
{
    const struct vmem_range *range = vmem_find(&rt->vmem, address);
    /* Arrays and local memory have ranges too, but are no allocations. */
    if (!range || !exec_memory_valid(rt->memory, address, range->bytes)) {
        checking_freed(rt, address, SONDE_EINPUT);
        return error_set(SONDE_EINPUT, "no allocation begins at address 0x%llx",
                         (unsigned long long)address);
    }
    int rc = exec_memory_unmap(rt->memory, address);
    checking_freed(rt, address, rc);
    vmem_give(&rt->vmem, range);
    gpu_forget_translations(rt->gpu);
    return rc;
}

int range_refuse(struct rt *rt, const char *what, uint64_t address, uint64_t bytes)
{
    char near[256];
    exec_memory_describe(rt->memory, address, near, sizeof near);
    checking_refused(rt, what, address, bytes);
    return error_set(SONDE_EINPUT, "%s of %llu bytes at address 0x%llx leaves its allocation: %s",
                     what, (unsigned long long)bytes, (unsigned long long)address, near);
}

static int range_check(struct rt *rt, const char *what, uint64_t address, uint64_t bytes)
{
    int rc = context_check(rt);
    if (rc < 0) {
        return rc;
    }
    return exec_memory_valid(rt->memory, address, bytes) ? 0
                                                         : range_refuse(rt, what, address, bytes);
}

/* A device address is the host address of the byte (exec/memory/memory.h). */
static void *host_pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/*
 * Of so many bytes a host has whole pages. Zeros need none: memory that was never written reads as
 * zero as well.
 */
enum { LARGE_BYTES = 1 << 20 };

static bool is_large_and_zero(const char *bytes, uint64_t count)
{
    return count >= LARGE_BYTES && bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

int rt_copy_to_device(struct rt *rt, uint64_t dst, const void *src, uint64_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    int rc = range_check(rt, "a copy to the device", dst, bytes);
    if (rc == 0) {
        if (is_large_and_zero(src, bytes)) {
            exec_memory_discard(rt->memory, dst, bytes);
        } else {
            memcpy(host_pointer(dst), src, bytes);
        }
        checking_written(rt, dst, bytes);
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
        if (value == 0 && bytes >= LARGE_BYTES) {
            exec_memory_discard(rt->memory, dst, bytes);
        } else {
            memset(host_pointer(dst), value, bytes);
        }
        checking_written(rt, dst, bytes);
        gpu_host_copy(rt->gpu, dst, bytes, true);
    }
    return rc;
}
