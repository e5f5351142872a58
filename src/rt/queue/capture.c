/*
 * Capture. A captured stream has the nodes that its next one depends on. An event that is recorded
 * in it remembers them, and a stream that waits for such an event is captured too, until the stream
 * where it began ends the capture. (CUDA C++ Programming Guide, "Creating a Graph Using Stream
 * Capture".)
 */
#include <stdlib.h>

#include "rt/queue/state.h"
#include "util/error.h"

struct capture {
    uint64_t id;
    struct rt_stream *origin;
    struct rt_graph *graph;
    bool spoilt;
    struct rt_node_vec dropped; /* taken out of a stream's nodes by the program */
};

int rt_capture_begin(struct rt_stream *stream)
{
    struct rt *rt = stream->rt;
    int rc = queue_enter(rt);
    if (rc < 0) {
        return rc;
    }
    struct capture *capture = NULL;
    if (stream == &rt->queue->null_stream) {
        rc = error_set(SONDE_EUSAGE, "the default stream cannot be captured");
    } else if (stream->capture) {
        rc = error_set(SONDE_EUSAGE, "the stream is being captured");
    } else if (!(capture = calloc(1, sizeof *capture))) {
        rc = error_memory();
    } else {
        rc = rt_graph_create(rt, &capture->graph);
    }
    if (rc < 0 || !capture) {
        free(capture);
    } else {
        capture->id = rt->queue->next_capture_id++;
        capture->origin = stream;
        stream->capture = capture;
        vec_clear(&stream->latest);
        rt->queue->captures++;
    }
    queue_leave(rt);
    return rc;
}

int capture_spoil(struct rt_stream *stream, const char *what)
{
    stream->capture->spoilt = true;
    return error_set(SONDE_EUSAGE, "a stream that is being captured was %s", what);
}

static int check(const struct rt_stream *stream)
{
    return stream->capture->spoilt ? error_set(SONDE_EUSAGE, "the capture has been spoilt") : 0;
}

int capture_add(struct rt_stream *stream, struct rt_node_params *params, struct rt_node **node)
{
    struct rt_node *added;
    int rc = check(stream);
    if (rc == 0) {
        rc = rt_graph_add(stream->capture->graph, &added, stream->latest.data, stream->latest.count,
                          params);
    }
    if (rc == 0 && vec_reserve(&stream->latest, 1) < 0) {
        rc = error_memory();
    }
    if (rc == 0) {
        stream->latest.count = 1;
        stream->latest.data[0] = added;
    }
    if (rc == 0 && node) {
        *node = added;
    }
    return rc;
}

static int add_latest(struct rt_node_vec *to, const struct rt_node_vec *from)
{
    for (size_t i = 0; i < from->count; i++) {
        size_t k = 0;
        while (k < to->count && to->data[k] != from->data[i]) {
            k++;
        }
        if (k == to->count && vec_push(to, from->data[i]) < 0) {
            return error_memory();
        }
    }
    return 0;
}

int capture_record(struct rt_stream *stream, struct rt_event *event)
{
    int rc = check(stream);
    if (rc == 0) {
        event->capture_id = stream->capture->id;
        vec_clear(&event->latest);
        rc = add_latest(&event->latest, &stream->latest);
    }
    return rc;
}

static struct capture *find(struct queue *queue, uint64_t id)
{
    for (struct rt_stream *stream = queue->streams; stream; stream = stream->next) {
        if (stream->capture && stream->capture->id == id) {
            return stream->capture;
        }
    }
    return NULL;
}

int capture_wait(struct rt_stream *stream, const struct rt_event *event)
{
    struct queue *queue = stream->rt->queue;
    if (!event->capture_id) {
        return capture_spoil(stream, "made to wait for an event outside of the capture");
    }
    struct capture *capture = find(queue, event->capture_id);
    if (!capture || (stream->capture && stream->capture != capture)) {
        return error_set(SONDE_EUSAGE, "the event was recorded in another capture");
    }
    if (!stream->capture) {
        if (stream == &queue->null_stream) {
            return error_set(SONDE_EUSAGE, "the default stream cannot be captured");
        }
        stream->capture = capture;
        vec_clear(&stream->latest);
        queue->captures++;
    }
    int rc = check(stream);
    return rc == 0 ? add_latest(&stream->latest, &event->latest) : rc;
}

/* What the nodes wait for, directly or not, and themselves. */
static void mark(const struct rt_node_vec *nodes, bool *marked)
{
    for (size_t i = 0; i < nodes->count; i++) {
        const struct rt_node *node = nodes->data[i];
        if (!marked[node->place]) {
            marked[node->place] = true;
            mark(&node->deps, marked);
        }
    }
}

static int check_joined(const struct rt_stream *stream)
{
    const struct rt_graph *graph = stream->capture->graph;
    bool *marked = calloc(graph->nodes.count + 1, sizeof *marked), joined = true;
    if (!marked) {
        return error_memory();
    }
    mark(&stream->latest, marked);
    mark(&stream->capture->dropped, marked);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        joined &= marked[i];
    }
    free(marked);
    return joined ? 0
                  : error_set(SONDE_EUSAGE, "a stream that was forked from the captured one has "
                                            "not been joined to it again");
}

static void leave_all(struct queue *queue, const struct capture *capture)
{
    for (struct rt_stream *stream = queue->streams; stream; stream = stream->next) {
        if (stream->capture == capture) {
            stream->capture = NULL;
            vec_clear(&stream->latest);
            queue->captures--;
        }
    }
}

int rt_capture_end(struct rt_stream *stream, struct rt_graph **out)
{
    *out = NULL;
    struct rt *rt = stream->rt;
    int rc = queue_enter(rt);
    if (rc < 0) {
        return rc;
    }
    struct capture *capture = stream->capture;
    if (!capture || capture->origin != stream) {
        rc = error_set(SONDE_EUSAGE, "no capture was begun in this stream");
        queue_leave(rt);
        return rc;
    }
    rc = check(stream);
    if (rc == 0) {
        rc = check_joined(stream);
    }
    leave_all(rt->queue, capture);
    if (rc == 0) {
        *out = capture->graph;
    } else {
        rt_graph_destroy(capture->graph);
    }
    vec_free(&capture->dropped);
    free(capture);
    queue_leave(rt);
    return rc;
}

enum rt_capture_state rt_capture_state(const struct rt_stream *stream, uint64_t *id,
                                       struct rt_graph **graph)
{
    const struct capture *capture = stream->capture;
    if (id) {
        *id = capture ? capture->id : 0;
    }
    if (graph) {
        *graph = capture ? capture->graph : NULL;
    }
    if (!capture) {
        return RT_CAPTURE_NONE;
    }
    return capture->spoilt ? RT_CAPTURE_INVALID : RT_CAPTURE_ACTIVE;
}

size_t rt_capture_deps(const struct rt_stream *stream, struct rt_node *const **deps)
{
    *deps = stream->latest.data;
    return stream->capture ? stream->latest.count : 0;
}

int rt_capture_set_deps(struct rt_stream *stream, struct rt_node *const *deps, size_t count,
                        bool add)
{
    struct rt *rt = stream->rt;
    int rc = queue_enter(rt);
    if (rc < 0) {
        return rc;
    }
    rc = stream->capture ? check(stream)
                         : error_set(SONDE_EUSAGE, "the stream is not being captured");
    for (size_t i = 0; rc == 0 && stream->capture && i < count; i++) {
        if (deps[i]->graph != stream->capture->graph) {
            rc = error_set(SONDE_EUSAGE, "a node of another graph");
        }
    }
    if (rc == 0 && stream->capture && !add) {
        rc = add_latest(&stream->capture->dropped, &stream->latest);
        vec_clear(&stream->latest);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct rt_node *one[1] = {deps[i]};
        struct rt_node_vec more = {.data = one, .count = 1};
        rc = add_latest(&stream->latest, &more);
    }
    queue_leave(rt);
    return rc;
}
