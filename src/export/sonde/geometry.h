/*
 * What of a cache's geometry was told, what stands for the rest, and both as lines of its section.
 */
#ifndef SONDE_EXPORT_SONDE_GEOMETRY_H
#define SONDE_EXPORT_SONDE_GEOMETRY_H

#include "export/sonde/model_text.h"

/* What of a cache's geometry is known: the size is lines of all sets. */
struct geometry {
    uint64_t line, sector, sets, ways;
    uint64_t lines; /* in all */
    uint64_t data;  /* bytes that fit, where they are less; else 0 */
    const json_t *ways_per_set;
    struct row_plan rows; /* of L2 */
    bool is_known;
    bool is_guess;  /* the size alone was told */
    bool is_ways;   /* the ways alone: as many lines as the base */
    bool is_hashed; /* its index, in slices that a hash chooses, whatever was told of the whole */
};

/* As it was told; lines are `line_else` long where that was not. */
void geometry_read(struct geometry *g, const json_t *cache, uint64_t line_else);
/* What is not known of it by its size, or by its ways in so many slices. */
void geometry_guess(struct geometry *g, const json_t *cache);
void geometry_of_ways(struct geometry *g, const json_t *cache, const struct cache_spec *base,
                      uint64_t slices);
/* Of a cache that is cut into slices, with which of them a line is in left to the caller. */
void geometry_lines(struct model_text *t, const json_t *cache, const struct geometry *g,
                    uint64_t slices, bool is_base_hash, const struct cache_spec *base);

#endif
