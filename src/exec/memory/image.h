/*
 * The memory image from inside: what every access tests, inline. For memory.c and the files that
 * execute loads and stores; everybody else uses exec/memory/memory.h.
 */
#ifndef SONDE_EXEC_IMAGE_H
#define SONDE_EXEC_IMAGE_H

#include <stdatomic.h>

#include "exec/memory/memory.h"

struct extent {
    uint64_t start, end; /* [start, end) */
};

struct exec_memory {
    uint64_t base, range_bytes;
    struct extent *extents; /* sorted by address, disjoint */
    size_t count, capacity;
    uint64_t changes;       /* of the table: allocations that came or went */
    atomic_size_t last_hit; /* a hint: any value is right, so host threads may race on it */
};

/* The table's search: the extent that holds all bytes, or SIZE_MAX. */
size_t image_search(const struct exec_memory *memory, uint64_t address, uint64_t bytes);

static inline bool image_extent_holds(const struct extent *extent, uint64_t address, uint64_t bytes)
{
    uint64_t offset = address - extent->start, size = extent->end - extent->start;
    return offset < size && bytes <= size - offset;
}

static inline bool image_valid(struct exec_memory *memory, uint64_t address, uint64_t bytes)
{
    size_t hint = atomic_load_explicit(&memory->last_hit, memory_order_relaxed);
    if (hint < memory->count && image_extent_holds(&memory->extents[hint], address, bytes))
        return true;
    hint = image_search(memory, address, bytes);
    if (hint == SIZE_MAX)
        return false;
    atomic_store_explicit(&memory->last_hit, hint, memory_order_relaxed);
    return true;
}

/* The same with a hint of the caller's own, so that host threads do not write to one place. */
static inline bool image_valid_near(const struct exec_memory *memory, size_t *hint,
                                    uint64_t address, uint64_t bytes)
{
    if (*hint < memory->count && image_extent_holds(&memory->extents[*hint], address, bytes))
        return true;
    size_t found = image_search(memory, address, bytes);
    if (found == SIZE_MAX)
        return false;
    *hint = found;
    return true;
}

static inline bool image_in_range(const struct exec_memory *memory, uint64_t address,
                                  uint64_t bytes)
{
    uint64_t offset = address - memory->base;
    return offset < memory->range_bytes && bytes <= memory->range_bytes - offset;
}

#endif
