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

/* The instance's node, if it is one that can be disabled. */
static struct rt_node *switched(const struct rt_graph_exec *exec, const struct rt_node *node)
{
    struct rt_node *own = rt_graph_find(exec->graph, node);
    enum rt_node_kind kind = own ? own->params.kind : RT_NODE_EMPTY;
    if (kind == RT_NODE_LAUNCH || kind == RT_NODE_COPY || kind == RT_NODE_MEMSET) {
        return own;
    }
    error_set(SONDE_EINPUT, own ? "a node that cannot be disabled"
                                : "a node of another graph than was instantiated");
    return NULL;
}

int rt_graph_exec_enable(struct rt_graph_exec *exec, const struct rt_node *node, bool enabled)
{
    struct rt_node *own = switched(exec, node);
    if (!own) {
        return SONDE_EINPUT;
    }
    own->disabled = !enabled;
    return 0;
}

int rt_graph_exec_enabled(const struct rt_graph_exec *exec, const struct rt_node *node,
                          bool *enabled)
{
    const struct rt_node *own = switched(exec, node);
    *enabled = own && !own->disabled;
    return own ? 0 : SONDE_EINPUT;
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

int rt_condition_create(struct rt *rt, uint64_t *handle, uint32_t value, bool assigns)
{
    rt_lock(rt);
    struct queue *queue = rt->queue;
    struct condition made = {.value = value, .at_launch = value, .assigns = assigns};
    int rc = vec_push(&queue->conditions, made) < 0 ? error_memory() : 0;
    *handle = queue->conditions.count;
    rt_unlock(rt);
    return rc;
}

static int launch(struct rt_graph_exec *exec, struct rt_stream *stream)
{
    struct rt_op *begin = op_create(stream, OP_GRAPH_BEGIN), *end = op_create(stream, OP_GRAPH_END);
    if (!begin || !end) {
        op_destroy(begin);
        free(end); /* not counted yet */
        return SONDE_ENOMEM;
    }
    begin->exec = end->exec = exec;
    exec->users++;
    int rc = op_wait_for(begin, exec->last);
    int put = stream_put(stream, begin);
    rc = rc == 0 ? put : rc;
    if (rc == 0) {
        rc = graph_expand(exec->graph, stream, begin, end);
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
