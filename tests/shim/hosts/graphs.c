/* Graphs: nodes of each kind, their order, what they tell; updates; captures. */
#include "host.h"

int cuGraphCreate(handle *, unsigned);
int cuGraphDestroy(handle);
int cuGraphClone(handle *, handle);
int cuGraphAddKernelNode_v2(handle *, handle, const handle *, size_t,
                            const struct abi_kernel_node_v2 *);
int cuGraphAddMemcpyNode(handle *, handle, const handle *, size_t, const struct abi_copy3d_driver *,
                         handle);
int cuGraphAddMemsetNode(handle *, handle, const handle *, size_t, const struct abi_memset_node *,
                         handle);
int cuGraphAddHostNode(handle *, handle, const handle *, size_t, const struct abi_host_node *);
int cuGraphAddEmptyNode(handle *, handle, const handle *, size_t);
int cuGraphAddChildGraphNode(handle *, handle, const handle *, size_t, handle);
int cuGraphAddEventRecordNode(handle *, handle, const handle *, size_t, handle);
int cuGraphAddDependencies(handle, const handle *, const handle *, size_t);
int cuGraphGetNodes(handle, handle *, size_t *);
int cuGraphGetRootNodes(handle, handle *, size_t *);
int cuGraphGetEdges(handle, handle *, handle *, size_t *);
int cuGraphNodeGetDependencies(handle, handle *, size_t *);
int cuGraphNodeGetDependentNodes(handle, handle *, size_t *);
int cuGraphNodeGetType(handle, int *);
int cuGraphNodeFindInClone(handle *, handle, handle);
int cuGraphKernelNodeGetParams_v2(handle, struct abi_kernel_node_v2 *);
int cuGraphMemsetNodeGetParams(handle, struct abi_memset_node *);
int cuGraphMemcpyNodeGetParams(handle, struct abi_copy3d_driver *);
int cuGraphHostNodeGetParams(handle, struct abi_host_node *);
int cuGraphEventRecordNodeGetEvent(handle, handle *);
int cuGraphChildGraphNodeGetGraph(handle, handle *);
int cuGraphInstantiateWithFlags(handle *, handle, unsigned long long);
int cuGraphExecDestroy(handle);
int cuGraphExecKernelNodeSetParams_v2(handle, handle, const struct abi_kernel_node_v2 *);
int cuGraphExecUpdate_v2(handle, handle, void *);
int cuGraphLaunch(handle, handle);
int cuGraphUpload(handle, handle);
int cuEventCreate(handle *, unsigned);
int cuEventQuery(handle);
int cuStreamBeginCapture_v2(handle, int);
int cuStreamEndCapture(handle, handle *);
int cuStreamIsCapturing(handle, int *);
int cuThreadExchangeStreamCaptureMode(int *);
int cuMemcpyDtoHAsync_v2(void *, address, size_t, handle);

static int host_calls;

static void on_host(void *ctx)
{
    host_calls += *(int *)ctx;
}

static handle scale, stream;
static address p;
static int n = 16, out[16];

/* set to 2, times `factor` plus 5, to the host, a call */
static handle build(handle nodes[4], int *factor, int *one)
{
    handle graph;
    void *args[] = {&p, &n, factor};
    struct abi_memset_node set = {(void *)(uintptr_t)p, 0, 2, 4, 16, 1};
    struct abi_kernel_node_v2 kernel = {
        .function = scale, .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args};
    struct abi_copy3d_driver copy = {.src = {.type = 2, .device = p, .pitch = 64, .height = 1},
                                     .dst = {.type = 1, .host = out, .pitch = 64, .height = 1},
                                     .width = 64,
                                     .height = 1,
                                     .depth = 1};
    struct abi_host_node call = {on_host, one};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &set, NULL));
    OK(cuGraphAddKernelNode_v2(&nodes[1], graph, &nodes[0], 1, &kernel));
    OK(cuGraphAddMemcpyNode(&nodes[2], graph, NULL, 0, &copy, NULL));
    OK(cuGraphAddDependencies(graph, &nodes[1], &nodes[2], 1));
    OK(cuGraphAddHostNode(&nodes[3], graph, &nodes[2], 1, &call));
    return graph;
}

static void told(handle graph, handle nodes[4])
{
    static const int types[] = {2, 0, 1, 3};
    handle list[8], from[8], to[8];
    size_t count = 8;
    int type;
    OK(cuGraphGetNodes(graph, list, &count));
    EXPECT(count == 4 && list[3] == nodes[3]);
    count = 8;
    OK(cuGraphGetRootNodes(graph, list, &count));
    EXPECT(count == 1 && list[0] == nodes[0]);
    count = 8;
    OK(cuGraphGetEdges(graph, from, to, &count));
    EXPECT(count == 3);
    count = 8;
    OK(cuGraphNodeGetDependencies(nodes[2], list, &count));
    EXPECT(count == 1 && list[0] == nodes[1]);
    count = 8;
    OK(cuGraphNodeGetDependentNodes(nodes[2], list, &count));
    EXPECT(count == 1 && list[0] == nodes[3]);
    for (int i = 0; i < 4; i++) {
        OK(cuGraphNodeGetType(nodes[i], &type));
        EXPECT(type == types[i]);
    }
    struct abi_kernel_node_v2 kernel;
    struct abi_memset_node set;
    struct abi_copy3d_driver copy;
    struct abi_host_node call;
    OK(cuGraphKernelNodeGetParams_v2(nodes[1], &kernel));
    EXPECT(kernel.function == scale && kernel.block[0] == 32 && *(int *)kernel.args[1] == n);
    OK(cuGraphMemsetNodeGetParams(nodes[0], &set));
    EXPECT((uintptr_t)set.dst == p && set.value == 2 && set.width == 16);
    OK(cuGraphMemcpyNodeGetParams(nodes[2], &copy));
    EXPECT(copy.src.device == p && copy.dst.host == out && copy.width == 64);
    OK(cuGraphHostNodeGetParams(nodes[3], &call));
    EXPECT(call.fn == on_host);
    GIVES(1, cuGraphHostNodeGetParams(nodes[0], &call));
}

static void run(handle exec, int expected)
{
    memset(out, 0, sizeof out);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(out[0] == expected && out[15] == expected);
}

static void captured(void)
{
    handle graph, exec;
    int mode = 2, status = -1, factor = 10;
    void *args[] = {&p, &n, &factor};
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuMemsetD32_v2(p, 1, 16));
    OK(cuCtxSynchronize());
    OK(cuStreamBeginCapture_v2(stream, 2));
    OK(launch(scale, 1, 32, stream, args));
    OK(cuStreamIsCapturing(stream, &status));
    EXPECT(status == 1);
    OK(cuMemcpyDtoHAsync_v2(out, p, 64, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphUpload(exec, stream));
    run(exec, 15);
    run(exec, 155);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

int main(int argc, char **argv)
{
    handle module = argc == 2 ? begin(argv, "kernels.ptx") : NULL;
    handle nodes[4], others[4], graph, other, exec, parent, child, empty, record, event, got, twin;
    int three = 3, four = 4, one = 1;
    scale = function(module, "scale");
    p = take(16);
    OK(cuStreamCreate(&stream, 1));
    OK(cuEventCreate(&event, 0));
    graph = build(nodes, &three, &one);
    told(graph, nodes);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    run(exec, 11);
    void *args[] = {&p, &n, &four};
    struct abi_kernel_node_v2 kernel = {
        .function = scale, .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args};
    OK(cuGraphExecKernelNodeSetParams_v2(exec, nodes[1], &kernel));
    run(exec, 13);
    int seven = 7, result[6] = {0};
    other = build(others, &seven, &one);
    OK(cuGraphExecUpdate_v2(exec, other, result));
    run(exec, 19);
    EXPECT(host_calls == 3);
    OK(cuGraphClone(&parent, other));
    OK(cuGraphNodeFindInClone(&twin, others[1], parent));
    EXPECT(twin != others[1]);
    OK(cuGraphAddEmptyNode(&empty, parent, &twin, 1));
    OK(cuGraphAddChildGraphNode(&child, parent, &empty, 1, graph));
    OK(cuGraphChildGraphNodeGetGraph(child, &got));
    EXPECT(got != graph);
    OK(cuGraphAddEventRecordNode(&record, parent, &child, 1, event));
    OK(cuGraphEventRecordNodeGetEvent(record, &got));
    EXPECT(got == event);
    GIVES(910, cuGraphExecUpdate_v2(exec, parent, result));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiateWithFlags(&exec, parent, 0));
    host_calls = 0;
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuEventQuery(event));
    EXPECT(host_calls == 2);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(parent));
    OK(cuGraphDestroy(graph));
    GIVES(1, cuGraphDestroy(&graph));
    captured();
    return 0;
}
