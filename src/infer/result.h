/*
 * The result of a cache, as a whole: names, reasons, units.
 *
 *   refuse   give what has no value and no reason yet the reason
 *   yields   bits of what an experiment may fill (experiments.h)
 */
#ifndef SONDE_INFER_RESULT_H
#define SONDE_INFER_RESULT_H

#include "infer/experiments.h"

/* Id and scope; no attribute has a value or a reason. */
void result_name(struct cache_result *result, const struct level_info *info);
void result_refuse(struct cache_result *result, uint32_t yields, const struct refusal *why);
void result_refuse_memory(struct dissection *out, const struct cache_result *outermost);
/* From the path's addresses to the cache's own bytes, `interleave` to one. */
void result_scale(struct cache_result *result, const struct level *level, uint32_t interleave);

#endif
