/*
 * Memory as programs see it. All of it lies in the device's range, which is valid on both sides, so
 * that pinned, mapped and managed memory are no more than device memory with another name; a table
 * says which is which. Memory of the program's own that is registered moves: its pages are replaced
 * by pages that the device's range shows too.
 */
#define _GNU_SOURCE /* memfd_create() */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rt/state.h"
#include "shim/core/shim.h"
#include "util/error.h"

#define PAGE 4096u

static VEC(struct shim_range) ranges; /* by address; what is not here may still be the device's */

/* The place of the first range that begins behind `address`. */
static size_t upper(uint64_t address)
{
    size_t low = 0, high = ranges.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges.data[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int range_add(struct shim_range range)
{
    size_t at = upper(range.address);
    if (vec_reserve(&ranges, ranges.count + 1) < 0) {
        return SHIM_NO_MEMORY;
    }
    memmove(&ranges.data[at + 1], &ranges.data[at], (ranges.count - at) * sizeof range);
    ranges.data[at] = range;
    ranges.count++;
    return SHIM_OK;
}

static struct shim_range *range_of(uint64_t address)
{
    size_t at = upper(address);
    struct shim_range *range = at > 0 ? &ranges.data[at - 1] : NULL;
    return range && address - range->address < range->bytes ? range : NULL;
}

static void range_remove(struct shim_range *range)
{
    size_t at = (size_t)(range - ranges.data);
    hints_forget(range->address, range->bytes);
    memmove(range, range + 1, (ranges.count - at - 1) * sizeof *range);
    ranges.count--;
}

static struct shim_range *registered(const void *host)
{
    for (size_t i = 0; i < ranges.count; i++) {
        struct shim_range *range = &ranges.data[i];
        if (range->host && (uint64_t)(uintptr_t)host - range->host < range->bytes) {
            return range;
        }
    }
    return NULL;
}

void memory_forget_all(void)
{
    vec_clear(&ranges);
    hints_forget_all();
}

int shim_memory_take(uint64_t *address, uint64_t bytes, enum shim_memory kind, unsigned flags)
{
    struct rt *rt;
    int code = shim_enter(&rt);
    *address = 0;
    if (code != SHIM_OK) {
        return code;
    }
    shim_check_site(rt);
    code = shim_code(rt_mem_alloc(rt, address, bytes));
    shim_check_site_ends(rt);
    if (code == SHIM_OK && kind != SHIM_MEMORY_DEVICE) {
        shim_check_written(rt, *address, bytes); /* the host writes there, unseen */
    }
    if (code == SHIM_OK) {
        code = range_add(
            (struct shim_range){.address = *address, .bytes = bytes, .kind = kind, .flags = flags});
    }
    shim_leave(rt);
    return code;
}

void shim_memory_note(uint64_t address, uint64_t bytes, enum shim_memory kind)
{
    struct rt *rt;
    if (shim_enter(&rt) == SHIM_OK) {
        range_add((struct shim_range){.address = address, .bytes = bytes, .kind = kind});
        shim_leave(rt);
    }
}

int shim_memory_forget(uint64_t address)
{
    struct rt *rt;
    int code = shim_enter(&rt);
    if (code == SHIM_OK) {
        struct shim_range *range = range_of(address);
        if (range && range->address == address) {
            range_remove(range);
        } else {
            code = SHIM_INVALID;
        }
        shim_leave(rt);
    }
    return code;
}

/* As a driver does: what is still to run on the device runs first. */
int shim_memory_give(uint64_t address, bool host)
{
    struct rt *rt;
    if (address == 0) {
        return SHIM_OK;
    }
    int code = shim_device(&rt);
    code = code == SHIM_OK ? shim_code(rt_sync(rt)) : code;
    code = code == SHIM_OK ? shim_enter(&rt) : code;
    if (code != SHIM_OK) {
        return code;
    }
    shim_check_site(rt);
    struct shim_range *range = range_of(address);
    bool pinned = range && range->kind == SHIM_MEMORY_PINNED;
    if (!range || range->address != address || range->host || pinned != host) {
        code = range || host ? SHIM_INVALID : -1;
    } else {
        code = shim_code(rt_mem_free(rt, address));
        if (code == SHIM_OK) {
            range_remove(range);
        }
    }
    if (code == SHIM_INVALID || (code == -1 && !rt_owns(rt, address))) {
        shim_check_refused(rt, address);
    }
    if (code == -1) { /* of a pool, or nothing of ours */
        code = rt_owns(rt, address) ? shim_code(rt_enqueue_free(rt_stream_default(rt), address))
                                    : SHIM_INVALID;
    }
    shim_check_site_ends(rt);
    shim_leave(rt);
    return code;
}

/* When the stream gets there. */
int shim_memory_give_later(uint64_t address, struct rt_stream *stream)
{
    struct rt *rt;
    int code = shim_enter(&rt);
    if (code != SHIM_OK) {
        return code;
    }
    struct shim_range *range = range_of(address);
    bool known = range && range->address == address && !range->host;
    shim_check_site(rt);
    code = shim_code(rt_enqueue_free(stream, address));
    shim_check_site_ends(rt);
    range = range_of(address); /* the stream may have been waited for */
    if (code == SHIM_OK && known && range && range->address == address) {
        range_remove(range);
    }
    shim_leave(rt);
    return code;
}

bool shim_memory_find(struct shim_range *out, uint64_t address)
{
    struct rt *rt;
    if (shim_enter(&rt) != SHIM_OK) {
        return false;
    }
    const struct shim_range *range = range_of(address);
    range = range ? range : registered((const void *)(uintptr_t)address);
    bool owned = range || rt_owns(rt, address);
    if (range) {
        *out = *range;
    } else if (owned) {
        const struct vmem_range *of_rt = NULL;
        for (size_t i = 0; i < rt->vmem.ranges.count; i++) {
            const struct vmem_range *candidate = &rt->vmem.ranges.data[i];
            if (address - candidate->address < candidate->bytes) {
                of_rt = candidate;
            }
        }
        *out = (struct shim_range){.kind = SHIM_MEMORY_DEVICE};
        owned = of_rt != NULL;
        if (of_rt) {
            out->address = of_rt->address;
            out->bytes = of_rt->bytes;
        }
    }
    shim_leave(rt);
    return owned;
}

int shim_memory_info(uint64_t *free_bytes, uint64_t *total_bytes)
{
    struct rt *rt;
    int code = shim_enter(&rt);
    if (code == SHIM_OK) {
        *total_bytes = rt->model->vm.memory_bytes;
        *free_bytes = (rt->vmem.frame_count - rt->vmem.frames_used) * rt->vmem.page_bytes;
        shim_leave(rt);
    }
    return code;
}

uint64_t shim_total_memory(void)
{
    return shim_model() ? shim_model()->vm.memory_bytes : 0;
}

/* Rows of pitched memory begin at multiples of 512 bytes, as on GPUs since Fermi. */
uint64_t shim_pitch(uint64_t width_bytes)
{
    return (width_bytes + 511) / 512 * 512;
}

/* A box that no memory can hold asks for all there is, and is refused as too large. */
uint64_t shim_pitched(size_t *pitch, uint64_t width_bytes, uint64_t height, uint64_t depth)
{
    uint64_t bytes;
    *pitch = shim_pitch(width_bytes);
    bool fits = *pitch >= width_bytes && !__builtin_mul_overflow(*pitch, height, &bytes) &&
                !__builtin_mul_overflow(bytes, depth, &bytes);
    return fits ? bytes : UINT64_MAX;
}

/* One file's pages at both places, with what the program had there. Whole pages: what lies beside
 * the registered bytes goes along, which a sanitizer's pwrite() takes for a mistake. */
static int pages_share(uint8_t *host, uint8_t *device, uint64_t bytes)
{
    int fd = memfd_create("sonde-registered", MFD_CLOEXEC);
    if (fd < 0) {
        return SHIM_SYSTEM;
    }
    int code = ftruncate(fd, (off_t)bytes) == 0 ? SHIM_OK : SHIM_SYSTEM;
    for (uint64_t at = 0; code == SHIM_OK && at < bytes;) {
        long written = syscall(SYS_pwrite64, fd, host + at, bytes - at, (off_t)at);
        code = written > 0 ? SHIM_OK : SHIM_INVALID;
        at += written > 0 ? (uint64_t)written : 0;
    }
    if (code == SHIM_OK &&
        (mmap(device, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED ||
         mmap(host, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)) {
        code = SHIM_SYSTEM;
    }
    close(fd);
    return code;
}

int shim_memory_register(void *host, uint64_t bytes, unsigned flags)
{
    struct rt *rt;
    uint64_t address, start = (uintptr_t)host / PAGE * PAGE;
    uint64_t length = ((uintptr_t)host + bytes + PAGE - 1) / PAGE * PAGE - start;
    if (!host || bytes == 0 || length < bytes) { /* shorter: the end wraps around */
        return SHIM_INVALID;
    }
    int code = shim_enter(&rt);
    if (code != SHIM_OK) {
        return code;
    }
    if (registered(host) || registered((uint8_t *)host + bytes - 1) || rt_owns(rt, start)) {
        code = SHIM_REGISTERED;
    } else {
        code = shim_code(rt_mem_alloc(rt, &address, length + PAGE));
        if (code == SHIM_OK) {
            shim_check_written(rt, address, length + PAGE);
            uint64_t page = (address + PAGE - 1) / PAGE * PAGE;
            code = pages_share((uint8_t *)(uintptr_t)start, (uint8_t *)(uintptr_t)page, length);
            if (code == SHIM_OK) {
                code = range_add((struct shim_range){.address = page + ((uintptr_t)host - start),
                                                     .bytes = bytes,
                                                     .kind = SHIM_MEMORY_REGISTERED,
                                                     .flags = flags,
                                                     .host = (uintptr_t)host});
            } else {
                rt_mem_free(rt, address);
            }
        }
    }
    shim_leave(rt);
    return code;
}

/* The device's view becomes ordinary memory again; the program keeps the pages that it has. */
int shim_memory_unregister(void *host)
{
    struct rt *rt;
    int code = shim_device(&rt);
    code = code == SHIM_OK ? shim_code(rt_sync(rt)) : code;
    code = code == SHIM_OK ? shim_enter(&rt) : code;
    if (code != SHIM_OK) {
        return code;
    }
    struct shim_range *range = registered(host);
    if (!range || range->host != (uint64_t)(uintptr_t)host) {
        code = SHIM_NOT_REGISTERED;
    } else {
        uint64_t page = range->address / PAGE * PAGE;
        uint64_t end = (range->address + range->bytes + PAGE - 1) / PAGE * PAGE;
        /* In the place of pages that are there: what fails leaves them as they are. */
        (void)mmap((void *)(uintptr_t)page, end - page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        const struct vmem_range *of_rt = NULL;
        for (size_t i = 0; i < rt->vmem.ranges.count; i++) {
            const struct vmem_range *candidate = &rt->vmem.ranges.data[i];
            of_rt = page - candidate->address < candidate->bytes ? candidate : of_rt;
        }
        code = of_rt ? shim_code(rt_mem_free(rt, of_rt->address)) : SHIM_OK;
        range_remove(range);
    }
    shim_leave(rt);
    return code;
}

int shim_memory_device_pointer(uint64_t *out, const void *host)
{
    struct rt *rt;
    int code = shim_enter(&rt);
    *out = 0;
    if (code != SHIM_OK) {
        return code;
    }
    const struct shim_range *range = registered(host);
    uint64_t address = (uintptr_t)host;
    if (range) {
        *out = range->address + (address - range->host);
    } else if (range_of(address)) {
        *out = address;
    } else {
        code = SHIM_INVALID;
    }
    shim_leave(rt);
    return code;
}
