/*
 * A JSON document as names and values: members of objects are joined by dots; an element of an
 * array is known by its "id" or "name", or by its number. A dissection's attribute is its value;
 * one that was not measured has none.
 */
#ifndef SONDE_SWEEP_FLAT_H
#define SONDE_SWEEP_FLAT_H

#include <jansson.h>

#include "sweep/spec/expr.h"
#include "sweep/spec/spec.h"
#include "util/container/vec.h"

struct flat_value {
    const char *name;
    struct sweep_value value;
};
struct flat VEC_FIELDS(struct flat_value);

/* Names and texts live in the arena. 0 or SONDE_ENOMEM. */
int flat_read(struct flat *out, struct arena *arena, const json_t *document);

/* What the columns keep of a result, as one JSON object. SONDE_EINPUT: an expression is wrong. */
int flat_keep(json_t **out, const struct flat *flat, const struct sweep_spec *spec,
              const struct sweep_point *point);

#endif
