/*
 * Diagnostics of one parse: collected, one a line, up to 20; then handed to util/error.
 */
#ifndef SONDE_PTX_DIAG_H
#define SONDE_PTX_DIAG_H

#include <stdarg.h>
#include <stdbool.h>

#include "ptx/ir.h"
#include "util/container/strbuf.h"

#define DIAG_LIMIT 20

struct diags {
    const char *file;
    struct strbuf text;
    int count;
    int code; /* of the gravest: bad input above unsupported; memory above all */
};

/* Adds "file:line:column: error: text"; returns `code`. */
int diag_add(struct diags *diags, int code, struct ptx_loc loc, const char *fmt, va_list args);
bool diag_full(const struct diags *diags);

/* 0, or the gravest code with the collected text set as this thread's error. Frees the text. */
int diag_finish(struct diags *diags);

#endif
