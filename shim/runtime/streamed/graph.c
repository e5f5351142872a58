/* Graphs in streams: launches, and the capture of what is put into a stream. */
#include <stdlib.h>
#include <string.h>

#include "shim/runtime/capture.h"
#include "shim/runtime/graph.h"
#include "sonde/sonde.h"

EXPORT int STREAMED(cudaGraphLaunch)(void *exec, void *stream)
{
    struct rt_stream *in;
    int code =
        shim_handle_is(exec, SHIM_GRAPH_EXEC) ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
    return last(code == SHIM_OK ? shim_launch_code(rt_graph_launch(exec, in)) : code);
}

EXPORT int STREAMED(cudaGraphUpload)(void *exec, void *stream)
{
    struct rt_stream *in;
    return last(shim_handle_is(exec, SHIM_GRAPH_EXEC) ? stream_of(&in, stream, OWN_STREAM)
                                                      : SHIM_INVALID);
}

static int begin(void *stream, int mode)
{
    struct rt_stream *in;
    int code = mode >= 0 && mode <= 2 ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
    if (code == SHIM_OK && (uintptr_t)stream <= 1 && !OWN_STREAM) {
        code = SHIM_CAPTURE_UNSUPPORTED; /* the null stream is never captured */
    }
    if (code == SHIM_OK && rt_capture_state(in, NULL, NULL) != RT_CAPTURE_NONE) {
        code = SHIM_ILLEGAL_STATE;
    }
    return code == SHIM_OK ? shim_code(rt_capture_begin(in)) : code;
}

EXPORT int STREAMED(cudaStreamBeginCapture)(void *stream, int mode)
{
    return last(begin(stream, mode));
}

EXPORT int STREAMED(cudaStreamBeginCaptureToGraph)(void *stream, void *handle, void *const *deps,
                                                   const void *edges, size_t count, int mode)
{
    struct rt_stream *in;
    struct rt_graph *graph;
    (void)edges;
    int code = graph_known(&graph, handle);
    code = code == SHIM_OK ? begin(stream, mode) : code;
    code = code == SHIM_OK ? stream_of(&in, stream, OWN_STREAM) : code;
    return last(code == SHIM_OK ? capture_into(in, graph, deps, count) : code);
}

EXPORT int STREAMED(cudaStreamEndCapture)(void *stream, void **out)
{
    struct rt_stream *in;
    struct rt_graph *graph = NULL;
    int code = out ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *out = NULL;
        code = capture_end(in, &graph);
    }
    if (code == SHIM_OK) {
        code = shim_handle_add(graph, SHIM_GRAPH);
        *out = graph;
    }
    return last(code);
}

EXPORT int STREAMED(cudaStreamIsCapturing)(void *stream, int *status)
{
    struct rt_stream *in;
    int code = status ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
    if (code == SHIM_OK) {
        *status = (int)rt_capture_state(in, NULL, NULL);
    }
    return last(code);
}

static int info(void *stream, int *status, unsigned long long *id_out, void **graph_out,
                struct rt_node *const **deps_out, size_t *count_out)
{
    struct rt_stream *in;
    struct rt_graph *graph = NULL;
    struct rt_node *const *deps = NULL;
    uint64_t id = 0;
    int code = status ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
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
    int code =
        flags <= 1 && (deps || count == 0) ? stream_of(&in, stream, OWN_STREAM) : SHIM_INVALID;
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

#if SHIM_RUNTIME >= 13
EXPORT int STREAMED(cudaStreamGetCaptureInfo)(void *stream, int *status, unsigned long long *id,
                                              void **graph, struct rt_node *const **deps,
                                              const void **edges, size_t *count)
{
    if (edges) {
        *edges = NULL;
    }
    return last(info(stream, status, id, graph, deps, count));
}

EXPORT int STREAMED(cudaStreamUpdateCaptureDependencies)(void *stream, void *const *deps,
                                                         const void *edges, size_t count,
                                                         unsigned flags)
{
    (void)edges;
    return last(set_deps(stream, deps, count, flags));
}
#else
EXPORT int STREAMED(cudaStreamGetCaptureInfo)(void *stream, int *status, unsigned long long *id)
{
    return last(info(stream, status, id, NULL, NULL, NULL));
}

EXPORT int STREAMED(cudaStreamGetCaptureInfo_v2)(void *stream, int *status, unsigned long long *id,
                                                 void **graph, struct rt_node *const **deps,
                                                 size_t *count)
{
    return last(info(stream, status, id, graph, deps, count));
}

EXPORT int STREAMED(cudaStreamGetCaptureInfo_v3)(void *stream, int *status, unsigned long long *id,
                                                 void **graph, struct rt_node *const **deps,
                                                 const void **edges, size_t *count)
{
    if (edges) {
        *edges = NULL;
    }
    return last(info(stream, status, id, graph, deps, count));
}

EXPORT int STREAMED(cudaStreamUpdateCaptureDependencies)(void *stream, void *const *deps,
                                                         size_t count, unsigned flags)
{
    return last(set_deps(stream, deps, count, flags));
}
#endif
