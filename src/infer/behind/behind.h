/*
 * A cache behind another.
 *
 *   part       a stretch of an array that is one element too long to fit; without a part of the
 *              overfull set the rest fits (behind/parts.c)
 *   suspect    an element that misses more often than by noise
 *   unheard    a line that, walked alone, the cache in front answers
 *   filler     an access that evicts the walked lines in front (behind/filler.h)
 */
#ifndef SONDE_INFER_BEHIND_H
#define SONDE_INFER_BEHIND_H

#include "infer/level.h"

/* The reference of such a cache, and its conflict; 0, INFER_UNDECIDED or an error. */
int behind_begin(struct level *level); /* behind.c */
int behind_ways(struct level *level);  /* ways.c */
/* held.c: size and sets where nothing tells which lines share one, of known ways and line. */
int behind_held(struct level *level);
/* A ring of the way back through lines of so many bytes, and the way there in their order, by
 * another word of each. */
void behind_lay_out(uint32_t *ring, const uint32_t *order, size_t lines, uint64_t bytes);

/*
 * in_turn.c: is it there all the same, where no load shows it? `few` lines do not fit in front.
 * INFER_UNDECIDED whatever comes of it: it may have told that it is, and what it takes.
 */
int behind_in_turn(struct level *level, struct walk_shape few);

enum { BEHIND_MOST_PARTS = 512 };

struct behind_parts {
    struct level *level;
    uint32_t *ring; /* room for a walk */
    size_t total;   /* elements: those that fit, and one */
    size_t at[BEHIND_MOST_PARTS], span[BEHIND_MOST_PARTS], count; /* ascending */
    bool guessed, regular; /* equal distances were tried; they are what the lines have */
    bool unheard;          /* their first elements, walked alone, stay in the cache in front */
    unsigned prompt, slow; /* how often what fits did so after few passes, and later */
    uint64_t fewest;       /* misses of a few passes of what did not; 0: not seen yet */
};

/* parts.c: all parts, each a line of one set, as far as they look like that. */
int behind_find_parts(struct behind_parts *parts);

/*
 * conflict.c: makes their first elements the level's conflicting set and sends filler accesses with
 * its walks. They must not fit, and fit without any one (a few are tried); else the level is left
 * without. `unheard` is set where too few of them pass the cache in front.
 */
int behind_keep_conflict(struct behind_parts *parts);
/* Frees it, and the filler accesses. */
void behind_forget_conflict(struct level *level);

#endif
