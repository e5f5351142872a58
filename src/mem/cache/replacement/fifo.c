/* First in, first out: only fills make a way the newest, the oldest goes. */
#include "mem/cache/replacement/order.h"
#include "mem/cache/replacement/replacement.h"

static void fifo_init(void *state, uint32_t ways)
{
    order_init(state, ways);
}

static void fifo_fill(void *state, uint32_t ways, uint32_t way)
{
    (void)ways;
    order_make_newest(state, way);
}

static uint32_t fifo_victim(struct replacement *replacement, void *state, uint32_t ways)
{
    (void)replacement;
    (void)ways;
    return ((const struct order *)state)->oldest;
}

const struct replacement_ops replacement_FIFO = {.state_bytes = order_bytes,
                                                 .init = fifo_init,
                                                 .on_hit = replacement_ignore,
                                                 .on_fill = fifo_fill,
                                                 .victim = fifo_victim};
