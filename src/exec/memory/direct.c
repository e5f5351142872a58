/* Direct loads and stores for any processor, and the choice. */
#define DIRECT_TARGET
#define DIRECT_NAME access_portable
#define DIRECT_SHARED_NAME shared_portable
#define DIRECT_REACH_NAME reach_portable
#include "exec/memory/region.h"

/* Words of `memory` at 32 addresses, each base + offset. False: one is beyond `last`, or no
 * multiple of 4. */
static inline bool direct_words(lane_word *lanes, const uint8_t *memory, const lane_word *base,
                                uint32_t offset, uint32_t last)
{
    (void)lanes, (void)memory, (void)base, (void)offset, (void)last;
    return false; /* no faster here than any other addresses */
}

#define DIRECT_HAS_VECTORS false
#include "exec/memory/direct.inc"

direct_fn *const direct_portable = access_portable;
direct_shared_fn *const direct_shared_portable = shared_portable;
direct_reach_fn *const direct_reach_portable = reach_portable;

direct_fn *direct_access(void)
{
    if (direct_avx512 && lanes_have_avx512())
        return direct_avx512;
    return direct_avx2 && lanes_have_avx2() ? direct_avx2 : direct_portable;
}

direct_shared_fn *direct_shared(void)
{
    if (direct_shared_avx512 && lanes_have_avx512())
        return direct_shared_avx512;
    return direct_shared_avx2 && lanes_have_avx2() ? direct_shared_avx2 : direct_shared_portable;
}

direct_reach_fn *direct_reach(void)
{
    if (direct_reach_avx512 && lanes_have_avx512())
        return direct_reach_avx512;
    return direct_reach_avx2 && lanes_have_avx2() ? direct_reach_avx2 : direct_reach_portable;
}

const struct direct_ways *direct_ways(void)
{
    return direct_ways_avx512.shared && lanes_have_avx512() ? &direct_ways_avx512 : NULL;
}
