/*
 * Not recently used, also called bit pseudo-LRU: a use sets the way's bit; when that was the last
 * one clear, the others are cleared. The first way with a clear bit goes.
 */
#include <string.h>

#include "mem/cache/replacement/replacement.h"

static size_t nru_state_bytes(uint32_t ways)
{
    return ways; /* a byte a way */
}

static void nru_use(void *state, uint32_t ways, uint32_t way)
{
    uint8_t *used = state;
    used[way] = 1;
    if (!memchr(used, 0, ways)) {
        memset(used, 0, ways);
        used[way] = 1;
    }
}

static uint32_t nru_victim(struct replacement *replacement, void *state, uint32_t ways)
{
    (void)replacement;
    const uint8_t *clear = memchr(state, 0, ways);
    return clear ? (uint32_t)(clear - (const uint8_t *)state) : 0; /* none clear: a single way */
}

const struct replacement_ops replacement_NRU = {.state_bytes = nru_state_bytes,
                                                .init = replacement_init_nothing,
                                                .on_hit = nru_use,
                                                .on_fill = nru_use,
                                                .victim = nru_victim};
