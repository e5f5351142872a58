/* Graphs: parameters of nodes, handles. */
#ifndef SONDE_SHIM_BOTH_GRAPH_H
#define SONDE_SHIM_BOTH_GRAPH_H

#include "shim/both/both.h"

/* A node's parameters as the queue wants them; what they point to is in here too. */
struct node_params {
    struct rt_node_params rt;
    const void *pointers[SHIM_PARAMS_MAX];
};
int kernel_params(struct node_params *out, const struct abi_kernel_node *from);
int copy_params(struct node_params *out, const COPY3D *from);
int memset_params(struct node_params *out, const struct abi_memset_node *from);
void *end_pointer(const struct rt_end *end); /* of linear memory */

/* node.c of runtime and driver: what each means by a function; a copy as each tells it. */
int node_launch(struct shim_launch *out, const struct abi_kernel_node *from);
int copy_told(COPY3D *out, const struct rt_copy *copy);

int graph_known(struct rt_graph **out, void *handle);
int node_known(void *handle);
/* Handles of a graph and all its nodes go. */
void graph_forget(struct rt_graph *graph);

/* graph.c, graph_node.c, graph_exec.c */
int node_add(void **out, void *graph, void *const *deps, size_t count,
             struct rt_node_params *params);
int node_set(void *node, const struct rt_node_params *params);
int exec_node_set(void *exec, void *node, const struct rt_node_params *params);

#endif
