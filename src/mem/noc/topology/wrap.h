/*
 * One step on a ring of `length` routers, the shorter way round (of two equal ones, upwards from
 * even routers). The class of the channel says whether the step from the last router to the first
 * is still ahead (0) or not (1): a packet that waits in class 1 waits only for routers further on,
 * so packets never wait for each other in a circle.
 */
#ifndef SONDE_MEM_NOC_TOPOLOGY_WRAP_H
#define SONDE_MEM_NOC_TOPOLOGY_WRAP_H

#include "mem/noc/topology/topology.h"

/* `from` differs from `to`; port `up` leads to the next router, up + 1 to the one before. */
static inline struct topology_way wrap_step(uint32_t from, uint32_t to, uint32_t length,
                                            uint16_t up)
{
    uint32_t upwards = to > from ? to - from : to + length - from;
    if (upwards * 2 < length || (upwards * 2 == length && from % 2 == 0)) {
        return (struct topology_way){.port = up, .class = to > from};
    }
    return (struct topology_way){.port = (uint16_t)(up + 1), .class = to < from};
}

#endif
