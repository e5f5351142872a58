/* User objects of graphs, and graphs as text. */
#include <limits.h>
#include <stdio.h>

#include "shim/both/graph.h"

EXPORT int NAME(UserObjectCreate)(void **out, void *object, void (*destroy)(void *), unsigned count,
                                  unsigned flags)
{
    /* The one flag says that nobody waits for the function; programs must give it. */
    return RESULT(flags == 1 ? shim_user_create(out, object, destroy, count) : SHIM_INVALID);
}

EXPORT int NAME(UserObjectRetain)(void *object, unsigned count)
{
    return RESULT(shim_user_retain(object, count));
}

EXPORT int NAME(UserObjectRelease)(void *object, unsigned count)
{
    return RESULT(shim_user_release(object, count));
}

EXPORT int NAME(GraphRetainUserObject)(void *handle, void *object, unsigned count, unsigned flags)
{
    struct rt_graph *graph;
    int code = flags <= 1 ? graph_known(&graph, handle) : SHIM_INVALID;
    return RESULT(code == SHIM_OK ? shim_user_hold(graph, object, count, flags == 1) : code);
}

EXPORT int NAME(GraphReleaseUserObject)(void *handle, void *object, unsigned count)
{
    struct rt_graph *graph;
    int code = object && count ? graph_known(&graph, handle) : SHIM_INVALID;
    if (code == SHIM_OK) {
        shim_user_drop(graph, object, count);
    }
    return RESULT(code);
}

static const char *kind_name(enum rt_node_kind kind)
{
    static const char *const names[] = {[RT_NODE_EMPTY] = "EMPTY",
                                        [RT_NODE_LAUNCH] = "KERNEL",
                                        [RT_NODE_COPY] = "MEMCPY",
                                        [RT_NODE_MEMSET] = "MEMSET",
                                        [RT_NODE_HOST] = "HOST",
                                        [RT_NODE_RECORD] = "EVENT_RECORD",
                                        [RT_NODE_WAIT] = "EVENT_WAIT",
                                        [RT_NODE_CHILD] = "GRAPH",
                                        [RT_NODE_ALLOC] = "MEM_ALLOC",
                                        [RT_NODE_FREE] = "MEM_FREE",
                                        [RT_NODE_CONDITION] = "CONDITIONAL"};
    return names[kind];
}

static void print(FILE *file, const struct rt_graph *graph, unsigned *number)
{
    unsigned own = (*number)++;
    fprintf(file, "subgraph cluster_%u {\nlabel=\"graph_%u\"\n", own, own);
    for (size_t i = 0; i < rt_graph_nodes(graph); i++) {
        const struct rt_node *node = rt_graph_node(graph, i);
        const struct rt_node_params *params = rt_node_params(node);
        fprintf(file, "\"graph_%u_node_%zu\" [label=\"%zu %s%s%s\"]\n", own, i, i,
                kind_name(params->kind), params->kernel ? " " : "",
                params->kernel ? rt_kernel_name(params->kernel) : "");
        for (size_t k = 0; k < rt_node_deps(node); k++) {
            size_t from = 0;
            while (rt_graph_node(graph, from) != rt_node_dep(node, k)) {
                from++;
            }
            fprintf(file, "\"graph_%u_node_%zu\" -> \"graph_%u_node_%zu\"\n", own, from, own, i);
        }
        if (params->kind == RT_NODE_CHILD) {
            print(file, params->child, number);
        }
        for (size_t k = 0; params->kind == RT_NODE_CONDITION && k < params->body_count; k++) {
            print(file, params->bodies[k], number);
        }
    }
    fprintf(file, "}\n");
}

EXPORT int NAME(GraphDebugDotPrint)(void *handle, const char *path, unsigned flags)
{
    struct rt_graph *graph;
    unsigned number = 0;
    int code = path ? graph_known(&graph, handle) : SHIM_INVALID;
    (void)flags;
    if (code != SHIM_OK) {
        return RESULT(code);
    }
    FILE *file = fopen(path, "w");
    if (!file) {
        return RESULT(SHIM_SYSTEM);
    }
    fprintf(file, "digraph dot {\n");
    print(file, graph, &number);
    fprintf(file, "}\n");
    return RESULT(fclose(file) == 0 ? SHIM_OK : SHIM_SYSTEM);
}
