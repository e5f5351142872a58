/* Graphs: making them, node by node, and reading them. */
#include <stdlib.h>
#include <string.h>

#include "shim/runtime/graph.h"
#include "sonde/sonde.h"

EXPORT int cudaGraphCreate(void **out, unsigned flags)
{
    struct rt *rt;
    struct rt_graph *graph;
    int code = out && flags == 0 ? shim_device(&rt) : SHIM_INVALID;
    code = code == SHIM_OK ? shim_code(rt_graph_create(rt, &graph)) : code;
    code = code == SHIM_OK ? shim_handle_add(graph, SHIM_GRAPH) : code;
    if (code == SHIM_OK) {
        *out = graph;
    }
    return last(code);
}

EXPORT int cudaGraphDestroy(void *handle)
{
    struct rt_graph *graph;
    int code = graph_known(&graph, handle);
    if (code == SHIM_OK) {
        graph_forget(graph);
        rt_graph_destroy(graph);
    }
    return last(code);
}

EXPORT int cudaGraphClone(void **out, void *handle)
{
    struct rt_graph *graph, *clone;
    int code = out ? graph_known(&graph, handle) : SHIM_INVALID;
    code = code == SHIM_OK ? shim_code(rt_graph_clone(&clone, graph)) : code;
    code = code == SHIM_OK ? shim_handle_add(clone, SHIM_GRAPH) : code;
    if (code == SHIM_OK) {
        *out = clone;
    }
    return last(code);
}

static int add(void **out, void *handle, void *const *deps, size_t count,
               struct rt_node_params *params)
{
    struct rt_graph *graph;
    struct rt_node *node;
    int code = out && (deps || count == 0) ? graph_known(&graph, handle) : SHIM_INVALID;
    for (size_t i = 0; code == SHIM_OK && i < count; i++) {
        code = node_known(deps[i]);
    }
    if (code == SHIM_OK) {
        code = shim_code(rt_graph_add(graph, &node, (struct rt_node *const *)deps, count, params));
    }
    code = code == SHIM_OK ? shim_handle_add(node, SHIM_NODE) : code;
    if (code == SHIM_OK) {
        *out = node;
    }
    return code;
}

EXPORT int cudaGraphAddKernelNode(void **out, void *graph, void *const *deps, size_t count,
                                  const struct abi_kernel_node *from)
{
    struct node_params params;
    int code = kernel_params(&params, from);
    return last(code == SHIM_OK ? add(out, graph, deps, count, &params.rt) : code);
}

EXPORT int cudaGraphAddMemcpyNode(void **out, void *graph, void *const *deps, size_t count,
                                  const struct abi_copy3d *from)
{
    struct node_params params;
    int code = copy_params(&params, from);
    return last(code == SHIM_OK ? add(out, graph, deps, count, &params.rt) : code);
}

EXPORT int cudaGraphAddMemcpyNode1D(void **out, void *graph, void *const *deps, size_t count,
                                    void *dst, const void *src, size_t bytes, int kind)
{
    struct node_params params;
    int code = copy1d_params(&params, dst, src, bytes, kind);
    return last(code == SHIM_OK ? add(out, graph, deps, count, &params.rt) : code);
}

EXPORT int cudaGraphAddMemcpyNodeToSymbol(void **out, void *graph, void *const *deps, size_t count,
                                          const void *symbol, const void *src, size_t bytes,
                                          size_t offset, int kind)
{
    struct variable variable;
    int code = variable_of(&variable, symbol);
    if (code != SHIM_OK || offset > variable.bytes || bytes > variable.bytes - offset) {
        return last(code == SHIM_OK ? SHIM_INVALID : code);
    }
    return cudaGraphAddMemcpyNode1D(
        out, graph, deps, count, (void *)(uintptr_t)(variable.address + offset), src, bytes, kind);
}

EXPORT int cudaGraphAddMemcpyNodeFromSymbol(void **out, void *graph, void *const *deps,
                                            size_t count, void *dst, const void *symbol,
                                            size_t bytes, size_t offset, int kind)
{
    struct variable variable;
    int code = variable_of(&variable, symbol);
    if (code != SHIM_OK || offset > variable.bytes || bytes > variable.bytes - offset) {
        return last(code == SHIM_OK ? SHIM_INVALID : code);
    }
    return cudaGraphAddMemcpyNode1D(out, graph, deps, count, dst,
                                    (void *)(uintptr_t)(variable.address + offset), bytes, kind);
}

EXPORT int cudaGraphAddMemsetNode(void **out, void *graph, void *const *deps, size_t count,
                                  const struct abi_memset_node *from)
{
    struct node_params params;
    int code = memset_params(&params, from);
    return last(code == SHIM_OK ? add(out, graph, deps, count, &params.rt) : code);
}

EXPORT int cudaGraphAddHostNode(void **out, void *graph, void *const *deps, size_t count,
                                const struct abi_host_node *from)
{
    struct rt_node_params params = {.kind = RT_NODE_HOST};
    if (!from || !from->fn) {
        return last(SHIM_INVALID);
    }
    params.host = from->fn;
    params.ctx = from->ctx;
    return last(add(out, graph, deps, count, &params));
}

EXPORT int cudaGraphAddEmptyNode(void **out, void *graph, void *const *deps, size_t count)
{
    struct rt_node_params params = {.kind = RT_NODE_EMPTY};
    return last(add(out, graph, deps, count, &params));
}

EXPORT int cudaGraphAddChildGraphNode(void **out, void *graph, void *const *deps, size_t count,
                                      void *child)
{
    struct rt_node_params params = {.kind = RT_NODE_CHILD};
    int code = graph_known(&params.child, child);
    return last(code == SHIM_OK ? add(out, graph, deps, count, &params) : code);
}

static int add_event(void **out, void *graph, void *const *deps, size_t count, void *event,
                     enum rt_node_kind kind)
{
    struct rt_node_params params = {.kind = kind, .event = event};
    return shim_handle_is(event, SHIM_EVENT) ? add(out, graph, deps, count, &params)
                                             : SHIM_BAD_HANDLE;
}

EXPORT int cudaGraphAddEventRecordNode(void **out, void *graph, void *const *deps, size_t count,
                                       void *event)
{
    return last(add_event(out, graph, deps, count, event, RT_NODE_RECORD));
}

EXPORT int cudaGraphAddEventWaitNode(void **out, void *graph, void *const *deps, size_t count,
                                     void *event)
{
    return last(add_event(out, graph, deps, count, event, RT_NODE_WAIT));
}

EXPORT int cudaGraphAddMemAllocNode(void **out, void *graph, void *const *deps, size_t count,
                                    struct abi_alloc_node *from)
{
    struct rt_node_params params = {.kind = RT_NODE_ALLOC};
    if (!from || from->bytes == 0) {
        return last(SHIM_INVALID);
    }
    params.bytes = from->bytes;
    int code = add(out, graph, deps, count, &params);
    from->ptr = (void *)(uintptr_t)params.address;
    return last(code);
}

EXPORT int cudaGraphAddMemFreeNode(void **out, void *graph, void *const *deps, size_t count,
                                   void *pointer)
{
    struct rt_node_params params = {.kind = RT_NODE_FREE, .address = (uintptr_t)pointer};
    return last(add(out, graph, deps, count, &params));
}

static int add_node(void **out, void *graph, void *const *deps, size_t count, struct abi_node *from)
{
    if (!from) {
        return last(SHIM_INVALID);
    }
    switch (from->type) {
    case 0:
        return cudaGraphAddKernelNode(out, graph, deps, count,
                                      (const struct abi_kernel_node *)&from->kernel);
    case 1:
        return cudaGraphAddMemcpyNode(out, graph, deps, count, &from->copy.copy);
    case 2:
        return cudaGraphAddMemsetNode(out, graph, deps, count, &from->memset);
    case 3:
        return cudaGraphAddHostNode(out, graph, deps, count, &from->host);
    case 4:
        return cudaGraphAddChildGraphNode(out, graph, deps, count, from->child.graph);
    case 5:
        return cudaGraphAddEmptyNode(out, graph, deps, count);
    case 6:
        return cudaGraphAddEventWaitNode(out, graph, deps, count, from->event.event);
    case 7:
        return cudaGraphAddEventRecordNode(out, graph, deps, count, from->event.event);
    case 10:
        return cudaGraphAddMemAllocNode(out, graph, deps, count, &from->alloc);
    case 11:
        return cudaGraphAddMemFreeNode(out, graph, deps, count, from->release.ptr);
    default:
        shim_say("nodes of type %d of a graph are not supported", from->type);
        return last(SHIM_NOT_SUPPORTED);
    }
}

#if SHIM_RUNTIME >= 13
EXPORT int cudaGraphAddNode(void **out, void *graph, void *const *deps, const void *edges,
                            size_t count, struct abi_node *from)
{
    (void)edges;
    return add_node(out, graph, deps, count, from);
}
#else
EXPORT int cudaGraphAddNode(void **out, void *graph, void *const *deps, size_t count,
                            struct abi_node *from)
{
    return add_node(out, graph, deps, count, from);
}

EXPORT int cudaGraphAddNode_v2(void **out, void *graph, void *const *deps, const void *edges,
                               size_t count, struct abi_node *from)
{
    (void)edges;
    return add_node(out, graph, deps, count, from);
}
#endif

/* Loops and branches by values that kernels set: there is no such thing here yet. */
EXPORT int cudaGraphConditionalHandleCreate(uint64_t *out, void *graph, unsigned value,
                                            unsigned flags)
{
    (void)out, (void)graph, (void)value, (void)flags;
    return last(shim_missing(__func__));
}

static int depend(void *handle, void *const *from, void *const *to, size_t count, bool remove)
{
    struct rt_graph *graph;
    int code = (from && to) || count == 0 ? graph_known(&graph, handle) : SHIM_INVALID;
    for (size_t i = 0; code == SHIM_OK && i < count; i++) {
        code = node_known(from[i]);
        code = code == SHIM_OK ? node_known(to[i]) : code;
        if (code == SHIM_OK) {
            code = shim_code(remove ? rt_graph_undepend(graph, from[i], to[i])
                                    : rt_graph_depend(graph, from[i], to[i]));
        }
    }
    return code;
}

#if SHIM_RUNTIME >= 13
EXPORT int cudaGraphAddDependencies(void *graph, void *const *from, void *const *to,
                                    const void *edges, size_t count)
{
    (void)edges;
    return last(depend(graph, from, to, count, false));
}

EXPORT int cudaGraphRemoveDependencies(void *graph, void *const *from, void *const *to,
                                       const void *edges, size_t count)
{
    (void)edges;
    return last(depend(graph, from, to, count, true));
}
#else
EXPORT int cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, size_t count)
{
    return last(depend(graph, from, to, count, false));
}

EXPORT int cudaGraphRemoveDependencies(void *graph, void *const *from, void *const *to,
                                       size_t count)
{
    return last(depend(graph, from, to, count, true));
}
#endif

/* Writes up to *count of the nodes that fit; without a place, tells how many there are. */
static int nodes(void *handle, void **out, size_t *count, bool only_roots)
{
    struct rt_graph *graph;
    size_t found = 0;
    int code = count ? graph_known(&graph, handle) : SHIM_INVALID;
    for (size_t i = 0; code == SHIM_OK && i < rt_graph_nodes(graph); i++) {
        struct rt_node *node = rt_graph_node(graph, i);
        if (only_roots && rt_node_deps(node) > 0) {
            continue;
        }
        shim_handle_add(node, SHIM_NODE); /* captured ones are seen here first */
        if (out && found < *count) {
            out[found] = node;
        }
        found++;
    }
    for (size_t i = found; code == SHIM_OK && out && i < *count; i++) {
        out[i] = NULL;
    }
    if (code == SHIM_OK) {
        *count = found;
    }
    return code;
}

EXPORT int cudaGraphGetNodes(void *graph, void **out, size_t *count)
{
    return last(nodes(graph, out, count, false));
}

EXPORT int cudaGraphGetRootNodes(void *graph, void **out, size_t *count)
{
    return last(nodes(graph, out, count, true));
}

static int edges_of(void *handle, void **from, void **to, size_t *count)
{
    struct rt_graph *graph;
    size_t found = 0;
    int code = count ? graph_known(&graph, handle) : SHIM_INVALID;
    for (size_t i = 0; code == SHIM_OK && i < rt_graph_nodes(graph); i++) {
        struct rt_node *node = rt_graph_node(graph, i);
        shim_handle_add(node, SHIM_NODE);
        for (size_t k = 0; k < rt_node_deps(node); k++, found++) {
            if (from && to && found < *count) {
                from[found] = rt_node_dep(node, k);
                to[found] = node;
            }
        }
    }
    if (code == SHIM_OK) {
        *count = found;
    }
    return code;
}

static int deps_of(void *node, void **out, size_t *count)
{
    int code = count ? node_known(node) : SHIM_INVALID;
    if (code == SHIM_OK) {
        size_t found = rt_node_deps(node);
        for (size_t i = 0; out && i < found && i < *count; i++) {
            out[i] = rt_node_dep(node, i);
        }
        *count = found;
    }
    return code;
}

#if SHIM_RUNTIME >= 13
EXPORT int cudaGraphGetEdges(void *graph, void **from, void **to, void *data, size_t *count)
{
    int code = edges_of(graph, from, to, count);
    if (code == SHIM_OK && data) {
        memset(data, 0, *count * 8);
    }
    return last(code);
}

EXPORT int cudaGraphNodeGetDependencies(void *node, void **out, void *data, size_t *count)
{
    int code = deps_of(node, out, count);
    if (code == SHIM_OK && data) {
        memset(data, 0, *count * 8);
    }
    return last(code);
}
#else
EXPORT int cudaGraphGetEdges(void *graph, void **from, void **to, size_t *count)
{
    return last(edges_of(graph, from, to, count));
}

EXPORT int cudaGraphNodeGetDependencies(void *node, void **out, size_t *count)
{
    return last(deps_of(node, out, count));
}
#endif

EXPORT int cudaGraphNodeGetType(void *node, int *type)
{
    static const int types[] = {
        [RT_NODE_LAUNCH] = 0, [RT_NODE_COPY] = 1,  [RT_NODE_MEMSET] = 2, [RT_NODE_HOST] = 3,
        [RT_NODE_CHILD] = 4,  [RT_NODE_EMPTY] = 5, [RT_NODE_WAIT] = 6,   [RT_NODE_RECORD] = 7,
        [RT_NODE_ALLOC] = 10, [RT_NODE_FREE] = 11};
    int code = type ? node_known(node) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *type = types[rt_node_params(node)->kind];
    }
    return last(code);
}

EXPORT int cudaGraphNodeFindInClone(void **out, void *node, void *clone)
{
    struct rt_graph *graph;
    int code = out ? graph_known(&graph, clone) : SHIM_INVALID;
    code = code == SHIM_OK ? node_known(node) : code;
    struct rt_node *found = code == SHIM_OK ? rt_graph_find(graph, node) : NULL;
    if (code == SHIM_OK && !found) {
        return last(SHIM_INVALID);
    }
    if (found) {
        shim_handle_add(found, SHIM_NODE);
        *out = found;
    }
    return last(code);
}

EXPORT int cudaGraphDestroyNode(void *node)
{
    int code = node_known(node);
    if (code == SHIM_OK) {
        shim_handle_remove(node);
        code = shim_code(rt_graph_remove(node));
    }
    return last(code);
}

EXPORT int cudaGraphKernelNodeGetParams(void *node, struct abi_kernel_node *out)
{
    int code = out ? node_known(node) : SHIM_INVALID;
    if (code != SHIM_OK || rt_node_params(node)->kind != RT_NODE_LAUNCH) {
        return last(code == SHIM_OK ? SHIM_INVALID : code);
    }
    const struct rt_node_params *params = rt_node_params(node);
    const struct rt_launch *launch = &params->launch;
    *out = (struct abi_kernel_node){.function = shim_function_of(params->kernel),
                                    .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
                                    .block = {launch->block[0], launch->block[1], launch->block[2]},
                                    .shared_bytes = launch->dynamic_shared_bytes,
                                    .args = (void **)launch->args};
    return last(SHIM_OK);
}

static int set(void *node, const struct rt_node_params *params)
{
    int code = node_known(node);
    return code == SHIM_OK ? shim_code(rt_node_set(node, params)) : code;
}

EXPORT int cudaGraphKernelNodeSetParams(void *node, const struct abi_kernel_node *from)
{
    struct node_params params;
    int code = kernel_params(&params, from);
    return last(code == SHIM_OK ? set(node, &params.rt) : code);
}

EXPORT int cudaGraphMemcpyNodeSetParams(void *node, const struct abi_copy3d *from)
{
    struct node_params params;
    int code = copy_params(&params, from);
    return last(code == SHIM_OK ? set(node, &params.rt) : code);
}

EXPORT int cudaGraphMemcpyNodeSetParams1D(void *node, void *dst, const void *src, size_t bytes,
                                          int kind)
{
    struct node_params params;
    int code = copy1d_params(&params, dst, src, bytes, kind);
    return last(code == SHIM_OK ? set(node, &params.rt) : code);
}

EXPORT int cudaGraphMemsetNodeSetParams(void *node, const struct abi_memset_node *from)
{
    struct node_params params;
    int code = memset_params(&params, from);
    return last(code == SHIM_OK ? set(node, &params.rt) : code);
}

EXPORT int cudaGraphHostNodeSetParams(void *node, const struct abi_host_node *from)
{
    struct rt_node_params params = {.kind = RT_NODE_HOST};
    if (!from || !from->fn) {
        return last(SHIM_INVALID);
    }
    params.host = from->fn;
    params.ctx = from->ctx;
    return last(set(node, &params));
}
