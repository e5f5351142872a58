/*
 * A torus of width x height routers: a mesh whose rows and columns are circles. Dimension order,
 * x first; along each circle as wrap.h says (Dally and Towles 2004, 14.3.1 and 14.2.3).
 */
#include "mem/noc/topology/grid.h"
#include "mem/noc/topology/wrap.h"

static void torus_shape(struct topology_shape *out, const struct noc_flits_spec *spec,
                        uint32_t nodes)
{
    (void)nodes;
    *out = grid_shape(spec, 2);
}

static struct topology_end torus_output(const struct noc_flits_spec *spec, uint32_t router,
                                        uint32_t port)
{
    uint32_t x = router % spec->width, y = router / spec->width;
    if (port == GRID_NODE) {
        return (struct topology_end){.kind = END_NODE, .index = router};
    }
    if (port < 2) {
        x = (x + (port == 0 ? 1 : spec->width - 1)) % spec->width;
    } else {
        y = (y + (port == 2 ? 1 : spec->height - 1)) % spec->height;
    }
    return grid_neighbour(x, y, spec->width, port);
}

static struct topology_way torus_route(const struct noc_flits_spec *spec, uint32_t router,
                                       uint32_t place)
{
    uint32_t x = router % spec->width, y = router / spec->width;
    uint32_t to_x = place % spec->width, to_y = place / spec->width;
    if (to_x != x) {
        return wrap_step(x, to_x, spec->width, 0);
    }
    if (to_y != y) {
        return wrap_step(y, to_y, spec->height, 2);
    }
    return (struct topology_way){.port = GRID_NODE};
}

const struct topology_ops topology_TORUS = {
    .shape = torus_shape, .output = torus_output, .entry = grid_entry, .route = torus_route};
