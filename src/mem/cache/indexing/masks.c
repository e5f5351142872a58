/* The rule for index functions made of bits: they number the sets exactly. */
#include "mem/cache/indexing/indexing.h"
#include "util/error.h"

int indexing_check_masks(const struct index_spec *index, uint32_t sets)
{
    if (index->mask_count > MEM_MAX_INDEX_MASKS || sets != UINT32_C(1) << index->mask_count) {
        return error_set(SONDE_EINPUT,
                         "index function: %u address bits or masks cannot number %u sets",
                         index->mask_count, sets);
    }
    for (uint32_t i = 0; i < index->mask_count; i++) {
        if (index->masks[i] == 0) {
            return error_set(SONDE_EINPUT, "index function: mask %u is empty", i);
        }
    }
    return 0;
}
