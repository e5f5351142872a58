/* What nodes of a graph are told, and tell. */
#include <string.h>

#include "shim/both/graph.h"

/* Of a kind, or it is none. */
static int params_of(const struct rt_node_params **out, void *node, enum rt_node_kind kind)
{
    int code = node_known(node);
    *out = code == SHIM_OK ? rt_node_params(node) : NULL;
    return code == SHIM_OK && (*out)->kind != kind ? SHIM_INVALID : code;
}

EXPORT int SECOND(GraphKernelNodeGetParams)(void *node, struct abi_kernel_node *out)
{
    const struct rt_node_params *params;
    int code = out ? params_of(&params, node, RT_NODE_LAUNCH) : SHIM_INVALID;
    if (code != SHIM_OK) {
        return RESULT(code);
    }
    const struct rt_launch *launch = &params->launch;
    *out = (struct abi_kernel_node){.function = shim_function_of(params->kernel),
                                    .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
                                    .block = {launch->block[0], launch->block[1], launch->block[2]},
                                    .shared_bytes = launch->dynamic_shared_bytes,
                                    .args = (void **)launch->args};
    return RESULT(SHIM_OK);
}

int node_set(void *node, const struct rt_node_params *params)
{
    int code = node_known(node);
    return code == SHIM_OK ? shim_code(rt_node_set(node, params)) : code;
}

EXPORT int SECOND(GraphKernelNodeSetParams)(void *node, const struct abi_kernel_node *from)
{
    struct node_params params;
    int code = kernel_params(&params, from);
    return RESULT(code == SHIM_OK ? node_set(node, &params.rt) : code);
}

enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTES = 19 }; /* cudaLaunchAttributeID */

/* Of those, the one that changes what a launch does; hints are taken and not kept. */
EXPORT int NAME(GraphKernelNodeSetAttribute)(void *node, int attribute, const int *value)
{
    const struct rt_node_params *params;
    int code = value && attribute > 0 && attribute <= ATTRIBUTES
                   ? params_of(&params, node, RT_NODE_LAUNCH)
                   : SHIM_INVALID;
    if (code == SHIM_OK && attribute == ATTRIBUTE_COOPERATIVE) {
        struct rt_node_params changed = *params;
        changed.launch.cooperative = *value != 0;
        code = shim_code(rt_node_set(node, &changed));
    }
    return RESULT(code);
}

EXPORT int NAME(GraphKernelNodeGetAttribute)(void *node, int attribute, int *value)
{
    const struct rt_node_params *params;
    int code = value && attribute > 0 && attribute <= ATTRIBUTES
                   ? params_of(&params, node, RT_NODE_LAUNCH)
                   : SHIM_INVALID;
    if (code == SHIM_OK) {
        memset(value, 0, 64);
        *value = attribute == ATTRIBUTE_COOPERATIVE && params->launch.cooperative;
    }
    return RESULT(code);
}

EXPORT int NAME(GraphKernelNodeCopyAttributes)(void *to, void *from)
{
    const struct rt_node_params *params, *own;
    int code = params_of(&params, from, RT_NODE_LAUNCH);
    code = code == SHIM_OK ? params_of(&own, to, RT_NODE_LAUNCH) : code;
    if (code == SHIM_OK) {
        struct rt_node_params changed = *own;
        changed.launch.cooperative = params->launch.cooperative;
        code = shim_code(rt_node_set(to, &changed));
    }
    return RESULT(code);
}

EXPORT int NAME(GraphMemcpyNodeSetParams)(void *node, const COPY3D *from)
{
    struct node_params params;
    int code = copy_params(&params, from);
    return RESULT(code == SHIM_OK ? node_set(node, &params.rt) : code);
}

EXPORT int NAME(GraphMemsetNodeSetParams)(void *node, const struct abi_memset_node *from)
{
    struct node_params params;
    int code = memset_params(&params, from);
    return RESULT(code == SHIM_OK ? node_set(node, &params.rt) : code);
}

EXPORT int NAME(GraphHostNodeSetParams)(void *node, const struct abi_host_node *from)
{
    struct rt_node_params params = {.kind = RT_NODE_HOST};
    if (!from || !from->fn) {
        return RESULT(SHIM_INVALID);
    }
    params.host = from->fn;
    params.ctx = from->ctx;
    return RESULT(node_set(node, &params));
}

/* The driver's forms are as long as the first ones: what came later is nobody's here. */
#ifndef SHIM_RUNTIME
EXPORT int cuGraphKernelNodeGetParams(void *node, struct abi_kernel_node *out)
{
    return cuGraphKernelNodeGetParams_v2(node, out);
}

EXPORT int cuGraphKernelNodeSetParams(void *node, const struct abi_kernel_node *from)
{
    return cuGraphKernelNodeSetParams_v2(node, from);
}
#endif

EXPORT int NAME(GraphMemcpyNodeGetParams)(void *node, COPY3D *out)
{
    const struct rt_node_params *params;
    int code = out ? params_of(&params, node, RT_NODE_COPY) : SHIM_INVALID;
    return RESULT(code == SHIM_OK ? copy_told(out, &params->copy) : code);
}

EXPORT int NAME(GraphMemsetNodeGetParams)(void *node, struct abi_memset_node *out)
{
    const struct rt_node_params *params;
    int code = out ? params_of(&params, node, RT_NODE_MEMSET) : SHIM_INVALID;
    if (code == SHIM_OK) {
        const struct rt_memset *set = &params->memset;
        *out = (struct abi_memset_node){.dst = (void *)(uintptr_t)set->address,
                                        .pitch = set->row_bytes,
                                        .value = set->value,
                                        .element_bytes = set->element_bytes,
                                        .width = set->width,
                                        .height = set->height};
    }
    return RESULT(code);
}

EXPORT int NAME(GraphHostNodeGetParams)(void *node, struct abi_host_node *out)
{
    const struct rt_node_params *params;
    int code = out ? params_of(&params, node, RT_NODE_HOST) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *out = (struct abi_host_node){params->host, params->ctx};
    }
    return RESULT(code);
}

static int event_get(void *node, void **out, enum rt_node_kind kind)
{
    const struct rt_node_params *params;
    int code = out ? params_of(&params, node, kind) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *out = params->event;
    }
    return code;
}

static int event_set(void *node, void *event, enum rt_node_kind kind)
{
    struct rt_node_params params = {.kind = kind, .event = event};
    return shim_handle_is(event, SHIM_EVENT) ? node_set(node, &params) : SHIM_BAD_HANDLE;
}

EXPORT int NAME(GraphEventRecordNodeGetEvent)(void *node, void **out)
{
    return RESULT(event_get(node, out, RT_NODE_RECORD));
}

EXPORT int NAME(GraphEventRecordNodeSetEvent)(void *node, void *event)
{
    return RESULT(event_set(node, event, RT_NODE_RECORD));
}

EXPORT int NAME(GraphEventWaitNodeGetEvent)(void *node, void **out)
{
    return RESULT(event_get(node, out, RT_NODE_WAIT));
}

EXPORT int NAME(GraphEventWaitNodeSetEvent)(void *node, void *event)
{
    return RESULT(event_set(node, event, RT_NODE_WAIT));
}

/* The node's own copy, which changes with the node. */
EXPORT int NAME(GraphChildGraphNodeGetGraph)(void *node, void **out)
{
    const struct rt_node_params *params;
    int code = out ? params_of(&params, node, RT_NODE_CHILD) : SHIM_INVALID;
    code = code == SHIM_OK ? shim_handle_add(params->child, SHIM_GRAPH) : code;
    if (code == SHIM_OK) {
        *out = params->child;
    }
    return RESULT(code);
}

EXPORT int NAME(GraphMemAllocNodeGetParams)(void *node, struct abi_alloc_node *out)
{
    const struct rt_node_params *params;
    int code = out ? params_of(&params, node, RT_NODE_ALLOC) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *out = (struct abi_alloc_node){.props = {.allocation = 1, .location = {1, 0}},
                                       .bytes = params->bytes,
                                       .ptr = (void *)(uintptr_t)params->address};
    }
    return RESULT(code);
}

EXPORT int NAME(GraphMemFreeNodeGetParams)(void *node, void **out)
{
    const struct rt_node_params *params;
    int code = out ? params_of(&params, node, RT_NODE_FREE) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *out = (void *)(uintptr_t)params->address;
    }
    return RESULT(code);
}
