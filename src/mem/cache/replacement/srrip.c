/*
 * Static re-reference interval prediction with two bits and hit priority (Jaleel et al., ISCA
 * 2010): a fill predicts a long interval (2), a hit a near one (0); the first way predicted
 * distant (3) goes, and while there is none all predictions grow.
 */
#include "mem/cache/replacement/replacement.h"

enum { NEAR = 0, LONG = 2, DISTANT = 3 };

static size_t srrip_state_bytes(uint32_t ways)
{
    return ways; /* a byte a way */
}

static void srrip_hit(void *state, uint32_t ways, uint32_t way)
{
    (void)ways;
    ((uint8_t *)state)[way] = NEAR;
}

static void srrip_fill(void *state, uint32_t ways, uint32_t way)
{
    (void)ways;
    ((uint8_t *)state)[way] = LONG;
}

static uint32_t srrip_victim(struct replacement *replacement, void *state, uint32_t ways)
{
    (void)replacement;
    uint8_t *interval = state;
    uint32_t victim = 0;
    for (uint32_t way = 1; way < ways; way++) {
        if (interval[way] > interval[victim]) {
            victim = way;
        }
    }
    uint8_t growth = (uint8_t)(DISTANT - interval[victim]);
    for (uint32_t way = 0; way < ways; way++) {
        interval[way] = (uint8_t)(interval[way] + growth);
    }
    return victim;
}

const struct replacement_ops replacement_SRRIP = {.state_bytes = srrip_state_bytes,
                                                  .init = replacement_init_nothing,
                                                  .on_hit = srrip_hit,
                                                  .on_fill = srrip_fill,
                                                  .victim = srrip_victim};
