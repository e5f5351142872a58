/*
 * The number of the address's unit modulo map_count, looked up in a list: what remains when the
 * residues do not fall evenly on the sets (a TLB of seven sets that serves eight residues).
 */
#include "mem/cache/indexing/indexing.h"

#include "util/error.h"

static int map_check(const struct index_spec *index, uint32_t sets)
{
    if (index->map_count == 0 || index->map_count > MEM_MAX_MAP) {
        return error_set(SONDE_EINPUT, "index function: a map has 1 to %d entries, not %u",
                         MEM_MAX_MAP, index->map_count);
    }
    for (uint32_t i = 0; i < index->map_count; i++) {
        if (index->map[i] >= sets) {
            return error_set(SONDE_EINPUT, "index function: map entry %u is set %u of only %u sets",
                             i, index->map[i], sets);
        }
    }
    return 0;
}

static uint32_t map_set(const struct index_spec *index, uint32_t sets, uint32_t line_bytes,
                        uint64_t address)
{
    (void)sets;
    uint32_t unit_bytes = index->unit_bytes ? index->unit_bytes : line_bytes;
    return index->map[address / unit_bytes % index->map_count];
}

const struct indexing_ops indexing_MAP = {.check = map_check, .set = map_set};
