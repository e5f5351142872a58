/*
 * The operations of a graph: one for each node, two around a node's graph. A node that is a
 * condition looks at its value when it is its turn, and puts the graph that it chooses between
 * itself and its end; a loop does so again and again.
 *
 *     condition --> body --> condition --> body --> condition (0) --> end
 */
#include <stdlib.h>

#include "rt/queue/state.h"
#include "util/error.h"

/* Values that begin anew with each launch, of the graph's nodes and of all inside of them. */
static void assign(struct queue *queue, const struct rt_graph *graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct rt_node_params *params = &graph->nodes.data[i]->params;
        if (params->kind == RT_NODE_CHILD) {
            assign(queue, params->child);
        } else if (params->kind == RT_NODE_CONDITION) {
            struct condition *condition = &queue->conditions.data[params->condition - 1];
            condition->value = condition->assigns ? condition->at_launch : condition->value;
            for (size_t k = 0; k < params->body_count; k++) {
                assign(queue, params->bodies[k]);
            }
        }
    }
}

void graph_begins(const struct rt_graph_exec *exec)
{
    assign(exec->rt->queue, exec->graph);
}

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

/* What stands behind a condition waits for what will be run. */
static int condition_end(struct rt_node *node, struct rt_stream *stream)
{
    struct rt_op *end = op_create(stream, OP_EMPTY);
    if (!end || op_wait_for(end, node->begin) < 0) {
        op_destroy(end);
        return SONDE_ENOMEM;
    }
    node->end = end;
    node->begin->condition.node = node;
    node->begin->condition.end = end;
    return 0;
}

/* A node's operation, or the two around its graph's. */
static int expand_node(struct rt_node *node, struct rt_stream *stream, struct rt_op *begin)
{
    struct rt_node_params none = {.kind = RT_NODE_EMPTY};
    bool idles = frees_own_memory(node) || node->disabled;
    int rc = op_load(&node->begin, stream, idles ? &none : &node->params, node->packed);
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
    if (rc == 0 && node->params.kind == RT_NODE_CONDITION) {
        rc = condition_end(node, stream);
    }
    if (op && rc < 0) {
        op_forget(op);
    }
    if (op) {
        submit_inside(op);
    }
    if (node->end && node->end != op && node->params.kind == RT_NODE_CONDITION) {
        submit_inside(node->end);
    }
    if (rc == 0 && op && node->params.kind == RT_NODE_RECORD) {
        node->params.event->op = op;
        node->params.event->record_seq = op->seq;
    }
    if (rc == 0 && node->params.kind == RT_NODE_CHILD) {
        node->end = op_create(stream, OP_EMPTY);
        rc = node->end ? graph_expand(node->params.child, stream, op, node->end) : SONDE_ENOMEM;
        if (node->end) {
            submit_inside(node->end);
        }
    }
    return rc;
}

/* `end` waits for all of them. */
int graph_expand(struct rt_graph *graph, struct rt_stream *stream, struct rt_op *begin,
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

static struct rt_graph *body_of(const struct rt_node_params *params, uint32_t value)
{
    size_t i = params->when == RT_CONDITION_SWITCH ? value
               : params->when == RT_CONDITION_IF   ? !value
                                                   : (value ? 0 : params->body_count);
    return i < params->body_count ? params->bodies[i] : NULL;
}

/* The graph stands between an operation of its own and the next look at a loop's condition, or the
 * end, for which the node's end waits from now on. */
int condition_run(struct rt_op *op)
{
    struct rt_node *node = op->condition.node;
    const struct rt_node_params *params = &node->params;
    const struct queue *queue = op->stream->rt->queue;
    uint32_t value = queue->conditions.data[params->condition - 1].value;
    struct rt_graph *body = body_of(params, value);
    if (!body) {
        return 0;
    }
    bool again = params->when == RT_CONDITION_WHILE;
    struct rt_op *first = op_create(op->stream, OP_EMPTY);
    struct rt_op *next = op_create(op->stream, again ? OP_CONDITION : OP_EMPTY);
    if (!first || !next || op_wait_for(op->condition.end, next) < 0) {
        op_destroy(first);
        op_destroy(next);
        return SONDE_ENOMEM;
    }
    first->begin_ps = op->begin_ps;
    if (again) {
        next->condition.node = node;
        next->condition.end = op->condition.end;
    }
    int rc = graph_expand(body, op->stream, first, next);
    submit_inside(first);
    submit_inside(next);
    return rc;
}
