/* One router with an input and an output for each node: a single hop, no way to choose. */
#include "mem/noc/topology/topology.h"

static void crossbar_shape(struct topology_shape *out, const struct noc_flits_spec *spec,
                           uint32_t nodes)
{
    (void)spec;
    *out = (struct topology_shape){.routers = 1, .ports = nodes, .places = nodes, .classes = 1};
}

static struct topology_end crossbar_output(const struct noc_flits_spec *spec, uint32_t router,
                                           uint32_t port)
{
    (void)spec;
    (void)router;
    return (struct topology_end){.kind = END_NODE, .index = port};
}

static struct topology_end crossbar_entry(const struct noc_flits_spec *spec, uint32_t place)
{
    (void)spec;
    return (struct topology_end){.kind = END_ROUTER, .index = 0, .port = place};
}

static struct topology_way crossbar_route(const struct noc_flits_spec *spec, uint32_t router,
                                          uint32_t place)
{
    (void)spec;
    (void)router;
    return (struct topology_way){.port = (uint16_t)place};
}

const struct topology_ops topology_CROSSBAR = {.shape = crossbar_shape,
                                               .output = crossbar_output,
                                               .entry = crossbar_entry,
                                               .route = crossbar_route};
