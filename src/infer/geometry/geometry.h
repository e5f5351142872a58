/*
 * Size, ways, line, sets and index of a cache that ordered walks can fill: what its experiments
 * (experiments.h) ask of each other. Each function returns 0, INFER_UNDECIDED or an error.
 *
 *   edge       the longest regular array that fits
 *   conflict   a smallest set of addresses that do not fit together
 *   map        which lines share a set (setmap.h)
 */
#ifndef SONDE_INFER_GEOMETRY_H
#define SONDE_INFER_GEOMETRY_H

#include "infer/level.h"

/* capacity.c: the edge among elements `stride` apart, of which `fits` fit. */
int level_find_edge(struct level *level, uint64_t stride, size_t fits);
/* The same in steps of the line. */
int level_refine_edge(struct level *level);
/* conflict.c: the conflict in steps of the line, if it is found easily. */
int level_refine_ways(struct level *level);
/* The conflict among these addresses, of which some sets have too many. */
int level_conflict_among(struct level *level, const uint32_t *offsets, size_t count,
                         double confidence);
/* line.c: of a cache that no other hides. */
int level_line(struct level *level);
/* index.c: the index of a cache whose number of sets is known; it confirms that number. */
int level_index_of_sets(struct level *level, size_t sets);
/*
 * held.c: the lines that all sets hold together when they are full, whatever chooses the set; a
 * multiple of the ways of the conflicting set. Where it is undecided, as under policies that draw
 * their victims, *held lines are held at least; 0: not known.
 */
int level_held(struct level *level, size_t *held);
/* Sets and size by so many, with the ways of the conflicting set. */
void level_tell_held(struct level *level, size_t held);
/* That is all that fits if lines leave in the order in which they came: else they are doubtful. So
 * is a size that is an edge, where victims are drawn. */
void level_doubt_held(struct level *level);
/* one_set.c: may so many lines, which fit in order, be those of one set? */
int level_is_one_set(struct level *level, bool *is, size_t lines);
/* Can something else than its ways bound a set of so many lines? Few ways no bound hides. */
bool level_may_be_bound(const struct level *level, size_t lines);
/* They are not: of such a cache the size alone is told. */
int level_several_sets(struct level *level);
/* sets_hashed.c: of an index whose map is not known. */
int level_sets_hashed(struct level *level);

#endif
