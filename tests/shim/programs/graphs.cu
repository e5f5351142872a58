// Graphs node by node: order, changed parameters, clones, memory, children.
#include "check.h"
__global__ void set(int *p, int v) { p[threadIdx.x] = v; }
__global__ void plus(int *p, const int *q) { p[threadIdx.x] += q[threadIdx.x]; }
static int calls;
static void CUDART_CB note(void *) { calls++; }
PROGRAM
{
    int *a, *b, h[32], five = 5, six = 6;
    CHECK(cudaMalloc(&a, sizeof h)); CHECK(cudaMalloc(&b, sizeof h));
    cudaGraph_t g; cudaGraphNode_t n1, n2, n3, n4, n5; cudaGraphExec_t e; cudaStream_t s;
    CHECK(cudaGraphCreate(&g, 0)); CHECK(cudaStreamCreate(&s));
    void *args1[] = {&a, &five}, *args2[] = {&b, &six}, *args3[] = {&a, &b};
    cudaKernelNodeParams k = {}; k.func = (void *)set; k.gridDim = 1; k.blockDim = 32; k.kernelParams = args1;
    CHECK(cudaGraphAddKernelNode(&n1, g, nullptr, 0, &k));
    k.kernelParams = args2; CHECK(cudaGraphAddKernelNode(&n2, g, nullptr, 0, &k));
    cudaGraphNode_t both[] = {n1, n2};
    k.func = (void *)plus; k.kernelParams = args3; CHECK(cudaGraphAddKernelNode(&n3, g, both, 2, &k));
    CHECK(cudaGraphAddMemcpyNode1D(&n4, g, &n3, 1, h, a, sizeof h, cudaMemcpyDeviceToHost));
    cudaHostNodeParams host = {note, nullptr}; CHECK(cudaGraphAddHostNode(&n5, g, &n4, 1, &host));
    size_t count = 0; CHECK(cudaGraphGetNodes(g, nullptr, &count)); EXPECT(count == 5);
    CHECK(cudaGraphInstantiate(&e, g, 0));
    CHECK(cudaGraphLaunch(e, s)); CHECK(cudaStreamSynchronize(s));
    EXPECT(h[31] == 11 && calls == 1);
    int ten = 10; void *args4[] = {&a, &ten}; k.func = (void *)set; k.kernelParams = args4;
    CHECK(cudaGraphExecKernelNodeSetParams(e, n1, &k));
    CHECK(cudaGraphLaunch(e, s)); CHECK(cudaGraphLaunch(e, s)); CHECK(cudaStreamSynchronize(s));
    EXPECT(h[0] == 16 && calls == 3);
    cudaGraph_t clone; CHECK(cudaGraphClone(&clone, g)); CHECK(cudaGraphDestroy(g));
    cudaMemsetParams m = {}; m.dst = a; m.elementSize = 4; m.width = 32; m.height = 1; m.value = 3;
    cudaGraph_t g2; cudaGraphNode_t c1, c2; CHECK(cudaGraphCreate(&g2, 0));
    CHECK(cudaGraphAddChildGraphNode(&c1, g2, nullptr, 0, clone)); CHECK(cudaGraphAddMemsetNode(&c2, g2, &c1, 1, &m));
    cudaGraphExec_t e2; CHECK(cudaGraphInstantiate(&e2, g2, 0)); CHECK(cudaGraphLaunch(e2, s)); CHECK(cudaStreamSynchronize(s));
    EXPECT(h[0] == 11 && calls == 4);
    CHECK(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost)); EXPECT(h[7] == 3);
    cudaGraphNodeType type; CHECK(cudaGraphNodeGetType(c2, &type)); EXPECT(type == cudaGraphNodeTypeMemset);
    CHECK(cudaGraphExecDestroy(e)); CHECK(cudaGraphExecDestroy(e2)); CHECK(cudaGraphDestroy(g2)); CHECK(cudaGraphDestroy(clone));
    GIVES(cudaErrorInvalidValue, cudaGraphDestroy((cudaGraph_t)h));
}
