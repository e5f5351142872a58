/*
 * Published recipes beside the general inference: what they make of the same cache.
 *
 *   method    a recipe, run as its paper says: mei, saavedra, wong, lashgar
 *   average   the time of a chain of loads over their number
 *   refused   what a recipe does not tell has a reason in place of a value
 */
#ifndef SONDE_INFER_PUBLISHED_H
#define SONDE_INFER_PUBLISHED_H

#include "infer/level.h"

/* A new entry of the dissection's methods, all attributes refused with `reason` so far;
 * NULL when there is no room. */
struct method_result *level_method(struct level *level, const char *name, const char *reason);

#endif
