/* Least recently used: hits and fills make a way the newest, the oldest goes. */
#include "mem/cache/replacement/order.h"
#include "mem/cache/replacement/replacement.h"

static void lru_init(void *state, uint32_t ways)
{
    order_init(state, ways);
}

static void lru_use(void *state, uint32_t ways, uint32_t way)
{
    (void)ways;
    order_make_newest(state, way);
}

static uint32_t lru_victim(struct replacement *replacement, void *state, uint32_t ways)
{
    (void)replacement;
    (void)ways;
    return ((const struct order *)state)->oldest;
}

const struct replacement_ops replacement_LRU = {.state_bytes = order_bytes,
                                                .init = lru_init,
                                                .on_hit = lru_use,
                                                .on_fill = lru_use,
                                                .victim = lru_victim};
