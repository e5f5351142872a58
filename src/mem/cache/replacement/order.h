/*
 * The ways of a set in an order, newest first: a doubly linked list over way numbers, so that
 * moving a way to the front costs the same in a set of 4 ways and of 128. LRU and FIFO differ
 * only in when they move.
 */
#ifndef SONDE_MEM_CACHE_REPLACEMENT_ORDER_H
#define SONDE_MEM_CACHE_REPLACEMENT_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct order {
    uint16_t newest, oldest;
    struct {
        uint16_t newer, older;
    } way[];
};

static inline size_t order_bytes(uint32_t ways)
{
    return sizeof(struct order) + ways * sizeof(((struct order *)0)->way[0]);
}

/* Way 0 is the newest at first; filling a cold set in way order leaves way 0 the oldest. */
static inline void order_init(struct order *order, uint32_t ways)
{
    order->newest = 0;
    order->oldest = (uint16_t)(ways - 1);
    for (uint32_t i = 0; i < ways; i++) {
        order->way[i].newer = (uint16_t)(i - 1);
        order->way[i].older = (uint16_t)(i + 1);
    }
}

static inline void order_make_newest(struct order *order, uint32_t way)
{
    if (order->newest == way) {
        return;
    }
    uint16_t newer = order->way[way].newer, older = order->way[way].older;
    order->way[newer].older = older;
    if (order->oldest == way) {
        order->oldest = newer;
    } else {
        order->way[older].newer = newer;
    }
    order->way[way].older = order->newest;
    order->way[order->newest].newer = (uint16_t)way;
    order->newest = (uint16_t)way;
}

#endif
