/* Set bit i is the address bit that masks[i] selects: the ordinary cache, its bits in any order. */
#include "mem/cache/indexing/indexing.h"

#include "util/error.h"

static int bits_check(const struct index_spec *index, uint32_t sets)
{
    int rc = indexing_check_masks(index, sets);
    for (uint32_t i = 0; rc == 0 && i < index->mask_count; i++) {
        if ((index->masks[i] & (index->masks[i] - 1)) != 0) {
            rc = error_set(SONDE_EINPUT, "index function: mask %u selects more than one bit", i);
        }
    }
    return rc;
}

static uint32_t bits_set(const struct index_spec *index, uint32_t sets, uint32_t line_bytes,
                         uint64_t address)
{
    (void)sets;
    (void)line_bytes;
    uint32_t set = 0;
    for (uint32_t i = 0; i < index->mask_count; i++) {
        set |= (uint32_t)((address & index->masks[i]) != 0) << i;
    }
    return set;
}

const struct indexing_ops indexing_BITS = {.check = bits_check, .set = bits_set};
