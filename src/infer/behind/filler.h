/*
 * Walks on a cache behind another.
 *
 *   filler accesses   other lines that go with a walk: they evict its lines from the cache in
 *                     front, and lie in other sets of the cache behind
 *   ring              the lines of the walk; only their records are given
 *   guarded           the lines of the ring whose sets behind get no filler accesses
 *   round             as many lines of a set in front as it has ways
 *
 * Lines that are walked alone stay in the cache in front, and the one behind never sees them.
 */
#ifndef SONDE_INFER_FILLER_H
#define SONDE_INFER_FILLER_H

#include "infer/level.h"

struct filler {
    struct walk_filler base;
    const struct level *level;         /* the one behind; borrowed */
    const struct level_summary *front; /* borrowed */
    size_t rounds;     /* of a set's ways in front: so many other lines drive out any of its own */
    size_t favoured;   /* and of so many more ways, for a bias against one */
    uint32_t *outside; /* offsets that do not lie in the conflicting set; owned */
    size_t outside_count;
    unsigned turn; /* which lines without a known set come first */
};

/*
 * Prepares the level's walks; level_plan() then sends filler accesses with them. `outside` is taken
 * over, also by a failure. The level must know its conflicting set. Undecided where the lines in
 * front are unknown. level_free() frees it.
 */
int filler_create(struct level *level, uint32_t *outside, size_t outside_count);
void filler_free(struct filler *filler);
/* Another set is the conflicting one now: what lies outside of it the index tells. */
void filler_forget_outside(struct filler *filler);

/*
 * While an index is sought: takes the `number`th choice, of FILLER_TURNS, among lines whose sets
 * are not known yet. A filler access that lies in the set in question makes it look fuller than it
 * is.
 */
enum { FILLER_TURNS = 4 };
void filler_turn(struct filler *filler, unsigned number);

/* Room for the filler accesses of a ring. */
int filler_room(uint32_t **out, const struct filler *filler);
/*
 * Offsets that evict every element of the ring from the cache in front and lie in no set behind of
 * the first `guarded` elements: `times` as many lines as it takes. Where there are fewer, those for
 * `times` 1 again by other words.
 */
int filler_find(const struct filler *filler, uint32_t *out, size_t *count,
                const struct walk_shape *ring, size_t guarded, size_t times);

#endif
