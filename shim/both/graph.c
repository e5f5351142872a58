/* Graphs: making them, node by node, and reading them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "shim/both/graph.h"
#include "sonde/sonde.h"

EXPORT int NAME(GraphCreate)(void **out, unsigned flags)
{
    struct rt *rt;
    struct rt_graph *graph;
    int code = out && flags == 0 ? DEVICE_OF(&rt) : SHIM_INVALID;
    code = code == SHIM_OK ? shim_code(rt_graph_create(rt, &graph)) : code;
    code = code == SHIM_OK ? shim_handle_add(graph, SHIM_GRAPH) : code;
    if (code == SHIM_OK) {
        *out = graph;
    }
    return RESULT(code);
}

EXPORT int NAME(GraphDestroy)(void *handle)
{
    struct rt_graph *graph;
    int code = graph_known(&graph, handle);
    if (code == SHIM_OK) {
        graph_forget(graph);
        rt_graph_destroy(graph);
        shim_user_drop(graph, NULL, UINT_MAX);
    }
    return RESULT(code);
}

EXPORT int NAME(GraphClone)(void **out, void *handle)
{
    struct rt_graph *graph, *clone;
    int code = out ? graph_known(&graph, handle) : SHIM_INVALID;
    code = code == SHIM_OK ? shim_code(rt_graph_clone(&clone, graph)) : code;
    code = code == SHIM_OK ? shim_handle_add(clone, SHIM_GRAPH) : code;
    code = code == SHIM_OK ? shim_user_inherit(clone, graph) : code;
    if (code == SHIM_OK) {
        *out = clone;
    }
    return RESULT(code);
}

int node_add(void **out, void *handle, void *const *deps, size_t count,
             struct rt_node_params *params)
{
    struct rt_graph *graph;
    struct rt_node *node = NULL;
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

EXPORT int SECOND(GraphAddKernelNode)(void **out, void *graph, void *const *deps, size_t count,
                                      const struct abi_kernel_node *from)
{
    struct node_params params;
    int code = kernel_params(&params, from);
    return RESULT(code == SHIM_OK ? node_add(out, graph, deps, count, &params.rt) : code);
}

#ifndef SHIM_RUNTIME /* without what is behind the first parameters, which nobody reads */
EXPORT int cuGraphAddKernelNode(void **out, void *graph, void *const *deps, size_t count,
                                const struct abi_kernel_node *from)
{
    return cuGraphAddKernelNode_v2(out, graph, deps, count, from);
}
#endif

EXPORT int NAME(GraphAddMemcpyNode)(void **out, void *graph, void *const *deps, size_t count,
                                    const COPY3D *from)
{
    struct node_params params;
    int code = copy_params(&params, from);
    return RESULT(code == SHIM_OK ? node_add(out, graph, deps, count, &params.rt) : code);
}

EXPORT int NAME(GraphAddMemsetNode)(void **out, void *graph, void *const *deps, size_t count,
                                    const struct abi_memset_node *from)
{
    struct node_params params;
    int code = memset_params(&params, from);
    return RESULT(code == SHIM_OK ? node_add(out, graph, deps, count, &params.rt) : code);
}

EXPORT int NAME(GraphAddHostNode)(void **out, void *graph, void *const *deps, size_t count,
                                  const struct abi_host_node *from)
{
    struct rt_node_params params = {.kind = RT_NODE_HOST};
    if (!from || !from->fn) {
        return RESULT(SHIM_INVALID);
    }
    params.host = from->fn;
    params.ctx = from->ctx;
    return RESULT(node_add(out, graph, deps, count, &params));
}

EXPORT int NAME(GraphAddEmptyNode)(void **out, void *graph, void *const *deps, size_t count)
{
    struct rt_node_params params = {.kind = RT_NODE_EMPTY};
    return RESULT(node_add(out, graph, deps, count, &params));
}

EXPORT int NAME(GraphAddChildGraphNode)(void **out, void *graph, void *const *deps, size_t count,
                                        void *child)
{
    struct rt_node_params params = {.kind = RT_NODE_CHILD};
    int code = graph_known(&params.child, child);
    return RESULT(code == SHIM_OK ? node_add(out, graph, deps, count, &params) : code);
}

static int add_event(void **out, void *graph, void *const *deps, size_t count, void *event,
                     enum rt_node_kind kind)
{
    struct rt_node_params params = {.kind = kind, .event = event};
    return shim_handle_is(event, SHIM_EVENT) ? node_add(out, graph, deps, count, &params)
                                             : SHIM_BAD_HANDLE;
}

EXPORT int NAME(GraphAddEventRecordNode)(void **out, void *graph, void *const *deps, size_t count,
                                         void *event)
{
    return RESULT(add_event(out, graph, deps, count, event, RT_NODE_RECORD));
}

EXPORT int NAME(GraphAddEventWaitNode)(void **out, void *graph, void *const *deps, size_t count,
                                       void *event)
{
    return RESULT(add_event(out, graph, deps, count, event, RT_NODE_WAIT));
}

EXPORT int NAME(GraphAddMemAllocNode)(void **out, void *graph, void *const *deps, size_t count,
                                      struct abi_alloc_node *from)
{
    struct rt_node_params params = {.kind = RT_NODE_ALLOC};
    if (!from || from->bytes == 0) {
        return RESULT(SHIM_INVALID);
    }
    params.bytes = from->bytes;
    int code = node_add(out, graph, deps, count, &params);
    from->ptr = (void *)(uintptr_t)params.address;
    return RESULT(code);
}

EXPORT int NAME(GraphAddMemFreeNode)(void **out, void *graph, void *const *deps, size_t count,
                                     void *pointer)
{
    struct rt_node_params params = {.kind = RT_NODE_FREE, .address = (uintptr_t)pointer};
    return RESULT(node_add(out, graph, deps, count, &params));
}

/* Its graphs are the node's; the program fills them before it instantiates. */
static int add_condition(void **out, void *graph, void *const *deps, size_t count,
                         struct abi_conditional_node *from)
{
    struct rt_node_params params = {.kind = RT_NODE_CONDITION,
                                    .condition = from->handle,
                                    .when = (enum rt_condition)from->kind,
                                    .body_count = from->size};
    int code = from->kind >= 0 && from->kind <= 2 ? SHIM_OK : SHIM_INVALID;
#ifndef SHIM_RUNTIME
    const unsigned most[] = {2, 1, UINT32_MAX};
    if (code == SHIM_OK && (from->size == 0 || from->size > most[from->kind])) {
        code = SHIM_INVALID;
    }
    code = code == SHIM_OK && !from->context ? SHIM_BAD_CONTEXT : code;
#endif
    code = code == SHIM_OK ? node_add(out, graph, deps, count, &params) : code;
    if (code != SHIM_OK) {
        return code;
    }
    const struct rt_node_params *own = rt_node_params(*out);
    for (size_t i = 0; i < own->body_count; i++) {
        shim_handle_add(own->bodies[i], SHIM_GRAPH);
    }
    from->graphs = (void **)own->bodies;
    return SHIM_OK;
}

static int add_node(void **out, void *graph, void *const *deps, size_t count, struct abi_node *from)
{
    if (!from) {
        return RESULT(SHIM_INVALID);
    }
    switch (from->type) {
    case 0:
        return SECOND(GraphAddKernelNode)(out, graph, deps, count,
                                          (const struct abi_kernel_node *)&from->kernel);
    case 1:
        return NAME(GraphAddMemcpyNode)(out, graph, deps, count, (const COPY3D *)&from->copy.copy);
    case 2:
        return NAME(GraphAddMemsetNode)(out, graph, deps, count, &from->memset);
    case 3:
        return NAME(GraphAddHostNode)(out, graph, deps, count, &from->host);
    case 4:
        return NAME(GraphAddChildGraphNode)(out, graph, deps, count, from->child.graph);
    case 5:
        return NAME(GraphAddEmptyNode)(out, graph, deps, count);
    case 6:
        return NAME(GraphAddEventWaitNode)(out, graph, deps, count, from->event.event);
    case 7:
        return NAME(GraphAddEventRecordNode)(out, graph, deps, count, from->event.event);
    case 10:
        return NAME(GraphAddMemAllocNode)(out, graph, deps, count, &from->alloc);
    case 11:
        return NAME(GraphAddMemFreeNode)(out, graph, deps, count, from->release.ptr);
    case 13:
        return RESULT(add_condition(out, graph, deps, count, &from->conditional));
    default:
        shim_say("nodes of type %d of a graph are not supported", from->type);
        return RESULT(SHIM_NOT_SUPPORTED);
    }
}

EXPORT int EDGED(GraphAddNode)(void **out, void *graph, void *const *deps, const void *edges,
                               size_t count, struct abi_node *from)
{
    (void)edges;
    return add_node(out, graph, deps, count, from);
}

#ifdef HAS_UNEDGED
EXPORT int NAME(GraphAddNode)(void **out, void *graph, void *const *deps, size_t count,
                              struct abi_node *from)
{
    return add_node(out, graph, deps, count, from);
}
#endif

/* Values that kernels set, for loops and branches. */
static int handle_create(uint64_t *out, void *handle, unsigned value, unsigned flags)
{
    struct rt *rt;
    struct rt_graph *graph;
    int code = out && flags <= 1 ? graph_known(&graph, handle) : SHIM_INVALID;
    code = code == SHIM_OK ? DEVICE_OF(&rt) : code;
    return code == SHIM_OK ? shim_code(rt_condition_create(rt, out, value, flags == 1)) : code;
}

#ifdef SHIM_RUNTIME
EXPORT int cudaGraphConditionalHandleCreate(uint64_t *out, void *graph, unsigned value,
                                            unsigned flags)
{
    return RESULT(handle_create(out, graph, value, flags));
}
#else
EXPORT int cuGraphConditionalHandleCreate(uint64_t *out, void *graph, void *context, unsigned value,
                                          unsigned flags)
{
    struct rt_graph *known;
    bool asked = out && flags <= 1 && graph_known(&known, graph) == SHIM_OK;
    return RESULT(asked && !context ? SHIM_BAD_CONTEXT : handle_create(out, graph, value, flags));
}
#endif

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

EXPORT int EDGED(GraphAddDependencies)(void *graph, void *const *from, void *const *to,
                                       const void *edges, size_t count)
{
    (void)edges;
    return RESULT(depend(graph, from, to, count, false));
}

EXPORT int EDGED(GraphRemoveDependencies)(void *graph, void *const *from, void *const *to,
                                          const void *edges, size_t count)
{
    (void)edges;
    return RESULT(depend(graph, from, to, count, true));
}

#ifdef HAS_UNEDGED
EXPORT int NAME(GraphAddDependencies)(void *graph, void *const *from, void *const *to, size_t count)
{
    return RESULT(depend(graph, from, to, count, false));
}

EXPORT int NAME(GraphRemoveDependencies)(void *graph, void *const *from, void *const *to,
                                         size_t count)
{
    return RESULT(depend(graph, from, to, count, true));
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

EXPORT int NAME(GraphGetNodes)(void *graph, void **out, size_t *count)
{
    return RESULT(nodes(graph, out, count, false));
}

EXPORT int NAME(GraphGetRootNodes)(void *graph, void **out, size_t *count)
{
    return RESULT(nodes(graph, out, count, true));
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

static int dependents_of(void *handle, void **out, size_t *count)
{
    size_t found = 0;
    int code = count ? node_known(handle) : SHIM_INVALID;
    const struct rt_graph *graph = code == SHIM_OK ? rt_node_graph(handle) : NULL;
    for (size_t i = 0; code == SHIM_OK && i < rt_graph_nodes(graph); i++) {
        struct rt_node *node = rt_graph_node(graph, i);
        for (size_t k = 0; k < rt_node_deps(node); k++) {
            if (rt_node_dep(node, k) != handle) {
                continue;
            }
            shim_handle_add(node, SHIM_NODE);
            if (out && found < *count) {
                out[found] = node;
            }
            found++;
        }
    }
    if (code == SHIM_OK) {
        *count = found;
    }
    return code;
}

/* Edges of the one kind that there is. */
static int plain_edges(int code, void *data, const size_t *count)
{
    if (code == SHIM_OK && data) {
        memset(data, 0, *count * 8);
    }
    return RESULT(code);
}

EXPORT int EDGED(GraphGetEdges)(void *graph, void **from, void **to, void *data, size_t *count)
{
    return plain_edges(edges_of(graph, from, to, count), data, count);
}

EXPORT int EDGED(GraphNodeGetDependencies)(void *node, void **out, void *data, size_t *count)
{
    return plain_edges(deps_of(node, out, count), data, count);
}

EXPORT int EDGED(GraphNodeGetDependentNodes)(void *node, void **out, void *data, size_t *count)
{
    return plain_edges(dependents_of(node, out, count), data, count);
}

#ifdef HAS_UNEDGED
EXPORT int NAME(GraphGetEdges)(void *graph, void **from, void **to, size_t *count)
{
    return RESULT(edges_of(graph, from, to, count));
}

EXPORT int NAME(GraphNodeGetDependencies)(void *node, void **out, size_t *count)
{
    return RESULT(deps_of(node, out, count));
}

EXPORT int NAME(GraphNodeGetDependentNodes)(void *node, void **out, size_t *count)
{
    return RESULT(dependents_of(node, out, count));
}
#endif

EXPORT int NAME(GraphNodeGetType)(void *node, int *type)
{
    static const int types[] = {
        [RT_NODE_LAUNCH] = 0, [RT_NODE_COPY] = 1,  [RT_NODE_MEMSET] = 2,    [RT_NODE_HOST] = 3,
        [RT_NODE_CHILD] = 4,  [RT_NODE_EMPTY] = 5, [RT_NODE_WAIT] = 6,      [RT_NODE_RECORD] = 7,
        [RT_NODE_ALLOC] = 10, [RT_NODE_FREE] = 11, [RT_NODE_CONDITION] = 13};
    int code = type ? node_known(node) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *type = types[rt_node_params(node)->kind];
    }
    return RESULT(code);
}

EXPORT int NAME(GraphNodeFindInClone)(void **out, void *node, void *clone)
{
    struct rt_graph *graph;
    int code = out ? graph_known(&graph, clone) : SHIM_INVALID;
    code = code == SHIM_OK ? node_known(node) : code;
    struct rt_node *found = code == SHIM_OK ? rt_graph_find(graph, node) : NULL;
    if (code == SHIM_OK && !found) {
        return RESULT(SHIM_INVALID);
    }
    if (found) {
        shim_handle_add(found, SHIM_NODE);
        *out = found;
    }
    return RESULT(code);
}

EXPORT int NAME(GraphDestroyNode)(void *node)
{
    int code = node_known(node);
    if (code == SHIM_OK) {
        shim_handle_remove(node);
        code = shim_code(rt_graph_remove(node));
    }
    return RESULT(code);
}
