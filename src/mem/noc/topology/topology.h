/*
 * A topology: how many routers there are, what each of their outputs leads to, and which output a
 * packet takes. Nothing here has state; fabric.c asks once and keeps tables.
 *
 * Channels may come in two classes, where a packet must change from the first to the second on its
 * way so that no circle of packets waits for itself (Dally and Seitz 1987); a class is a share of
 * a channel's virtual channels.
 */
#ifndef SONDE_MEM_NOC_TOPOLOGY_TOPOLOGY_H
#define SONDE_MEM_NOC_TOPOLOGY_TOPOLOGY_H

#include "mem/spec.h"

struct topology_shape {
    uint32_t routers, ports; /* ports of each router, inputs as many as outputs */
    uint32_t places;         /* nodes that can be attached */
    uint32_t classes;        /* 1 or 2 */
};

/* One end of a channel. */
struct topology_end {
    enum { END_NONE, END_ROUTER, END_NODE } kind;
    uint32_t index, port; /* port: of the router */
};

struct topology_way {
    uint16_t port;
    uint8_t class;
};

struct topology_ops {
    /* `nodes` to be attached; the caller compares with `places`. */
    void (*shape)(struct topology_shape *out, const struct noc_flits_spec *spec, uint32_t nodes);
    /* Where output `port` of a router leads to; places stand for nodes. */
    struct topology_end (*output)(const struct noc_flits_spec *spec, uint32_t router,
                                  uint32_t port);
    /* The router's input at which a place's packets enter. */
    struct topology_end (*entry)(const struct noc_flits_spec *spec, uint32_t place);
    struct topology_way (*route)(const struct noc_flits_spec *spec, uint32_t router,
                                 uint32_t place);
};

#define TOPOLOGY(id, text, doc) extern const struct topology_ops topology_##id;
#include "mem/noc/topology/topology.def"
#undef TOPOLOGY

/* NULL when there is no such kind. */
const struct topology_ops *topology_ops_of(enum noc_topology topology);

#endif
