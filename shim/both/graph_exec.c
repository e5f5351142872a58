/* Graphs that have been instantiated: launches' fixed form, parameters that change. */
#include <limits.h>

#include "shim/both/graph.h"
#include "sonde/sonde.h"

static int instantiate(void **out, void *handle)
{
    struct rt_graph *graph;
    struct rt_graph_exec *exec;
    int code = out ? graph_known(&graph, handle) : SHIM_INVALID;
    code = code == SHIM_OK ? shim_code(rt_graph_instantiate(&exec, graph)) : code;
    code = code == SHIM_OK ? shim_handle_add(exec, SHIM_GRAPH_EXEC) : code;
    code = code == SHIM_OK ? shim_user_inherit(exec, graph) : code;
    if (code == SHIM_OK) {
        *out = exec;
    }
    return code;
}

#if !defined SHIM_RUNTIME || SHIM_RUNTIME < 12
/* With a log, in which nothing is ever said. */
static int instantiate_logged(void **out, void *graph, void **odd, char *log, size_t bytes)
{
    if (odd) {
        *odd = NULL;
    }
    if (log && bytes > 0) {
        *log = '\0';
    }
    return instantiate(out, graph);
}

EXPORT int NAME(GraphInstantiate)(void **out, void *graph, void **odd, char *log, size_t bytes)
{
    return RESULT(instantiate_logged(out, graph, odd, log, bytes));
}
#else
EXPORT int cudaGraphInstantiate(void **out, void *graph, unsigned long long flags)
{
    (void)flags;
    return RESULT(instantiate(out, graph));
}
#endif

#ifndef SHIM_RUNTIME
EXPORT int cuGraphInstantiate_v2(void **out, void *graph, void **odd, char *log, size_t bytes)
{
    return RESULT(instantiate_logged(out, graph, odd, log, bytes));
}
#endif

EXPORT int NAME(GraphInstantiateWithFlags)(void **out, void *graph, unsigned long long flags)
{
    (void)flags;
    return RESULT(instantiate(out, graph));
}

struct instantiate_params {
    unsigned long long flags;
    void *upload, *odd;
    int result;
};

EXPORT int NAME(GraphInstantiateWithParams)(void **out, void *graph,
                                            struct instantiate_params *params)
{
    int code = params ? instantiate(out, graph) : SHIM_INVALID;
    if (params) {
        params->odd = NULL;
        params->result = code != SHIM_OK;
    }
    return RESULT(code);
}

/* Threads have streams of their own; nothing here is put into one. */
EXPORT int NAME(GraphInstantiateWithParams_ptsz)(void **out, void *graph,
                                                 struct instantiate_params *params)
{
    return NAME(GraphInstantiateWithParams)(out, graph, params);
}

static int exec_known(void *handle)
{
    return shim_handle_is(handle, SHIM_GRAPH_EXEC) ? SHIM_OK : SHIM_INVALID;
}

/* What a launch still uses is not destroyed yet. */
static int finish_users(const void *exec)
{
    struct rt *rt;
    int code = shim_user_holds(exec) ? DEVICE_OF(&rt) : SHIM_UNKNOWN;
    return code == SHIM_OK ? shim_code(rt_sync(rt)) : SHIM_OK;
}

EXPORT int NAME(GraphExecDestroy)(void *exec)
{
    int code = exec_known(exec);
    if (code == SHIM_OK) {
        shim_handle_remove(exec);
        code = finish_users(exec);
        rt_graph_exec_destroy(exec);
        shim_user_drop(exec, NULL, UINT_MAX);
    }
    return RESULT(code);
}

EXPORT int NAME(GraphExecGetFlags)(void *exec, unsigned long long *flags)
{
    int code = flags ? exec_known(exec) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *flags = 0;
    }
    return RESULT(code);
}

EXPORT int NAME(GraphNodeSetEnabled)(void *exec, void *node, unsigned enabled)
{
    int code = exec_known(exec);
    code = code == SHIM_OK ? node_known(node) : code;
    return RESULT(code == SHIM_OK ? shim_code(rt_graph_exec_enable(exec, node, enabled != 0))
                                  : code);
}

EXPORT int NAME(GraphNodeGetEnabled)(void *exec, void *node, unsigned *enabled)
{
    bool is = false;
    int code = enabled ? exec_known(exec) : SHIM_INVALID;
    code = code == SHIM_OK ? node_known(node) : code;
    code = code == SHIM_OK ? shim_code(rt_graph_exec_enabled(exec, node, &is)) : code;
    if (code == SHIM_OK) {
        *enabled = is;
    }
    return RESULT(code);
}

int exec_node_set(void *exec, void *node, const struct rt_node_params *params)
{
    int code = exec_known(exec);
    code = code == SHIM_OK ? node_known(node) : code;
    return code == SHIM_OK ? shim_code(rt_graph_exec_set(exec, node, params)) : code;
}

EXPORT int SECOND(GraphExecKernelNodeSetParams)(void *exec, void *node,
                                                const struct abi_kernel_node *from)
{
    struct node_params params;
    int code = kernel_params(&params, from);
    return RESULT(code == SHIM_OK ? exec_node_set(exec, node, &params.rt) : code);
}

EXPORT int NAME(GraphExecMemcpyNodeSetParams)(void *exec, void *node, const COPY3D *from)
{
    struct node_params params;
    int code = copy_params(&params, from);
    return RESULT(code == SHIM_OK ? exec_node_set(exec, node, &params.rt) : code);
}

EXPORT int NAME(GraphExecMemsetNodeSetParams)(void *exec, void *node,
                                              const struct abi_memset_node *from)
{
    struct node_params params;
    int code = memset_params(&params, from);
    return RESULT(code == SHIM_OK ? exec_node_set(exec, node, &params.rt) : code);
}

EXPORT int NAME(GraphExecHostNodeSetParams)(void *exec, void *node,
                                            const struct abi_host_node *from)
{
    struct rt_node_params params = {.kind = RT_NODE_HOST};
    if (!from || !from->fn) {
        return RESULT(SHIM_INVALID);
    }
    params.host = from->fn;
    params.ctx = from->ctx;
    return RESULT(exec_node_set(exec, node, &params));
}

static int update(void *exec, void *handle, struct rt_node **odd)
{
    struct rt_graph *graph;
    int code = exec_known(exec);
    code = code == SHIM_OK ? graph_known(&graph, handle) : code;
    *odd = NULL;
    if (code != SHIM_OK) {
        return code;
    }
    int rc = rt_graph_exec_update(exec, graph, odd);
    return rc == SONDE_EINPUT || rc == SONDE_EUSAGE ? SHIM_UPDATE_FAILED : shim_code(rc);
}

#define UPDATE_ERROR 1
#define UPDATE_TOPOLOGY 2

static int update_outcome(int code)
{
    return code == SHIM_OK ? 0 : code == SHIM_UPDATE_FAILED ? UPDATE_TOPOLOGY : UPDATE_ERROR;
}

#if !defined SHIM_RUNTIME || SHIM_RUNTIME >= 12
struct update_result {
    int result;
    void *odd, *odd_from;
};
EXPORT int SECOND(GraphExecUpdate)(void *exec, void *graph, struct update_result *result)
{
    struct rt_node *odd;
    int code = update(exec, graph, &odd);
    if (result) {
        *result = (struct update_result){update_outcome(code), odd, NULL};
    }
    return RESULT(code);
}
#endif

#if !defined SHIM_RUNTIME || SHIM_RUNTIME < 12
EXPORT int NAME(GraphExecUpdate)(void *exec, void *graph, void **odd_out, int *result)
{
    struct rt_node *odd;
    int code = update(exec, graph, &odd);
    if (odd_out) {
        *odd_out = odd;
    }
    if (result) {
        *result = update_outcome(code);
    }
    return RESULT(code);
}
#endif

static int event_set(void *exec, void *node, void *event, enum rt_node_kind kind)
{
    struct rt_node_params params = {.kind = kind, .event = event};
    return shim_handle_is(event, SHIM_EVENT) ? exec_node_set(exec, node, &params) : SHIM_BAD_HANDLE;
}

EXPORT int NAME(GraphExecEventRecordNodeSetEvent)(void *exec, void *node, void *event)
{
    return RESULT(event_set(exec, node, event, RT_NODE_RECORD));
}

EXPORT int NAME(GraphExecEventWaitNodeSetEvent)(void *exec, void *node, void *event)
{
    return RESULT(event_set(exec, node, event, RT_NODE_WAIT));
}

EXPORT int NAME(GraphExecChildGraphNodeSetParams)(void *exec, void *node, void *child)
{
    struct rt_node_params params = {.kind = RT_NODE_CHILD};
    int code = graph_known(&params.child, child);
    return RESULT(code == SHIM_OK ? exec_node_set(exec, node, &params) : code);
}

#ifndef SHIM_RUNTIME
EXPORT int cuGraphExecKernelNodeSetParams(void *exec, void *node,
                                          const struct abi_kernel_node *from)
{
    return cuGraphExecKernelNodeSetParams_v2(exec, node, from);
}
#endif
