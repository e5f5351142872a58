/* Parameters of nodes, from the program's to the queue's. */
#include "shim/both/graph.h"

int kernel_params(struct node_params *out, const struct abi_kernel_node *from)
{
    struct shim_launch launch;
    struct rt *rt;
    if (!from) {
        return SHIM_INVALID;
    }
    int code = DEVICE_OF(&rt);
    code = code == SHIM_OK ? node_launch(&launch, from) : code;
    if (code == SHIM_OK && !from->args && from->extra) {
        launch.args = NULL;
        for (size_t i = 0; from->extra[i] != ABI_PARAM_END; i += 2) {
            if (from->extra[i] == ABI_PARAM_POINTER) {
                launch.packed = from->extra[i + 1];
            } else if (from->extra[i] == ABI_PARAM_SIZE) {
                launch.packed_bytes = *(const size_t *)from->extra[i + 1];
            }
        }
    }
    out->rt = (struct rt_node_params){.kind = RT_NODE_LAUNCH};
    return code == SHIM_OK
               ? shim_launch_fill(rt, &out->rt.launch, &out->rt.kernel, out->pointers, &launch)
               : code;
}

int copy_params(struct node_params *out, const COPY3D *from)
{
    struct rt *rt;
    out->rt = (struct rt_node_params){.kind = RT_NODE_COPY};
    int code = from ? DEVICE_OF(&rt) : SHIM_INVALID;
    return code == SHIM_OK ? COPY3D_FILL(rt, &out->rt.copy, from) : code;
}

int memset_params(struct node_params *out, const struct abi_memset_node *from)
{
    if (!from || !from->dst ||
        (from->element_bytes != 1 && from->element_bytes != 2 && from->element_bytes != 4)) {
        return SHIM_INVALID;
    }
    out->rt = (struct rt_node_params){.kind = RT_NODE_MEMSET,
                                      .memset = {.address = (uintptr_t)from->dst,
                                                 .row_bytes = from->height > 1 ? from->pitch : 0,
                                                 .value = from->value,
                                                 .element_bytes = from->element_bytes,
                                                 .width = from->width,
                                                 .height = from->height}};
    return SHIM_OK;
}

int graph_known(struct rt_graph **out, void *handle)
{
    *out = handle;
    return shim_handle_is(handle, SHIM_GRAPH) ? SHIM_OK : SHIM_INVALID;
}

int node_known(void *handle)
{
    return shim_handle_is(handle, SHIM_NODE) ? SHIM_OK : SHIM_INVALID;
}

void graph_forget(struct rt_graph *graph)
{
    for (size_t i = 0; i < rt_graph_nodes(graph); i++) {
        struct rt_node *node = rt_graph_node(graph, i);
        const struct rt_node_params *params = rt_node_params(node);
        if (params->kind == RT_NODE_CHILD) {
            graph_forget(params->child);
        }
        for (size_t k = 0; params->kind == RT_NODE_CONDITION && k < params->body_count; k++) {
            graph_forget(params->bodies[k]);
        }
        shim_handle_remove(node);
    }
    shim_handle_remove(graph);
}

void *end_pointer(const struct rt_end *end)
{
    return end->kind == RT_END_HOST ? end->host : (void *)(uintptr_t)end->device;
}
