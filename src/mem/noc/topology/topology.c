/* The topologies by their kind. */
#include "mem/noc/topology/topology.h"

#include <stddef.h>

static const struct topology_ops *const kinds[NOC_TOPOLOGY_COUNT] = {
#define TOPOLOGY(id, text, doc) [NOC_TOPOLOGY_##id] = &topology_##id,
#include "mem/noc/topology/topology.def"
#undef TOPOLOGY
};

const struct topology_ops *topology_ops_of(enum noc_topology topology)
{
    return (unsigned)topology < NOC_TOPOLOGY_COUNT ? kinds[topology] : NULL;
}
