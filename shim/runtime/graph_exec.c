/* Graphs that have been instantiated: launches' fixed form, parameters that change. */
#include "shim/runtime/graph.h"
#include "sonde/sonde.h"

static int instantiate(void **out, void *handle)
{
    struct rt_graph *graph;
    struct rt_graph_exec *exec;
    int code = out ? graph_known(&graph, handle) : SHIM_INVALID;
    code = code == SHIM_OK ? shim_code(rt_graph_instantiate(&exec, graph)) : code;
    code = code == SHIM_OK ? shim_handle_add(exec, SHIM_GRAPH_EXEC) : code;
    if (code == SHIM_OK) {
        *out = exec;
    }
    return code;
}

#if SHIM_RUNTIME >= 12
EXPORT int cudaGraphInstantiate(void **out, void *graph, unsigned long long flags)
{
    (void)flags;
    return last(instantiate(out, graph));
}
#else
EXPORT int cudaGraphInstantiate(void **out, void *graph, void **odd, char *log, size_t bytes)
{
    int code = instantiate(out, graph);
    if (odd) {
        *odd = NULL;
    }
    if (log && bytes > 0) {
        *log = '\0';
    }
    return last(code);
}
#endif

EXPORT int cudaGraphInstantiateWithFlags(void **out, void *graph, unsigned long long flags)
{
    (void)flags;
    return last(instantiate(out, graph));
}

struct instantiate_params {
    unsigned long long flags;
    void *upload, *odd;
    int result;
};

EXPORT int cudaGraphInstantiateWithParams(void **out, void *graph,
                                          struct instantiate_params *params)
{
    int code = params ? instantiate(out, graph) : SHIM_INVALID;
    if (params) {
        params->odd = NULL;
        params->result = code != SHIM_OK;
    }
    return last(code);
}

static int exec_known(void *handle)
{
    return shim_handle_is(handle, SHIM_GRAPH_EXEC) ? SHIM_OK : SHIM_INVALID;
}

EXPORT int cudaGraphExecDestroy(void *exec)
{
    int code = exec_known(exec);
    if (code == SHIM_OK) {
        shim_handle_remove(exec);
        rt_graph_exec_destroy(exec);
    }
    return last(code);
}

EXPORT int cudaGraphExecGetFlags(void *exec, unsigned long long *flags)
{
    int code = flags ? exec_known(exec) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *flags = 0;
    }
    return last(code);
}

static int set(void *exec, void *node, const struct rt_node_params *params)
{
    int code = exec_known(exec);
    code = code == SHIM_OK ? node_known(node) : code;
    return code == SHIM_OK ? shim_code(rt_graph_exec_set(exec, node, params)) : code;
}

EXPORT int cudaGraphExecKernelNodeSetParams(void *exec, void *node,
                                            const struct abi_kernel_node *from)
{
    struct node_params params;
    int code = kernel_params(&params, from);
    return last(code == SHIM_OK ? set(exec, node, &params.rt) : code);
}

EXPORT int cudaGraphExecMemcpyNodeSetParams(void *exec, void *node, const struct abi_copy3d *from)
{
    struct node_params params;
    int code = copy_params(&params, from);
    return last(code == SHIM_OK ? set(exec, node, &params.rt) : code);
}

EXPORT int cudaGraphExecMemcpyNodeSetParams1D(void *exec, void *node, void *dst, const void *src,
                                              size_t bytes, int kind)
{
    struct node_params params;
    int code = copy1d_params(&params, dst, src, bytes, kind);
    return last(code == SHIM_OK ? set(exec, node, &params.rt) : code);
}

EXPORT int cudaGraphExecMemsetNodeSetParams(void *exec, void *node,
                                            const struct abi_memset_node *from)
{
    struct node_params params;
    int code = memset_params(&params, from);
    return last(code == SHIM_OK ? set(exec, node, &params.rt) : code);
}

EXPORT int cudaGraphExecHostNodeSetParams(void *exec, void *node, const struct abi_host_node *from)
{
    struct rt_node_params params = {.kind = RT_NODE_HOST};
    if (!from || !from->fn) {
        return last(SHIM_INVALID);
    }
    params.host = from->fn;
    params.ctx = from->ctx;
    return last(set(exec, node, &params));
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

#if SHIM_RUNTIME >= 12
struct update_result {
    int result;
    void *odd, *odd_from;
};

EXPORT int cudaGraphExecUpdate(void *exec, void *graph, struct update_result *result)
{
    struct rt_node *odd;
    int code = update(exec, graph, &odd);
    if (result) {
        *result = (struct update_result){code == SHIM_OK              ? 0
                                         : code == SHIM_UPDATE_FAILED ? UPDATE_TOPOLOGY
                                                                      : UPDATE_ERROR,
                                         odd, NULL};
    }
    return last(code);
}
#else
EXPORT int cudaGraphExecUpdate(void *exec, void *graph, void **odd_out, int *result)
{
    struct rt_node *odd;
    int code = update(exec, graph, &odd);
    if (odd_out) {
        *odd_out = odd;
    }
    if (result) {
        *result = code == SHIM_OK ? 0 : code == SHIM_UPDATE_FAILED ? UPDATE_TOPOLOGY : UPDATE_ERROR;
    }
    return last(code);
}
#endif
