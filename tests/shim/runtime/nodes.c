/* Graphs of the runtime: nodes with symbols, copies in a line, captures into a graph that exists,
 * and the order that a capture is told to go on from. The argument is the folder of the PTX. */
#include "tests/shim/runtime/program.h"

int cudaGraphCreate(void **, unsigned);
int cudaGraphDestroy(void *);
int cudaGraphInstantiate(void **, void *, unsigned long long);
int cudaGraphExecDestroy(void *);
int cudaGraphLaunch(void *, void *);
int cudaGraphGetNodes(void *, void **, size_t *);
int cudaGraphGetEdges(void *, void **, void **, void *, size_t *);
int cudaGraphNodeGetDependencies(void *, void **, void *, size_t *);
int cudaGraphAddMemcpyNode1D(void **, void *, void *const *, size_t, void *, const void *, size_t,
                             int);
int cudaGraphAddMemcpyNodeToSymbol(void **, void *, void *const *, size_t, const void *,
                                   const void *, size_t, size_t, int);
int cudaGraphAddMemcpyNodeFromSymbol(void **, void *, void *const *, size_t, void *, const void *,
                                     size_t, size_t, int);
int cudaGraphMemcpyNodeSetParams1D(void *, void *, const void *, size_t, int);
int cudaGraphExecMemcpyNodeSetParams1D(void *, void *, void *, const void *, size_t, int);
int cudaGraphMemcpyNodeGetParams(void *, struct abi_copy3d *);
int cudaGraphAddKernelNode(void **, void *, void *const *, size_t, const struct abi_kernel_node *);
int cudaGraphKernelNodeSetAttribute(void *, int, const int *);
int cudaGraphKernelNodeGetAttribute(void *, int, int *);
int cudaGraphKernelNodeCopyAttributes(void *, void *);
int cudaGraphAddMemAllocNode(void **, void *, void *const *, size_t, struct abi_alloc_node *);
int cudaGraphAddMemFreeNode(void **, void *, void *const *, size_t, void *);
int cudaGraphMemAllocNodeGetParams(void *, struct abi_alloc_node *);
int cudaGraphMemFreeNodeGetParams(void *, void **);
int cudaStreamBeginCapture(void *, int);
int cudaStreamBeginCaptureToGraph(void *, void *, void *const *, const void *, size_t, int);
int cudaStreamEndCapture(void *, void **);
int cudaStreamIsCapturing(void *, int *);
int cudaStreamGetCaptureInfo(void *, int *, unsigned long long *, void **, void *const **,
                             const void **, size_t *);
int cudaStreamUpdateCaptureDependencies(void *, void *const *, const void *, size_t, unsigned);
int cudaLaunchCooperativeKernel(const void *, struct abi_dim3, struct abi_dim3, void **, size_t,
                                void *);
int cudaMemsetAsync(void *, int, size_t, void *);
int cudaMemGetMemPool(void **, const struct abi_location *, int);
int cudaMemGetDefaultMemPool(void **, const struct abi_location *, int);
int cudaMemSetMemPool(const struct abi_location *, int, void *);
int cudaMemPoolCreate(void **, const struct abi_pool_props *);
int cudaMemPoolDestroy(void *);

static char factor_here, gone_here, add_one_here;
static uint32_t *shared_word;

static void run(void *graph, void *stream)
{
    void *exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaGraphExecDestroy(exec));
}

/* here -> symbol -> line -> there */
static void symbols(void *stream)
{
    uint32_t here = 77, other = 5, there[2] = {0}, *line = memory_of(16);
    void *graph, *exec, *to, *from, *out;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, NULL, 0, &factor_here, &here, 4, 0, 1));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, line + 1, &factor_here, 4, 0, 3));
    OK(cudaGraphAddMemcpyNode1D(&out, graph, &from, 1, there, line, 8, 2));
    run(graph, stream);
    EXPECT(there[0] == 0 && there[1] == 77);
    GIVES(1, cudaGraphAddMemcpyNodeToSymbol(&out, graph, NULL, 0, &factor_here, &here, 4, 1, 1));
    GIVES(1, cudaGraphAddMemcpyNodeToSymbol(&out, graph, NULL, 0, &factor_here, &here, 0, 5, 1));
    GIVES(1, cudaGraphAddMemcpyNodeFromSymbol(&out, graph, NULL, 0, line, &factor_here, 5, 0, 3));
    GIVES(13, cudaGraphAddMemcpyNodeToSymbol(&out, graph, NULL, 0, &gone_here, &here, 4, 0, 1));
    GIVES(13, cudaGraphAddMemcpyNodeFromSymbol(&out, graph, NULL, 0, line, &gone_here, 4, 0, 3));
    GIVES(21, cudaGraphAddMemcpyNode1D(&out, graph, NULL, 0, there, line, 8, 5));
    struct abi_copy3d told;
    OK(cudaGraphMemcpyNodeGetParams(out, &told));
    EXPECT(told.kind == ABI_DEVICE_TO_HOST && told.src.ptr == line && told.dst.ptr == there);
    EXPECT(told.extent.width == 8 && told.extent.height == 1 && told.extent.depth == 1);
    OK(cudaGraphMemcpyNodeGetParams(from, &told));
    EXPECT(told.kind == ABI_DEVICE_TO_DEVICE && told.dst.ptr == line + 1);
    /* A graph's node changes what is instantiated later, an instance's node that one alone. */
    OK(cudaGraphMemcpyNodeSetParams1D(out, there, line + 1, 4, 2));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecMemcpyNodeSetParams1D(exec, out, there + 1, line, 4, 2));
    OK(cudaMemcpy(line, &other, 4, 1));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(there[0] == 0 && there[1] == 5);
    run(graph, stream);
    EXPECT(there[0] == 77 && there[1] == 5);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(line));
}

static void kernels(void *stream)
{
    int value[16] = {1}, none[16] = {0};
    void *graph, *first, *second;
    struct abi_kernel_node node = {&add_one_here, {1, 1, 1}, {1, 1, 1}, 0, NULL, NULL};
    uint32_t before = *shared_word;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&first, graph, NULL, 0, &node));
    OK(cudaGraphAddKernelNode(&second, graph, &first, 1, &node));
    OK(cudaGraphKernelNodeSetAttribute(first, 2, value));
    OK(cudaGraphKernelNodeCopyAttributes(second, first));
    value[0] = 0;
    OK(cudaGraphKernelNodeGetAttribute(second, 2, value));
    EXPECT(value[0] == 1);
    OK(cudaGraphKernelNodeSetAttribute(second, 2, none));
    OK(cudaGraphKernelNodeGetAttribute(second, 2, value));
    EXPECT(value[0] == 0);
    OK(cudaGraphKernelNodeSetAttribute(second, 19, none));
    GIVES(1, cudaGraphKernelNodeSetAttribute(second, 20, none));
    GIVES(1, cudaGraphKernelNodeSetAttribute(second, 0, none));
    GIVES(1, cudaGraphKernelNodeGetAttribute(second, 2, NULL));
    run(graph, stream);
    EXPECT(*shared_word == before + 2);
    node.function = &gone_here;
    GIVES(98, cudaGraphAddKernelNode(&second, graph, NULL, 0, &node));
    OK(cudaGraphDestroy(graph));
}

/* More blocks than the device holds at once are refused when they are captured, not when they run.
 */
static void too_many(void *stream)
{
    struct abi_dim3 many = {1 << 20, 1, 1}, one = {1, 1, 1};
    void *graph;
    size_t count = 9;
    OK(cudaStreamBeginCapture(stream, 0));
    GIVES(720, cudaLaunchCooperativeKernel(&add_one_here, many, one, NULL, 0, stream));
    OK(cudaLaunchCooperativeKernel(&add_one_here, one, one, NULL, 0, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphGetNodes(graph, NULL, &count));
    EXPECT(count == 1);
    OK(cudaGraphDestroy(graph));
}

/* Memory that a graph takes and gives back. */
static void allocations(void *stream)
{
    void *graph, *take_node, *copy, *give, *freed = NULL;
    uint32_t here = 12, there = 0;
    struct abi_alloc_node from = {.props = {.allocation = 1, .location = {1, 0}}, .bytes = 64},
                          told;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemAllocNode(&take_node, graph, NULL, 0, &from));
    OK(cudaGraphMemAllocNodeGetParams(take_node, &told));
    EXPECT(from.ptr && told.ptr == from.ptr && told.bytes == 64 && told.props.location.type == 1);
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &take_node, 1, from.ptr, &here, 4, 4));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &copy, 1, &there, from.ptr, 4, 4));
    OK(cudaGraphAddMemFreeNode(&give, graph, &copy, 1, from.ptr));
    OK(cudaGraphMemFreeNodeGetParams(give, &freed));
    EXPECT(freed == from.ptr);
    GIVES(1, cudaGraphMemFreeNodeGetParams(copy, &freed));
    run(graph, stream);
    EXPECT(there == 12);
    from.bytes = 0;
    GIVES(1, cudaGraphAddMemAllocNode(&take_node, graph, NULL, 0, &from));
    OK(cudaGraphDestroy(graph));
}

/* Two streams are captured into two graphs of the program's: each gets its own nodes, the first of
 * which come after those that were named. */
static void into_graphs(void *streams[2])
{
    unsigned char *memory = memory_of(64);
    void *graph[2], *root[2], *got, *nodes[4];
    for (int i = 0; i < 2; i++) {
        OK(cudaGraphCreate(&graph[i], 0));
        OK(cudaGraphAddMemcpyNode1D(&root[i], graph[i], NULL, 0, memory, memory + 32, 4, 3));
        OK(cudaStreamBeginCaptureToGraph(streams[i], graph[i], &root[i], NULL, 1, 0));
    }
    GIVES(401, cudaStreamBeginCapture(streams[0], 0));
    OK(cudaMemsetAsync(memory + 4, 1, 4, streams[0]));
    OK(cudaMemsetAsync(memory + 8, 2, 4, streams[1]));
    OK(cudaMemsetAsync(memory + 12, 3, 4, streams[1]));
    for (int i = 1; i >= 0; i--) {
        size_t count = 4, edges = 0;
        OK(cudaStreamEndCapture(streams[i], &got));
        EXPECT(got == graph[i]);
        OK(cudaGraphGetNodes(graph[i], nodes, &count));
        OK(cudaGraphGetEdges(graph[i], NULL, NULL, NULL, &edges));
        EXPECT(count == (i ? 3 : 2) && edges == count - 1 && nodes[count] == NULL);
        void *dep = NULL;
        size_t deps = 1;
        OK(cudaGraphNodeGetDependencies(nodes[1], &dep, NULL, &deps));
        EXPECT(deps == 1 && dep == root[i]);
    }
    run(graph[0], streams[0]);
    EXPECT(word_at(memory, 1) == 0x01010101 && word_at(memory, 2) == 0);
    run(graph[1], streams[1]);
    EXPECT(word_at(memory, 2) == 0x02020202 && word_at(memory, 3) == 0x03030303);
    GIVES(401, cudaStreamEndCapture(streams[0], &got));
    GIVES(1, cudaStreamBeginCaptureToGraph(streams[0], memory, NULL, NULL, 0, 0));
    GIVES(1, cudaStreamBeginCapture(streams[0], 3));
    GIVES(900, cudaStreamBeginCapture(NULL, 0));
    OK(cudaGraphDestroy(graph[0]));
    OK(cudaGraphDestroy(graph[1]));
    OK(cudaFree(memory));
}

/* What a capture goes on from is told, added to, and put in another's place. */
static void told_and_set(void *stream)
{
    unsigned char *memory = memory_of(64);
    void *graph, *got, *first, *second, *nodes[4], *dep[2] = {NULL, NULL};
    void *const *deps = NULL;
    const void *data = memory;
    unsigned long long id = 0;
    int status = 7;
    size_t count = 0, all = 4;
    OK(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, NULL, NULL, NULL));
    EXPECT(status == 0);
    GIVES(401, cudaStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, 0));
    OK(cudaStreamBeginCapture(stream, 0));
    OK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == 1);
    OK(cudaMemsetAsync(memory, 1, 4, stream));
    OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &deps, &data, &count));
    EXPECT(status == 1 && id > 0 && count == 1 && data == NULL);
    first = deps[0];
    OK(cudaMemsetAsync(memory + 4, 2, 4, stream));
    OK(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &deps, NULL, &count));
    EXPECT(count == 1 && deps[0] != first);
    second = deps[0];
    OK(cudaStreamUpdateCaptureDependencies(stream, &first, NULL, 1, 0)); /* and the first again */
    OK(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &deps, NULL, &count));
    EXPECT(count == 2);
    OK(cudaMemsetAsync(memory + 8, 3, 4, stream));                       /* after both */
    OK(cudaStreamUpdateCaptureDependencies(stream, &first, NULL, 1, 1)); /* the first alone */
    OK(cudaMemsetAsync(memory + 12, 4, 4, stream));
    GIVES(1, cudaStreamUpdateCaptureDependencies(stream, &first, NULL, 1, 2));
    GIVES(1, cudaStreamUpdateCaptureDependencies(stream, NULL, NULL, 1, 0));
    got = memory;
    GIVES(1, cudaStreamUpdateCaptureDependencies(stream, &got, NULL, 1, 0));
    OK(cudaStreamUpdateCaptureDependencies(stream, &nodes[0], NULL, 0, 0)); /* none more */
    nodes[0] = nodes[3] = NULL;
    OK(cudaStreamEndCapture(stream, &got));
    EXPECT(got == graph);
    OK(cudaGraphGetNodes(got, nodes, &all));
    EXPECT(all == 4 && nodes[0] == first && nodes[1] == second);
    count = 2;
    OK(cudaGraphNodeGetDependencies(nodes[2], dep, NULL, &count));
    EXPECT(count == 2 && dep[0] != dep[1]);
    count = 2;
    OK(cudaGraphNodeGetDependencies(nodes[3], dep, NULL, &count));
    EXPECT(count == 1 && dep[0] == first);
    run(got, stream);
    EXPECT(word_at(memory, 2) == 0x03030303 && word_at(memory, 3) == 0x04040404);
    OK(cudaGraphDestroy(got));
    OK(cudaFree(memory));
}

/* A device's pools by the place instead of its number. */
static void pools(void)
{
    struct abi_location device = {1, 0}, other = {1, 1}, host = {2, 0};
    struct abi_pool_props props = {.allocation = 1, .location = device};
    void *standard, *current, *own;
    OK(cudaMemGetDefaultMemPool(&standard, &device, 1));
    OK(cudaMemGetMemPool(&current, &device, 1));
    EXPECT(standard && current == standard);
    OK(cudaMemPoolCreate(&own, &props));
    OK(cudaMemSetMemPool(&device, 1, own));
    OK(cudaMemGetMemPool(&current, &device, 1));
    EXPECT(current == own);
    GIVES(101, cudaMemSetMemPool(&other, 1, standard));
    GIVES(101, cudaMemGetMemPool(&current, &host, 1));
    GIVES(1, cudaMemGetMemPool(&current, &device, 2));
    GIVES(1, cudaMemGetDefaultMemPool(&current, NULL, 1));
    GIVES(1, cudaMemSetMemPool(&device, 1, &device));
    OK(cudaMemGetMemPool(&current, &device, 1));
    EXPECT(current == own);
    OK(cudaMemPoolDestroy(own));
    OK(cudaMemGetMemPool(&current, &device, 1));
    EXPECT(current == standard);
}

int main(int argc, char **argv)
{
    void *streams[2], **code = argc == 2 ? program_of(path_of(argv, "kernels.ptx")) : NULL;
    add_function(code, &add_one_here, "add_one");
    __cudaRegisterVar(code, &factor_here, "factor", "factor", 0, 4, 0, 0);
    __cudaRegisterManagedVar(code, (void **)&shared_word, "", "shared_word", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(code);
    OK(cudaStreamCreate(&streams[0]));
    OK(cudaStreamCreate(&streams[1]));
    EXPECT(__cudaInitModule(code) && *shared_word == 21); /* before the first launch */
    symbols(streams[0]);
    kernels(streams[0]);
    too_many(streams[0]);
    allocations(streams[0]);
    into_graphs(streams);
    told_and_set(streams[0]);
    pools();
    OK(cudaStreamDestroy(streams[0]));
    OK(cudaStreamDestroy(streams[1]));
    return 0;
}
