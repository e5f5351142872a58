/* Graphs in streams: launches, and the capture of what is put into a stream. */
#include <stdlib.h>
#include <string.h>

#include "shim/both/capture.h"
#include "shim/both/graph.h"
#include "sonde/sonde.h"

EXPORT int STREAMED(NAME(GraphLaunch))(void *exec, void *stream)
{
    struct rt_stream *in;
    int code = shim_handle_is(exec, SHIM_GRAPH_EXEC) ? STREAM_OF(&in, stream) : SHIM_INVALID;
    return RESULT(code == SHIM_OK ? shim_launch_code(rt_graph_launch(exec, in)) : code);
}

EXPORT int STREAMED(NAME(GraphUpload))(void *exec, void *stream)
{
    struct rt_stream *in;
    return RESULT(shim_handle_is(exec, SHIM_GRAPH_EXEC) ? STREAM_OF(&in, stream) : SHIM_INVALID);
}

static int begin(void *stream, int mode)
{
    struct rt_stream *in;
    int code = mode >= 0 && mode <= 2 ? STREAM_OF(&in, stream) : SHIM_INVALID;
    if (code == SHIM_OK && (uintptr_t)stream <= 1 && !OWN_STREAM) {
        code = SHIM_CAPTURE_UNSUPPORTED; /* the null stream is never captured */
    }
    if (code == SHIM_OK && rt_capture_state(in, NULL, NULL) != RT_CAPTURE_NONE) {
        code = SHIM_ILLEGAL_STATE;
    }
    return code == SHIM_OK ? shim_code(rt_capture_begin(in)) : code;
}

#ifndef SHIM_RUNTIME
EXPORT int STREAMED(cuStreamBeginCapture)(void *stream)
{
    return RESULT(begin(stream, 0));
}
#endif

EXPORT int STREAMED(SECOND(StreamBeginCapture))(void *stream, int mode)
{
    return RESULT(begin(stream, mode));
}

EXPORT int STREAMED(NAME(StreamBeginCaptureToGraph))(void *stream, void *handle, void *const *deps,
                                                     const void *edges, size_t count, int mode)
{
    struct rt_stream *in;
    struct rt_graph *graph;
    (void)edges;
    int code = graph_known(&graph, handle);
    code = code == SHIM_OK ? begin(stream, mode) : code;
    code = code == SHIM_OK ? STREAM_OF(&in, stream) : code;
    return RESULT(code == SHIM_OK ? capture_into(in, graph, deps, count) : code);
}

EXPORT int STREAMED(NAME(StreamEndCapture))(void *stream, void **out)
{
    struct rt_stream *in;
    struct rt_graph *graph = NULL;
    void *unused = NULL; /* a capture to a graph that the program has */
    int code = STREAM_OF(&in, stream);
    out = out ? out : &unused;
    if (code == SHIM_OK) {
        *out = NULL;
        code = capture_end(in, &graph);
    }
    if (code == SHIM_OK) {
        code = shim_handle_add(graph, SHIM_GRAPH);
        *out = graph;
    }
    return RESULT(code);
}

EXPORT int STREAMED(NAME(StreamIsCapturing))(void *stream, int *status)
{
    struct rt_stream *in;
    int code = status ? STREAM_OF(&in, stream) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *status = (int)rt_capture_state(in, NULL, NULL);
    }
    return RESULT(code);
}

static int info(void *stream, int *status, unsigned long long *id_out, void **graph_out,
                struct rt_node *const **deps_out, size_t *count_out)
{
    struct rt_stream *in;
    struct rt_graph *graph = NULL;
    struct rt_node *const *deps = NULL;
    uint64_t id = 0;
    int code = status ? STREAM_OF(&in, stream) : SHIM_INVALID;
    if (code != SHIM_OK) {
        return code;
    }
    *status = (int)rt_capture_state(in, &id, &graph);
    if (*status != RT_CAPTURE_ACTIVE) {
        return SHIM_OK;
    }
    size_t count = rt_capture_deps(in, &deps);
    for (size_t i = 0; i < count; i++) {
        shim_handle_add(deps[i], SHIM_NODE);
    }
    shim_handle_add(graph, SHIM_GRAPH);
    if (id_out) {
        *id_out = id;
    }
    if (graph_out) {
        *graph_out = graph;
    }
    if (deps_out) {
        *deps_out = deps;
    }
    if (count_out) {
        *count_out = count;
    }
    return SHIM_OK;
}

static int set_deps(void *stream, void *const *deps, size_t count, unsigned flags)
{
    struct rt_stream *in;
    int code = flags <= 1 && (deps || count == 0) ? STREAM_OF(&in, stream) : SHIM_INVALID;
    for (size_t i = 0; code == SHIM_OK && i < count; i++) {
        code = node_known(deps[i]);
    }
    if (code == SHIM_OK && rt_capture_state(in, NULL, NULL) != RT_CAPTURE_ACTIVE) {
        code = SHIM_ILLEGAL_STATE;
    }
    return code == SHIM_OK ? shim_code(rt_capture_set_deps(in, (struct rt_node *const *)deps, count,
                                                           flags == 0))
                           : code;
}

#if defined SHIM_RUNTIME && SHIM_RUNTIME >= 13
#define INFO_WITH_EDGES NAME(StreamGetCaptureInfo)
#else
#define INFO_WITH_EDGES NAME(StreamGetCaptureInfo_v3)
EXPORT int STREAMED(NAME(StreamGetCaptureInfo))(void *stream, int *status, unsigned long long *id)
{
    return RESULT(info(stream, status, id, NULL, NULL, NULL));
}

EXPORT int STREAMED(NAME(StreamGetCaptureInfo_v2))(void *stream, int *status,
                                                   unsigned long long *id, void **graph,
                                                   struct rt_node *const **deps, size_t *count)
{
    return RESULT(info(stream, status, id, graph, deps, count));
}

EXPORT int STREAMED(NAME(StreamUpdateCaptureDependencies))(void *stream, void *const *deps,
                                                           size_t count, unsigned flags)
{
    return RESULT(set_deps(stream, deps, count, flags));
}
#endif

EXPORT int STREAMED(INFO_WITH_EDGES)(void *stream, int *status, unsigned long long *id,
                                     void **graph, struct rt_node *const **deps, const void **edges,
                                     size_t *count)
{
    if (edges) {
        *edges = NULL;
    }
    return RESULT(info(stream, status, id, graph, deps, count));
}

EXPORT int STREAMED(EDGED(StreamUpdateCaptureDependencies))(void *stream, void *const *deps,
                                                            const void *edges, size_t count,
                                                            unsigned flags)
{
    (void)edges;
    return RESULT(set_deps(stream, deps, count, flags));
}
