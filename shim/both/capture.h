/* Captures that go into a graph that there is already. */
#ifndef SONDE_SHIM_BOTH_CAPTURE_H
#define SONDE_SHIM_BOTH_CAPTURE_H

#include "shim/both/both.h"

/* What the stream captures from now on goes into `graph`, behind `deps`. */
int capture_into(struct rt_stream *stream, struct rt_graph *graph, void *const *deps, size_t count);
/* *graph: the one that it went into, or a new one. */
int capture_end(struct rt_stream *stream, struct rt_graph **graph);

#endif
