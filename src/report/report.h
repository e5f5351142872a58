/*
 * A dissection made readable: a table for people, JSON (docs/dissection.schema.json) for programs.
 * A format is one file; it reads the dissection and the description of the device, and decides
 * nothing.
 */
#ifndef SONDE_REPORT_REPORT_H
#define SONDE_REPORT_REPORT_H

#include <stdbool.h>

#include "infer/dissection.h"
#include "trace/trace.h"

/* What a report says beside the dissection itself. */
struct report_subject {
    const char *version;               /* of Sonde */
    const char *device_spec;           /* as given with -d, or the recording's path */
    const struct trace_device *device; /* what its driver said */
    const char *date;                  /* ISO 8601 */
    double seconds;                    /* the dissection took */
};

struct report_style {
    bool colour;
    bool evidence; /* list the evidence under the table */
};

/* Both hand out a fresh text (free() it). SONDE_ENOMEM, or SONDE_EINPUT for what JSON cannot say.
 */
int report_table(char **text, const struct dissection *dissection,
                 const struct report_subject *subject, const struct report_style *style);
/* The essentials alone, at most 40 lines of 80 columns for a shipped model. */
int report_summary(char **text, const struct dissection *dissection,
                   const struct report_subject *subject, const struct report_style *style);
int report_json(char **text, const struct dissection *dissection,
                const struct report_subject *subject);

/* What an attribute is, how it is found and what can fool it (explain.def); NULL: the names of all.
 * SONDE_EUSAGE, SONDE_ENOMEM. */
int report_explain(char **text, const char *name);

#endif
