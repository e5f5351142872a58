/*
 * What mesh and torus share: routers in rows, numbered along x first, with five ports.
 *
 *      port 0: +x   1: -x   2: +y   3: -y   4: the node
 */
#ifndef SONDE_MEM_NOC_TOPOLOGY_GRID_H
#define SONDE_MEM_NOC_TOPOLOGY_GRID_H

#include "mem/noc/topology/topology.h"

enum { GRID_NODE = 4, GRID_PORTS = 5 };

/* The neighbour's input is the port that faces back. */
static inline struct topology_end grid_neighbour(uint32_t x, uint32_t y, uint32_t width,
                                                 uint32_t port)
{
    return (struct topology_end){.kind = END_ROUTER, .index = y * width + x, .port = port ^ 1};
}

static inline struct topology_shape grid_shape(const struct noc_flits_spec *spec, uint32_t classes)
{
    uint32_t routers = spec->width * spec->height;
    return (struct topology_shape){
        .routers = routers, .ports = GRID_PORTS, .places = routers, .classes = classes};
}

static inline struct topology_end grid_entry(const struct noc_flits_spec *spec, uint32_t place)
{
    (void)spec;
    return (struct topology_end){.kind = END_ROUTER, .index = place, .port = GRID_NODE};
}

#endif
