/*
 * Graphs as the host builds them: nodes, what each waits for, their parameters. A node owns a copy
 * of its arguments, and of the graph that it stands for.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/queue/state.h"
#include "util/error.h"

int rt_graph_create(struct rt *rt, struct rt_graph **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out) {
        return error_memory();
    }
    (*out)->rt = rt;
    return 0;
}

static void bodies_free(struct rt_node_params *params)
{
    for (size_t i = 0; params->bodies && i < params->body_count; i++) {
        rt_graph_destroy(params->bodies[i]);
    }
    free(params->bodies);
    params->bodies = NULL;
}

static void params_free(struct rt_node *node)
{
    free(node->packed);
    free(node->args);
    if (node->params.kind == RT_NODE_CHILD) {
        rt_graph_destroy(node->params.child);
    } else if (node->params.kind == RT_NODE_CONDITION) {
        bodies_free(&node->params);
    }
    node->packed = NULL;
    node->args = NULL;
}

static void node_free(struct rt_node *node)
{
    if (node) {
        params_free(node);
        vec_free(&node->deps);
        free(node);
    }
}

void rt_graph_destroy(struct rt_graph *graph)
{
    if (!graph) {
        return;
    }
    for (size_t i = 0; i < graph->nodes.count; i++) {
        node_free(graph->nodes.data[i]);
    }
    vec_free(&graph->nodes);
    free(graph);
}

static int keep_args(struct rt_node *node, const struct rt_node_params *params)
{
    const struct ptx_func *func = params->kernel->func;
    int rc = launch_pack(&node->packed, func, &params->launch);
    if (rc < 0) {
        return rc;
    }
    node->args = malloc((func->param_count + 1u) * sizeof *node->args);
    if (!node->args) {
        return error_memory();
    }
    for (uint32_t i = 0; i < func->param_count; i++) {
        node->args[i] = node->packed + func->params[i].offset;
    }
    node->params.launch.args = node->args;
    return 0;
}

/* Copies of the graphs that there are, or empty ones. */
static int keep_bodies(struct rt_node_params *kept, const struct rt *rt,
                       const struct rt_node_params *params)
{
    int rc = 0;
    kept->bodies = calloc(params->body_count, sizeof(struct rt_graph *));
    if (!kept->bodies) {
        return error_memory();
    }
    for (size_t i = 0; rc == 0 && i < params->body_count; i++) {
        rc = params->bodies ? rt_graph_clone(&kept->bodies[i], params->bodies[i])
                            : rt_graph_create((struct rt *)rt, &kept->bodies[i]);
    }
    if (rc < 0) {
        bodies_free(kept);
    }
    return rc;
}

/* The node is as it was when this fails. */
static int params_keep(struct rt_node *node, const struct rt_node_params *params)
{
    struct rt_node kept = {.params = *params};
    kept.params.child = NULL;
    kept.params.bodies = NULL;
    int rc = 0;
    if (params->kind == RT_NODE_LAUNCH) {
        rc = keep_args(&kept, params);
    } else if (params->kind == RT_NODE_CHILD) {
        rc = rt_graph_clone(&kept.params.child, params->child);
    } else if (params->kind == RT_NODE_CONDITION) {
        rc = keep_bodies(&kept.params, node->graph->rt, params);
    }
    if (rc < 0) {
        params_free(&kept);
        return rc;
    }
    params_free(node);
    node->params = kept.params;
    node->packed = kept.packed;
    node->args = kept.args;
    return 0;
}

static int not_of_graph(void)
{
    return error_set(SONDE_EUSAGE, "a node of another graph");
}

static int add_deps(struct rt_node *node, struct rt_node *const *deps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (deps[i]->graph != node->graph) {
            return not_of_graph();
        }
        for (size_t k = 0; k < i; k++) {
            if (deps[k] == deps[i]) {
                return error_set(SONDE_EUSAGE, "a dependency that is there twice");
            }
        }
        if (vec_push(&node->deps, deps[i]) < 0) {
            return error_memory();
        }
    }
    return 0;
}

static int graph_memory(struct rt *rt, struct rt_node_params *params)
{
    return params->kind == RT_NODE_ALLOC ? memory_take(rt, &params->address, params->bytes, 1) : 0;
}

int rt_graph_add(struct rt_graph *graph, struct rt_node **out, struct rt_node *const *deps,
                 size_t dep_count, struct rt_node_params *params)
{
    *out = NULL;
    struct rt_node *node = calloc(1, sizeof *node);
    if (!node) {
        return error_memory();
    }
    node->graph = graph;
    node->place = graph->nodes.count;
    int rc = params_check(graph->rt, params);
    if (rc == 0) {
        rc = graph_memory(graph->rt, params);
    }
    if (rc == 0) {
        rc = params_keep(node, params);
    }
    if (rc == 0) {
        rc = add_deps(node, deps, dep_count);
    }
    bool asks = params->kind == RT_NODE_CONDITION;
    if (rc == 0 && asks && graph->rt->queue->conditions.data[params->condition - 1].taken) {
        rc = error_set(SONDE_EINPUT, "a condition that another node has");
    }
    if (rc == 0 && vec_push(&graph->nodes, node) < 0) {
        rc = error_memory();
    }
    if (rc < 0) {
        node_free(node);
        return rc;
    }
    if (asks) {
        graph->rt->queue->conditions.data[params->condition - 1].taken = true;
    }
    *out = node;
    return 0;
}

static bool waits_for(const struct rt_node *node, const struct rt_node *other)
{
    if (node == other) {
        return true;
    }
    for (size_t i = 0; i < node->deps.count; i++) {
        if (waits_for(node->deps.data[i], other)) {
            return true;
        }
    }
    return false;
}

static size_t dep_place(const struct rt_node *node, const struct rt_node *dep)
{
    size_t i = 0;
    while (i < node->deps.count && node->deps.data[i] != dep) {
        i++;
    }
    return i;
}

int rt_graph_depend(struct rt_graph *graph, struct rt_node *from, struct rt_node *to)
{
    if (from->graph != graph || to->graph != graph) {
        return not_of_graph();
    }
    if (dep_place(to, from) < to->deps.count) {
        return error_set(SONDE_EUSAGE, "a dependency that is there twice");
    }
    if (waits_for(from, to)) {
        return error_set(SONDE_EUSAGE, "a dependency that closes a circle");
    }
    return vec_push(&to->deps, from) < 0 ? error_memory() : 0;
}

int rt_graph_undepend(struct rt_graph *graph, struct rt_node *from, struct rt_node *to)
{
    if (from->graph != graph || to->graph != graph) {
        return not_of_graph();
    }
    size_t place = dep_place(to, from);
    if (place == to->deps.count) {
        return error_set(SONDE_EUSAGE, "a dependency that is not there");
    }
    memmove(to->deps.data + place, to->deps.data + place + 1,
            (--to->deps.count - place) * sizeof *to->deps.data);
    return 0;
}

int rt_graph_remove(struct rt_node *node)
{
    struct rt_graph *graph = node->graph;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        if (dep_place(graph->nodes.data[i], node) < graph->nodes.data[i]->deps.count) {
            rt_graph_undepend(graph, node, graph->nodes.data[i]);
        }
    }
    graph->nodes.count--;
    for (size_t i = node->place; i < graph->nodes.count; i++) {
        graph->nodes.data[i] = graph->nodes.data[i + 1];
        graph->nodes.data[i]->place = i;
    }
    node_free(node);
    return 0;
}

int rt_graph_clone(struct rt_graph **out, const struct rt_graph *graph)
{
    struct rt_graph *clone;
    int rc = rt_graph_create(graph->rt, &clone);
    for (size_t i = 0; rc == 0 && i < graph->nodes.count; i++) {
        struct rt_node *node = calloc(1, sizeof *node);
        if (!node || vec_push(&clone->nodes, node) < 0) {
            free(node);
            rc = error_memory();
            break;
        }
        node->graph = clone;
        node->place = i;
        node->original = graph->nodes.data[i];
        node->disabled = node->original->disabled;
        rc = params_keep(node, &node->original->params);
    }
    for (size_t i = 0; rc == 0 && i < clone->nodes.count; i++) {
        struct rt_node *node = clone->nodes.data[i];
        for (size_t k = 0; rc == 0 && k < node->original->deps.count; k++) {
            struct rt_node *dep = clone->nodes.data[node->original->deps.data[k]->place];
            rc = vec_push(&node->deps, dep) < 0 ? error_memory() : 0;
        }
    }
    if (rc < 0) {
        rt_graph_destroy(clone);
        clone = NULL;
    }
    *out = clone;
    return rc;
}

size_t rt_graph_nodes(const struct rt_graph *graph)
{
    return graph->nodes.count;
}

struct rt_node *rt_graph_node(const struct rt_graph *graph, size_t i)
{
    return graph->nodes.data[i];
}

struct rt_node *rt_graph_find(const struct rt_graph *clone, const struct rt_node *original)
{
    for (size_t i = 0; i < clone->nodes.count; i++) {
        if (clone->nodes.data[i]->original == original) {
            return clone->nodes.data[i];
        }
    }
    return NULL;
}

struct rt_graph *rt_node_graph(const struct rt_node *node)
{
    return node->graph;
}

size_t rt_node_deps(const struct rt_node *node)
{
    return node->deps.count;
}

struct rt_node *rt_node_dep(const struct rt_node *node, size_t i)
{
    return node->deps.data[i];
}

const struct rt_node_params *rt_node_params(const struct rt_node *node)
{
    return &node->params;
}

int rt_node_set(struct rt_node *node, const struct rt_node_params *params)
{
    if (params->kind != node->params.kind) {
        return error_set(SONDE_EINPUT, "parameters of a node of another kind");
    }
    int rc = params_check(node->graph->rt, params);
    return rc == 0 ? params_keep(node, params) : rc;
}

static bool is_placed(const struct rt_node *node, const bool *placed)
{
    for (size_t i = 0; i < node->deps.count; i++) {
        if (!placed[node->deps.data[i]->place]) {
            return false;
        }
    }
    return true;
}

/* Mostly nodes are made behind what they wait for, and one pass is enough. */
int graph_order(struct rt_node_vec *out, const struct rt_graph *graph)
{
    size_t count = graph->nodes.count;
    bool *placed = calloc(count + 1, sizeof *placed);
    if (!placed || vec_reserve(out, count + 1) < 0) {
        free(placed);
        return error_memory();
    }
    vec_clear(out);
    while (out->count < count) {
        for (size_t i = 0; i < count; i++) {
            if (!placed[i] && is_placed(graph->nodes.data[i], placed)) {
                placed[i] = true;
                out->data[out->count++] = graph->nodes.data[i];
            }
        }
    }
    free(placed);
    return 0;
}
