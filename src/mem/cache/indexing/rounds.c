/*
 * The address's units in turn over all sets, again and again, from a set that a hash of their block
 * draws. Side by side they are spread evenly, far apart they are as good as drawn: what slices of
 * an H200 do with units of 512 B, in blocks of 64 (docs/h200.md, "How L2's slices share").
 */
#include "mem/cache/indexing/indexing.h"
#include "util/error.h"
#include "util/rng.h"

static int rounds_check(const struct index_spec *index, uint32_t sets)
{
    (void)sets;
    return index->block_units > 0
               ? 0
               : error_set(SONDE_EINPUT, "index function: rounds needs a block of units");
}

static uint32_t rounds_set(const struct index_spec *index, uint32_t sets, uint32_t line_bytes,
                           uint64_t address)
{
    uint32_t unit_bytes = index->unit_bytes ? index->unit_bytes : line_bytes;
    uint64_t unit = address / unit_bytes;
    uint64_t state = unit / index->block_units ^ index->seed << 48;
    return (uint32_t)((unit % index->block_units + rng_splitmix64(&state) % sets) % sets);
}

const struct indexing_ops indexing_ROUNDS = {.check = rounds_check, .set = rounds_set};
