/*
 * The number of the address's unit, its bits mixed, modulo the number of sets. It stands for hash
 * functions of which no more is known than that they are even and that no plain address bits choose
 * the set; the seed makes functions that have nothing to do with each other.
 */
#include "mem/cache/indexing/indexing.h"
#include "util/rng.h"

static int hash_check(const struct index_spec *index, uint32_t sets)
{
    (void)index;
    (void)sets;
    return 0;
}

static uint32_t hash_set(const struct index_spec *index, uint32_t sets, uint32_t line_bytes,
                         uint64_t address)
{
    uint32_t unit_bytes = index->unit_bytes ? index->unit_bytes : line_bytes;
    uint64_t state = address / unit_bytes ^ index->seed << 48;
    return (uint32_t)((rng_splitmix64(&state) >> 32) * sets >> 32);
}

const struct indexing_ops indexing_HASH = {.check = hash_check, .set = hash_set};
