/*
 * Captures into a graph that exists are captured into one of their own, whose nodes are added at
 * the end.
 */
#include "shim/both/capture.h"

#include <stdlib.h>
#include <string.h>

#include "shim/both/graph.h"
#include "sonde/sonde.h"
#include "util/container/map.h"
#include "util/container/vec.h"

struct target {
    struct rt_stream *stream;
    struct rt_graph *graph;
    struct rt_node **deps;
    size_t count;
};

static VEC(struct target) targets;

int capture_into(struct rt_stream *stream, struct rt_graph *graph, void *const *deps, size_t count)
{
    if (vec_reserve(&targets, targets.count + 1) < 0) {
        return SHIM_NO_MEMORY;
    }
    struct target *target = &targets.data[targets.count];
    *target = (struct target){.stream = stream, .graph = graph, .count = count};
    target->deps = calloc(count + 1, sizeof *target->deps);
    if (!target->deps) {
        return SHIM_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        target->deps[i] = deps[i];
    }
    targets.count++;
    return SHIM_OK;
}

/* Nodes are in the order of their creation: what one depends on comes before it. */
static int nodes_move(const struct target *target, const struct rt_graph *from)
{
    struct u64_map moved = {0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < rt_graph_nodes(from); i++) {
        struct rt_node *node = rt_graph_node(from, i), *copy;
        size_t count = rt_node_deps(node);
        struct rt_node **deps = calloc(count + 1, sizeof *deps);
        struct rt_node_params params = *rt_node_params(node);
        for (size_t k = 0; deps && k < count; k++) {
            deps[k] = u64_map_get_pointer(&moved, (uintptr_t)rt_node_dep(node, k));
        }
        rc = !deps ? SONDE_ENOMEM
                   : rt_graph_add(target->graph, &copy, count ? deps : target->deps,
                                  count ? count : target->count, &params);
        free(deps);
        rc = rc < 0 ? rc : u64_map_put_pointer(&moved, (uintptr_t)node, copy);
    }
    u64_map_free(&moved);
    return shim_code(rc);
}

int capture_end(struct rt_stream *stream, struct rt_graph **graph)
{
    enum rt_capture_state state = rt_capture_state(stream, NULL, NULL);
    int rc = state == RT_CAPTURE_NONE ? 0 : rt_capture_end(stream, graph);
    struct target target = {0};
    for (size_t i = 0; i < targets.count; i++) {
        if (targets.data[i].stream == stream) {
            target = targets.data[i];
            targets.data[i] = vec_last(&targets);
            targets.count--;
            break;
        }
    }
    int code = state == RT_CAPTURE_NONE                            ? SHIM_ILLEGAL_STATE
               : rc == SONDE_EUSAGE && state == RT_CAPTURE_INVALID ? SHIM_CAPTURE_INVALID
               : rc == SONDE_EUSAGE                                ? SHIM_CAPTURE_UNJOINED
                                                                   : shim_code(rc);
    if (code == SHIM_OK && target.graph) {
        code = nodes_move(&target, *graph);
        graph_forget(*graph);
        rt_graph_destroy(*graph);
        *graph = target.graph;
    }
    free(target.deps);
    return code;
}

EXPORT int NAME(ThreadExchangeStreamCaptureMode)(int *mode)
{
    static _Thread_local int current;
    if (!mode || *mode < 0 || *mode > 2) {
        return RESULT(SHIM_INVALID);
    }
    int before = current;
    current = *mode;
    *mode = before;
    return RESULT(SHIM_OK);
}
