/*
 * Is the cache there, and what tells its hits from its misses? Each function returns 0,
 * INFER_UNDECIDED or an error.
 *
 *   present     does the load come back sooner than one that passes the cache by?
 *   reference   the threshold between hits and misses, and the latencies of both
 *   circle      a ring of few elements, walked until all of it hits
 *   apart       a path that reads memory as plain loads do, but through units of its own
 */
#ifndef SONDE_INFER_PRESENCE_H
#define SONDE_INFER_PRESENCE_H

#include "infer/level.h"

/* reference.c, interleaved.c: of a first-level cache whose lines hold several of the path's words,
 * and of one where a thread's words lie lines apart. */
int reference_by_words(struct level *level);
int reference_interleaved(struct level *level);
/* What the misses of either's walk take, and above what no miss is; timing.threshold is set. */
void reference_misses(struct level *level, const struct sample *misses);
/* Does the load with this level's operator come back sooner than the one that passes the cache by?
 * `hits` is loads by it that circle (words.h). */
int presence_check(struct level *level, const struct sample *hits);
/* same.c: takes over the geometry, if it is the cache of a path that was examined before. */
int level_find_same(struct level *level);

/* ---- circle.c ---- */

/* Latencies of loads in a circle that was walked a few times before. */
int circle_sample(struct level *level, struct sample *out, const char *op, struct walk_shape shape);
/* Do `own` latencies lie below a share of what passes the path's caches by? Fills
 * timing.beneath_cycles and whether the cache is present. */
int circle_check_sooner(struct level *level, const struct sample *own, double share);
/* Does what L2 holds come back sooner the second time in a launch? `circling` is loads of the same
 * path that circle in little. Where it comes later, latencies are in the mirror from then on. */
enum kept {
    KEPT_UNCLEAR, /* latencies of several kinds that do not follow the reads */
    KEPT_NOT,     /* first reads, second reads and circling loads all take the same */
    KEPT,
    KEPT_LATER, /* second reads take longer: the cache answers later than what lies behind it */
};
int circle_keeps(struct level *level, enum kept *kept, const struct sample *circling);
bool path_is_apart(const struct level *level);

/*
 * begin.c: the beginning once more, by walks that are repeated, where noise hides what a miss
 * takes. `begun`: they tell hits from misses; else the level is as before.
 */
int level_begin_repeated(struct level *level, bool *begun);
/* What such walks tell of the structure is less sure. */
void level_doubt_repeated(struct level *level);

#endif
