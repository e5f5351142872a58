/*
 * What was kept as JSON, for people: a dissection's hierarchy as text, and reports as one HTML file
 * that needs nothing else, of dissections, studies, sweeps and statistics. The document's "schema"
 * says which it is; a study's is an array of rows.
 */
#ifndef SONDE_PAGE_PAGE_H
#define SONDE_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct topology_style {
    int columns;       /* of the terminal; at least 40 */
    bool colour, utf8; /* escape sequences for colours; line characters */
};

/* free() the text. 0 or SONDE_ENOMEM. */
int page_topology(char **text, const json_t *dissection, const struct topology_style *style);

/* free() the text. SONDE_EINPUT: a schema that has no report. */
int page_report(char **html, const json_t *document, const char *name);

/*
 * Figure `index` of a dissection as an SVG file, and what to call it; *svg stays NULL past the
 * last. free() the text. 0 or SONDE_ENOMEM.
 */
#define PAGE_FIGURE_NAME 48
int page_figure(char **svg, char name[PAGE_FIGURE_NAME], const json_t *dissection, size_t index);

#endif
