/*
 * A ring of width routers, channels both ways. Port 0 leads to the next router, 1 to the one
 * before, 2 to the node; the way round as wrap.h says.
 */
#include "mem/noc/topology/wrap.h"

enum { RING_NODE = 2, RING_PORTS = 3 };

static void ring_shape(struct topology_shape *out, const struct noc_flits_spec *spec,
                       uint32_t nodes)
{
    (void)nodes;
    *out = (struct topology_shape){
        .routers = spec->width, .ports = RING_PORTS, .places = spec->width, .classes = 2};
}

static struct topology_end ring_output(const struct noc_flits_spec *spec, uint32_t router,
                                       uint32_t port)
{
    if (port == RING_NODE) {
        return (struct topology_end){.kind = END_NODE, .index = router};
    }
    uint32_t next = (router + (port == 0 ? 1 : spec->width - 1)) % spec->width;
    return (struct topology_end){.kind = END_ROUTER, .index = next, .port = port ^ 1};
}

static struct topology_end ring_entry(const struct noc_flits_spec *spec, uint32_t place)
{
    (void)spec;
    return (struct topology_end){.kind = END_ROUTER, .index = place, .port = RING_NODE};
}

static struct topology_way ring_route(const struct noc_flits_spec *spec, uint32_t router,
                                      uint32_t place)
{
    if (place == router) {
        return (struct topology_way){.port = RING_NODE};
    }
    return wrap_step(router, place, spec->width, 0);
}

const struct topology_ops topology_RING = {
    .shape = ring_shape, .output = ring_output, .entry = ring_entry, .route = ring_route};
