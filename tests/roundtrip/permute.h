/*
 * A trace whose latencies stand in another order: the counts and the distribution are right, and
 * what they said of the order in which addresses hit and miss is gone.
 */
#ifndef SONDE_TESTS_PERMUTE_H
#define SONDE_TESTS_PERMUTE_H

#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"
#include "util/error.h"
#include "util/rng.h"

static inline int permuted_column(struct trace *out, const struct trace_column *column,
                                  struct rng *rng)
{
    size_t width = trace_type_bytes(column->type);
    char *data = malloc(column->count * width + 1);
    if (!data) {
        return error_memory();
    }
    memcpy(data, column->data, column->count * width);
    if (strcmp(column->name, "latency") == 0) {
        for (size_t i = column->count; i > 1; i--) {
            size_t j = (size_t)rng_below(rng, i);
            char keep[8];
            memcpy(keep, data + (i - 1) * width, width);
            memcpy(data + (i - 1) * width, data + j * width, width);
            memcpy(data + j * width, keep, width);
        }
    }
    int rc = trace_add_column(out, column->name, column->type, data, column->count);
    free(data);
    return rc;
}

static inline int permuted_trace(struct trace *out, const struct trace *trace, struct rng *rng)
{
    int rc = trace_init(out, &trace->request);
    out->status = trace->status;
    memcpy(out->reason, trace->reason, sizeof(out->reason));
    for (size_t i = 0; rc == 0 && i < trace->column_count; i++) {
        rc = permuted_column(out, &trace->columns[i], rng);
    }
    return rc;
}

#endif
