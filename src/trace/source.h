/*
 * Where inference gets its traces from, and all that it ever sees: ask for a measurement, get the
 * trace. A live source (probe/live.c) runs the probe on a device and records it; a recorded source
 * looks it up and answers SONDE_ENOTRECORDED for what is not there. So one inference serves the
 * simulator, a real GPU, `replay:` and `sonde infer`, and tests can put any structure behind it.
 */
#ifndef SONDE_TRACE_SOURCE_H
#define SONDE_TRACE_SOURCE_H

#include "trace/trace.h"

struct trace_source {
    /*
     * The result is borrowed from the source and lives as long as it. An error is a request that
     * cannot be answered at all: wrong (SONDE_EUSAGE), not recorded, interrupted, memory out. What
     * the device refused or failed at is an answer: a trace whose status and reason say so.
     */
    int (*get)(void *ctx, const struct trace **out, const struct trace_request *request);
    void *ctx;
    /*
     * From now on requests may take the source's work up to this share of all that it may do, so
     * that something is left for what comes after. NULL: nothing is limited.
     */
    void (*allow)(void *ctx, double share);
    /* The share of that which is done. NULL: nothing is limited. */
    double (*spent)(void *ctx);
};

static inline int trace_get(struct trace_source *source, const struct trace **out,
                            const struct trace_request *request)
{
    return source->get(source->ctx, out, request);
}

static inline void trace_allow(struct trace_source *source, double share)
{
    if (source->allow) {
        source->allow(source->ctx, share);
    }
}

static inline double trace_spent(const struct trace_source *source)
{
    return source->spent ? source->spent(source->ctx) : 0;
}

/* A source over a recording (borrowed). */
struct trace_source traceset_source(const struct traceset *set);

#endif
