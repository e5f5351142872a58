/*
 * Does a trace of the probe `chase` follow its request? What a trace says it visited is held
 * against the ring that was asked for, so that no conclusion rests on another walk.
 *
 *   column   one array of a trace: latency and next offset of each record, start of each window
 *   window   records in a row; a trace has one or several
 */
#ifndef SONDE_INFER_FOLLOW_H
#define SONDE_INFER_FOLLOW_H

#include "infer/ask/walk.h"

struct chase_columns {
    const uint32_t *latency, *next, *start; /* borrowed from the trace */
    size_t windows, window;
};

/* False: a column lacks, or has not as many records as were asked for. */
bool chase_columns(struct chase_columns *out, const struct trace *trace, size_t windows,
                   size_t window);
/* Does window w read the ring in order, from the element after `first` on? */
bool chase_follows(const struct chase_columns *columns, size_t w, const struct walk_shape *ring,
                   size_t first);

#endif
