/* Graphs: parameters of nodes, handles. */
#ifndef SONDE_SHIM_RUNTIME_GRAPH_H
#define SONDE_SHIM_RUNTIME_GRAPH_H

#include "shim/runtime/runtime.h"

/* A node's parameters as the queue wants them; what they point to is in here too. */
struct node_params {
    struct rt_node_params rt;
    const void *pointers[SHIM_PARAMS_MAX];
};
int kernel_params(struct node_params *out, const struct abi_kernel_node *from);
int copy_params(struct node_params *out, const struct abi_copy3d *from);
int copy1d_params(struct node_params *out, void *dst, const void *src, size_t bytes, int kind);
int memset_params(struct node_params *out, const struct abi_memset_node *from);

int graph_known(struct rt_graph **out, void *handle);
int node_known(void *handle);
/* Handles of a graph and all its nodes go. */
void graph_forget(struct rt_graph *graph);

#endif
