// What a graph tells of itself: types, edges, dependents, parameters, child graphs, events; and changes of them.
#include "check.h"
__global__ void add(int *p, int n) { *p += n; }
static void CUDART_CB call(void *p) { ++*(int *)p; }
PROGRAM
{
    int *p, h = 0, n = 5, calls = 0; CHECK(cudaMalloc(&p, 4));
    cudaGraph_t graph, child, inner; cudaGraphNode_t set, kernel, copy, host, nested, record, list[8]; cudaGraphExec_t exec; cudaEvent_t a, b, e; cudaStream_t s;
    CHECK(cudaStreamCreate(&s)); CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b)); CHECK(cudaGraphCreate(&graph, 0)); CHECK(cudaGraphCreate(&child, 0));
    void *args[] = {&p, &n};
    cudaKernelNodeParams k = {(void *)add, dim3(1), dim3(1), 0, args, nullptr}, gotk;
    cudaMemsetParams m = {}, gotm; m.dst = p; m.elementSize = 4; m.width = 1; m.height = 1; m.value = 100;
    cudaHostNodeParams c = {call, &calls}, gotc;
    CHECK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &m)); CHECK(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &k));
    CHECK(cudaGraphAddKernelNode(&nested, child, nullptr, 0, &k)); CHECK(cudaGraphAddChildGraphNode(&nested, graph, &kernel, 1, child));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &nested, 1, &h, p, 4, cudaMemcpyDeviceToHost)); CHECK(cudaGraphAddHostNode(&host, graph, &copy, 1, &c));
    CHECK(cudaGraphAddEventRecordNode(&record, graph, &copy, 1, a));
    size_t count = 8; CHECK(cudaGraphGetNodes(graph, list, &count)); EXPECT(count == 6);
    count = 8; CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count)); EXPECT(count == 5);
    count = 8; CHECK(cudaGraphNodeGetDependentNodes(copy, list, nullptr, &count)); EXPECT(count == 2 && list[0] == host && list[1] == record);
    CHECK(cudaGraphKernelNodeGetParams(kernel, &gotk)); EXPECT(gotk.blockDim.x == 1 && *(int *)gotk.kernelParams[1] == 5);
    CHECK(cudaGraphMemsetNodeGetParams(set, &gotm)); EXPECT(gotm.dst == p && gotm.value == 100); CHECK(cudaGraphHostNodeGetParams(host, &gotc)); EXPECT(gotc.fn == call);
    CHECK(cudaGraphChildGraphNodeGetGraph(nested, &inner)); EXPECT(inner != child); CHECK(cudaGraphEventRecordNodeGetEvent(record, &e)); EXPECT(e == a);
    CHECK(cudaGraphEventRecordNodeSetEvent(record, b));
    CHECK(cudaGraphInstantiate(&exec, graph, 0)); CHECK(cudaGraphLaunch(exec, s)); CHECK(cudaStreamSynchronize(s));
    EXPECT(h == 110 && calls == 1); CHECK(cudaEventSynchronize(b));
    CHECK(cudaGraphExecEventRecordNodeSetEvent(exec, record, a)); n = 7; CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &k));
    CHECK(cudaGraphLaunch(exec, s)); CHECK(cudaStreamSynchronize(s)); EXPECT(h == 112 && calls == 2);
    GIVES(cudaErrorInvalidValue, cudaGraphMemsetNodeGetParams(kernel, &gotm));
    CHECK(cudaGraphExecDestroy(exec)); CHECK(cudaGraphDestroy(graph)); CHECK(cudaGraphDestroy(child));
}
