/* Nodes of graphs, as only the driver has them: of its own functions. */
#include "shim/both/graph.h"

int node_launch(struct shim_launch *out, const struct abi_kernel_node *from)
{
    static void *const none[1];
    *out = (struct shim_launch){.grid = {from->grid.x, from->grid.y, from->grid.z},
                                .block = {from->block.x, from->block.y, from->block.z},
                                .dynamic_shared_bytes = from->shared_bytes,
                                .function = from->function,
                                .args = from->args ? from->args : none};
    return shim_handle_is(from->function, SHIM_FUNCTION) ? SHIM_OK : SHIM_BAD_HANDLE;
}

static struct abi_copy3d_end end_told(const struct rt_end *end)
{
    return (struct abi_copy3d_end){.type = end->kind == RT_END_HOST ? 1 : 2,
                                   .host = end->host,
                                   .device = end->device,
                                   .pitch = end->row_bytes,
                                   .height = end->slice_rows};
}

/* Where a copy's end is an array there is no telling which. */
int copy_told(struct abi_copy3d_driver *out, const struct rt_copy *copy)
{
    if (copy->src.kind == RT_END_IMAGE || copy->dst.kind == RT_END_IMAGE) {
        return SHIM_NOT_SUPPORTED;
    }
    *out = (struct abi_copy3d_driver){.src = end_told(&copy->src),
                                      .dst = end_told(&copy->dst),
                                      .width = copy->width_bytes,
                                      .height = copy->height,
                                      .depth = copy->depth};
    return SHIM_OK;
}
