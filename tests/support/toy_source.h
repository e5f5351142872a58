/*
 * What the toys of tests share that answer as a trace source (trace/source.h): a request is
 * answered once and kept, and a walk over a ring becomes the columns of a chase.
 */
#ifndef SONDE_TESTS_SUPPORT_TOY_SOURCE_H
#define SONDE_TESTS_SUPPORT_TOY_SOURCE_H

#include <stdlib.h>

#include "trace/source.h"

/* Fills a trace that has its request; 0, or what the source is to return. */
typedef int toy_answer(void *toy, struct trace *trace);

static inline int toy_get(struct traceset *set, toy_answer *answer, void *toy,
                          const struct trace **out, const struct trace_request *request)
{
    struct trace trace;
    char key[TRACE_KEY_MAX];
    trace_request_key(request, key);
    *out = traceset_find(set, key);
    if (*out) {
        return 0;
    }
    int rc = trace_init(&trace, request);
    if (rc < 0) {
        return rc;
    }
    rc = answer(toy, &trace);
    if (rc < 0) {
        trace_clear(&trace);
        return rc;
    }
    return traceset_add(set, &trace, out);
}

/* A value of a request, or what stands for one that it lacks. */
static inline uint64_t toy_number(const struct trace_request *request, const char *name,
                                  uint64_t otherwise)
{
    uint64_t value = otherwise;
    return trace_request_u64(request, name, &value) ? value : otherwise;
}

/* What a chase records: of each window the offset it begins at, of each load two values. */
struct toy_walk {
    size_t window, windows;
    uint32_t *latency, *next, *start;
};

static inline struct toy_walk toy_walk_begin(size_t window, size_t windows)
{
    struct toy_walk walk = {.window = window,
                            .windows = windows,
                            .latency = calloc(window * windows, sizeof *walk.latency),
                            .next = calloc(window * windows, sizeof *walk.next),
                            .start = calloc(windows, sizeof *walk.start)};
    if (!walk.latency || !walk.next || !walk.start) {
        abort();
    }
    return walk;
}

/* With the windows that a chase is asked for. */
static inline struct toy_walk toy_walk_of(const struct trace_request *request)
{
    size_t window = toy_number(request, "window", 0);
    if (window == 0) {
        abort();
    }
    return toy_walk_begin(window, toy_number(request, "windows", 1));
}

/* Into the trace; frees the walk. */
static inline int toy_walk_end(struct toy_walk *walk, struct trace *trace)
{
    size_t records = walk->window * walk->windows;
    int rc = trace_add_column(trace, "latency", TRACE_U32, walk->latency, records);
    rc = rc ? rc : trace_add_column(trace, "next", TRACE_U32, walk->next, records);
    rc = rc ? rc : trace_add_column(trace, "start", TRACE_U32, walk->start, walk->windows);
    free(walk->latency);
    free(walk->next);
    free(walk->start);
    return rc;
}

/* The cycles of a load at an offset. */
typedef uint32_t toy_load(void *toy, uint32_t offset);

/* The request's ring is walked, window behind window, with its warm loads before it. */
static inline int toy_walk_ring(struct trace *trace, toy_load *load, void *toy)
{
    const struct trace_request *r = &trace->request;
    uint64_t warm = toy_number(r, "warm", 0), count = r->ring_count;
    if (count == 0) {
        abort();
    }
    struct toy_walk walk = toy_walk_of(r);
    uint64_t at = (count - warm % count) % count;
    for (uint64_t i = 0; i < warm + walk.window * walk.windows; i++, at = (at + 1) % count) {
        uint32_t cycles = load(toy, r->ring[at]);
        if (i >= warm) {
            uint64_t record = i - warm;
            if (record % walk.window == 0) {
                walk.start[record / walk.window] = r->ring[at];
            }
            walk.latency[record] = cycles;
            walk.next[record] = r->ring[(at + 1) % count];
        }
    }
    return toy_walk_end(&walk, trace);
}

#endif
