/*
 * A trace as comma-separated text with a header line. Rows are the longest column's; a column whose
 * length divides theirs is repeated for its block of rows (`start` for its window), others end in
 * empty fields. Where blocks exist, a first column `window` counts them.
 */
#ifndef SONDE_TRACE_CSV_H
#define SONDE_TRACE_CSV_H

#include "trace/trace.h"

/* free() the text. */
int trace_csv(char **text, const struct trace *trace);

#endif
