/* The figures of a dissection, for its page and as files. */
#ifndef SONDE_PAGE_FIGURES_H
#define SONDE_PAGE_FIGURES_H

#include <jansson.h>

#include "page/page.h"
#include "util/container/vec.h"

struct figure {
    char name[PAGE_FIGURE_NAME]; /* of a file: "l2-footprint" */
    char *svg;
};
struct figures VEC_FIELDS(struct figure);

/* Those whose data the document has. What memory does not suffice for is left out. */
void figures_collect(struct figures *out, const json_t *document);
void figures_free(struct figures *figures);

#endif
