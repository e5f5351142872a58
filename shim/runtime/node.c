/* Nodes of graphs, as only the runtime has them: of host functions, with symbols. */
#include "shim/both/graph.h"

int node_launch(struct shim_launch *out, const struct abi_kernel_node *from)
{
    return launch_of(out, from->function, from->grid, from->block, from->args, from->shared_bytes);
}

/* Where a copy's end is an array there is no telling which. */
int copy_told(struct abi_copy3d *out, const struct rt_copy *copy)
{
    static const int kinds[2][2] = {{ABI_HOST_TO_HOST, ABI_HOST_TO_DEVICE},
                                    {ABI_DEVICE_TO_HOST, ABI_DEVICE_TO_DEVICE}};
    const struct rt_end *src = &copy->src, *dst = &copy->dst;
    if (src->kind == RT_END_IMAGE || dst->kind == RT_END_IMAGE) {
        return SHIM_NOT_SUPPORTED;
    }
    *out = (struct abi_copy3d){
        .src = {end_pointer(src), src->row_bytes, copy->width_bytes, src->slice_rows},
        .dst = {end_pointer(dst), dst->row_bytes, copy->width_bytes, dst->slice_rows},
        .extent = {copy->width_bytes, copy->height, copy->depth},
        .kind = kinds[src->kind == RT_END_DEVICE][dst->kind == RT_END_DEVICE]};
    return SHIM_OK;
}

static int copy1d_params(struct node_params *out, void *dst, const void *src, size_t bytes,
                         int kind)
{
    struct rt *rt;
    out->rt = (struct rt_node_params){.kind = RT_NODE_COPY,
                                      .copy = {.width_bytes = bytes, .height = 1, .depth = 1}};
    int code = shim_device(&rt);
    code = code == SHIM_OK ? copy_check(dst, src, bytes, kind) : code;
    if (code == SHIM_OK) {
        shim_end(rt, &out->rt.copy.dst, dst);
        shim_end(rt, &out->rt.copy.src, src);
    }
    return code;
}

EXPORT int cudaGraphAddMemcpyNode1D(void **out, void *graph, void *const *deps, size_t count,
                                    void *dst, const void *src, size_t bytes, int kind)
{
    struct node_params params;
    int code = copy1d_params(&params, dst, src, bytes, kind);
    return last(code == SHIM_OK ? node_add(out, graph, deps, count, &params.rt) : code);
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

EXPORT int cudaGraphMemcpyNodeSetParams1D(void *node, void *dst, const void *src, size_t bytes,
                                          int kind)
{
    struct node_params params;
    int code = copy1d_params(&params, dst, src, bytes, kind);
    return last(code == SHIM_OK ? node_set(node, &params.rt) : code);
}

EXPORT int cudaGraphExecMemcpyNodeSetParams1D(void *exec, void *node, void *dst, const void *src,
                                              size_t bytes, int kind)
{
    struct node_params params;
    int code = copy1d_params(&params, dst, src, bytes, kind);
    return last(code == SHIM_OK ? exec_node_set(exec, node, &params.rt) : code);
}
