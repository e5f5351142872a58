/*
 * The memory image of a simulated device: one anonymous mapping that the host's kernel fills page
 * by page on first touch, and a sorted table of what is allocated in it.
 *
 *     32 TiB          33 TiB          34 TiB
 *     | device 0 .....| device 1 .....| ...        one slot of 1 TiB a device
 *
 * Slots lie in a part of the address space that neither the host's loader, its heap nor the
 * sanitizers' shadow use; the first free slot is taken, so that the first device of a process has
 * the same addresses in every run. The whole range is readable and writable: an access outside of
 * any allocation cannot crash the simulator, it is found by exec_memory_valid().
 * Left out: sharing between processes, and protection (read-only allocations).
 */
#define _GNU_SOURCE
#include "exec/memory/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exec/memory/image.h"
#include "util/error.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define SLOT_COUNT 64
#ifdef __SANITIZE_THREAD__ /* knows programs' memory in a few ranges only */
#define SLOT_BASE 0x560000000000u
#define SLOT_BYTES 0x1000000000u
#define RANGE_MIN_BYTES (8ull << 30)
#else
#define SLOT_BASE 0x200000000000u
#define SLOT_BYTES 0x10000000000u
#define RANGE_MIN_BYTES (64ull << 30)
#endif
#define RANGE_STEP_BYTES (2ull << 20)
/*
 * Allocations of a MiB and more lie in huge pages of the host, where it has them: a page that is
 * touched for the first time costs more than what a launch does there (bench/README.md). Only at
 * the range's beginning, where allocations are placed first: programs that touch a line here and
 * there, as walks through a TLB's reach do, take no more than that much memory in vain; and none of
 * more than a GiB, of which most is hardly ever touched.
 */
#define HUGE_PAGE_BYTES (2ull << 20)
#define HUGE_LEAST_BYTES (1ull << 20)
#define HUGE_MOST_BYTES (1ull << 30)
#define HUGE_RANGE_BYTES (256ull << 20)
#define NARROW_FIRST (256ull << 20)
#define NARROW_STEP (64ull << 20)
#define NARROW_END (4ull << 30)

/* Map `bytes` at the first free slot; 0 if no slot takes it. */
static uint64_t reserve_slot(uint64_t bytes)
{
    for (uint64_t slot = 0; slot < SLOT_COUNT; slot++) {
        void *want = (void *)(uintptr_t)(SLOT_BASE + slot * SLOT_BYTES);
        void *got = mmap(want, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == want)
            return (uint64_t)(uintptr_t)got;
        if (got != MAP_FAILED)
            munmap(got, bytes); /* a kernel before 4.17 takes the address as a hint */
    }
    return 0;
}

/* Below 4 GiB, for programs whose pointers have 32 bits: the lowest place that is free. */
static uint64_t reserve_narrow(uint64_t bytes)
{
    for (uint64_t at = NARROW_FIRST; at + bytes <= NARROW_END; at += NARROW_STEP) {
        void *want = (void *)(uintptr_t)at;
        void *got = mmap(want, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == want)
            return at;
        if (got != MAP_FAILED)
            munmap(got, bytes);
    }
    return 0;
}

/* Room to place allocations freely: four times the capacity, within a slot. */
static uint64_t range_for(uint64_t capacity_bytes)
{
    uint64_t bytes = capacity_bytes > SLOT_BYTES / 4 ? SLOT_BYTES : capacity_bytes * 4;
    if (bytes < RANGE_MIN_BYTES)
        bytes = RANGE_MIN_BYTES;
    return (bytes + RANGE_STEP_BYTES - 1) / RANGE_STEP_BYTES * RANGE_STEP_BYTES;
}

int exec_memory_create_narrow(struct exec_memory **out, uint64_t capacity_bytes)
{
    *out = NULL;
    struct exec_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return error_memory();
    uint64_t least = (capacity_bytes + RANGE_STEP_BYTES - 1) / RANGE_STEP_BYTES * RANGE_STEP_BYTES;
    uint64_t bytes = NARROW_END - NARROW_FIRST;
    while (bytes >= least && bytes > 0 && !(memory->base = reserve_narrow(bytes)))
        bytes -= NARROW_STEP;
    if (!memory->base) {
        free(memory);
        return error_set(SONDE_EUNSUPPORTED,
                         "pointers of 32 bits need the device's memory of %" PRIu64
                         " bytes below 4 GiB, where this process has no such room",
                         capacity_bytes);
    }
    memory->range_bytes = bytes;
    *out = memory;
    return SONDE_OK;
}

int exec_memory_create(struct exec_memory **out, uint64_t capacity_bytes)
{
    *out = NULL;
    if (capacity_bytes == 0 || capacity_bytes > SLOT_BYTES)
        return error_set(SONDE_EINPUT, "device memory of %" PRIu64 " bytes: must be 1 to %" PRIu64,
                         capacity_bytes, (uint64_t)SLOT_BYTES);
    struct exec_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return error_set(SONDE_ENOMEM, "out of memory for a memory image");
    /* A host that counts reservations (ulimit -v, strict overcommit) may grant a smaller range. */
    uint64_t bytes = range_for(capacity_bytes);
    while (!(memory->base = reserve_slot(bytes)) && bytes / 2 >= capacity_bytes)
        bytes = bytes / 2 / RANGE_STEP_BYTES * RANGE_STEP_BYTES;
    if (!memory->base) {
        free(memory);
        return error_set(SONDE_ENOMEM, "cannot reserve %" PRIu64 " bytes of address space: %s",
                         bytes, strerror(errno));
    }
    memory->range_bytes = bytes;
    *out = memory;
    return SONDE_OK;
}

void exec_memory_destroy(struct exec_memory *memory)
{
    if (!memory)
        return;
    munmap((void *)(uintptr_t)memory->base, memory->range_bytes);
    free(memory->extents);
    free(memory);
}

uint64_t exec_memory_base(const struct exec_memory *memory)
{
    return memory->base;
}

uint64_t exec_memory_range_bytes(const struct exec_memory *memory)
{
    return memory->range_bytes;
}

/* Index of the first extent that ends above `address`; count if there is none. */
static size_t find_extent(const struct exec_memory *memory, uint64_t address)
{
    size_t low = 0, high = memory->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->extents[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool exec_memory_in_range(const struct exec_memory *memory, uint64_t address, uint64_t bytes)
{
    return image_in_range(memory, address, bytes);
}

/* The huge pages that an allocation lies in, as far as there are to be any; false: none. */
static bool huge_part(const struct exec_memory *memory, uint64_t *first, uint64_t *end)
{
    uint64_t most = memory->base + HUGE_RANGE_BYTES;
    uint64_t bytes = *end - *first;
    if (memory->range_bytes < HUGE_RANGE_BYTES || bytes < HUGE_LEAST_BYTES ||
        bytes > HUGE_MOST_BYTES)
        return false;
    *first = *first / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    *end = (*end + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    *end = *end < most ? *end : most;
    return *first < *end;
}

/* The host is free to do nothing. */
static void ask_for_huge_pages(const struct exec_memory *memory, uint64_t first, uint64_t end)
{
#ifdef MADV_HUGEPAGE
    if (huge_part(memory, &first, &end))
        (void)madvise((void *)(uintptr_t)first, end - first, MADV_HUGEPAGE);
#else
    (void)memory, (void)first, (void)end;
#endif
}

int exec_memory_map(struct exec_memory *memory, uint64_t address, uint64_t bytes)
{
    if (bytes == 0 || !exec_memory_in_range(memory, address, bytes))
        return error_set(SONDE_EINPUT,
                         "mapping of %" PRIu64 " bytes at 0x%" PRIx64
                         " is outside of device memory",
                         bytes, address);
    size_t at = find_extent(memory, address);
    if (at < memory->count && memory->extents[at].start < address + bytes)
        return error_set(SONDE_EINPUT,
                         "mapping of %" PRIu64 " bytes at 0x%" PRIx64 " overlaps [0x%" PRIx64
                         ", 0x%" PRIx64 ")",
                         bytes, address, memory->extents[at].start, memory->extents[at].end);
    if (memory->count == memory->capacity) {
        size_t capacity = memory->capacity ? memory->capacity * 2 : 64;
        struct extent *grown = realloc(memory->extents, capacity * sizeof *grown);
        if (!grown)
            return error_set(SONDE_ENOMEM, "out of memory for the table of allocations");
        memory->extents = grown;
        memory->capacity = capacity;
    }
    memmove(&memory->extents[at + 1], &memory->extents[at],
            (memory->count - at) * sizeof *memory->extents);
    memory->extents[at] = (struct extent){address, address + bytes};
    memory->count++;
    memory->changes++;
    ask_for_huge_pages(memory, address, address + bytes);
    return SONDE_OK;
}

/*
 * Make [start, end) read as zero again and give whole pages back to the host, so that what the next
 * allocation finds does not depend on what was there before. Of huge pages only whole ones: a part
 * that is given back splits the page, and all of it is touched for the first time again, in small
 * ones.
 */
static void discard(const struct exec_memory *memory, uint64_t start, uint64_t end)
{
    uint64_t huge_first = start, huge_end = end;
    uint64_t page = huge_part(memory, &huge_first, &huge_end) ? HUGE_PAGE_BYTES
                                                              : (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t first = (start + page - 1) / page * page, last = end / page * page;
    if (first >= last) {
        memset((void *)(uintptr_t)start, 0, end - start);
        return;
    }
    memset((void *)(uintptr_t)start, 0, first - start);
    memset((void *)(uintptr_t)last, 0, end - last);
    if (madvise((void *)(uintptr_t)first, last - first, MADV_DONTNEED) != 0)
        memset((void *)(uintptr_t)first, 0, last - first);
}

int exec_memory_unmap(struct exec_memory *memory, uint64_t address)
{
    size_t at = find_extent(memory, address);
    if (at == memory->count || memory->extents[at].start != address)
        return error_set(SONDE_EINPUT, "no allocation starts at 0x%" PRIx64, address);
    discard(memory, memory->extents[at].start, memory->extents[at].end);
    memory->count--;
    memory->changes++;
    memmove(&memory->extents[at], &memory->extents[at + 1],
            (memory->count - at) * sizeof *memory->extents);
    return SONDE_OK;
}

uint64_t exec_memory_changes(const struct exec_memory *memory)
{
    return memory->changes;
}

void exec_memory_discard(struct exec_memory *memory, uint64_t address, uint64_t bytes)
{
    if (exec_memory_in_range(memory, address, bytes))
        discard(memory, address, address + bytes);
}

bool exec_memory_valid(struct exec_memory *memory, uint64_t address, uint64_t bytes)
{
    return image_valid(memory, address, bytes);
}

size_t image_search(const struct exec_memory *memory, uint64_t address, uint64_t bytes)
{
    size_t at = find_extent(memory, address);
    return at < memory->count && image_extent_holds(&memory->extents[at], address, bytes)
               ? at
               : SIZE_MAX;
}

void exec_memory_describe(const struct exec_memory *memory, uint64_t address, char *text,
                          size_t size)
{
    size_t at = find_extent(memory, address);
    const struct extent *above = at < memory->count ? &memory->extents[at] : NULL;
    const struct extent *below = at > 0 ? &memory->extents[at - 1] : NULL;
    if (above && above->start <= address) {
        snprintf(text, size,
                 "%" PRIu64 " bytes before the end of the allocation [0x%" PRIx64 ", 0x%" PRIx64
                 ")",
                 above->end - address, above->start, above->end);
        return;
    }
    if (!above && !below) {
        snprintf(text, size, "nothing is allocated");
        return;
    }
    if (below && (!above || address - below->end <= above->start - address))
        snprintf(text, size,
                 "%" PRIu64 " bytes after the allocation [0x%" PRIx64 ", 0x%" PRIx64 ") of %" PRIu64
                 " bytes",
                 address - below->end, below->start, below->end, below->end - below->start);
    else
        snprintf(text, size,
                 "%" PRIu64 " bytes before the allocation [0x%" PRIx64 ", 0x%" PRIx64
                 ") of %" PRIu64 " bytes",
                 above->start - address, above->start, above->end, above->end - above->start);
}
