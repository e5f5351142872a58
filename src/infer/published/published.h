/*
 * Published recipes, run as their papers say, beside the general inference: what they make of the
 * same cache.
 */
#ifndef SONDE_INFER_PUBLISHED_H
#define SONDE_INFER_PUBLISHED_H

#include "infer/level.h"

/* A new entry of the dissection's methods, all attributes refused with `reason` so far;
 * NULL when there is no room. */
struct method_result *level_method(struct level *level, const char *name, const char *reason);

#endif
