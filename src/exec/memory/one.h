/*
 * A load or store of shared memory by one lane, on the spot: what a chase does to keep what it
 * sees. For accesses whose uop says how (memory->shape is not DIRECT_NEVER).
 */
#ifndef SONDE_EXEC_ONE_H
#define SONDE_EXEC_ONE_H

#include <string.h>

#include "exec/ops.h"

/* Where the lane's bytes begin in its CTA's shared memory; false: not aligned, or not all there. */
static inline bool shared_one_finds(uint64_t *address, const struct exec_warp *warp,
                                    const struct uop_memory *memory, uint32_t lane)
{
    uint32_t total = (uint32_t)memory->bytes * memory->vec, size = warp->cta->shared_bytes;
    uint64_t at = memory->offset;
    if (memory->has_base) {
        const void *base = lanes_at(warp->state, memory->base);
        at = memory->base_is_64 ? ((const lane_dword *)base)[lane] + at
                                : (uint32_t)(((const lane_word *)base)[lane] + at);
    }
    *address = at;
    return total <= size && at <= size - total && !(at & (total - 1));
}

static inline void shared_one_moves(const struct exec_warp *warp, const struct uop_memory *memory,
                                    uint32_t lane, uint64_t address)
{
    uint8_t *at = warp->cta->shared + address;
    bool load = memory->kind == ACCESS_LOAD;
    for (uint32_t k = 0; k < memory->vec; k++, at += memory->bytes) {
        uint8_t *value = (uint8_t *)lanes_at(warp->state, memory->elements[k].ref) +
                         (size_t)lane * memory->bytes;
        uint8_t *to = load ? value : at, *from = load ? at : value;
        if (memory->bytes == 4)
            memcpy(to, from, 4);
        else
            memcpy(to, from, 8);
    }
}

#endif
