/*
 * A dissection laid out flat: facts, each a path ("l2.size") and what is said under it. Left out is
 * how something was found (evidence, confidence, reasons, curves, the older methods' answers), what
 * the driver said, and the date.
 */
#ifndef SONDE_EXPORT_FACTS_H
#define SONDE_EXPORT_FACTS_H

#include <stdbool.h>

#include <jansson.h>

#include "util/container/vec.h"

#define FACT_PATH_BYTES 160
#define FACT_UNNAMED "unnamed" /* for the name of a class of latencies that no kind explains */

struct fact {
    char path[FACT_PATH_BYTES];
    const json_t *value; /* number, text, true, false or list; NULL: known not to be known */
    const char *unit;    /* "": none */
    double low, high;    /* its bounds, of an estimate or a median; 0, 0: none */
};
struct facts VEC_FIELDS(struct fact);

/* Adds all facts of a dissection; borrowed from it. SONDE_ENOMEM. */
int facts_collect(struct facts *facts, const json_t *root);
const struct fact *facts_find(const struct facts *facts, const char *path); /* NULL: none */

#endif
