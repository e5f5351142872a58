/*
 * What lanes reach, for an observer (direct.h): groups of lanes as spans, and lanes without an
 * order as lines. For what finds it, with vectors or lane by lane.
 */
#ifndef SONDE_EXEC_MEMORY_REACH_H
#define SONDE_EXEC_MEMORY_REACH_H

#include "exec/memory/direct.h"
#include "exec/memory/region.h"

/* Whether a span may be accessed, in elements of `total` bytes. */
static inline bool may_span(const struct region *region, const struct direct_span *span,
                            uint32_t total)
{
    uint64_t offset = span->first - region->low;
    return !(span->first & (total - 1)) && offset <= region->room &&
           span->bytes - total <= region->room - offset;
}

/* Another span, as part of the last one where it goes on there. */
static inline void add_span(struct direct_reach *reach, struct direct_span next)
{
    struct direct_span *last = reach->spans ? &reach->span[reach->spans - 1] : NULL;
    if (last && next.first == last->first + last->bytes)
        last->bytes += next.bytes;
    else if (!last || next.first != last->first || next.bytes != last->bytes)
        reach->span[reach->spans++] = next;
}

/* Lanes without an order, whose addresses are allowed. */
static inline void list_lines(struct direct_reach *reach, const uint64_t address[WARP_LANES],
                              uint32_t mask)
{
    uint64_t before = UINT64_MAX;
    reach->sectors = reach->lines = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t at = address[lowest_lane(rest)];
        reach->sectors += at / DIRECT_SECTOR_BYTES != before / DIRECT_SECTOR_BYTES;
        if (at / DIRECT_LINE_BYTES != before / DIRECT_LINE_BYTES)
            reach->line[reach->lines++] = at / DIRECT_LINE_BYTES;
        before = at;
    }
}

/* Few lanes of a group, one after the other; false: they have no order. */
static inline bool few_span(struct direct_span *span, const uint64_t address[WARP_LANES],
                            uint32_t mask, uint32_t total)
{
    uint32_t lowest = lowest_lane(mask), run = mask >> lowest;
    uint64_t first = address[lowest], apart = 0, gaps = 0, bytes = 0;
    if (run & (run + 1))
        return false; /* there are lanes in between */
    for (uint32_t rest = mask; rest; rest &= rest - 1, bytes += total) {
        uint64_t at = address[lowest_lane(rest)];
        apart |= at ^ first;
        gaps |= at ^ (first + bytes);
    }
    *span = (struct direct_span){first, apart ? bytes : total};
    return apart == 0 || gaps == 0;
}

#endif
