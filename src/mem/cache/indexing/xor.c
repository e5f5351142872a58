/* Set bit i is the parity of the address bits under masks[i]: linear hashes, as GF(2) rows. */
#include "mem/cache/indexing/indexing.h"

static uint32_t parity(uint64_t bits)
{
    bits ^= bits >> 32;
    bits ^= bits >> 16;
    bits ^= bits >> 8;
    bits ^= bits >> 4;
    return (0x6996u >> (bits & 15)) & 1; /* the parities of 0 .. 15, one bit each */
}

static uint32_t xor_set(const struct index_spec *index, uint32_t sets, uint32_t line_bytes,
                        uint64_t address)
{
    (void)sets;
    (void)line_bytes;
    uint32_t set = 0;
    for (uint32_t i = 0; i < index->mask_count; i++) {
        set |= parity(address & index->masks[i]) << i;
    }
    return set;
}

const struct indexing_ops indexing_XOR = {.check = indexing_check_masks, .set = xor_set};
