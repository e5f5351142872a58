/* Where the elements of a walk lie. */
#include "probe/live.h"

uint64_t walk_offset(const struct walk *walk, uint64_t position)
{
    position %= walk->count;
    return walk->ring ? walk->ring[position] : position * (walk->stride / walk->scale);
}

uint64_t walk_extent(const struct walk *walk)
{
    uint64_t last = walk_offset(walk, walk->count - 1);
    for (uint64_t i = 0; walk->ring && i < walk->count; i++) {
        last = walk->ring[i] > last ? walk->ring[i] : last;
    }
    uint64_t reach = last * walk->scale + walk->width;
    return walk->base + (reach > walk->bytes ? reach : walk->bytes);
}
