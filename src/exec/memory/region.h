/*
 * Where a direct load or store may go: the region of memory around its first address. For the files
 * that make them (direct.inc).
 */
#ifndef SONDE_EXEC_REGION_H
#define SONDE_EXEC_REGION_H

#include "exec/memory/direct.h"
#include "exec/memory/image.h"
#include "exec/memory/marks.h"
#include "exec/ops.h"

#define HOST_LINE_BYTES 64 /* of a cache of the host: 32 words are two */

/* Memory that one access may touch: addresses low to low + room, `bias` away from the host's. */
struct region {
    uint64_t low, room;
    uintptr_t bias;
    struct marks *marks; /* that stores are to be noted in; NULL: none */
};

/* The region of an access whose first address is `first`; false: not for us. */
static inline bool find_region(struct region *region, const struct exec_warp *warp,
                               const struct uop_memory *memory, uint64_t first, uint64_t bytes)
{
    const struct exec_cta *cta = warp->cta;
    const struct exec_launch *launch = cta->launch;
    const struct exec_memory *image = launch->memory;
    switch (memory->space) {
    case SPACE_SHARED:
        *region = (struct region){0, cta->shared_bytes, (uintptr_t)cta->shared, NULL};
        break;
    case SPACE_PARAM:
        *region = (struct region){0, launch->param_bytes, (uintptr_t)launch->params, NULL};
        break;
    case SPACE_GLOBAL:
    case SPACE_CONST:
    case SPACE_NONE: /* a generic address inside of an allocation is a global one */
        if (!image_valid_near(image, &warp->state->extents[warp->pc % EXTENT_HINTS], first, bytes))
            return false;
        size_t found = warp->state->extents[warp->pc % EXTENT_HINTS];
        const struct extent *extent = &image->extents[found];
        struct marks *marks = warp->env->marks;
        bool stores = memory->kind == ACCESS_STORE;
        if (marks && !marks_allows(marks, found, stores))
            return false;
        *region =
            (struct region){extent->start, extent->end - extent->start, 0, stores ? marks : NULL};
        break;
    default:
        return false;
    }
    if (region->room < bytes)
        return false;
    region->room -= bytes; /* the last address allowed, from low */
    return true;
}

static inline uint8_t *host_at(const struct region *region, uint64_t address)
{
    return (uint8_t *)(region->bias + (uintptr_t)address);
}

static inline uint64_t lane_address(const void *base, bool wide, uint64_t offset, uint32_t lane)
{
    return wide ? ((const lane_dword *)base)[lane] + offset
                : (uint32_t)(((const lane_word *)base)[lane] + offset);
}

/* The host's caches are asked for what an access of device memory will want the time after next, if
 * it goes on in equal steps: those of a loop's turns, or of one warp after the other. */
static inline void ask_ahead(const struct exec_warp *warp, const struct region *region,
                             uint64_t first)
{
    if (region->bias != 0)
        return;
    uint64_t *before = &warp->state->began[warp->pc % AHEAD_PLACES];
    uint64_t next = 3 * first - 2 * *before;
    *before = first;
    if (next - region->low > region->room)
        return;
    const uint8_t *at = host_at(region, next);
    __builtin_prefetch(at);
    __builtin_prefetch(at + HOST_LINE_BYTES);
}

#endif
