/*
 * A mesh of width x height routers with dimension-order routing: first along x, then along y,
 * which no circle of waiting packets survives (Dally and Towles, Principles and Practices of
 * Interconnection Networks, 2004, 14.3).
 */
#include "mem/noc/topology/grid.h"

static void mesh_shape(struct topology_shape *out, const struct noc_flits_spec *spec,
                       uint32_t nodes)
{
    (void)nodes;
    *out = grid_shape(spec, 1);
}

static struct topology_end mesh_output(const struct noc_flits_spec *spec, uint32_t router,
                                       uint32_t port)
{
    uint32_t x = router % spec->width, y = router / spec->width;
    switch (port) {
    case 0:
        if (x + 1 < spec->width) {
            return grid_neighbour(x + 1, y, spec->width, port);
        }
        break;
    case 1:
        if (x > 0) {
            return grid_neighbour(x - 1, y, spec->width, port);
        }
        break;
    case 2:
        if (y + 1 < spec->height) {
            return grid_neighbour(x, y + 1, spec->width, port);
        }
        break;
    case 3:
        if (y > 0) {
            return grid_neighbour(x, y - 1, spec->width, port);
        }
        break;
    default:
        return (struct topology_end){.kind = END_NODE, .index = router};
    }
    return (struct topology_end){.kind = END_NONE};
}

static struct topology_way mesh_route(const struct noc_flits_spec *spec, uint32_t router,
                                      uint32_t place)
{
    uint32_t x = router % spec->width, y = router / spec->width;
    uint32_t to_x = place % spec->width, to_y = place / spec->width;
    uint16_t port = GRID_NODE;
    if (to_x != x) {
        port = to_x > x ? 0 : 1;
    } else if (to_y != y) {
        port = to_y > y ? 2 : 3;
    }
    return (struct topology_way){.port = port};
}

const struct topology_ops topology_MESH = {
    .shape = mesh_shape, .output = mesh_output, .entry = grid_entry, .route = mesh_route};
