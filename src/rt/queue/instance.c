/*
 * Graphs that are launched: a copy of the graph, whose nodes become operations. All of a launch
 * stand between an operation that waits for the stream and one that the stream waits for; a node
 * that is a graph stands between two of its own. Launches of one instance follow each other.
 */
#include <stdlib.h>

#include "rt/queue/state.h"
#include "util/error.h"

int rt_graph_instantiate(struct rt_graph_exec **out, const struct rt_graph *graph)
{
    *out = NULL;
    struct rt_graph_exec *exec = calloc(1, sizeof *exec);
    if (!exec) {
        return error_memory();
    }
    *exec = (struct rt_graph_exec){.rt = graph->rt, .users = 1};
    int rc = rt_graph_clone(&exec->graph, graph);
    if (rc < 0) {
        free(exec);
        return rc;
    }
    *out = exec;
    return 0;
}

void rt_graph_exec_destroy(struct rt_graph_exec *exec)
{
    if (exec) {
        struct rt *rt = exec->rt;
        rt_lock(rt);
        graph_exec_release(exec);
        rt_unlock(rt);
    }
}

int rt_graph_exec_set(struct rt_graph_exec *exec, const struct rt_node *node,
                      const struct rt_node_params *params)
{
    struct rt_node *own = rt_graph_find(exec->graph, node);
    return own ? rt_node_set(own, params)
               : error_set(SONDE_EUSAGE, "a node of another graph than was instantiated");
}

static bool same_form(const struct rt_node *a, const struct rt_node *b)
{
    bool same = a->params.kind == b->params.kind && a->deps.count == b->deps.count;
    for (size_t i = 0; same && i < a->deps.count; i++) {
        same = a->deps.data[i]->place == b->deps.data[i]->place;
    }
    return same;
}

int rt_graph_exec_update(struct rt_graph_exec *exec, const struct rt_graph *graph,
                         struct rt_node **odd)
{
    struct rt_graph *own = exec->graph;
    if (odd) {
        *odd = NULL;
    }
    if (own->nodes.count != graph->nodes.count) {
        return error_set(SONDE_EINPUT, "a graph of %zu nodes in place of one of %zu",
                         graph->nodes.count, own->nodes.count);
    }
    for (size_t i = 0; i < own->nodes.count; i++) {
        if (!same_form(own->nodes.data[i], graph->nodes.data[i])) {
            if (odd) {
                *odd = graph->nodes.data[i];
            }
            return error_set(SONDE_EINPUT, "node %zu of the graph has another form", i);
        }
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < own->nodes.count; i++) {
        rc = rt_node_set(own->nodes.data[i], &graph->nodes.data[i]->params);
    }
    return rc;
}

static int expand(struct rt_graph *graph, struct rt_stream *stream, struct rt_op *begin,
                  struct rt_op *end);

static int submit_inside(struct rt_op *op)
{
    op->last = false;
    op_submit(op);
    return 0;
}

/* What a graph takes it takes again at its next launch, at the same address: it stays the graph's
 * when a node of its own gives it back. */
static bool frees_own_memory(const struct rt_node *node)
{
    const struct rt_graph *graph = node->graph;
    for (size_t i = 0; node->params.kind == RT_NODE_FREE && i < graph->nodes.count; i++) {
        const struct rt_node_params *params = &graph->nodes.data[i]->params;
        if (params->kind == RT_NODE_ALLOC && params->address == node->params.address) {
            return true;
        }
    }
    return false;
}

/* A node's operation, or the two around its graph's. */
static int expand_node(struct rt_node *node, struct rt_stream *stream, struct rt_op *begin)
{
    struct rt_node_params none = {.kind = RT_NODE_EMPTY};
    bool keeps = frees_own_memory(node);
    int rc = op_load(&node->begin, stream, keeps ? &none : &node->params, node->packed);
    node->end = node->begin;
    struct rt_op *op = node->begin;
    for (size_t i = 0; rc == 0 && i < node->deps.count; i++) {
        rc = op_wait_for(op, node->deps.data[i]->end);
    }
    if (rc == 0 && node->deps.count == 0) {
        rc = op_wait_for(op, begin);
    }
    if (rc == 0 && node->params.kind == RT_NODE_WAIT) {
        rc = op_wait_for(op, node->params.event->op);
    }
    if (op && rc < 0) {
        op_forget(op);
    }
    if (op) {
        submit_inside(op);
    }
    if (rc == 0 && op && node->params.kind == RT_NODE_RECORD) {
        node->params.event->op = op;
        node->params.event->record_seq = op->seq;
    }
    if (rc == 0 && node->params.kind == RT_NODE_CHILD) {
        node->end = op_create(stream, OP_EMPTY);
        rc = node->end ? expand(node->params.child, stream, op, node->end) : SONDE_ENOMEM;
        if (node->end) {
            submit_inside(node->end);
        }
    }
    return rc;
}

/* `end` waits for all of them. */
static int expand(struct rt_graph *graph, struct rt_stream *stream, struct rt_op *begin,
                  struct rt_op *end)
{
    struct rt_node_vec order = {0};
    int rc = graph_order(&order, graph);
    for (size_t i = 0; rc == 0 && i < order.count; i++) {
        rc = expand_node(order.data[i], stream, begin);
        if (rc == 0) {
            rc = op_wait_for(end, order.data[i]->end);
        }
    }
    if (rc == 0) {
        rc = op_wait_for(end, begin);
    }
    vec_free(&order);
    return rc;
}

static int launch(struct rt_graph_exec *exec, struct rt_stream *stream)
{
    struct rt_op *begin = op_create(stream, OP_EMPTY), *end = op_create(stream, OP_GRAPH_END);
    if (!begin || !end) {
        op_destroy(begin);
        free(end); /* not counted yet */
        return SONDE_ENOMEM;
    }
    end->exec = exec;
    exec->users++;
    int rc = op_wait_for(begin, exec->last);
    int put = stream_put(stream, begin);
    rc = rc == 0 ? put : rc;
    if (rc == 0) {
        rc = expand(exec->graph, stream, begin, end);
    }
    exec->last = end;
    put = stream_put(stream, end);
    return rc == 0 ? put : rc;
}

int rt_graph_launch(struct rt_graph_exec *exec, struct rt_stream *stream)
{
    int rc = stream_enter(stream);
    if (rc < 0) {
        return rc;
    }
    if (stream->capture) {
        struct rt_node_params params = {.kind = RT_NODE_CHILD, .child = exec->graph};
        rc = capture_add(stream, &params, NULL);
    } else {
        rc = launch(exec, stream);
    }
    queue_leave(stream->rt);
    return rc;
}
