/*
 * The coalescer: which memory transactions a warp's global access becomes. Lanes are taken in
 * passes (the warp, or half-warps on the first generations); the lanes of a pass that fall into one
 * aligned segment share a transaction. CUDA C Programming Guide, "Global Memory", compute
 * capability 1.2 and later.
 */
#ifndef SONDE_CORE_MEMORY_COALESCE_H
#define SONDE_CORE_MEMORY_COALESCE_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/exec.h"

/* What an access can become at most: 16 bytes a lane of local memory lie in four places, an element
 * of global memory may lie across two segments when these are small, and a filtered fetch from a
 * texture of three dimensions reads 16 texels a lane. */
#define COALESCE_MAX (16 * WARP_LANES)

/* What DRAM and L2 move at least: of most GPUs, and of what is no model's choice. */
#define COALESCE_SECTOR_BYTES 32

struct transaction {
    uint64_t address;
    uint32_t bytes;
    uint32_t lanes;   /* whose bytes lie in it; 0: one */
    uint32_t sectors; /* of COALESCE_SECTOR_BYTES that lanes touch: a bit each, from the segment's
                         first on; 0: those of the bytes */
    uint32_t passes;  /* of an atomic, see mem_request.passes; else 0 */
};

/*
 * Fills `out`, which has room for 2 * WARP_LANES; returns the count, in the order of the lowest
 * lane. `segment_bytes` and `sector_bytes`, at most a segment, are powers of two; a transaction
 * never crosses a segment. Reads cover whole sectors, writes exactly the bytes from the first to
 * the last written.
 */
uint32_t coalesce(struct transaction *out, const struct exec_access *access, uint32_t segment_bytes,
                  uint32_t sector_bytes, uint32_t lanes_per_pass);

/* From the first of its sectors to the last. */
static inline void coalesce_round(struct transaction *t, uint64_t sector)
{
    uint64_t end = (t->address + t->bytes + sector - 1) & ~(sector - 1);
    t->address &= ~(sector - 1);
    t->bytes = (uint32_t)(end - t->address);
}

/* coalesce() of a lane alone, as in a pointer chase. False: it is none, or crosses a segment. */
static inline bool coalesce_lone(struct transaction *out, const struct exec_access *access,
                                 uint32_t segment_bytes, uint32_t sector_bytes)
{
    if (access->mask == 0 || access->mask & (access->mask - 1)) {
        return false;
    }
    uint64_t first = access->address[__builtin_ctz(access->mask)];
    uint32_t bytes = (uint32_t)access->bytes * access->vec;
    *out = (struct transaction){.address = first, .bytes = bytes, .lanes = 1};
    if (access->kind != ACCESS_STORE) {
        coalesce_round(out, sector_bytes);
    }
    return (first & (segment_bytes - 1)) + bytes <= segment_bytes;
}

/* Sets the passes of an atomic's transactions. `alone`: one lane does it for all. */
void coalesce_passes(struct transaction *list, uint32_t count, const struct exec_access *access,
                     bool alone);

/*
 * Which bytes of the aligned 128 around a store's transaction its lanes write: see
 * mem_request.written. Zeros where they write all between the first and the last, and where it does
 * not lie in such 128. Lanes of other passes count too, where they write between these.
 */
void coalesce_written(uint64_t written[2], const struct transaction *t,
                      const struct exec_access *access);

/*
 * The rules of compute capability 1.2 and 1.3 (CUDA C Programming Guide, appendix G): segments of
 * 32 bytes for elements of one, of 64 for those of two; a read whose bytes lie in one half of its
 * segment asks for that half, and so on down to 32 bytes.
 */
uint32_t coalesce_segment(const struct exec_access *access, uint32_t segment_bytes);
void coalesce_halve(struct transaction *list, uint32_t count);

#endif
