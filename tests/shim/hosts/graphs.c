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
struct instantiate_params { /* CUDA_GRAPH_INSTANTIATE_PARAMS */
    uint64_t flags;
    handle upload, odd;
    int result;
};
int cuGraphInstantiateWithParams(handle *, handle, struct instantiate_params *);
int cuGraphInstantiateWithParams_ptsz(handle *, handle, struct instantiate_params *);
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

int cuGraphAddNode_v2(handle *, handle, const handle *, const void *, size_t, struct abi_node *);
int cuCtxGetCurrent(handle *);
int cuGraphConditionalHandleCreate(uint64_t *, handle, handle, unsigned, unsigned);
int cuGraphNodeSetEnabled(handle, handle, unsigned);
int cuGraphNodeGetEnabled(handle, handle, unsigned *);
int cuGraphDebugDotPrint(handle, const char *, unsigned);
int cuUserObjectCreate(handle *, void *, void (*)(void *), unsigned, unsigned);
int cuUserObjectRetain(handle, unsigned);
int cuUserObjectRelease(handle, unsigned);
int cuGraphRetainUserObject(handle, handle, unsigned, unsigned);
int cuGraphReleaseUserObject(handle, handle, unsigned);
int cuModuleLoadData(handle *, const void *);
int cuModuleUnload(handle);

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
    struct instantiate_params params = {.result = 7};
    OK(cuGraphInstantiateWithParams(&exec, graph, &params));
    EXPECT(params.result == 0);
    OK(cuGraphExecDestroy(exec));
    params.result = 7;
    OK(cuGraphInstantiateWithParams_ptsz(&exec, graph, &params));
    EXPECT(params.result == 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* decide: one less, and a condition that holds until there is nothing left; bump: one more. */
static const char deciding[] =
    ".version 8.0\n.target sm_30\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
    ".visible .entry decide(.param .u64 h, .param .u64 p) {\n"
    ".reg .u64 %h, %p; .reg .u32 %v; .reg .b64 x;\n"
    "ld.param.u64 %h, [h]; ld.param.u64 %p, [p]; ld.global.u32 %v, [%p]; sub.u32 %v, %v, 1;\n"
    "st.global.u32 [%p], %v; { .param .b64 a; .param .b32 b; st.param.b64 [a], %h;\n"
    "st.param.b32 [b], %v; call.uni cudaGraphSetConditional, (a, b); } ret; }\n"
    ".visible .entry bump(.param .u64 p) {\n.reg .u64 %p; .reg .u32 %v;\n"
    "ld.param.u64 %p, [p]; ld.global.u32 %v, [%p]; add.u32 %v, %v, 1; st.global.u32 [%p], %v;\n"
    "ret; }\n";

static handle add_kernel(handle graph, handle *deps, size_t count, handle kernel, void **args)
{
    handle node;
    struct abi_kernel_node_v2 params = {
        .function = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args};
    OK(cuGraphAddKernelNode_v2(&node, graph, deps, count, &params));
    return node;
}

/* A node whose graphs run by a value; `body` takes them. */
static handle add_condition(handle graph, handle *deps, size_t count, uint64_t condition, int kind,
                            unsigned size, handle *body)
{
    handle node, context;
    OK(cuCtxGetCurrent(&context));
    struct abi_node params = {
        .type = 13,
        .conditional = {.handle = condition, .kind = kind, .size = size, .context = context}};
    OK(cuGraphAddNode_v2(&node, graph, deps, NULL, count, &params));
    memcpy(body, params.conditional.graphs, size * sizeof *body);
    return node;
}

/* A loop with a branch inside it, launched twice; what stands behind it runs once. */
static void conditions(void)
{
    enum { IF, WHILE, SWITCH };
    handle module, graph, exec, loop, body, inner[2], node, context;
    OK(cuCtxGetCurrent(&context));
    uint64_t condition, branch, choice;
    address left = p, turns = p + 4, last = p + 8, behind = p + 12, chosen = p + 16;
    OK(cuModuleLoadData(&module, deciding));
    handle decide = function(module, "decide"), bump = function(module, "bump");
    OK(cuGraphCreate(&graph, 0));
    GIVES(1, cuGraphConditionalHandleCreate(&condition, graph, context, 1, 2));
    GIVES(201, cuGraphConditionalHandleCreate(&condition, graph, NULL, 1, 1));
    OK(cuGraphConditionalHandleCreate(&condition, graph, context, 1, 1));
    OK(cuGraphConditionalHandleCreate(&branch, graph, context, 0, 0));
    OK(cuGraphConditionalHandleCreate(&choice, graph, context, 2, 1));
    struct abi_node wrong = {.type = 13,
                             .conditional = {.handle = condition, .kind = WHILE, .size = 2}};
    GIVES(1, cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &wrong));
    wrong.conditional.size = 1;
    GIVES(201, cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &wrong));
    wrong.conditional.context = context;
    loop = add_condition(graph, NULL, 0, condition, WHILE, 1, &body);
    GIVES(1, cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &wrong)); /* a node has it */
    void *turn[] = {&turns}, *once[] = {&behind}, *no[] = {&last}, *third[] = {&chosen};
    void *loops[] = {&condition, &left}, *branches[] = {&branch, &last};
    node = add_kernel(body, NULL, 0, decide, loops);
    node = add_kernel(body, &node, 1, bump, turn);
    node = add_kernel(body, &node, 1, decide, branches); /* -1, 0 by turns */
    add_condition(body, &node, 1, branch, IF, 2, inner);
    add_kernel(inner[0], NULL, 0, bump, no);
    add_kernel(inner[1], NULL, 0, bump, no);
    node = add_kernel(graph, &loop, 1, bump, once);
    handle choices[3];
    add_condition(graph, &node, 1, choice, SWITCH, 3, choices);
    add_kernel(choices[2], NULL, 0, bump, third);
    OK(cuMemsetD32_v2(p, 0, 8));
    OK(cuMemsetD32_v2(left, 5, 1));
    OK(cuCtxSynchronize());
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(word(left, 0) == 0 && word(turns, 0) == 5 && word(last, 0) == 0);
    EXPECT(word(behind, 0) == 1 && word(chosen, 0) == 1);
    OK(cuMemsetD32_v2(left, 2, 1));
    OK(cuCtxSynchronize());
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(word(turns, 0) == 7 && word(behind, 0) == 2 && word(chosen, 0) == 2);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    GIVES(1, cuGraphDestroy(body));
    OK(cuModuleUnload(module));
}

/* Nodes that do nothing for a while. */
static void enabled(void)
{
    handle nodes[4], exec;
    int three = 3, one = 1;
    unsigned is = 7;
    handle graph = build(nodes, &three, &one);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphNodeSetEnabled(exec, nodes[1], 0));
    OK(cuGraphNodeGetEnabled(exec, nodes[1], &is));
    EXPECT(is == 0);
    run(exec, 2); /* set, and not scaled */
    OK(cuGraphNodeSetEnabled(exec, nodes[1], 1));
    run(exec, 11);
    GIVES(1, cuGraphNodeSetEnabled(exec, nodes[3], 0)); /* a host function's */
    GIVES(1, cuGraphNodeGetEnabled(exec, nodes[3], &is));
    GIVES(304, cuGraphDebugDotPrint(graph, "/nowhere/at/all", 0));
    OK(cuGraphDebugDotPrint(graph, "/dev/null", 0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void count_end(void *ctx)
{
    ++*(int *)ctx;
}

/* The last of the program, graphs, clones and instances to let go ends an object. */
static void user_objects(void)
{
    handle graph, clone, exec, node, object;
    int ends = 0;
    GIVES(1, cuUserObjectCreate(&object, &ends, count_end, 1, 0));
    GIVES(1, cuUserObjectCreate(&object, &ends, count_end, 0, 1));
    OK(cuUserObjectCreate(&object, &ends, count_end, 1, 1));
    OK(cuUserObjectRetain(object, 2));
    OK(cuUserObjectRelease(object, 2));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cuGraphRetainUserObject(graph, object, 1, 0)); /* one more than the program's */
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphInstantiateWithFlags(&exec, clone, 0));
    OK(cuUserObjectRelease(object, 1));
    OK(cuGraphReleaseUserObject(graph, object, 1));
    OK(cuGraphDestroy(clone));
    EXPECT(ends == 0);
    OK(cuGraphExecDestroy(exec));
    EXPECT(ends == 1);
    GIVES(1, cuUserObjectRelease(object, 1));
    OK(cuUserObjectCreate(&object, &ends, count_end, 1, 1));
    OK(cuGraphRetainUserObject(graph, object, 1, 1)); /* the program's */
    OK(cuGraphDestroy(graph));
    EXPECT(ends == 2);
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
    conditions();
    enabled();
    user_objects();
    return 0;
}
