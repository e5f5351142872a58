/*
 * What becomes of a dissection that was kept as JSON: it is compared with another, or written as a
 * model of Sonde's or in another tool's format. Nothing is measured or inferred here. A format is
 * one file and one row of formats.def.
 */
#ifndef SONDE_EXPORT_EXPORT_H
#define SONDE_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct export_options {
    /* Format sonde: the model that fills in what was not measured; NULL: the shipped one whose
     * compute capability is nearest. */
    const char *base;
};

/* Writes the dissection `root`, which messages and the text's head call `source`. free() the text.
 * SONDE_EINPUT: what the format needs most was not measured, by name. */
typedef int export_writer(char **text, const json_t *root, const char *source,
                          const struct export_options *options);

struct export_format {
    const char *name, *doc;
    export_writer *write;
};
/* NULL behind the last. */
const struct export_format *export_format_at(size_t i);

/* The dissection of `path` in a format. SONDE_EUSAGE: there is no such format (the text names
 * them); else as saved_read() and the writer. */
int export_file(char **text, const char *path, const char *format,
                const struct export_options *options);

struct compare_options {
    double cycles;  /* attributes in cycles may differ by so much, */
    double percent; /* bandwidths by this share of the larger */
    bool all;       /* list what agrees, too */
    bool json;      /* for programs */
};
struct compare_result {
    size_t same, different, one_sided; /* attributes; one-sided: measured in one alone */
    size_t by_bounds; /* of the same ones: further apart than allowed, but for their bounds */
};
/* Two dissections, attribute by attribute. free() the text. */
int compare_files(char **text, struct compare_result *result, const char *a, const char *b,
                  const struct compare_options *options);

#endif
